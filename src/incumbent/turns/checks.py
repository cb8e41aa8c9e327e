"""Checks: what a reading may touch, for every reader alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from incumbent.language.lexicon import word_set
from incumbent.language.tokens import stem
from incumbent.model.fact import UNNAMED, Fact
from incumbent.reading.form import Claim, Reading, Relation, RelationKind
from incumbent.reading.things import name_of, words_of
from incumbent.turns.situation import Situation, sentence_of

_SOMEBODY: Final = word_set("he she it they him her them his its their hers theirs")


def checked(reading: Reading, situation: Situation) -> Reading:
    """A reading without what it may not do, or says of what is not there."""
    return replace(reading, relations=tuple(_allowed(reading, situation)))


def _allowed(reading: Reading, situation: Situation) -> Iterator[Relation]:
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
        # What is said of one is not said of another, however alike the words are.
        if claim is not None and fact.key != UNNAMED and claim.subject != fact.subject:
            continue
        if claim is not None and one.kind is RelationKind.PART and _is_of_another(claim, fact):
            continue
        if one.kind is RelationKind.PART and one.old is not None:
            text, shift = sentence_of(fact)
            if not shift <= one.old[0] < one.old[1] <= len(text):
                continue
            if not one.is_told and not _may_mean(reading.statements[one.statement].text, fact):
                one = replace(one, kind=RelationKind.DOUBTS, old=None, new=None)
        yield one


def _may_mean(text: str, fact: Fact) -> bool:
    """Whether words can be about whom a fact is about: they name them, or say "her"."""
    said = {stem(word.group().lower()) for word in words_of(text)}
    about = {stem(word.group().lower()) for word in words_of(fact.subject or "")}
    return not about or not about.isdisjoint(said) or not said.isdisjoint(_SOMEBODY)


def _is_of_another(claim: Claim, fact: Fact) -> bool:
    """Whether a statement that gives a name says nothing of the thing that a fact is about."""
    name = name_of(claim.attribute, claim.subject)
    if fact.key != UNNAMED:
        return name.isdisjoint(name_of(fact.key, None))
    told = sentence_of(fact)[0]
    return name.isdisjoint(stem(word.group().lower()) for word in words_of(told))
