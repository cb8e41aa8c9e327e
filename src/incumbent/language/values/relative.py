"""Reading days as people name them from today: "tomorrow", "next Friday", "in two weeks"."""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal

from incumbent.language.values import almanac
from incumbent.language.values.dates import (
    from_today,
    kept,
    number_of,
    period_of,
    spell_period,
    today_of,
)
from incumbent.language.values.numbers import numbers
from incumbent.language.values.sentence import Sentence


@from_today
def day_offset(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "today", "tomorrow", "tonight"."""
    spelt = (today + timedelta(days=number_of(said, sentence, "day_offset"))).isoformat()
    names_evening = said["day_offset"].lower() in sentence.vocabulary.words("tonight")
    return f"{spelt} evening" if names_evening else spelt


@from_today
def after_next(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "the day after tomorrow"."""
    offset = number_of(said, sentence, "day_offset")
    return (today + timedelta(days=offset + (1 if offset >= 0 else -1))).isoformat()


@from_today
def this_day_part(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "this evening"."""
    return f"{today.isoformat()} {said['day_part'].lower()}"


@from_today
def which_period(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "next week"."""
    return spell_period(period_of(said, sentence), number_of(said, sentence, "which"), today)


@from_today
def the_weekend(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "at the weekend"."""
    return spell_period("weekend", 0, today)


def weekday(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "Monday"; short forms only where a capital letter tells them from other words."""
    name = said["weekday"]
    if not sentence.vocabulary.is_full("weekday", name) and (
        not name.istitle() or sentence.begins_at(said.start())
    ):
        return None
    number = number_of(said, sentence, "weekday")
    return _coming(number, sentence) or sentence.vocabulary.full("weekday", number)


def weekday_range(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "Mon-Fri", "Monday to Friday"; not "move Monday to Friday"."""
    if said["to"] and sentence.has_before("changes", said.start()):
        return None
    first = number_of(said, sentence, "weekday")
    last = number_of(said, sentence, "weekday", "weekday2")
    starts = _coming(first, sentence)
    if starts is None:
        ends = sentence.vocabulary.full("weekday", last)
        return f"{sentence.vocabulary.full('weekday', first)}{almanac.RANGE}{ends}"
    days = timedelta(days=(last - first) % 7)
    return f"{starts}{almanac.RANGE}{(date.fromisoformat(starts) + days).isoformat()}"


def _coming(number: int, sentence: Sentence) -> str | None:
    today = today_of(sentence)
    if today is None:
        return None
    return (today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)).isoformat()


@from_today
def which_weekday(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "next Friday" is that of next week, "this Friday" and "last Friday" the nearest."""
    number = number_of(said, sentence, "weekday")
    if number_of(said, sentence, "which") < 0:
        back = (today.weekday() - number - 1) % 7 + 1
        return (today - timedelta(days=back)).isoformat()
    if said["which"].lower() not in sentence.vocabulary.words("nearest"):
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=1)
        return (monday + timedelta(days=number)).isoformat()
    return (today + timedelta(days=(number - today.weekday()) % 7)).isoformat()


@from_today
def weekday_of_week(said: re.Match[str], sentence: Sentence, today: date) -> str | None:
    """As in "Monday next week"."""
    steps = number_of(said, sentence, "which")
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=steps)
    return (monday + timedelta(days=number_of(said, sentence, "weekday"))).isoformat()


def every_weekday(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "every Monday"."""
    return f"every {sentence.vocabulary.full('weekday', number_of(said, sentence, 'weekday'))}"


def weekdays(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "Mondays"."""
    return f"every {sentence.vocabulary.full('weekday', number_of(said, sentence, 'weekdays'))}"


# so far from now


def in_span(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "in two weeks", "in an hour"; "in a second" says nothing."""
    if _is_idle(said, sentence):
        return None
    return _after(said, sentence, 1)


def ago(said: re.Match[str], sentence: Sentence) -> str | None:
    return _after(said, sentence, -1)


def from_now(said: re.Match[str], sentence: Sentence) -> str | None:
    """As in "two days from now", "a week from Monday"."""
    return _after(said, sentence, 1)


def _is_idle(said: re.Match[str], sentence: Sentence) -> bool:
    return (
        said["span"].lower() in sentence.vocabulary.words("idle_spans")
        and _count(said["count"], sentence) == 1
        and not said["count"].isdigit()
    )


def _after(said: re.Match[str], sentence: Sentence, sign: int) -> str | None:
    count = _count(said["count"], sentence)
    if count is None:
        return None
    at = sentence.at
    if at is None:
        return kept(said)
    groups = said.re.groupindex
    if "weekday" in groups and said["weekday"]:
        coming = _coming(number_of(said, sentence, "weekday"), sentence)
        at = at.combine(date.fromisoformat(str(coming)), at.timetz())
    elif "day_offset" in groups and said["day_offset"]:
        at += timedelta(days=number_of(said, sentence, "day_offset"))
    size, base = str(sentence.vocabulary.meaning("span", said["span"])).split()
    total = count * Decimal(size) * sign
    if base == "m":
        return almanac.months_on(at.date(), int(total)).isoformat()
    if base == "b":
        return almanac.business_days_on(at.date(), int(total)).isoformat()
    moment = at + timedelta(seconds=float(total))
    if Decimal(size) < 86400:
        return f"{moment.date().isoformat()}T{moment.hour:02}:{moment.minute:02}"
    return moment.date().isoformat()


def _count(said: str, sentence: Sentence) -> Decimal | None:
    low = said.lower()
    if low in sentence.vocabulary.articles:
        return Decimal(1)
    if low.split()[0] in sentence.vocabulary.words("half"):
        return Decimal("0.5")
    return numbers(sentence.vocabulary.language).read(said)
