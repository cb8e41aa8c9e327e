"""Facts in columns: what is known of each before anything is asked.

A context goes through hundreds of facts, mostly the same ones as the last context. What is known of
them lies in arrays, a place for each, so that a question is put to all of them at once and not to
one after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from incumbent.context.sheets import Sheet, Terms
from incumbent.model.fact import Fact
from incumbent.model.text_cache import when_forgetting
from incumbent.model.times import to_micros
from incumbent.model.values import is_longer

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_MOST = 8_192
_LONG = 4_096
"""Characters; what is known of a longer fact is not worth the memory."""
_NEVER = np.iinfo(np.int64).max
# All that decides whether a fact is in office here and for whom, but for when that began.
_kind = attrgetter(
    *("status", "ended_at", "valid_until", "depends_on", "scope", "scope_id", "organization"),
    *("owner", "memory_type", "requires", "min_authority"),
)


class _Columns:
    """Room for what is known of so many facts. A place that is filled stays as it is."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.filled = 0
        self.places: dict[str, tuple[int, Fact]] = {}
        self.sheets = np.empty(size, object)
        self.signs = np.empty(size, object)
        self.times = np.zeros(size, np.int64)
        self.begun = np.zeros(size, np.int64)
        self.lengths = np.zeros(size, np.int64)
        self.is_constraint = np.zeros(size, np.bool_)
        self.is_reading = np.zeros(size, np.bool_)
        self.ids = np.zeros((5, size), np.int64)
        """The numbers of their kind, name, subject, standing and matter."""
        self.numberings = [_Numbering() for _ in self.ids]
        """What those numbers stand for."""

    def add(self, sheets: Sequence[Sheet]) -> None:
        """Fill the next places."""
        span = slice(self.filled, self.filled + len(sheets))
        facts = [sheet.fact for sheet in sheets]
        self.sheets[span] = sheets
        for place, sheet in enumerate(sheets, start=self.filled):
            self.signs[place] = sheet.wording.signs  # as one object: these have several lengths
        self.times[span] = [to_micros(sheet.time) for sheet in sheets]
        self.begun[span] = [_micros(fact.started_at) for fact in facts]
        self.lengths[span] = [sheet.length for sheet in sheets]
        self.is_constraint[span] = [fact.is_constraint for fact in facts]
        self.is_reading[span] = [fact.time_sensitive for fact in facts]
        self.ids[:, span] = np.array([self._numbered(sheet) for sheet in sheets]).T
        self.filled = span.stop
        for place, fact in enumerate(facts, start=span.start):
            self.places[fact.id] = (place, fact)

    def _numbered(self, sheet: Sheet) -> list[int]:
        fact = sheet.fact
        told = (
            _kind(fact),
            tuple(sheet.named),
            tuple(sheet.about),
            fact.standing,
            (fact.key, fact.subject),
        )
        return [numbers.of(one) for numbers, one in zip(self.numberings, told, strict=True)]


class _Numbering:
    """Numbers for what many facts have in common."""

    def __init__(self) -> None:
        self.spelled: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def of(self, one: Any) -> int:
        number = self._numbers.get(one)
        if number is None:
            number = self._numbers[one] = len(self.spelled)
            self.spelled.append(one)
        return number


def _micros(moment: datetime | None) -> int:
    return _NEVER if moment is None else to_micros(moment)


class InCommon(NamedTuple):
    """What facts have in common, by a number for each."""

    numbers: Sequence[int]
    """What each fact has."""
    spelled: dict[int, Any]


