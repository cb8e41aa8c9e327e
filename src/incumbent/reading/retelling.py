"""Retelling: another value for a thing whose value is known, in whatever words.

"I rang the office and the ferry leaves at 7:40 am." and then "Bad luck, they pushed the ferry back
to 8:15 am.": both give the ferry a time, plainly, so the one changes in the words of the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.causes import base_of, begins_at, ends_at
from incumbent.reading.form import Known, Relation, RelationKind, Span, Statement, StatementKind
from incumbent.reading.naming import is_of_the_past, narrows
from incumbent.reading.telling import Told, told_in
from incumbent.reading.things import is_one_at_a_time, left_over, name_of, tells_of_change

_NAMES: Final = frozenset({"name", "term"})
_MOST_MORE: Final = 2
"""So many words behind the name of a thing may be a verb: "the harvest date slipped to"."""


def retold(statements: Sequence[Statement], known: Sequence[Known]) -> Iterator[Relation]:
    """What the statements of a turn give another value to."""
    for number, said in enumerate(statements):
        if said.kind is not StatementKind.STATES:
            continue
        if narrows(said) or is_of_the_past(said.text):
            continue  # it leaves what holds for all, and now
        for told in told_in(said.text, said.parts):
            if not told.is_plain:
                continue
            for fact in known:
                old = None if fact.by_machine else _old(fact, told, said)
                if old is not None:
                    yield _changes(number, said, told, fact, old)


def _changes(number: int, said: Statement, told: Told, fact: Known, old: Part) -> Relation:
    is_said = tells_of_change(said.text) or any(one.normal == old.normal for one in said.parts)
    is_certain = (fact.is_here or is_said or fact.key) and not _rests_on(fact, told.name)
    kind = RelationKind.PART if is_certain else RelationKind.DOUBTS
    if is_certain and not fact.key and _is_all(fact, told.name):
        kind = RelationKind.REPLACES
    new = (said.start + told.value[0], said.start + told.value[1])
    return Relation(
        kind,
        fact.id,
        number,
        thresholds.TOLD,
        said.text[:80],
        is_told=True,
        old=(old.start, old.end),
        new=new,
    )


def _is_all(fact: Known, name: frozenset[str]) -> bool:
    """Whether something known says nothing but what a thing is."""
    for one in told_in(fact.text, fact.parts):
        if one.name == name:
            spans = [(one.thing.start, one.thing.end), one.value]
            return not left_over(fact.text, spans)
    return False


def _rests_on(fact: Known, name: frozenset[str]) -> bool:
    """Whether something known says more than this value, and that it follows from it."""
    told = () if fact.key else told_in(fact.text, fact.parts)
    for one, other in pairwise(told):
        between = fact.text[ends_at(one) : begins_at(other)]
        base = base_of(fact.text[: begins_at(one)], between)
        if base is not None and (one, other)[base].name == name:
            return True
    return False


def _old(fact: Known, told: Told, said: Statement) -> Part | None:
    """The value that something known gives to the same thing, where it is another of the kind."""
    found = _value_of(fact, told, said.text)
    if found is None or found.normal == told.normal:
        return None
    kinds = {found.kind, told.kind}
    if len(kinds) > 1 and not kinds <= _NAMES:
        return None
    new = next((one for one in said.parts if (one.start, one.end) == told.value), None)
    units = {one.role for one in (found, new) if one is not None and one.role}
    return found if len(units) < 2 else None


def _value_of(fact: Known, told: Told, text: str) -> Part | None:
    if not fact.key:
        for one in told_in(fact.text, fact.parts):
            if one.is_plain and _is_same(one.name, told, text):
                value = next((p for p in fact.parts if (p.start, p.end) == one.value), None)
                text_of_it = fact.text[slice(*one.value)]
                return value or Part(one.kind, text_of_it, one.normal, "", *one.value)
        return None
    if not is_one_at_a_time(fact.key) or not _is_same(name_of(fact.key, fact.subject), told, text):
        return None
    typed = [part for part in fact.parts if part.kind != "term"]
    if typed:
        return typed[0] if len(typed) == 1 else None
    start = len(fact.text) - len(fact.value)
    whole: Span = (start, len(fact.text))
    return Part("term", fact.value, fact.value.lower(), "", *whole) if fact.value else None


def _is_same(name: frozenset[str], told: Told, text: str) -> bool:
    """Whether a name is that of the thing that is told of, a verb behind it aside."""
    if name == told.name:
        return True
    gap = text[told.thing.end : told.value[0]].strip()
    is_moved = name < told.name and gap in ("to", "at", "up to", "down to", "back to")
    return is_moved and len(told.name - name) <= _MOST_MORE
