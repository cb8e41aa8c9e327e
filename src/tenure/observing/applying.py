"""Applying: a model's proposals before the rules. The model proposes; nothing here believes it.

Each proposal is held against the words of its turn and against what the offline reading took them
for; what is left goes to the registrar like everything else, with the authority of whoever spoke.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tenure.engine.proposal import Proposal
from tenure.engine.registrar import Registrar
from tenure.engine.undo import undo
from tenure.language.detection import same_part
from tenure.language.llm.checking import key_of
from tenure.language.llm.reading import Candidate, Commitment, Objection, Proposals
from tenure.language.statements import Kind
from tenure.model.errors import InvalidInput, NotPermitted
from tenure.model.fact import Fact, MemoryType, Part
from tenure.model.scope import Scope
from tenure.model.values import check_text, same_value, text_of
from tenure.model.verdict import Rule, Verdict
from tenure.observing.drafting import LONGEST_QUOTE, WIDTH, Drafting
from tenure.observing.filing import Filing
from tenure.observing.observer import WINDOW
from tenure.observing.opinions import Proposed
from tenure.observing.relating import says_the_same
from tenure.observing.scrutiny import (
    Declined,
    Grounds,
    Target,
    check_is_meant,
    grounds_for,
    is_out_of_reach,
    targets_of,
)
from tenure.observing.situation import Situation
from tenure.observing.understanding import typed
from tenure.observing.waiting import Conversation, Waiting, enter_in_record, stored_turn

__all__ = ["Applying", "Change", "is_out_of_reach"]

_LEAST_SURE = 0.5
"""Below this nothing is done, as with the offline reading."""
_DOUBT = 0.05


class Change(NamedTuple):
    """A fact that the offline reading of a turn replaced, and by which verdict."""

    turn: int
    fact: Fact
    verdict: Verdict
    after: Fact | None


class Applying:
    """Puts one answer of a model before the rules, inside one transaction."""

    def __init__(
        self,
        registrar: Registrar,
        conversation: Conversation,
        turns: Sequence[Waiting],
        known: Mapping[str, Fact],
        evidence: Mapping[str, str],
    ) -> None:
        self._registrar = registrar
        self._conversation = conversation
        self._turns = {waiting.turn.turn_index: waiting for waiting in turns}
        self._known = known
        self._evidence = evidence
        situation = Situation(
            registrar.transaction, registrar.lens, conversation.session_id, WINDOW
        )
        self._drafting = Drafting(registrar, situation, conversation, self._turns, known)
        self._accounts: dict[int, list[Proposed]] = {index: [] for index in self._turns}
        self._verdicts: dict[int, list[Verdict]] = {index: [] for index in self._turns}
        self._astray: list[Proposed] = []
        """What was proposed of no turn that was read."""
        self._became: dict[str, str] = {}
        """Facts that this very answer replaced, and by which."""
        self._reopened: list[Grounds] = []
        """Statements whose offline effect was undone."""
        self._filed: set[tuple[int, int]] = set()
        """Turn and beginning of each statement that something came of."""

    def hear(self, proposals: Proposals, changes: Mapping[str, Change]) -> None:
        """Take everything that was proposed, in the order of the turns."""
        for objection in sorted(proposals.objections, key=lambda one: one.turn):
            self._note_objection(objection, changes)
        for candidate in sorted(proposals.candidates, key=lambda one: one.turn):
            self._note_candidate(candidate)
        for grounds in self._reopened:
            self._file_again(grounds)
        for reason in proposals.unreadable:
            self._astray.append(Proposed(0, "", None, "", "dropped", reason))
        for waiting in self._turns.values():
            enter_in_record(
                self._registrar.transaction, waiting, self._verdicts[waiting.turn.turn_index]
            )

    def account(self, turn_index: int) -> tuple[list[Proposed], list[Verdict]]:
        """What became of the proposals from a turn; those of no turn are told with the last."""
        last = turn_index == max(self._turns)
        return (
            [*self._accounts[turn_index], *(self._astray if last else ())],
            self._verdicts[turn_index],
        )

    # keeping the account

    def _note_candidate(self, candidate: Candidate) -> None:
        key, value = key_of(candidate.attribute), candidate.value
        subject = candidate.about or None
        accounts = self._accounts.get(candidate.turn, self._astray)
        try:
            accounts.extend(self._take(candidate))
        except (Declined, InvalidInput, NotPermitted) as error:
            accounts.append(Proposed(candidate.turn, key, subject, value, "dropped", _line(error)))

    def _note_objection(self, objection: Objection, changes: Mapping[str, Change]) -> None:
        change = changes.get(objection.handle)
        accounts = self._accounts.get(objection.turn, self._astray)
        fact = change.fact if change is not None else None
        about = (fact.key, fact.subject, text_of(fact.value)) if fact else ("", None, "")
        try:
            verdict = self._restore(objection, change)
            accounts.append(
                Proposed(objection.turn, *about, "accepted", "it was not replaced", verdict)
            )
        except (Declined, InvalidInput, NotPermitted) as error:
            accounts.append(Proposed(objection.turn, *about, "dropped", _line(error)))

    def _record(
        self, grounds: Grounds, verdict: Verdict, value: str, reasons: Sequence[str] = ()
    ) -> Proposed:
        index = grounds.waiting.turn.turn_index
        self._verdicts[index].append(verdict)
        self._filed.add((index, grounds.said.statement.start))
        for gone in verdict.superseded:
            self._became[gone] = verdict.fact_id
        fact = verdict.fact
        key, subject = (fact.key, fact.subject) if fact is not None else ("", None)
        return Proposed(index, key, subject, value, "accepted", "; ".join(reasons), verdict)

    # candidates

    def _take(self, candidate: Candidate) -> list[Proposed]:
        if candidate.confidence < _LEAST_SURE:
            raise Declined("the model is not sure itself")
        grounds = grounds_for(candidate, self._turns)
        filing = self._drafting.filing(grounds.waiting)
        targets, lost = self._targets(candidate, grounds)
        if candidate.commitment is Commitment.RETRACTED:
            return self._retract(candidate, grounds, filing, targets, lost)
        key = key_of(candidate.attribute)
        if not key:
            raise Declined("it does not say what the value is of")
        check_text(key, "key")
        scope = self._drafting.scope(candidate, grounds, filing)
        if not scope.is_real and self._conversation.branch is None:
            return self._suppose(candidate, grounds, filing, scope)
        if targets:
            return [
                self._replace(candidate, grounds, filing, target, scope, lost) for target in targets
            ]
        return [self._establish(candidate, grounds, filing, key, scope, lost)]

    def _targets(
        self, candidate: Candidate, grounds: Grounds
    ) -> tuple[list[Target], tuple[str, ...]]:
        lens, reader = self._registrar.lens, self._registrar.transaction
        now = {}
        for handle, shown in self._known.items():
            current = lens.glimpse(reader, self._became.get(shown.id, shown.id))
            now[handle] = current if current is not None and current.is_valid else None
        subject = self._drafting.subject(candidate, grounds)
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
        proposal = self._drafting.proposal(candidate, grounds, filing, scope)
        lens, reader = self._registrar.lens, self._registrar.transaction
        held = lens.held(reader, key, proposal.subject or "", marks=False)
        if any(is_out_of_reach(fact) for fact in held):
            raise Declined("a fact that binds others says what holds there; use write()")
        if self._is_said(proposal, grounds, held):
            return self._agreed(grounds, proposal)
        confidence = filing.confidence(grounds.said, held, proposal.confidence)
        if any(fact.place == (proposal.scope, proposal.scope_id or "") for fact in held):
            # It was not named as replaced, so it is not believed against what holds the address.
            confidence = min(confidence, self._registrar.settings.contest_below - _DOUBT)
        limits = [fact.min_authority for fact in held if fact.min_authority is not None]
        proposal = replace(
            proposal,
            confidence=max(confidence, 0.0),
            requires=tuple(sorted({name for fact in held for name in fact.requires})),
            min_authority=self._registrar.ladder.highest(*limits) if limits else None,
        )
        verdict = self._registrar.propose(proposal, evidence=self._evidence)
        return self._record(grounds, verdict, candidate.value, lost)

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
        proposal = self._drafting.proposal(candidate, grounds, filing, scope)
        text, parts = target.rewritten(candidate.value, proposal.source.parts)
        place = self._conversation.branch or fact.place
        if WIDTH[scope] < WIDTH[place[0]]:
            place = self._drafting.place(scope)
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
        verdict = self._registrar.propose(
            proposal,
            rule=Rule.EXPLICIT if said.corrects else Rule.IMPLICIT,
            replaces=self._leftover(grounds, fact, parts) if target.old is not None else None,
            evidence=self._evidence,
        )
        return self._record(grounds, verdict, candidate.value, lost)

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
        proposal = self._drafting.proposal(candidate, grounds, filing, scope)
        if self._is_said(proposal, grounds, self._of_statement(grounds)):
            return [self._agreed(grounds, proposal)]
        verdict = self._registrar.propose(proposal, evidence=self._evidence)
        left = ["what is only supposed replaces nothing"] if candidate.replaces else []
        return [self._record(grounds, verdict, candidate.value, left)]

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
        rank = self._registrar.ladder.rank(filing.rung(grounds.said))
        done = []
        for fact in (target.fact for target in targets):
            if rank < self._registrar.ladder.rank(fact.standing):
                raise Declined("the fact stands on a higher authority")
            if not fact.owner and filing.speaks_to(grounds.said, fact) is MemoryType.USER:
                raise Declined("the fact is the organization's, and the turn speaks for one person")
            if self._conversation.branch not in (None, fact.place):
                raise Declined("a branch takes back nothing real")
            at, quote = grounds.waiting.moment, grounds.quote[:LONGEST_QUOTE]
            verdict = self._registrar.retract(fact, at=at, reason=quote, evidence=self._evidence)
            done.append(self._record(grounds, verdict, text_of(fact.value), lost))
        return done

    # what is there already

    def _of_statement(self, grounds: Grounds) -> list[Fact]:
        """The facts in office that the offline reading took from the same statement."""
        reader, lens = self._registrar.transaction, self._registrar.lens
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

    # objections

    def _restore(self, objection: Objection, change: Change | None) -> Verdict:
        """Undo what the offline reading replaced, as far as nothing has happened to it since."""
        if change is None or change.turn != objection.turn:
            raise Declined("it names no fact that this turn was taken to replace")
        grounds = grounds_for(objection, self._turns)
        reader, lens = self._registrar.transaction, self._registrar.lens
        verdict = reader.verdict(change.verdict.id)
        after = lens.glimpse(reader, change.verdict.fact_id)
        if verdict is None or verdict.undone_by is not None or after is None:
            raise Declined("that decision no longer stands")
        if not after.is_valid:
            raise Declined("what took its place has been replaced in the meantime")
        if self._conversation.branch not in (None, after.place):
            raise Declined("a branch changes nothing real")
        undone = undo(
            self._registrar,
            verdict.id,
            reason=grounds.quote[:LONGEST_QUOTE],
            evidence=self._evidence,
        )
        self._verdicts[objection.turn].append(undone)
        self._reopened.append(self._statement_of(grounds, after))
        return undone

    def _statement_of(self, grounds: Grounds, fact: Fact) -> Grounds:
        """The statement that a fact was read off, in the turn of these grounds."""
        for said in grounds.waiting.heard.said:
            if fact.source.span == (said.statement.start, said.statement.end):
                return replace(grounds, said=said)
        return grounds

    def _file_again(self, grounds: Grounds) -> None:
        """Keep what a statement says whose effect was undone, unless the model told where it goes.

        Where it contradicts what is in office again, it is contested, and somebody is asked.
        """
        index = grounds.waiting.turn.turn_index
        if (index, grounds.said.statement.start) in self._filed or grounds.kind in (
            Kind.RETRACTION,
            Kind.CONFIRMATION,
        ):
            return
        filing = self._drafting.filing(grounds.waiting)
        doubtful = max(self._registrar.settings.contest_below - _DOUBT, 0.0)
        proposal = replace(filing.proposal(grounds.said), confidence=doubtful)
        self._record(
            grounds, self._registrar.propose(proposal, evidence=self._evidence), grounds.quote
        )


def _folded(value: object) -> object:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


def _line(error: Exception) -> str:
    told = " ".join(str(error).split())
    return told if isinstance(error, Declined) else f"refused by the rules: {told}"