class Roll:
    """Facts, with what is known of each in columns, in their order."""

    def __init__(self, facts: Sequence[Fact], columns: _Columns, places: Numbers) -> None:
        self.facts = facts
        self._columns = columns
        self._places = places

    @cached_property
    def sheets(self) -> list[Sheet]:
        found: list[Sheet] = self._columns.sheets[self._places].tolist()
        return found

    @cached_property
    def signs(self) -> list[tuple[int, ...]]:
        """The signs of their wordings."""
        found: list[tuple[int, ...]] = self._columns.signs[self._places].tolist()
        return found

    @cached_property
    def times(self) -> Numbers:
        """The moments that order them, in microseconds."""
        return self._columns.times[self._places]

    @cached_property
    def lengths(self) -> Numbers:
        """The characters of their keys and values; very many if those are not simply told."""
        return self._columns.lengths[self._places]

    @cached_property
    def is_constraint(self) -> Flags:
        return self._columns.is_constraint[self._places]

    @cached_property
    def is_reading(self) -> Flags:
        """Whether each is a reading, whose age counts."""
        return self._columns.is_reading[self._places]

    @cached_property
    def _ids(self) -> Numbers:
        return self._columns.ids[:, self._places]

    @property
    def names(self) -> InCommon:
        """The words of their keys."""
        return self._common(1)

    @property
    def subjects(self) -> InCommon:
        """The words of their subjects."""
        return self._common(2)

    @property
    def standings(self) -> InCommon:
        return self._common(3)

    def _common(self, which: int) -> InCommon:
        numbers: list[int] = self._ids[which].tolist()
        spelled = self._columns.numberings[which].spelled
        return InCommon(numbers, {number: spelled[number] for number in set(numbers)})

    @cached_property
    def has_distinct_matters(self) -> bool:
        return len(set(self._ids[4].tolist())) == len(self.facts)

    def samples(self) -> list[Fact]:
        """One fact of each kind, and the one that took office last: if these hold office here as
        they are, so do all; unless one rests on another, which nothing tells but itself."""
        each = dict(zip(self._ids[0].tolist(), self.facts, strict=True))
        latest = self.facts[int(self._columns.begun[self._places].argmax())]
        return list({fact.id: fact for fact in (*each.values(), latest)}.values())


class Sheets:
    """What is known of the facts that were looked at lately. Each sheet is good for one very fact.

    A store hands out the same object for a fact as long as its row stays as it is; where it does
    not, a sheet is made anew. So nothing can be told of one fact from the sheet of another, and
    who may see a fact is none of a sheet's business.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._lock = threading.Lock()
        self.forgotten = 0
        """How often all were dropped: what was read before an erasure is not kept after it."""
        self.forget()
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop all sheets: they have people's words."""
        self.forgotten += 1
        self._columns = _Columns(_MOST)

    def roll(self, facts: Sequence[Fact]) -> Roll:
        """These facts with what is known of them."""
        columns = self._columns
        known = columns.places.get
        found: list[int] = []
        for fact in facts:
            kept = known(fact.id)
            if kept is None or kept[1] is not fact:
                return self._added(facts)
            found.append(kept[0])
        return Roll(facts, columns, np.array(found, np.int64))

    def _added(self, facts: Sequence[Fact]) -> Roll:
        """The roll of facts of which some are not known."""
        with self._lock:
            columns = self._columns
            known = columns.places
            missing = [fact for fact in facts if known.get(fact.id, (0, None))[1] is not fact]
            if columns.filled + len(missing) > columns.size:
                columns = self._columns = _Columns(_MOST)
                missing = list(facts)
            if len(missing) > columns.size or any(is_longer(f.value, _LONG) for f in missing):
                columns = _Columns(len(facts))  # for this once
                missing = list(facts)
            columns.add([Sheet(fact, self._terms) for fact in {f.id: f for f in missing}.values()])
            places = [columns.places[fact.id][0] for fact in facts]
        return Roll(facts, columns, np.array(places, np.int64))


class LastRoll:
    """Remembers the last roll for who asks for the same facts again."""

    def __init__(self, sheets: Sheets) -> None:
        self._sheets = sheets
        self._last: Roll | None = None

    def roll(self, facts: Sequence[Fact]) -> Roll:
        last = self._last
        if last is not None and len(last.facts) == len(facts) and all(map(is_, last.facts, facts)):
            return last
        self._last = self._sheets.roll(facts)
        return self._last
