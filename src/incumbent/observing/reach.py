"""Reach: which statements in office a statement could put out of date, whatever the model says.

What rules refuse in the end need not be read at all.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from incumbent.language.detection import Relation, are_comparable
from incumbent.language.lexicon import lexicon
from incumbent.language.stances import (
    is_for_later,
    is_of_oneself_alone,
    only_adds,
    only_denies,
    opposition,
)
from incumbent.language.things import tells_of_another
from incumbent.language.tokens import stem, stems
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.observing.relating import parts_in, sentence_of
from incumbent.observing.replacing import Replacing
from incumbent.observing.rewriting import JOINT
from incumbent.observing.stretches import Stretches
from incumbent.observing.understanding import Understood, typed

_STATED = 0.4
"""How likely a stretch must state something to put anything out of date."""


class Reach:
    """Tells of the statements of one turn what they could put out of date."""

    def __init__(self, replacing: Replacing, stretches: Stretches, speaker: str) -> None:
        self._replacing = replacing
        self._stretches = stretches
        self._speaker = speaker

    def of(
        self,
        said: Understood,
        key: str,
        subject: str | None,
        facts: Iterable[Fact],
        requested: Container[str],
    ) -> list[Fact]:
        """Of these facts, those that a statement at this address could put out of date."""
        if tells_of_later(said):
            return []
        only_speaks = self.only_speaks_of_it(said)
        asks = only_speaks and not only_adds(said.statement.text)
        return [
            fact
            for fact in facts
            if (fact.multi_valued or self._may_go_by_name(said, fact, key, subject))
            and (not only_speaks or (asks and fact.id in requested) or is_opposed(said, fact))
            and self.may_end(said, fact)
        ]

    def _may_go_by_name(self, said: Understood, fact: Fact, key: str, subject: str | None) -> bool:
        """Whether what was said under a name could go, or be in doubt."""
        if not is_named(said, fact) and (
            not may_end_a_name(said, fact) or are_of_other_kinds(said, fact)
        ):
            return False
        return self._replacing.relation(said, fact, key, subject) is not Relation.OTHER

    def only_speaks_of_it(self, said: Understood) -> bool:
        """Whether a statement adds to what is so, or is no statement of what is so."""
        if said.corrects or JOINT in said.text:
            return False
        if only_adds(said.statement.text):
            return True
        kinds = self._stretches.kinds(said)
        return bool(kinds) and kinds["states"] + kinds["orders"] < _STATED

    def may_end(self, said: Understood, fact: Fact) -> bool:
        """Whether nothing in the words of both tells that one leaves the other as it is."""
        sentence = sentence_of(fact, text_of(fact.value))[0]
        if is_plain_denial(said):
            # What has not happened leaves everything as it was, but for what it denies.
            return bool(opposition(said.statement.text, sentence))
        others = (fact.source.speaker or "") != self._speaker
        if others and is_of_oneself_alone(said.text) and is_of_oneself_alone(sentence):
            return False  # each speaks of themselves
        return not tells_of_another(said.text, sentence) and not _are_contrasted(said, fact)


def tells_of_later(said: Understood) -> bool:
    """Whether a statement tells what will be so, which ends nothing that is so now."""
    begins = said.validity.valid_from if said.validity is not None else None
    return (begins is not None and begins > said.at) or is_for_later(said.text)


def is_opposed(said: Understood, fact: Fact) -> bool:
    """Whether a statement denies a fact, or tells another state of its thing."""
    return bool(opposition(said.statement.text, sentence_of(fact, text_of(fact.value))[0]))


def is_plain_denial(said: Understood) -> bool:
    """Whether a statement says what is not so, and nothing of what is so instead."""
    says = said.is_anchored or typed(said.denied) or (said.is_fragment and typed(said.parts))
    # "I can't tell: the car has been dropped" denies nothing of the car.
    opening, _, told = said.statement.text.rpartition(": ")
    return not says and only_denies(told if opening else said.statement.text)


def is_named(said: Understood, fact: Fact) -> bool:
    """Whether a statement has a word of the name of a fact."""
    return any(stem(word) in said.frame.words for word in fact.key.split("_"))


def may_end_a_name(said: Understood, fact: Fact) -> bool:
    """Whether a statement that has no name itself may end what was said under one.

    "First week at Brightside" does; "the write timeout" leaves the read timeout alone.
    """
    if fact.source.turn_index is None or said.attribute is not None:
        return False
    return not all(stem(word) in said.frame.words for word in fact.key.split("_"))


def are_of_other_kinds(said: Understood, fact: Fact) -> bool:
    """Whether both say values, and none that could take the place of one of the other's."""
    ours, theirs = typed(said.parts), typed(parts_in(fact))
    if not ours or not theirs:
        return False
    return not any(are_comparable(old, new) for old in theirs for new in ours)


def _are_contrasted(said: Understood, fact: Fact) -> bool:
    """Whether each names the other side of a pair: staging and production, before and after."""
    ours, theirs = stems(said.text), stems(text_of(fact.value))
    return any(
        frozenset((one, other)) in lexicon().contrasts
        for one in ours - theirs
        for other in theirs - ours
    )
