"""Placing: in which order statements are filed, and where values come to stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from incumbent.engine.proposal import Proposal
from incumbent.language.values.comparing import is_said_by
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.model.fact import Fact, Part
from incumbent.reading.form import Claim, Reading, Relation, RelationKind, Statement

ASKED: Final = "what was asked"
_KINDS: Final = frozenset(ValueKind)
_WAYS: Final = frozenset({"phone", "email", "url"})
_SHORT: Final = 12
"""A longer statement is kept beside what it changes."""


def is_other(claim: Claim, said: Statement, fact: Fact) -> bool:
    """Whether a new value is of another kind than the present one: a time and an amount, or what
    merely tells of a way to reach somebody: "my phone number is easy"."""
    start, end = claim.start - said.start, claim.end - said.start
    new = {part.kind for part in said.parts if start <= part.start and part.end <= end}
    old = {part.kind for part in fact.parts}
    if not new - {"term"}:
        return not old.isdisjoint(_WAYS)
    return bool(old - {"term"}) and new.isdisjoint(old)


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


def rests_on_question(relations: Iterable[Relation]) -> bool:
    return any(one.rests_on == ASKED for one in relations)


def again_said(proposal: Proposal, fact: Fact) -> Proposal:
    """A statement that says what is known: it confirms it, under its name and in its words."""
    return replace(
        proposal,
        key=fact.key,
        subject=fact.subject,
        value=fact.value,
        multi_valued=fact.multi_valued,
    )


def says_more(said: Statement, done: Sequence[Relation]) -> bool:
    """Whether a statement has more to keep than the values that it changed."""
    if any(one.new is None for one in done):
        return True
    spans = [(one.new[0] - said.start, one.new[1] - said.start) for one in done if one.new]
    if any(all((part.start, part.end) != span for part in said.parts) for span in spans):
        return True
    rest = [part for part in said.parts if (part.start, part.end) not in spans]
    return bool(rest) or len(said.text.split()) > _SHORT


def says_the_same(claim: Claim, said: Statement, fact: Fact) -> bool:
    """Whether a value is the one that a fact has, in other words: $4.5k and 4,500 dollars."""
    start, end = claim.start - said.start, claim.end - said.start
    new = [p for p in said.parts if start <= p.start and p.end <= end and p.kind in _KINDS]
    old = [part for part in fact.parts if part.kind in _KINDS]
    return (
        bool(new)
        and len(new) == len(old)
        and all(is_said_by(_value(a), _value(b)) for a, b in zip(old, new, strict=True))
    )


def gone_parts(gone: Fact, now: Fact | None) -> tuple[Part, ...]:
    """The values of a fact that left office which the one in its place does not have."""
    kept = {part.normal for part in now.parts} if now is not None else set()
    return tuple(part for part in gone.parts if part.normal not in kept)


def _value(part: Part) -> Value:
    return Value(ValueKind(part.kind), part.text, part.start, part.end, part.normal)
