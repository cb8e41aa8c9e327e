"""Checks: what a reading may touch, for every reader alike, and what it says across ranks.

"Visitors sign in at the north gate", says Security, and somebody below: "... at the loading dock".
Whoever stands lower is not believed, whoever stands higher is, and in both cases the rules decide:
here it is only found that the two speak of one thing. What people say of themselves is of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from typing import Final

from incumbent.language.lexicon import word_set
from incumbent.language.speakers import is_machine
from incumbent.language.tokens import stem
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.reading import thresholds
from incumbent.reading.comparing import compared, says_several, stems_of
from incumbent.reading.form import (
    RETOLD,
    Claim,
    Reading,
    Relation,
    RelationKind,
    Statement,
    StatementKind,
)
from incumbent.reading.naming import is_of_the_past
from incumbent.reading.telling import told_in
from incumbent.reading.things import name_of, things
from incumbent.turns.situation import Situation, sentence_of

_SHORT: Final = 8
_GONE: Final = (RelationKind.REPLACES, RelationKind.PART, RelationKind.ENDS)
_IS_NOT: Final = re.compile(
    r"\b(?:is|are|has|have)(?: not|n['’]t)\b(?! [^.!?]*[,;:] )|\b(?:can|could|may|might) be\b",
    re.IGNORECASE,
)
"""Words for what is not so, or only possible: "the hotel can be cancelled"."""
_SOMEBODY: Final = word_set("he she it they him her them his its their hers theirs")


def checked(reading: Reading, situation: Situation) -> Reading:
    """A reading without what it may not do, or says of what is not there."""
    return replace(reading, relations=tuple(_allowed(reading, situation)))


def _allowed(reading: Reading, situation: Situation) -> Iterator[Relation]:
    named = {name_of(one.key, one.subject) for one in situation.facts.values()}
    for one in reading.relations:
        if one.earlier is not None:
            is_tie = one.kind is RelationKind.DEPENDS and one.earlier < len(reading.statements)
            if one.statement is not None and (
                one.earlier < one.statement or (is_tie and one.earlier != one.statement)
            ):
                yield one
            continue
        fact = situation.facts.get(one.fact_id)
        if fact is None or one.statement is None or one.statement >= len(reading.statements):
            continue
        said = reading.statements[one.statement]
        if not one.is_told and _names_another(said.text, fact, named):
            continue
        is_pasted = said.kind is StatementKind.VERBATIM and not fact.source.by_machine
        if one.kind in _GONE and (is_pasted or _leaves(said.text, fact)):
            continue
        if one.kind in _GONE and RETOLD in said.cues:
            one = replace(one, kind=RelationKind.DOUBTS, new=None)
        claim = said.claim
        if claim is not None and _is_of_another(claim, fact, one):
            continue
        if one.kind is RelationKind.PART and one.old is not None:
            text, shift = sentence_of(fact)
            if not shift <= one.old[0] < one.old[1] <= len(text):
                continue
            if not one.is_told and not _may_mean(said.text, fact):
                one = replace(one, kind=RelationKind.DOUBTS, old=None, new=None)
        yield _of_value(one, said, fact)


def _of_value(one: Relation, said: Statement, fact: Fact) -> Relation:
    """A short correction of a named value is one of the value, which keeps its name: "No, it's
    555-0199."."""
    told = one.kind is RelationKind.REPLACES and one.is_told
    if not told or said.claim is not None or fact.is_unnamed or not isinstance(fact.value, str):
        return one
    if len(said.parts) != 1 or len(said.text.split()) > _SHORT:
        return one
    (new,), kinds = said.parts, {part.kind for part in fact.parts}
    if new.kind not in kinds or len(fact.parts) != 1 or len(fact.parts[0].text) < len(fact.value):
        return one
    shift = sentence_of(fact)[1]
    return replace(
        one,
        kind=RelationKind.PART,
        old=(shift, shift + len(fact.value)),
        new=(said.start + new.start, said.start + new.end),
    )


