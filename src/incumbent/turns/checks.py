"""Checks: what a reading may touch, for every reader alike."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from incumbent.language.tokens import stem
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.reading.form import Claim, Reading, Relation, RelationKind
from incumbent.reading.telling import told_in
from incumbent.reading.things import name_of, things, words_of
from incumbent.turns.situation import UNNAMED, Situation, sentence_of


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
        claim = reading.statements[one.statement].claim
        if not one.is_told and _names_another(reading.statements[one.statement].text, fact, named):
            continue
        # What is said of one is not said of another, however alike the words are.
        if claim is not None and fact.key != UNNAMED and claim.subject != fact.subject:
            continue
        if claim is not None and one.kind is RelationKind.PART and _is_of_another(claim, fact):
            continue
        if one.kind is RelationKind.PART and one.old is not None:
            text, shift = sentence_of(fact)
            if not shift <= one.old[0] < one.old[1] <= len(text):
                continue
        yield one


def _names_another(text: str, fact: Fact, known: Set[frozenset[str]]) -> bool:
    """Whether a statement names a thing that is known and not the one that a fact is about, nor
    anything of its value: "the yearly fee is dropped" says nothing of the opening time."""
    if fact.key == UNNAMED:
        told = sentence_of(fact)[0]
        own = {one.name for one in told_in(told, fact.parts)}
    else:
        told, own = text_of(fact.value), {name_of(fact.key, fact.subject)}
    said = [name_of(one.key, one.subject) for one in things(text)]
    mentioned = {name for name in known if name and any(name <= one for one in said)}
    if not own or not mentioned or any(_share(one, other) for one in own for other in mentioned):
        return False
    words = {stem(word.group().lower()) for word in words_of(text)}
    values = [part.text for part in fact.parts] or [told]
    return all(words.isdisjoint(stem(word) for word in one.lower().split()) for one in values)


def _share(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two names may be for one thing: all words of the one are in the other."""
    return one <= other or other <= one


def _is_of_another(claim: Claim, fact: Fact) -> bool:
    """Whether a statement that gives a name says nothing of the thing that a fact is about."""
    name = name_of(claim.attribute, claim.subject)
    if fact.key != UNNAMED:
        return name.isdisjoint(name_of(fact.key, None))
    told = sentence_of(fact)[0]
    return name.isdisjoint(stem(word.group().lower()) for word in words_of(told))
