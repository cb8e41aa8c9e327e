"""Time words: which days "tomorrow" and "next week" mean in what somebody said.

Only phrases that can mean one thing are resolved. "Friday" alone may be the last one, the next one
or every one, "the 4th" of this month or of the next, and "in two weeks" may say how long something
takes. A day that the label of the line has already needs no further word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from incumbent.context.said_lines import NEXT, TimeNote, day_of, is_said
from incumbent.language.values.almanac import days_of
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.sentence import Sentence
from incumbent.language.values.vocabulary import Vocabulary, alternatives, vocabulary
from incumbent.model.fact import Fact
from incumbent.model.records import Environment
from incumbent.model.text_cache import remembering

_LONGEST = 500
"""A longer statement is a text, of which nothing is resolved."""
_REMEMBERED = 8_192
_DAY = timedelta(days=1)
_SPELLING = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?|-W\d\d(?:-WE)?)?")
_MONTH = 7
"""How many characters the spelling of a month has: "2026-03"."""
_WORDS = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")


class _Phrase(NamedTuple):
    """A phrase that is resolved: where it stands, its days as told, and in full."""

    start: int
    end: int
    told: str
    days: str


def days_told(facts: Iterable[Fact], environment: Environment) -> dict[str, Sequence[TimeNote]]:
    """The days that the time words of these facts mean, by the ids of those that have any."""
    zone = environment.current_time.tzinfo or UTC
    found = {fact.id: time_notes(fact, zone) for fact in facts}
    return {fact_id: notes for fact_id, notes in found.items() if notes}


def time_notes(fact: Fact, zone: tzinfo) -> Sequence[TimeNote]:
    """The days that the time words of a statement mean, where that is certain, in order."""
    text = fact.value
    if not is_said(fact) or not isinstance(text, str):
        return ()
    if len(text) > _LONGEST or not _may_say().search(text):
        return ()
    return tuple(
        TimeNote(phrase.end, phrase.told, phrase.days)
        for phrase in _resolved(text, day_of(fact.timestamp, zone))
        if _was_said_then(fact, text, phrase)
    )


def _was_said_then(fact: Fact, text: str, phrase: _Phrase) -> bool:
    """Whether a phrase was said when the fact was: an amended statement keeps older words."""
    if not fact.source.earlier and not fact.source.composed and NEXT not in text:
        return True
    quoted = text[phrase.start : phrase.end] in (fact.source.quote or "")
    return quoted and phrase.start > text.rfind(NEXT)


@lru_cache(maxsize=1)
def _may_say() -> re.Pattern[str]:
    """A word without which no phrase is resolved."""
    words = vocabulary()
    said = {word for name in ("day_offset", "which", "span") for word in words.classes[name]}
    return re.compile(rf"\b(?:{alternatives(said)})\b", re.IGNORECASE)


@remembering(_REMEMBERED)
def _resolved(text: str, day: date) -> tuple[_Phrase, ...]:
    """The phrases of a text that are resolved, seen from the day on which it was said."""
    sentence = Sentence(text, datetime.combine(day, time(12), UTC), vocabulary())
    values = [value for value in find(text, sentence.at) if value.kind is ValueKind.DATE]
    found: dict[str, _Phrase] = {}
    for value in values:
        days = days_of(value.normal)
        certain = days is not None and _is_certain(value, sentence, day)
        if days is None or not certain or days[0] <= day < days[1]:
            continue
        possessive = _POSSESSIVE.match(text, value.end)
        end = possessive.end() if possessive else value.end
        shown = _told(_rough(value), days, day)
        told = _Phrase(value.start, end, shown, value.normal)
        found.setdefault(value.normal, told)
    # What the text itself states as a day needs no second word.
    stated = {value.normal for value in values if _is_stated(value, text)}
    return tuple(
        phrase
        for phrase in found.values()
        if phrase.days not in stated and not text[phrase.end :].lstrip().startswith("(")
    )


def _is_stated(value: Value, text: str) -> bool:
    """Whether a phrase names its day by itself: it has figures and says no length of time."""
    words = {word.group().lower() for word in _WORDS.finditer(value.text)}
    return any(map(str.isdigit, value.text)) and not words & vocabulary().words("span")


def _is_certain(value: Value, sentence: Sentence, day: date) -> bool:
    """Whether a phrase can mean only one day, week, month or year."""
    if _SPELLING.fullmatch(value.normal) is None:
        return False
    words = sentence.vocabulary
    said = [word.group().lower() for word in _WORDS.finditer(value.text)]
    if _is_count(said[0], words):
        # "Two weeks ago" is a day, "three weeks from tomorrow" may be a length of time.
        return value.normal < day.isoformat() or said[-1] in words.words("counted_from")
    if words.words("day_offset").intersection(said):
        return True
    if words.words("which").intersection(said):
        return _is_alone(value, sentence) and words.words("month").isdisjoint(said)
    if words.words("span").intersection(said) and _is_count(said[1], words):
        # "In two weeks" says when something is, or how long it takes; "in two weeks' time" and
        # what a clause begins with say when.
        return said[-1] not in words.words("span") or sentence.begins_at(value.start)
    return False


def _is_count(word: str, words: Vocabulary) -> bool:
    return word.isdigit() or word in {*words.number_words, *words.articles, *words.words("half")}


def _is_alone(value: Value, sentence: Sentence) -> bool:
    """Whether "next week" is all: not "the following week", "last week of March"."""
    words = sentence.vocabulary
    determiners = words.told["words"]["closed"]["determiners"].split()
    if sentence.word_after(value.end) in words.words("of"):
        return False
    # A phrase begins after its article.
    return sentence.word_before(value.start) not in determiners


# telling


def _rough(value: Value) -> str:
    """The spelling of a phrase as exact as it is: "two years ago" names no day."""
    spans = vocabulary().classes["span"]
    said = [word.group().lower() for word in _WORDS.finditer(value.text)]
    in_months = any(str(spans[word]).endswith("m") for word in said if word in spans)
    is_counted = any(_is_count(word, vocabulary()) for word in said)
    return value.normal[:_MONTH] if in_months and is_counted else value.normal


def _told(normal: str, days: tuple[date, date], said_on: date) -> str:
    """Days as they are shown, with the year where it is not that of the label."""
    first, last = days[0], days[1] - _DAY
    if len(normal) < _MONTH:
        return normal
    if len(normal) == _MONTH and normal[5:].isdigit():
        return f"{_month(first)}{_year(first, said_on)}"
    if first == last:
        return f"{first.day} {_month(first)}{_year(first, said_on)}"
    month = "" if first.month == last.month else f" {_month(first)}"
    return f"{first.day}{month} to {last.day} {_month(last)}{_year(last, said_on)}"


def _month(day: date) -> str:
    return vocabulary().full("month", day.month).capitalize()


def _year(day: date, said_on: date) -> str:
    return "" if day.year == said_on.year else f" {day.year}"
