"""Amendments: one stretch of an earlier statement, changed in editorial brackets."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from incumbent.engine.doubts import doubters
from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.reading.amending import amended
from incumbent.reading.comparing import stems_of
from incumbent.reading.form import Relation, RelationKind, Statement
from incumbent.turns.circumstances import Circumstances, history_of
from incumbent.turns.placing import again_said, amended_parts
from incumbent.turns.proposals import Proposals
from incumbent.turns.situation import sentence_of

OVER: Final = "no longer current"
"""What stands in brackets where a value is over and nothing is said to take its place."""
DOUBTED: Final = "doubted"
"""Evidence of a verdict: where in a fact the stretch stands that its statement puts in doubt."""
_TELLING: Final = 4
"""A word that tells what is spoken of has so many letters."""


class Amendments:
    """The changes that one turn makes in what is known."""

    def __init__(
        self,
        registrar: Registrar,
        proposals: Proposals,
        around: Circumstances,
        facts: Mapping[str, Fact],
    ) -> None:
        self._registrar = registrar
        self._proposals = proposals
        self._around = around
        self._facts = facts
        self._held_back: set[str] = set()
        self._made: dict[str, tuple[Fact, tuple[tuple[int, int], ...]]] = {}
        """What became of the facts in which this turn changes something: each place, and by how
        many characters it grew."""

    def proposed(self, said: Statement, one: Relation, gone: Container[str]) -> Proposal | None:
        """A fact with one stretch changed, as a proposal; None if that cannot or may not be."""
        fact, moved = self._as_amended(one)
        if fact is None or one.old is None or fact.id in gone:
            return None
        if not self._proposals.may_act_on(said, [fact]) or not isinstance(fact.value, str):
            return None
        if fact.is_unnamed and not self.is_own(fact):
            return None  # nobody's words are edited by somebody else's
        new = self._around.text[slice(*one.new)] if one.new is not None else OVER
        shift = sentence_of(fact)[1] - moved
        old = (one.old[0] - shift, one.old[1] - shift)
        if old[0] < 0 or old[1] > len(fact.value):
            return None
        if one.new is None and not fact.is_unnamed:
            return None
        if fact.is_unnamed and self._is_doubted_besides(fact, old, gone):
            self._held_back.add(fact.id)
            return None
        is_whole = not fact.is_unnamed and fact.value.strip() == fact.value[old[0] : old[1]]
        value = new if is_whole else amended(fact.value, old, new)
        proposal = self._proposals.of(said, None)
        source = replace(
            proposal.source,
            parts=amended_parts(fact.parts, old, said, one.new, len(value) - len(fact.value)),
            earlier=history_of(fact),
        )
        return replace(
            again_said(proposal, fact),
            value=value,
            source=source,
            supersedes=fact.id,
            scope=fact.scope,
            scope_id=fact.scope_id,
        )

    def note(self, one: Relation, made: Iterable[Fact]) -> None:
        """Note what has come of a proposal: the next change of the same fact is in that."""
        for after in made:
            fact, changes = self._made.get(one.fact_id, (self._facts[one.fact_id], ()))
            assert one.old is not None
            change = (one.old[0], len(after.value) - len(fact.value))
            self._made[one.fact_id] = (after, (*changes, change))

    def puts_in_doubt(self, fact: Fact) -> bool:
        """Whether a change that could not be made in the words of a fact puts it in doubt."""
        return fact.id in self._held_back or not self.is_own(fact)

    def _is_doubted_besides(self, fact: Fact, old: tuple[int, int], gone: Container[str]) -> bool:
        """Whether something else in a fact is in doubt than the stretch that changes, by what
        still stands. In its new words the doubt would be lost."""
        lens, reader = self._registrar.lens, self._registrar.transaction
        statements = doubters(reader, lens, [fact]).get(fact.id, ())
        return any(one.id not in gone and not self._is_about(one, fact, old) for one in statements)

    def _is_about(self, statement: Fact, fact: Fact, old: tuple[int, int]) -> bool:
        """Whether a statement against a fact speaks of this stretch of it: who read it said so, or
        it has a value of that kind, or words of it."""
        told = [
            one.evidence[DOUBTED][fact.id]
            for one in self._registrar.transaction.verdicts([statement.id])
            if fact.id in one.evidence.get(DOUBTED, ())
        ]
        if told:
            return any(start < old[1] and old[0] < end for start, end in told)
        return _is_alike(statement, fact, old)

    def is_own(self, fact: Fact) -> bool:
        """Whether a fact is in the words of whoever speaks now, or was not said by anybody."""
        return fact.source.speaker in (None, self._around.speaker.name)

    def _as_amended(self, one: Relation) -> tuple[Fact | None, int]:
        """A fact as this turn has changed it so far, and how far the stretch has moved by that."""
        fact, changes = self._made.get(one.fact_id, (self._facts.get(one.fact_id), ()))
        start = one.old[0] if one.old is not None else 0
        return fact, sum(grown for at, grown in changes if at < start)


def in_question(relations: Iterable[Relation], doubts: Container[str]) -> dict[str, Any]:
    """The evidence of a statement that puts only a stretch of a fact in doubt."""
    found = {
        one.fact_id: [*one.old]
        for one in relations
        if one.kind is RelationKind.DOUBTS and one.old is not None and one.fact_id in doubts
    }
    return {DOUBTED: found} if found else {}


def _is_alike(statement: Fact, fact: Fact, old: tuple[int, int]) -> bool:
    kinds = {part.kind for part in fact.parts if part.start < old[1] and old[0] < part.end}
    if not kinds.isdisjoint(part.kind for part in statement.parts):
        return True
    there, said = (stems_of(text) for text in (fact.value[slice(*old)], text_of(statement.value)))
    return any(len(word) >= _TELLING for word in there & said)
