"""Candidacies: values under a name that a model proposes, each with the facts that it replaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from incumbent.engine.proposal import Proposal
from incumbent.language.detection import same_part
from incumbent.language.llm.checking import key_of
from incumbent.language.llm.reading import Candidate, Commitment
from incumbent.model.fact import Fact, MemoryType, Part
from incumbent.model.scope import Scope
from incumbent.model.values import check_text, same_value, text_of
from incumbent.model.verdict import Rule, Verdict
from incumbent.observing.drafting import LONGEST_QUOTE, WIDTH
from incumbent.observing.filing import Filing
from incumbent.observing.hearing import Hearing
from incumbent.observing.opinions import Proposed
from incumbent.observing.relating import says_the_same
from incumbent.observing.scrutiny import (
    Declined,
    Grounds,
    Target,
    check_is_meant,
    grounds_for,
    is_out_of_reach,
    targets_of,
)
from incumbent.observing.understanding import typed
from incumbent.observing.waiting import stored_turn

_LEAST_SURE = 0.5
"""Below this nothing is done, as with the offline reading."""
DOUBT = 0.05


class Candidacies:
    """Puts candidates before the rules."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing
        self.filed: set[tuple[int, int]] = set()
        """Turn and beginning of each statement that something came of."""

    def take(self, candidate: Candidate) -> None:
        """Have the rules decide on a candidate."""
        about = (key_of(candidate.attribute), candidate.about or None, candidate.value)
        self._hearing.attempt(candidate.turn, about, lambda: self._take(candidate))

    def record(
        self, grounds: Grounds, verdict: Verdict, value: str, reasons: Sequence[str] = ()
    ) -> Proposed:
        index = grounds.waiting.turn.turn_index
        self._hearing.decided(grounds.waiting, verdict)
        self.filed.add((index, grounds.said.statement.start))
        fact = verdict.fact
        key, subject = (fact.key, fact.subject) if fact is not None else ("", None)
        return Proposed(index, key, subject, value, "accepted", "; ".join(reasons), verdict)

    def _take(self, candidate: Candidate) -> list[Proposed]:
        if candidate.confidence < _LEAST_SURE:
            raise Declined("the model is not sure itself")
        grounds = grounds_for(candidate, self._hearing.turns)
        filing = self._hearing.drafting.filing(grounds.waiting)
        targets, lost = self._targets(candidate, grounds)
        if candidate.commitment is Commitment.RETRACTED:
            return self._retract(candidate, grounds, filing, targets, lost)
        key = key_of(candidate.attribute)
        if not key:
            raise Declined("it does not say what the value is of")
        check_text(key, "key")
        scope = self._hearing.drafting.scope(candidate, grounds, filing)
        if not scope.is_real and self._hearing.conversation.branch is None:
            return self._suppose(candidate, grounds, filing, scope)
        if targets:
            return [
                self._replace(candidate, grounds, filing, target, scope, lost) for target in targets
            ]
        return [self._establish(candidate, grounds, filing, key, scope, lost)]

    def _targets(
        self, candidate: Candidate, grounds: Grounds
    ) -> tuple[list[Target], tuple[str, ...]]:
        now = {handle: self._hearing.current(handle) for handle in self._hearing.known}
        subject = self._hearing.drafting.subject(candidate, grounds)
        return targets_of(candidate, grounds, now, subject)

    def _establish(
        self,
        candidate: Candidate,
        grounds: Grounds,
        filing: Filing,
        key: str,
        scope: Scope,
        lost: Sequence[str],
    ) -> Proposed:
        proposal = self._hearing.drafting.proposal(candidate, grounds, filing, scope)
        lens, reader = self._hearing.registrar.lens, self._hearing.registrar.transaction
        held = lens.held(reader, key, proposal.subject or "", marks=False)
        if any(is_out_of_reach(fact) for fact in held):
            raise Declined("a fact that binds others says what holds there; use write()")
        if self._is_said(proposal, grounds, held):
            return self._agreed(grounds, proposal)
        confidence = filing.confidence(grounds.said, held, proposal.confidence)
        if any(fact.place == (proposal.scope, proposal.scope_id or "") for fact in held):
            # It was not named as replaced, so it is not believed against what holds the address.
            confidence = min(confidence, self._hearing.registrar.settings.contest_below - DOUBT)
        limits = [fact.min_authority for fact in held if fact.min_authority is not None]
        proposal = replace(
            proposal,
            confidence=max(confidence, 0.0),
            requires=tuple(sorted({name for fact in held for name in fact.requires})),
            min_authority=self._hearing.registrar.ladder.highest(*limits) if limits else None,
        )
        verdict = self._hearing.registrar.propose(proposal, evidence=self._hearing.evidence)
        return self.record(grounds, verdict, candidate.value, lost)

    def _replace(
        self,
        candidate: Candidate,
        grounds: Grounds,
        filing: Filing,
        target: Target,
        scope: Scope,
        lost: Sequence[str],
    ) -> Proposed:
        fact, said = target.fact, grounds.said
        proposal = self._hearing.drafting.proposal(candidate, grounds, filing, scope)
        text, parts = target.rewritten(candidate.value, proposal.source.parts)
        place = self._hearing.conversation.branch or fact.place
        if WIDTH[scope] < WIDTH[place[0]]:
            place = self._hearing.drafting.place(scope)
        proposal = replace(
            proposal,
            key=fact.key if target.takes_over else proposal.key,
            value=text,
            subject=fact.subject,
            supersedes=fact.id,
            scope=place[0],
            scope_id=place[1] or None,
            source=filing.rewritten(proposal.source, text, parts, fact),
            memory_type=filing.speaks_to(said, fact),
            is_constraint=fact.is_constraint or None,
            constraint_type=fact.constraint_type,
            requires=fact.requires,
            min_authority=fact.min_authority,
            confidence=filing.confidence(said, [fact], proposal.confidence),
            multi_valued=fact.multi_valued,
        )
        if same_value(fact.value, text) or says_the_same(parts, fact):
            return self._agreed(grounds, proposal)
        verdict = self._hearing.registrar.propose(
            proposal,
            rule=Rule.EXPLICIT if said.corrects else Rule.IMPLICIT,
            replaces=self._leftover(grounds, fact, parts) if target.old is not None else None,
            evidence=self._hearing.evidence,
        )
        return self.record(grounds, verdict, candidate.value, lost)

    def _leftover(self, grounds: Grounds, fact: Fact, parts: Sequence[Part]) -> Fact | None:
        """What the offline reading had filed of a correction that it did not see as one.

        Its values are in the statement that was corrected now; left beside it, they would stay
        when that one changes again.
        """
        for other in self._of_statement(grounds):
            values = typed(other.parts)
            told = text_of(other.value) in grounds.said.statement.text
            inside = values and all(any(same_part(v, p) for p in parts) for v in values)
            if other.id != fact.id and other.place == fact.place and inside and told:
                return other
        return None

    def _suppose(
        self, candidate: Candidate, grounds: Grounds, filing: Filing, scope: Scope
    ) -> list[Proposed]:
        """File what is only proposed or supposed where it touches nothing."""
        if any(fact.scope.is_real for fact in self._of_statement(grounds)):
            raise Declined(
                f"the model takes it for {candidate.commitment}; "
                f"the offline reading has filed it as said, and that stands"
            )
        proposal = self._hearing.drafting.proposal(candidate, grounds, filing, scope)
        if self._is_said(proposal, grounds, self._of_statement(grounds)):
            return [self._agreed(grounds, proposal)]
        verdict = self._hearing.registrar.propose(proposal, evidence=self._hearing.evidence)
        left = ["what is only supposed replaces nothing"] if candidate.replaces else []
        return [self.record(grounds, verdict, candidate.value, left)]

    def _retract(
        self,
        candidate: Candidate,
        grounds: Grounds,
        filing: Filing,
        targets: Sequence[Target],
        lost: Sequence[str],
    ) -> list[Proposed]:
        if grounds.widest is not None:
            raise Declined(f"the turn only supposes it ({grounds.kind})")
        if not targets:
            raise Declined("; ".join(lost) or "it names no fact that it takes back")
        check_is_meant(grounds)
        rank = self._hearing.registrar.ladder.rank(filing.rung(grounds.said))
        done = []
        for fact in (target.fact for target in targets):
            if rank < self._hearing.registrar.ladder.rank(fact.standing):
                raise Declined("the fact stands on a higher authority")
            if not fact.owner and filing.speaks_to(grounds.said, fact) is MemoryType.USER:
                raise Declined("the fact is the organization's, and the turn speaks for one person")
            if self._hearing.conversation.branch not in (None, fact.place):
                raise Declined("a branch takes back nothing real")
            at, quote = grounds.waiting.moment, grounds.quote[:LONGEST_QUOTE]
            verdict = self._hearing.registrar.retract(
                fact, at=at, reason=quote, evidence=self._hearing.evidence
            )
            done.append(self.record(grounds, verdict, text_of(fact.value), lost))
        return done

    # what is there already

    def _of_statement(self, grounds: Grounds) -> list[Fact]:
        """The facts in office that the offline reading took from the same statement."""
        reader, lens = self._hearing.registrar.transaction, self._hearing.registrar.lens
        turn = stored_turn(reader, grounds.waiting)
        span = (grounds.said.statement.start, grounds.said.statement.end)
        return [
            fact
            for fact in reader.facts(turn.fact_ids if turn is not None else ())
            if lens.as_seen(fact).is_valid and fact.source.span == span
        ]

    def _is_said(self, proposal: Proposal, grounds: Grounds, held: Iterable[Fact]) -> bool:
        """Whether a fact says it already: at the same address, or taken from the statement."""
        return any(
            fact.subject == proposal.subject
            and (
                same_value(_folded(fact.value), _folded(proposal.value))
                or (fact.key == proposal.key and says_the_same(proposal.source.parts, fact))
            )
            for fact in (*held, *self._of_statement(grounds))
        )

    def _agreed(self, grounds: Grounds, proposal: Proposal) -> Proposed:
        index = grounds.waiting.turn.turn_index
        return Proposed(
            index, proposal.key, proposal.subject, text_of(proposal.value), "agreed", "on record"
        )


def _folded(value: object) -> object:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value