def _leaves(text: str, fact: Fact) -> bool:
    """Whether a statement only tells how a named thing was before, or what else it is not."""
    if fact.is_unnamed or text_of(fact.value).lower() in text.lower():
        return False
    return is_of_the_past(text) or _IS_NOT.search(text) is not None


def _may_mean(text: str, fact: Fact) -> bool:
    """Whether words can be about whom a fact is about: they name them, or say "her"."""
    said, about = stems_of(text), stems_of(fact.subject or "")
    return not about or not about.isdisjoint(said) or not said.isdisjoint(_SOMEBODY)


def _names_another(text: str, fact: Fact, known: Set[frozenset[str]]) -> bool:
    """Whether a statement names a thing that is known and not the one that a fact is about, nor
    anything of its value: "the yearly fee is dropped" says nothing of the opening time."""
    if fact.is_unnamed:
        told = sentence_of(fact)[0]
        own = {one.name for one in told_in(told, fact.parts)}
    else:
        told, own = text_of(fact.value), {name_of(fact.key, fact.subject)}
    said = [name_of(one.key, one.subject) for one in things(text)]
    mentioned = {name for name in known if name and any(name <= one for one in said)}
    if (
        not own
        or not mentioned
        or any(one <= other or other <= one for one in own for other in mentioned)
    ):
        return False
    words = stems_of(text)
    values = [part.text for part in fact.parts] or [told]
    return all(words.isdisjoint(stem(word) for word in one.lower().split()) for one in values)


def _is_of_another(claim: Claim, fact: Fact, one: Relation) -> bool:
    """Whether a statement that gives a name is about something else than a fact, however alike the
    words are: another person, or the read timeout and the write timeout."""
    if fact.is_unnamed:
        name = name_of(claim.attribute, claim.subject)
        return one.kind is RelationKind.PART and name.isdisjoint(stems_of(sentence_of(fact)[0]))
    ours, theirs = name_of(claim.attribute, None), name_of(fact.key, None)
    if claim.subject != fact.subject:
        return True
    if one.is_told:
        return one.kind is RelationKind.PART and ours.isdisjoint(theirs)
    return not (ours <= theirs or theirs <= ours)


_OF_ONESELF: Final = re.compile(r"\b(?:i|my|mine|myself)\b", re.IGNORECASE)
_MOST_MORE: Final = 1
"""A statement with more words that the other has no place for says something else."""
_COMPARED: Final = 300


def across_ranks(
    reading: Reading,
    situation: Situation,
    speaker: str,
    ladder: Ladder,
    rung_of: Callable[[Statement], str],
) -> Reading:
    """A reading with what its statements say otherwise than somebody of another rung has said.
    `rung_of` tells from which rung a statement is spoken."""
    if is_machine(speaker):
        return reading
    found: dict[str, Relation] = {}
    for number, said in enumerate(reading.statements):
        if said.kind is not StatementKind.STATES or RETOLD in said.cues or said.claim is not None:
            continue
        for fact in situation.facts.values():
            if not fact.is_unnamed or fact.source.speaker in (None, speaker):
                continue
            ranks = ladder.rank(fact.standing), ladder.rank(rung_of(said))
            if ranks[0] != ranks[1] and _says_otherwise(fact, said):
                chance, words = thresholds.TOLD, said.text[:80]
                found[fact.id] = Relation(RelationKind.REPLACES, fact.id, number, chance, words)
    kept = (one for one in reading.relations if one.fact_id not in found)
    return replace(reading, relations=(*kept, *found.values()))


def _says_otherwise(fact: Fact, said: Statement) -> bool:
    old, new = text_of(fact.value)[:_COMPARED], said.text[:_COMPARED]
    if _OF_ONESELF.search(old) is not None or _OF_ONESELF.search(new) is not None:
        return False
    how = compared(old, new)
    slot = how.one_slot
    if slot is None or slot.is_first or says_several(old, new):
        return False
    more = how.of_new - how.shared - sum(len(slot.new.split()) for slot in how.slots)
    return how.share >= thresholds.ALIKE and more <= _MOST_MORE
