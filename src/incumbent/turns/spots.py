"""Spots: where a turn says what is known, so that a value that dies is cut out of it as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from incumbent.language.values.comparing import is_said_by
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value
from incumbent.model.fact import Fact
from incumbent.model.records import Spot, WorkingItem
from incumbent.model.values import text_of
from incumbent.reading.form import Reading, Statement, StatementKind
from incumbent.turns.placing import VALUE_KINDS, value_of

_UNREAL: Final = (StatementKind.SUPPOSES, StatementKind.PROPOSES)
_SHORTEST: Final = 2
"""A single digit is said of too many things."""


def spots_in(
    text: str, turn_index: int, reading: Reading, brought: Sequence[Fact], known: Iterable[Fact]
) -> tuple[Spot, ...]:
    """Where a turn says what it brought, where it only supposes, and where it says again what is
    known."""
    unreal = (Spot("", "", s.start, s.end) for s in reading.statements if s.kind in _UNREAL)
    again = (spot for one in reading.statements for spot in _said_again(one, list(known)))
    return (*own_spots(text, turn_index, brought), *unreal, *again)


def own_spots(text: str, turn_index: int, facts: Sequence[Fact]) -> list[Spot]:
    """Where a turn says what it stated: each statement, and each value in it."""
    found = []
    for fact in facts:
        span = _span(text, turn_index, fact)
        if span is None:
            continue
        found.append(Spot(fact.id, text_of(fact.value), *span))
        for part in fact.parts:
            start = text.find(part.text, *span)
            if start >= 0:
                found.append(Spot(fact.id, part.text, start, start + len(part.text)))
    return found


def _span(text: str, turn_index: int, fact: Fact) -> tuple[int, int] | None:
    """Where a turn says a fact. One that it confirms was said first in another turn."""
    if fact.source.turn_index == turn_index:
        return fact.source.span
    told = text_of(fact.value).rstrip(" .!")
    start = text.find(told)
    return (start, start + len(told)) if told and start >= 0 else None


def retraced(item: WorkingItem, facts: Sequence[Fact]) -> WorkingItem:
    """The turn before, with the places where it had already said what was stated just now. Whoever
    says "yes, that one" states what the other has just offered."""
    known = {(spot.fact_id, spot.start) for spot in item.spots}
    told = text_of(item.value)
    spots = [
        spot for spot in _echoes(find(told), 0, facts) if (spot.fact_id, spot.start) not in known
    ]
    if not spots:
        return item
    states = tuple(dict.fromkeys((*item.states, *(spot.fact_id for spot in spots))))
    return replace(item, states=states, spots=(*item.spots, *spots))


def _said_again(said: Statement, known: Sequence[Fact]) -> Iterator[Spot]:
    """Where a statement says again, in whatever form, what a fact in office says."""
    if known:
        values = [value_of(part) for part in said.parts if part.kind in VALUE_KINDS] or find(
            said.text
        )
        yield from _echoes(values, said.start, known)


def _echoes(values: Iterable[Value], shift: int, facts: Sequence[Fact]) -> Iterator[Spot]:
    standing = [(fact, part) for fact in facts for part in fact.parts if part.kind in VALUE_KINDS]
    for value in values if standing else ():
        for fact, held in standing:
            is_long = len(value.text) >= _SHORTEST
            if is_long and value.kind == held.kind and is_said_by(value_of(held), value):
                yield Spot(fact.id, held.text, value.start + shift, value.end + shift)
