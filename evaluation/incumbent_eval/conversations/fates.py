"""What became of the values of a conversation: live in a context, demoted, or gone.

They are looked up in one context that leaves nothing out: the comprehensive profile, no query and
far more room than it takes. A value is looked for in the lines that come from a turn which says it
of the same thing, so that "2" is not found in every line with a 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import incumbent
from incumbent.context.document import Context, Line
from incumbent.context.rendering import heading_line
from incumbent.model.fact import Fact, Source, Status
from incumbent.model.values import text_of
from incumbent_eval.conversations.endings import StatedValue
from incumbent_eval.conversations.sections import IN_DOUBT, NO_STATE, undated
from incumbent_eval.figures import Share
from incumbent_eval.spoken import SpokenText, same_value

EVERYTHING = 20_000
"""Tokens: more than all that a conversation leaves."""
_LEFT = (Status.SUPERSEDED, Status.RETRACTED)


class ValueFate(StrEnum):
    """Where a value is in the end."""

    LIVE = "live"
    DEMOTED = "demoted"
    RETIRED = "retired"
    """No line says it; a fact that left office does."""
    UNKEPT = "never kept"
    """No line says it, and no fact did."""


@dataclass(frozen=True)
class FateFigures:
    """How many values came to which fate."""

    live: int = 0
    demoted: int = 0
    retired: int = 0
    unkept: int = 0

    @classmethod
    def of(cls, fates: Iterable[ValueFate]) -> FateFigures:
        met = list(fates)
        return cls(*(met.count(fate) for fate in ValueFate))

    def __add__(self, other: FateFigures) -> FateFigures:
        return FateFigures(
            self.live + other.live,
            self.demoted + other.demoted,
            self.retired + other.retired,
            self.unkept + other.unkept,
        )

    @property
    def all(self) -> int:
        return self.live + self.demoted + self.gone

    @property
    def gone(self) -> int:
        return self.retired + self.unkept

    def share(self, count: int) -> float | None:
        return Share(count, self.all).value

    def record(self) -> dict[str, Any]:
        counts = {
            "live": self.live,
            "demoted": self.demoted,
            "gone": self.gone,
            "retired": self.retired,
            "never_kept": self.unkept,
        }
        return {name: Share(count, self.all).record() for name, count in counts.items()}


@dataclass(frozen=True)
class FatedValue:
    """A value, and what became of it."""

    value: StatedValue
    fate: ValueFate


class _Telling:
    """A text, and the turns that it comes from; none where that is not known."""

    def __init__(self, text: str, turns: Iterable[int]) -> None:
        self._said = SpokenText(text)
        self._turns = frozenset(turns)

    def tells(self, value: StatedValue) -> bool:
        known = not self._turns or not self._turns.isdisjoint(value.homes)
        return known and self._said.says(value.triple.value)


class Aftermath:
    """All that a memory holds after a conversation, as a session of the next day sees it."""

    def __init__(self, session: incumbent.Session, fact_ids: Iterable[str]) -> None:
        self._session = session
        self.context: Context = session.context(
            "", budget=EVERYTHING, profile="comprehensive", explain=True
        )
        known = (session.get(fact_id) for fact_id in dict.fromkeys(fact_ids))
        self.facts = {fact.id: fact for fact in known if fact is not None}
        self._live = list(self._lines(doubted=False))
        self._doubted = list(self._lines(doubted=True))
        left = (fact for fact in self.facts.values() if fact.status in _LEFT)
        self._left = [_Telling(text_of(fact.value), turns_of(fact.source)) for fact in left]

    def fate_of(self, value: StatedValue) -> ValueFate:
        for fate, told in (
            (ValueFate.LIVE, self._live),
            (ValueFate.DEMOTED, self._doubted),
            (ValueFate.RETIRED, self._left),
        ):
            if any(one.tells(value) for one in told):
                return fate
        return ValueFate.UNKEPT

    def _lines(self, *, doubted: bool) -> Iterator[_Telling]:
        for line in self.context.lines:
            heading = heading_line(line.section)
            in_doubt = heading.startswith(IN_DOUBT)
            if in_doubt is doubted and not heading.startswith(NO_STATE):
                yield _Telling(undated(line.text), self._turns(line))

    def _turns(self, line: Line) -> Iterator[int]:
        for source in line.sources:
            yield from turns_of(source)
        for fact_id in line.quoted:
            fact = self._session.get(fact_id)
            if fact is not None:
                yield from turns_of(fact.source)


def turns_of(source: Source) -> Iterator[int]:
    """The turns that a fact keeps the words of: their refs are their places."""
    for ref in (source.ref, *(said.ref for said in source.earlier)):
        if ref is not None and ref.isdecimal():
            yield int(ref)


def in_office(session: incumbent.Session) -> list[Fact]:
    """The facts that hold everywhere."""
    return [fact for fact in session.facts() if fact.scope == "global"]


def fates_of(values: Sequence[StatedValue], after: Aftermath) -> list[FatedValue]:
    """What became of each value. One that is over and that a value that holds repeats is left out:
    to see it is right."""
    holding = [value for value in values if value.holds]
    return [
        FatedValue(value, after.fate_of(value))
        for value in values
        if value.holds or not any(_is_same(value, other) for other in holding)
    ]


def _is_same(one: StatedValue, other: StatedValue) -> bool:
    return one.about == other.about and same_value(one.triple.value, other.triple.value)
