"""Placing: in which order statements are filed, and where values come to stand."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.model.fact import Fact, Part
from incumbent.reading.form import Claim, Reading, RelationKind, Statement


def is_other(claim: Claim, said: Statement, fact: Fact) -> bool:
    """Whether a new value is of another kind than the present one: a time and an amount."""
    start, end = claim.start - said.start, claim.end - said.start
    new = {part.kind for part in said.parts if start <= part.start and part.end <= end}
    old = {part.kind for part in fact.parts}
    return bool(new - {"term"}) and bool(old - {"term"}) and new.isdisjoint(old)


def in_order(reading: Reading) -> list[int]:
    """The statements of a turn by their numbers, a reason before what follows from it."""
    waiting = {
        one.statement: one.earlier
        for one in reading.relations
        if one.kind is RelationKind.DEPENDS and one.earlier is not None
        if one.statement is not None and one.earlier > one.statement
    }
    order: list[int] = []
    for number in range(len(reading.statements)):
        if number in waiting:
            continue
        order.append(number)
        order += [one for one, base in waiting.items() if base == number]
    return order


def amended_parts(
    parts: Iterable[Part],
    old: tuple[int, int],
    said: Statement,
    new: tuple[int, int] | None,
    grown: int,
) -> tuple[Part, ...]:
    """The values of a fact after one stretch of it has changed."""
    found = []
    for part in parts:
        if part.end <= old[0]:
            found.append(part)
        elif part.start >= old[1]:
            found.append(part._replace(start=part.start + grown, end=part.end + grown))
        elif new is not None and (part.start, part.end) == old:
            span = (new[0] - said.start, new[1] - said.start)
            fresh = next((one for one in said.parts if (one.start, one.end) == span), None)
            if fresh is not None:
                first = old[0] + (1 if grown != len(fresh.text) - len(part.text) else 0)
                end = first + len(fresh.text)
                found.append(fresh._replace(role=part.role, start=first, end=end))
    return tuple(found)
