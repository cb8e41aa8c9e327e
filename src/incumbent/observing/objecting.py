"""Objecting: facts that the offline reading of a turn replaced or doubted, and that a model says
still hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from incumbent.engine.doubts import doubters
from incumbent.engine.undo import undo
from incumbent.language.llm.reading import Fate, Objection
from incumbent.language.statements import Kind
from incumbent.model.fact import Fact
from incumbent.model.verdict import Verdict
from incumbent.observing.candidacies import DOUBT, Candidacies
from incumbent.observing.drafting import LONGEST_QUOTE
from incumbent.observing.hearing import Change, Hearing, about_fact
from incumbent.observing.opinions import Proposed
from incumbent.observing.quoting import quoted_in
from incumbent.observing.scrutiny import Declined, Grounds, grounds_for

_NOT_SO = "it was not replaced"


class Objecting:
    """Brings back what was put out of office, or in doubt, by mistake."""

    def __init__(
        self, hearing: Hearing, candidacies: Candidacies, changes: Mapping[str, Change]
    ) -> None:
        self._hearing = hearing
        self._candidacies = candidacies
        self._changes = changes
        self._reopened: list[tuple[Grounds, str]] = []
        """Statements whose offline effect was undone, and the facts that were filed of them."""

    def take(self, objection: Objection) -> None:
        """Undo a replacement that a model objects to."""
        change = self._changes.get(objection.handle)
        fact = change.fact if change is not None else None
        about = about_fact(fact)

        def act() -> Iterable[Proposed]:
            verdict = self._restore(objection, change)
            return [Proposed(objection.turn, *about, "accepted", _NOT_SO, verdict)]

        self._hearing.attempt(objection.turn, about, act)

    def uphold(self, fate: Fate) -> None:
        """Have a fact hold that was replaced, or put in doubt."""
        if fate.handle in self._changes:
            self.take(Objection(fate.turn, fate.quote, fate.handle))
            return
        about = about_fact(self._hearing.known.get(fate.handle))
        self._hearing.attempt(fate.turn, about, lambda: [self._clear(fate)])

    def file_again(self) -> None:
        """Keep what statements say whose effects were undone."""
        for grounds, fact_id in self._reopened:
            verdict = self._file_again(grounds)
            if verdict is not None and verdict.fact_id:
                self._hearing.became[fact_id] = verdict.fact_id

    def _clear(self, fate: Fate) -> Proposed:
        """Settle the doubts that the turns of this request raised, and no others."""
        hearing = self._hearing
        quoted = quoted_in(fate, hearing.turns)
        if fate.handle not in hearing.known:
            raise Declined("it names a fact that the model was not shown")
        fact = hearing.current(fate.handle)
        if fact is None:
            raise Declined("the fact has left office in the meantime")
        registrar = hearing.registrar
        against = doubters(registrar.transaction, registrar.lens, [fact]).get(fact.id, [])
        brought = {one.id for turn in hearing.turns.values() for one in hearing.brought_by(turn)}
        ours = {one.id for one in against}.intersection(brought)
        if not ours:
            return Proposed(
                fate.turn, *about_fact(fact), "agreed", "nothing here speaks against it"
            )
        verdict = registrar.acknowledge(
            fact, reason=quoted.text[:LONGEST_QUOTE], evidence=hearing.evidence, doubts_of=ours
        )
        hearing.decided(quoted.waiting, verdict)
        return Proposed(fate.turn, *about_fact(fact), "accepted", "it is not in doubt", verdict)

    def _restore(self, objection: Objection, change: Change | None) -> Verdict:
        """Undo what the offline reading replaced, as far as nothing has happened to it since."""
        if change is None or change.turn != objection.turn:
            raise Declined("it names no fact that this turn was taken to replace")
        hearing = self._hearing
        grounds = grounds_for(objection, hearing.turns)
        reader, lens = hearing.registrar.transaction, hearing.registrar.lens
        verdict = reader.verdict(change.verdict.id)
        after = lens.glimpse(reader, change.verdict.fact_id)
        if verdict is None or verdict.undone_by is not None or after is None:
            raise Declined("that decision no longer stands")
        if change.after is not None and not after.is_valid:
            raise Declined("what took its place has been replaced in the meantime")
        if hearing.conversation.branch not in (None, after.place):
            raise Declined("a branch changes nothing real")
        undone = undo(
            hearing.registrar,
            verdict.id,
            reason=grounds.quote[:LONGEST_QUOTE],
            evidence=hearing.evidence,
        )
        hearing.decided(grounds.waiting, undone)
        if change.after is not None:
            self._reopened.append((self._statement_of(grounds, after), after.id))
        return undone

    def _statement_of(self, grounds: Grounds, fact: Fact) -> Grounds:
        """The statement that a fact was read off, in the turn of these grounds."""
        for said in grounds.waiting.heard.said:
            if fact.source.span == (said.statement.start, said.statement.end):
                return replace(grounds, said=said)
        return grounds

    def _file_again(self, grounds: Grounds) -> Verdict | None:
        """Keep what a statement says whose effect was undone, unless the model told where it goes.

        Where it contradicts what is in office again, it is contested, and somebody is asked.
        """
        index = grounds.waiting.turn.turn_index
        is_filed = (index, grounds.said.statement.start) in self._candidacies.filed
        if is_filed or grounds.kind in (Kind.RETRACTION, Kind.CONFIRMATION):
            return None
        registrar = self._hearing.registrar
        filing = self._hearing.drafting.filing(grounds.waiting)
        doubtful = max(registrar.settings.contest_below - DOUBT, 0.0)
        proposal = replace(filing.proposal(grounds.said), confidence=doubtful)
        verdict = registrar.propose(proposal, evidence=self._hearing.evidence)
        self._candidacies.record(grounds, verdict, grounds.quote)
        return verdict
