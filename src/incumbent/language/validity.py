"""When a statement holds, where it says so itself: "valid through 31 January", "this week only".

Only phrases that bound the statement as a whole count. "Valid", "effective", "expires" and "only"
say so wherever they stand; "until", "through", "from" and "starting" count where they stand at the
beginning or the end of a clause. A deadline ("by Friday") is no bound, nor is a thing that is moved
or waited for ("postponed until Friday", "not until Friday"), nor an hour of opening ("open until
5pm": a time of day alone bounds a statement only with "valid", "only" and the like).

A day that is named as an end belongs to the time: "until Friday" ends when Saturday begins. Of a
longer period "until" means its beginning ("until next week"), "through" its end ("through Q3").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE
from incumbent.language.values.almanac import RANGE, begin, days_of, months_on
from incumbent.language.values.dates import spell_period
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.times import EITHER
from incumbent.language.values.vocabulary import vocabulary

_LONGEST_TEXT = 8_000
_DURATION = re.compile(
    r"P(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<business>\d+)B)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?$"
)
_CLAUSE_END = re.compile(r"\s*(?:$|[.,;:!?)\]\"”])")
_CLAUSE_MARKS = frozenset('.,;:!?(["“-–—')
_LOOK_BACK = 40
_SPACE = re.compile(r"\s*")
_WORD_AFTER = re.compile(r"\s{0,3}(\w+)")
_BESIDE = re.compile(r"\s{0,3},?\s{0,3}(?:([^\W\d_]+)\s{1,3})?")


@dataclass(frozen=True, slots=True)
class Validity:
    """From when until when a statement holds, and the phrase that says so."""

    valid_from: datetime | None
    valid_until: datetime | None
    start: int
    end: int


class _Moment(NamedTuple):
    """What a value after "until" or "from" names."""

    begins: datetime
    ends: datetime
    end: int
    is_day: bool
    """Whether it is a day, and not a longer period or a time of day."""
    is_clock: bool = False
    """Whether it is a time of day alone."""


class _Phrases:
    """The phrases of a language."""

    def __init__(self, language: str) -> None:
        words = vocabulary(language)
        told = words.told["validity"]
        self.until = _either(told["until"])
        self.since = _either(told["since"])
        self.now = _either(told["now"])
        self.ahead = _either(told["ahead"])
        self.rest = _either(told["rest"])
        self.day: str = told["day"]
        self.the = frozenset(told["the"].split())
        self.periods: dict[str, str] = words.classes["period"]
        self.sure = _either(told["sure"].split())
        self.only = frozenset(told["only"].split())
        self.span: str = told["span"]
        self.weekdays = words.words("weekday")
        self.moving = frozenset(told["moving"].split())
        self.upto = frozenset(told["up_to"].split())
        self.leads = frozenset(told["leads"].split())
        self.at = frozenset(told["at"].split())
        self.and_then = frozenset(told["and_then"].split())
        self.changes = words.words("changes")
        every = [told["until"], told["since"], told["now"], told["ahead"], told["rest"]]
        listed = [phrase for phrases in every for phrase in phrases]
        # Most sentences have none of these words, and need not be looked at further.
        self.any = _either([*listed, *self.only])


def _either(phrases: list[str]) -> re.Pattern[str]:
    ordered = sorted(phrases, key=len, reverse=True)
    spaced = "|".join(ordered).replace(" ", r"\s+")
    return re.compile(rf"(?<![\w'’])(?:{spaced})(?!\w)", re.IGNORECASE)


@lru_cache(maxsize=8)
def _phrases(language: str) -> _Phrases:
    return _Phrases(language)


def find_validity(
    text: str,
    at: datetime,
    *,
    values: Iterable[Value] | None = None,
    language: str = DEFAULT_LANGUAGE,
) -> Validity | None:
    """When the statement holds, if it says so; None if it does not, or sets no bound.

    Whoever has found the values of the text already can pass them, and spare a second look.
    """
    searched = text[:_LONGEST_TEXT]
    phrases = _phrases(language)
    if phrases.any.search(searched) is None:
        return None
    known = find(searched, at, language) if values is None else values
    try:
        return _Reading(searched, at, phrases, known).validity()
    except OverflowError:  # past the end of the calendar
        return None


class _Reading:
    """Looks for the bounds that one statement sets."""

    def __init__(self, text: str, at: datetime, phrases: _Phrases, values: Iterable[Value]) -> None:
        self._text = text
        self._at = at
        self._phrases = phrases
        self._values = {value.start: value for value in values}

    def validity(self) -> Validity | None:
        found = [*self._bounds()]
        if not found:
            return None
        first = found[0]
        for other in found[1:]:
            # "Effective Monday, valid until Friday": two phrases, one time.
            first = Validity(
                first.valid_from or other.valid_from,
                first.valid_until or other.valid_until,
                min(first.start, other.start),
                max(first.end, other.end),
            )
        return first

    def _bounds(self) -> Iterator[Validity]:
        """The bounds the statement sets, at most one of each sort."""
        for look in (self._from_now, self._ahead, self._rest, self._only, self._since, self._until):
            bound = look()
            if bound is not None:
                yield bound
                if bound.valid_from and bound.valid_until:
                    return

    def _from_now(self) -> Validity | None:
        found = self._phrases.now.search(self._text)
        return Validity(self._at, None, *found.span()) if found else None

    def _ahead(self) -> Validity | None:
        """As in "For the next two days"."""
        found = self._phrases.ahead.search(self._text)
        if found is None:
            return None
        value = self._value_within(found.end() - 1, found.end() + 1)
        named = self._value_within(found.start(), found.end())
        if value is not None and value.kind is ValueKind.DURATION:
            until = later(self._at, value.normal)
            return Validity(self._at, until, found.start(), value.end) if until else None
        if named is not None and named.kind is ValueKind.DATE:  # "for the next week"
            return self._week_or_month(named, found.start())
        return None

    def _week_or_month(self, named: Value, start: int) -> Validity | None:
        days = days_of(named.normal)
        if days is None:
            return None
        whole = (days[1] - days[0]).days
        until = self._at + timedelta(days=whole)
        return Validity(self._at, until, start, named.end)

    def _rest(self) -> Validity | None:
        """As in "For the rest of the week"."""
        found = self._phrases.rest.search(self._text)
        period = self._period_after(found.end()) if found else None
        if found is None or period is None:
            return None
        until, end = period
        return Validity(self._at, until, found.start(), end)

    def _period_after(self, position: int) -> tuple[datetime, int] | None:
        """The end of the day, week, month or year that is named after a position."""
        found = _WORD_AFTER.match(self._text, position)
        if found is not None and found.group(1).lower() in self._phrases.the:
            found = _WORD_AFTER.match(self._text, found.end())
        if found is None:
            return None
        named, today = found.group(1).lower(), self._at.date()
        if named == self._phrases.day:
            return begin(today + timedelta(days=1), self._at), found.end()
        period = self._phrases.periods.get(named)
        days = days_of(spell_period(period, 0, today)) if period else None
        return (begin(days[1], self._at), found.end()) if days else None

    def _only(self) -> Validity | None:
        """As in "This week only", "just for today", "only today"."""
        for value in self._values.values():
            if value.kind is not ValueKind.DATE:
                continue
            days = days_of(value.normal)
            if days is None:
                continue
            start, led = self._led(value.start)
            if led and value.text.lower() in self._phrases.weekdays:
                # "Only Tuesday" is every one, "just for Tuesday" the next.
                led = self._phrases.span in self._text[start : value.start].lower().split()
            end, followed = self._followed(value.end)
            if led or followed:
                return Validity(begin(days[0], self._at), begin(days[1], self._at), start, end)
        return None

    def _led(self, start: int) -> tuple[int, bool]:
        """Where "only for" before a value starts, and whether it stands there."""
        words = list(re.finditer(r"[\w'’]+", self._text[max(0, start - 30) : start]))
        offset = max(0, start - 30)
        led = False
        while words:
            word = words.pop()
            low = word.group().lower()
            if low in self._phrases.only:
                return offset + word.start(), True
            if low not in self._phrases.leads or led:
                return start, False
            start, led = offset + word.start(), low not in self._phrases.the
        return start, False

    def _followed(self, end: int) -> tuple[int, bool]:
        found = _WORD_AFTER.match(self._text, end)
        if found and found.group(1).lower() in self._phrases.only:
            return found.end(), True
        return end, False

    def _since(self) -> Validity | None:
        """As in "Starting Monday", "effective 1 March", "from 1 May to 15 June"."""
        for found in self._phrases.since.finditer(self._text):
            moment = self._moment_after(found.end())
            if moment is None or not self._counts(found, moment):
                continue
            value = self._value_within(found.end(), moment.end)
            ranged = value is not None and RANGE in value.normal
            until = moment.ends if ranged else None
            return Validity(moment.begins, until, found.start(), moment.end)
        return None

    def _until(self) -> Validity | None:
        """As in "Until Friday", "valid through 31 January", "expires on Friday"."""
        for found in self._phrases.until.finditer(self._text):
            moment = self._moment_after(found.end())
            if moment is None or not self._counts(found, moment) or self._is_moved(found.start()):
                continue
            upto = found.group().lower().split()[-1] in self._phrases.upto
            starts_later = moment.begins > self._at and upto and not moment.is_day
            until = moment.begins if starts_later else moment.ends
            return Validity(None, until, found.start(), moment.end)
        return None

    # where a phrase stands

    def _counts(self, found: re.Match[str], moment: _Moment) -> bool:
        """Whether a phrase bounds the statement as a whole."""
        if self._phrases.sure.search(found.group()):
            return True
        if moment.is_clock or self._is_changed(found.start()):
            return False
        after = _WORD_AFTER.match(self._text, moment.end)
        ends = _CLAUSE_END.match(self._text, moment.end) is not None
        ends = ends or bool(after and after.group(1).lower() in self._phrases.and_then)
        return ends or self._begins_clause(found.start())

    def _begins_clause(self, start: int) -> bool:
        before = self._text[max(0, start - _LOOK_BACK) : start].rstrip()
        return before[-1:] in _CLAUSE_MARKS if before else start <= _LOOK_BACK

    def _is_moved(self, start: int) -> bool:
        """Whether something is put off or denied until then."""
        before = re.findall(r"[\w'’]+", self._text[max(0, start - _LOOK_BACK) : start].lower())
        return any(word.replace("’", "'") in self._phrases.moving for word in before[-5:])

    def _is_changed(self, start: int) -> bool:
        before = re.findall(r"\w+", self._text[max(0, start - 80) : start].lower())
        return any(word in self._phrases.changes for word in before)

    # what follows a phrase

    def _value_within(self, start: int, end: int) -> Value | None:
        """The first value that begins between two positions, or after the spaces that follow."""
        spaces = _SPACE.match(self._text, end)
        last = spaces.end() if spaces else end
        return next((self._values[at] for at in range(start, last + 1) if at in self._values), None)

    def _moment_after(self, end: int) -> _Moment | None:
        lead = _WORD_AFTER.match(self._text, end)
        leads = lead is not None and lead.group(1).lower() in self._phrases.leads
        value = self._value_within(end, lead.end() if lead and leads else end)
        if value is None:
            return None
        if value.kind is ValueKind.TIME:
            return self._clock(value, self._beside(value, ValueKind.DATE))
        days = days_of(value.normal) if value.kind is ValueKind.DATE else None
        if days is None:
            return None
        begins, ends = begin(days[0], self._at), begin(days[1], self._at)
        is_day = (days[1] - days[0]).days == 1
        clock = self._beside(value, ValueKind.TIME) if is_day else None
        if clock is not None:
            return self._clock(clock, value) or _Moment(begins, ends, value.end, is_day)
        return _Moment(begins, ends, value.end, is_day)

    def _beside(self, value: Value, kind: ValueKind) -> Value | None:
        """A value of a kind that follows another with at most "at" or "on" between them."""
        found = _BESIDE.match(self._text, value.end)
        if found is None or (found.group(1) and found.group(1).lower() not in self._phrases.at):
            return None
        near = self._values.get(found.end())
        return near if near is not None and near.kind is kind else None

    def _clock(self, clock: Value, day: Value | None) -> _Moment | None:
        """A time of day, on a day that stands beside it or on that of the statement."""
        found = re.match(r"(\d\d):(\d\d)$", clock.normal.split(" ")[0])
        if found is None or EITHER in clock.normal:
            return None
        days = days_of(day.normal) if day else None
        base = begin(days[0], self._at) if days else begin(self._at.date(), self._at)
        moment = base + timedelta(hours=int(found[1]), minutes=int(found[2]))
        end = max(clock.end, day.end if day else 0)
        return _Moment(moment, moment, end, True, is_clock=day is None)


def later(at: datetime, duration: str) -> datetime | None:
    """A moment some length of time later; None for a length that is not certain."""
    found = _DURATION.match(duration)
    if found is None or found["business"]:
        return None
    try:
        months = int(found["years"] or 0) * 12 + int(found["months"] or 0)
        day = months_on(at.date(), months) if months else at.date()
        moment = datetime.combine(day, at.timetz())
        return moment + timedelta(
            days=int(found["days"] or 0),
            hours=int(found["hours"] or 0),
            minutes=int(found["minutes"] or 0),
            seconds=int(found["seconds"] or 0),
        )
    except (ValueError, OverflowError):
        return None
