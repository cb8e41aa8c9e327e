"""Reading times of day.

A time of twelve hours that says nothing of morning or afternoon has two readings, and its spelling
keeps both: half past five is "05:30|17:30".
"""

from __future__ import annotations

import re
from decimal import Decimal

from incumbent.language.values.almanac import RANGE
from incumbent.language.values.numbers import numbers
from incumbent.language.values.sentence import Sentence

EITHER = "|"
_HINT_BEFORE = re.compile(r"(\w+)\s+(?:\w+\s+)?$")
_HINT_AFTER = re.compile(r"\s+(?:\w+\s+)?(\w+)")


def _first(said: re.Match[str], name: str) -> str:
    """The first of the groups of one class that has something: meridiem, meridiem2, ..."""
    for group in said.re.groupindex:
        if group.rstrip("0123456789") == name and said[group]:
            return str(said[group]).lower()
    return ""


def _half_of_day(said: re.Match[str], sentence: Sentence) -> str:
    """As in "am", "pm" or "night", by what is said with the time; "" if nothing is."""
    meridiem, part = _first(said, "meridiem"), _first(said, "day_part")
    if meridiem:
        return str(sentence.vocabulary.meaning("meridiem", meridiem))
    if part:
        return str(sentence.vocabulary.meaning("day_part", part))
    return _hinted(sentence, said.start(), said.end())


def _hinted(sentence: Sentence, start: int, end: int) -> str:
    """What the words around a time tell: "tonight at 8", "8 tomorrow morning"."""
    before = _HINT_BEFORE.search(sentence.text[max(0, start - 30) : start])
    after = _HINT_AFTER.match(sentence.text, end)
    nearby = [after.group(1), sentence.word_after(end)] if after else []
    nearby += [before.group(1), sentence.word_before(start)] if before else []
    for word in map(str.lower, nearby):
        if word in sentence.vocabulary.classes["day_part"]:
            return str(sentence.vocabulary.meaning("day_part", word))
        if word in sentence.vocabulary.words("tonight"):
            return "night"
    return ""


def spell(hour: int, minute: int, half_of_day: str, *, sure: bool = False) -> str | None:
    """One spelling of a clock time; None where there is no such time."""
    if hour > 24 or minute > 59 or (hour == 24 and minute):
        return None
    if hour in (0, 24) or hour > 12 or (sure and not half_of_day):
        return f"{hour % 24:02}:{minute:02}"
    early, late = f"{hour % 12:02}:{minute:02}", f"{hour % 12 + 12}:{minute:02}"
    if half_of_day == "night":
        half_of_day = "pm" if 6 <= hour < 12 else "am"
    if half_of_day:
        return early if half_of_day == "am" else late
    return f"{early}{EITHER}{late}"


def _zoned(spelt: str | None, said: re.Match[str]) -> str | None:
    zone = _first(said, "zone")
    return f"{spelt} {zone.upper()}" if spelt and zone else spelt


def clock(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "5:30", "17:30", "5:30 pm"."""
    hours, minutes = said["clock"].split(":")[:2]
    sure = hours.startswith("0")
    half_of_day = _half_of_day(said, sentence)
    return _zoned(spell(int(hours), int(minutes), half_of_day, sure=sure), said)


def hour(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "5pm", "5.30 p.m."."""
    number = _hour(said["hour"], sentence)
    if number is None or not 1 <= number <= 12:
        return None
    return _zoned(spell(number, int(said["minute"] or 0), _half_of_day(said, sentence)), said)


def oclock(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "5 o'clock", "7 in the evening"."""
    number = _hour(said["hour"], sentence)
    return None if number is None else spell(number, 0, _half_of_day(said, sentence))


def _hour(said: str, sentence: Sentence) -> int | None:
    number = numbers(sentence.vocabulary.language).read(said)
    return int(number) if number is not None and number <= 24 else None


def around_hour(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "half past five", "a quarter to nine", "ten past three"."""
    number = _hour(said["hour"], sentence)
    if number is None or not 1 <= number <= 12:
        return None
    groups = said.re.groupindex
    minutes = _minutes(said, sentence)
    to = _first(said, "past_or_to")
    if to and int(sentence.vocabulary.meaning("past_or_to", to)) < 0:
        number, minutes = (number - 2) % 12 + 1, 60 - minutes
    elif "minutes" not in groups and not to and "half" not in groups:
        return None
    return spell(number, minutes, _half_of_day(said, sentence))


def _minutes(said: re.Match[str], sentence: Sentence) -> int:
    groups = said.re.groupindex
    if "half" in groups:
        return 30
    if "minutes" not in groups:
        return 15
    read = numbers(sentence.vocabulary.language).read(said["minutes"]) or Decimal(0)
    return int(read)


def bare_hour_and_minute(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "at 1730 hours"."""
    return f"{said['hour_of_two']}:{said['minute']}"


def bare_hour(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "at 5", where nothing follows that the number could count."""
    number = _hour(said["said"], sentence)
    if number is None or not 1 <= number <= 12 or said["said"].startswith("0"):
        return None
    end = said.end("said")
    if re.match(r"[.,:/-]\w|[%$€£'’/]", sentence.text[end : end + 2]):
        return None
    of = sentence.word_after(end) in sentence.vocabulary.words("of")
    if of or sentence.is_followed_by_noun(end):
        return None
    return spell(number, 0, _half_of_day(said, sentence))


def day_time(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "noon", "the end of the day"."""
    return str(sentence.vocabulary.meaning("day_time", said["day_time"]))


def day_part(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "in the morning"."""
    return said["day_part"].lower()


def time_range(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "5-7pm", "from 9:30 to 11", "between 2 and 4 pm"."""
    if not (said["meridiem"] or said["meridiem2"] or said["minute"] or said["minute2"]):
        return None
    if bool(said["between"]) != bool(said["and"]):
        return None
    if said["to"] and sentence.has_before("changes", said.start()):
        return None
    first, second = _hour(said["hour"], sentence), _hour(said["hour2"], sentence)
    if first is None or second is None:
        return None
    late = _meaning(said["meridiem2"], sentence)
    early = _meaning(said["meridiem"], sentence)
    if late and not early:
        # "11-1pm" starts in the morning, "5-7pm" in the afternoon.
        same_half = first % 12 < second % 12
        early = late if same_half else ("am" if late == "pm" else "pm")
    starts = spell(first, int(said["minute"] or 0), early, sure=said["hour"].startswith("0"))
    ends = spell(second, int(said["minute2"] or 0), late, sure=said["hour2"].startswith("0"))
    return f"{starts}{RANGE}{ends}" if starts and ends else None


def _meaning(meridiem: str | None, sentence: Sentence) -> str:
    return str(sentence.vocabulary.meaning("meridiem", meridiem)) if meridiem else ""
