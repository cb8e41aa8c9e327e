"""Overtaking: what an update leaves nothing of, and what gets another value.

"Update: the interview moved to 11:00 via Zoom" takes the place of "the interview is at 14:00 in
Room A": it names the same thing, and has a value for each that the earlier one had. Where only some
of them are said anew, the rest stands.

Words do not matter where both give the thing a value plainly: "I rang the office and the ferry
leaves at 7:40 am." changes with "Bad luck, they pushed the ferry back to 8:15 am.".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from incumbent.language.cues import Cues
from incumbent.language.stances import Opposition, changes_state, contradicts, opposition
from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.causes import base_of, begins_at, ends_at
from incumbent.reading.comparing import Token, fillers, stems_of, tokens
from incumbent.reading.form import Known, Relation, RelationKind, Span, Statement, StatementKind
from incumbent.reading.naming import is_of_the_past, narrows
from incumbent.reading.telling import Told, told_in
from incumbent.reading.things import is_one_at_a_time, left_over, name_of, tells_of_change

_LONGEST: Final = 400
_ENOUGH: Final = 2
"""So many words of a name must be the same, unless one of them is a code."""
_SORTS: Final = {"date": "when", "time": "when", "duration": "when", "term": "name"}
"""Kinds of values that take each other's place."""
_GONE: Final = (RelationKind.REPLACES, RelationKind.ENDS, RelationKind.PART)


def overtaken(statements: Sequence[Statement], known: Sequence[Known]) -> Iterator[Relation]:
    """What an update of the same thing, or its end or its denial, leaves nothing of."""
    yield from retold(statements, known)
    for number, said in enumerate(statements):
        if said.kind is StatementKind.STATES:
            yield from _overtaken_by(number, said, known)


def _overtaken_by(number: int, said: Statement, known: Sequence[Known]) -> Iterator[Relation]:
    cues = Cues(said.text)
    ended, announces = cues.what_is_over, cues.announces
    for fact in known:
        if ended is not None or announces:
            shared = _named_by_both(fact, said)
            is_over = ended is not None and _is_all_of(shared, ended, said.parts)
            is_new = announces and fact.is_here and _leaves_nothing(fact, said, shared)
            if shared and (is_over or is_new):
                yield _replaces(number, said, fact)
                continue
        if not fact.key:
            yield from _denied_or_over(number, said, fact)


def _denied_or_over(number: int, said: Statement, fact: Known) -> Iterator[Relation]:
    """What a statement denies, or says to be in another state now: approved, and then cancelled."""
    new, old = said.text[:_LONGEST], fact.text[:_LONGEST]
    changed = changes_state(new, old)
    if contradicts(new, old) or changed is Opposition.SURE:
        yield _replaces(number, said, fact)
    elif changed is Opposition.LIKELY:
        yield replace(_replaces(number, said, fact), kind=RelationKind.DOUBTS)


def _replaces(number: int, said: Statement, fact: Known) -> Relation:
    chance = thresholds.TOLD
    return Relation(RelationKind.REPLACES, fact.id, number, chance, said.text[:80], is_told=True)


def _told(text: str) -> list[Token]:
    return [one for one in tokens(text[:_LONGEST]) if one.text.lower() not in fillers()]


def _named_by_both(fact: Known, said: Statement) -> list[Token]:
    """The words that a statement opens with, as far as the known one has them in a row."""
    new, old = _opening(said), [one.stem for one in _told(fact.text)]
    count = 0
    while count < len(new) and _has_row(old, [one.stem for one in new[: count + 1]]):
        count += 1
    shared = new[:count]
    is_code = any(p.kind == "code" and _covers(p, one) for p in said.parts for one in shared)
    return shared if count >= _ENOUGH or is_code else []


def _opening(said: Statement) -> list[Token]:
    """The words of a statement behind its label: "Update:", "Critical:"."""
    found = _told(said.text)
    while found and said.text[found[0].end : found[0].end + 1] == ":":
        found = found[1:]
    return found


def _has_row(words: Sequence[str], row: Sequence[str]) -> bool:
    return any(list(words[n : n + len(row)]) == list(row) for n in range(len(words)))


def _covers(part: Part, token: Token) -> bool:
    return part.start <= token.start and token.end <= part.end


def _is_all_of(shared: Sequence[Token], thing: str, parts: Sequence[Part]) -> bool:
    """Whether the words that both have name one thing that is over, by a code of its own."""
    named = {one.stem for one in _told(thing)}
    is_code = any(p.kind == "code" and _covers(p, one) for p in parts for one in shared)
    return is_code and bool(named) and named <= {one.stem for one in shared}


def _leaves_nothing(fact: Known, said: Statement, shared: Sequence[Token]) -> bool:
    """Whether an update has a value for each that the known one had."""
    stems = {one.stem for one in shared}
    old = _sorts(fact.text, fact.parts, stems)
    if not old:
        denied = opposition(said.text[:_LONGEST], fact.text[:_LONGEST])
        return denied in (Opposition.SURE, Opposition.LIKELY)
    return old <= _sorts(said.text, said.parts, stems)


def _sorts(text: str, parts: Sequence[Part], shared: set[str]) -> set[str]:
    """The kinds of the values of a text that do not belong to the name of its thing."""
    return {
        _SORTS.get(part.kind, part.kind)
        for part in parts
        if not stems_of(text[part.start : part.end]) <= shared
    }


def besides(found: Sequence[Relation], more: Iterable[Relation]) -> Iterator[Relation]:
    """Relations to facts that nothing is said to be gone of yet."""
    done = {one.fact_id for one in found if one.kind is not RelationKind.DOUBTS}
    yield from (one for one in more if one.fact_id not in done)


def instead_of(found: Sequence[Relation], surer: Iterable[Relation]) -> tuple[Relation, ...]:
    """Relations, and instead of some of them what is surer of the same facts."""
    certain = {one.fact_id for one in found if one.kind is RelationKind.PART and one.is_told}
    told = {(one.fact_id, one.kind): one for one in surer if one.fact_id not in certain}
    surely = {fact_id for fact_id, _ in told}
    return (
        *(one for one in found if one.fact_id not in surely or one.earlier is not None),
        *told.values(),
    )


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
