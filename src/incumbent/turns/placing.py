"""Placing: in which order statements are filed, where values come to stand, and whether a new value
under a name takes the place of the one that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from incumbent.engine.proposal import Proposal
from incumbent.language.values.comparing import is_said_by
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.model.fact import Fact, Part
from incumbent.model.values import text_of
from incumbent.reading.form import NAMED, Claim, Reading, Relation, RelationKind, Statement
from incumbent.reading.things import is_of_a_plan, is_one_at_a_time, tells_of_change

ASKED: Final = "what was asked"
VALUE_KINDS: Final = frozenset(ValueKind)
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
    """The statements of a turn by their numbers, a reason before what follows from it, and what is
    said over and over once."""
    waiting: dict[int, list[int]] = {}
    for one in reading.relations:
        number, base = one.statement, one.earlier
        if number is None or base is None or one.kind is not RelationKind.DEPENDS:
            continue
        if base > number:
            waiting.setdefault(base, []).append(number)
    passed = {number for numbers in waiting.values() for number in numbers} | _said_again(reading)
    order: list[int] = []
    for number in range(len(reading.statements)):
        if number not in passed:
            order += [number, *waiting.get(number, ())]
    return order


def _said_again(reading: Reading) -> set[int]:
    """The statements that were made before in the same turn, word for word, where nothing between
    them changes anything."""
    related = {number for one in reading.relations for number in (one.statement, one.earlier)}
    said: set[str] = set()
    of_name: dict[tuple[str, str | None], str] = {}
    found = set()
    for number, one in enumerate(reading.statements if not reading.acts else ()):
        if number in related:
            said.clear()
        elif one.text in said:
            found.add(number)
        else:
            if one.claim is not None:
                name = (one.claim.attribute, one.claim.subject)
                said.discard(of_name.get(name, ""))
                of_name[name] = one.text
            said.add(one.text)
    return found


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
    new = [p for p in said.parts if start <= p.start and p.end <= end and p.kind in VALUE_KINDS]
    old = [part for part in fact.parts if part.kind in VALUE_KINDS]
    return (
        bool(new)
        and len(new) == len(old)
        and all(is_said_by(value_of(a), value_of(b)) for a, b in zip(old, new, strict=True))
    )


def gone_parts(gone: Fact, now: Fact | None) -> tuple[Part, ...]:
    """The values of a fact that left office which the one in its place does not have."""
    kept = {part.normal for part in now.parts} if now is not None else set()
    return tuple(part for part in gone.parts if part.normal not in kept)


def value_of(part: Part) -> Value:
    """A part as a value."""
    return Value(ValueKind(part.kind), part.text, part.start, part.end, part.normal)


_TAKES: Final = (
    RelationKind.REPLACES,
    RelationKind.ENDS,
    RelationKind.PART,
    RelationKind.CONFIRMS,
)


def takes_over(said: Statement, held: Sequence[Fact], relations: Sequence[Relation]) -> bool:
    """Whether a name is taken over by a new value. A reader who is sure that both stand is
    believed; where it says nothing, the name decides. A value of another kind takes nothing over,
    nor does one more of what there can be several of."""
    claim = said.claim
    if claim is None or any(is_other(claim, said, fact) for fact in held):
        return False
    if NAMED in said.cues:
        taken = {one.fact_id for one in relations if one.kind in _TAKES}
        return all(fact.id in taken for fact in held)
    is_one = is_one_at_a_time(claim.attribute) and not is_of_a_plan(claim.value)
    if not is_one and not tells_of_change(said.text):
        return all(text_of(fact.value) == claim.value for fact in held)
    told = {one.fact_id: one for one in relations}
    return all(fact.id not in told or told[fact.id].kind is not RelationKind.ADDS for fact in held)
