"""The registrar: takes proposals and requests inside one transaction, and records the verdicts."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from incumbent.engine.candidates import Candidate, Candidates
from incumbent.engine.doubts import doubters
from incumbent.engine.entry import (
    Entered,
    accept,
    depart,
    end_of_term,
    enter,
    follow_departures,
    said_at,
)
from incumbent.engine.lens import Lens
from incumbent.engine.proposal import Proposal
from incumbent.engine.redaction import blind, redacted
from incumbent.engine.review_marks import settle
from incumbent.engine.rights import check_may_settle
from incumbent.engine.workspace import Workspace
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact, Status
from incumbent.model.ids import new_id
from incumbent.model.times import to_micros
from incumbent.model.values import same_value
from incumbent.model.verdict import BESIDE, Action, Outcome, Repair, Rule, Verdict
from incumbent.rules import office
from incumbent.rules.supersession import UNOPPOSED, overruled
from incumbent.rules.temporal import as_seen
from incumbent.stores.port import TenureChange, Transaction

_TICK = timedelta(microseconds=1)
_NO_REPAIR = Repair()
_ASSERT = Action.ASSERT  # looked up once: every write asks for it


def next_moment(now: datetime, last: datetime | None) -> datetime:
    """The time of the next entry of a log whose last is from `last`.

    Strictly later, even in one batch or when a clock stands still or runs backwards: the order of
    a chain and every look at the past depend on it.
    """
    return now if last is None or now > last else last + _TICK


class Registrar:
    """Judges and records for one session, inside one transaction, at one moment."""

    def __init__(self, transaction: Transaction, lens: Lens) -> None:
        self.transaction = transaction
        self.lens = lens
        self.identity = lens.identity
        self.settings = lens.settings
        self.ladder = lens.settings.ladder
        self._seq, last = transaction.head()
        self.now = lens.when = next_moment(lens.when, last)
        self.is_first = last is None
        """Whether this is the first entry of the organization."""
        self.touched: dict[str, Fact] = {}
        """Facts that were brought or took office, as they stand now. They need indexing."""
        self.candidates = Candidates(transaction, lens)

    # writing

    def propose(
        self,
        proposal: Proposal,
        *,
        rule: Rule | None = None,
        outcome: Outcome | None = None,
        replaces: Fact | None = None,
        takes: Sequence[Fact] = (),
        reason: str | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """Judge a proposal and record the verdict.

        `rule` and `outcome` name the occasion (a commit, a reversion) if the candidate takes
        office; they say more than the judgement then. `replaces` is a fact it takes over outright,
        unless it says what is so already; `takes` are facts that it takes over in any case.
        `evidence` is added to that of the judgement.
        """
        around = self.candidates.around(proposal)
        others = (*((replaces,) if replaces is not None else ()), *takes)
        alone = not (around.found or others or proposal.refers_to_others or proposal.asks_first)
        candidate: Candidate | None = None
        if alone and not proposal.may_be_late(self.now):
            candidate = self.candidates.alone(proposal, self.now)
            if not candidate.beneath and not candidate.is_turned_away:
                fact = candidate.fact
                given = (proposal.confidence, rule, outcome, reason, evidence)
                verdict = self.establish(fact, *given)
                self.transaction.record(verdict, (fact,))
                return self.shown_to_author(verdict, fact)
        workspace = Workspace(self.transaction, self.now)
        workspace.adopt(around.selection, around.found)
        if candidate is None:
            candidate = self.candidates.make(proposal, around, workspace, replaces=others)
        if replaces is not None and _says_the_same(candidate, workspace):
            others = tuple(t for t in candidate.targets if t.id != replaces.id)
            candidate = candidate._replace(targets=others)
        entered = self._enter(workspace, candidate, proposal)
        return self._record_entry(
            workspace, entered, candidate, proposal.confidence, rule, outcome, reason, evidence
        )

    def _enter(self, workspace: Workspace, candidate: Candidate, proposal: Proposal) -> Entered:
        if candidate.is_turned_away:
            needed = candidate.reserved_for
            judgement = overruled(evidence={"reserved_for": needed} if needed else None)
            turned_away = office.turn_away(candidate.fact, Status.OVERRULED)
            return Entered(judgement, workspace.put(turned_away))
        beneath = tuple(workspace.need(fact.id) for fact in candidate.beneath)
        return enter(
            workspace,
            candidate.fact,
            self.ladder,
            targets=candidate.targets,
            around=candidate.around,
            beneath=beneath,
            beside=candidate.beside,
            confidence=proposal.confidence,
            contest_below=self.settings.contest_below,
            asks_first=proposal.asks_first,
        )

    def establish(
        self,
        fact: Fact,
        confidence: float,
        rule: Rule | None = None,
        outcome: Outcome | None = None,
        reason: str | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """The next entry of the log, for the first fact of an address, which the caller records.

        By far the commonest case, and nobody to judge.
        """
        self._seq += 1
        verdict = Verdict(
            id=new_id(self.now),
            organization=fact.organization,
            seq=self._seq,
            action=_ASSERT,
            outcome=outcome or UNOPPOSED.outcome,
            rule=rule or UNOPPOSED.rule,
            fact_id=fact.id,
            evidence=evidence or {},
            confidence=confidence,
            by=self.identity.user_id,
            authority=fact.authority,
            at=fact.timestamp,
            recorded_at=self.now,
            reason=reason,
            repair=_NO_REPAIR,
            fact=as_seen(fact, self.now),
        )
        self.touched[fact.id] = fact
        self.now = self.lens.when = next_moment(self.now, self.now)
        return verdict

    def shown_to_author(self, verdict: Verdict, fact: Fact) -> Verdict:
        """A verdict on a fact as its author may see it."""
        return verdict if self.lens.sees(self.transaction, fact) else blind(verdict, fact.id)

    def _record_entry(
        self,
        workspace: Workspace,
        entered: Entered,
        candidate: Candidate,
        confidence: float,
        rule: Rule | None,
        outcome: Outcome | None,
        reason: str | None,
        added: Mapping[str, Any] | None,
    ) -> Verdict:
        judgement = entered.judgement
        evidence = {**judgement.evidence, **(added or {})}
        action, found = Action.ASSERT, (judgement.outcome, judgement.rule)
        if judgement.outcome is Outcome.CONFIRMED:
            action = Action.CONFIRM
            evidence["order"] = to_micros(said_at(candidate.fact))
        elif entered.overruled_by is not None:
            found = (Outcome.OVERRULED, Rule.AUTHORITY)
            evidence["overruled_by"] = entered.overruled_by
        elif entered.fact.is_valid:
            found = (outcome or judgement.outcome, rule or judgement.rule)
        if candidate.beside:
            evidence[BESIDE] = sorted(candidate.beside)
        verdict = self.record(
            workspace,
            action,
            *found,
            entered.fact.id,
            entered=entered,
            targets=tuple(target.id for target in candidate.targets),
            evidence=evidence,
            confidence=confidence,
            authority=candidate.fact.authority,
            at=candidate.fact.timestamp,
            reason=reason,
        )
        return self.shown_to_author(verdict, candidate.fact)

    # leaving office, and reviews

    def retract(
        self,
        fact: Fact,
        *,
        rule: Rule = Rule.RETRACTION,
        at: datetime | None = None,
        reason: str | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """Retract a fact that is in office, or wants to be, with no successor.

        `at` is the moment of the retraction, if it was not just now: the fact has not held since
        then.
        """
        self.check_may_settle(fact)
        workspace = Workspace(self.transaction, self.now)
        fact = workspace.need(fact.id)
        if at is not None and at < fact.order:
            raise InvalidInput(
                f"{fact.quoted_key} ({fact.id}) was said, or said again, at "
                f"{fact.order.isoformat()}; what was taken back before, at {at.isoformat()}, "
                f"cannot have been that: give a later `at`, or leave it out"
            )
        end = end_of_term(fact, at or self.now, self.now)
        status = Status.DISCARDED if rule is Rule.DISCARD else Status.RETRACTED
        depart(workspace, fact, status, end)
        entered = Entered(UNOPPOSED, workspace.need(fact.id))
        if fact.status is Status.OFFICE or fact.held_at(self.now):
            follow_departures(workspace, [fact], self.ladder, entered)
        return self.record(
            workspace,
            Action.RETRACT,
            Outcome.RETRACTED,
            rule,
            fact.id,
            entered=entered,
            evidence=evidence,
            at=end,
            reason=reason,
        )

    def acknowledge(
        self,
        fact: Fact,
        *,
        reason: str | None = None,
        evidence: Mapping[str, Any] | None = None,
        doubts_of: Container[str] | None = None,
    ) -> Verdict:
        """Record that a fact is still right although what it rests on has changed, or although a
        later statement put it in doubt; with `doubts_of`, only what these statements doubt."""
        self.check_may_settle(fact)
        workspace = Workspace(self.transaction, self.now)
        seen, fact = fact, workspace.need(fact.id)
        doubted_by = doubters(self.transaction, self.lens, [seen]).get(fact.id, ())
        causes = (*seen.causes, *fact.causes) if doubts_of is None else ()
        named = [one for one in doubted_by if doubts_of is None or one.id in doubts_of]
        tokens = sorted({cause.token for cause in causes}.union(one.doubt_token for one in named))
        workspace.put(fact.evolve(acknowledged=fact.acknowledged.union(tokens)))
        return self.record(
            workspace,
            Action.ACKNOWLEDGE,
            Outcome.CONFIRMED,
            Rule.REVIEW,
            fact.id,
            evidence={**(evidence or {}), "acknowledged": tokens},
            reason=reason,
        )

    def accept(self, fact: Fact, *, reason: str | None = None) -> Verdict:
        """Let a contested statement take office."""
        self.check_may_settle(fact)
        workspace = Workspace(self.transaction, self.now)
        fact = workspace.need(fact.id)
        named = self._named_by(workspace, fact)
        there = workspace.seats(fact)
        hidden = {seat.audience for seat in there if not self.lens.sees(self.transaction, seat)}
        for rival in (*named, *workspace.incumbents(fact, hidden)):
            self.check_may_settle(rival)
        entered = accept(workspace, fact, named, self.ladder, hidden)
        outcome = entered.judgement.outcome
        return self.record(
            workspace,
            Action.ACCEPT,
            outcome,
            Rule.AUTHORITY if outcome is Outcome.OVERRULED else Rule.REVIEW,
            fact.id,
            entered=entered,
            evidence={BESIDE: sorted(hidden)} if hidden else None,
            reason=reason,
        )

    def _named_by(self, workspace: Workspace, fact: Fact) -> tuple[Fact, ...]:
        """The facts in office that a statement named as superseded when it was made."""
        ids = {target for entry in self.transaction.verdicts([fact.id]) for target in entry.targets}
        ends = {end.id: end for end in map(workspace.end_of, map(workspace.need, sorted(ids)))}
        return tuple(end for end in ends.values() if end.status is Status.OFFICE)

    def check_may_settle(self, fact: Fact) -> None:
        """Raise NotPermitted if the fact is above this identity, or reserved from it."""
        check_may_settle(self.transaction, self.lens, fact)

    # recording

    def record(
        self,
        workspace: Workspace,
        action: Action,
        outcome: Outcome,
        rule: Rule,
        fact_id: str,
        *,
        verdict_id: str | None = None,
        entered: Entered | None = None,
        relinked: Iterable[str] = (),
        took_office: Iterable[str] = (),
        stepped_back: Iterable[str] = (),
        targets: tuple[str, ...] = (),
        evidence: Mapping[str, Any] | None = None,
        confidence: float = 1.0,
        authority: str | None = None,
        at: datetime | None = None,
        reason: str | None = None,
    ) -> Verdict:
        """Settle the review marks, store the decision, and return it as its author may see it."""
        if entered is not None:
            took_office, stepped_back = entered.activated, entered.displaced
        marked, lifted = settle(workspace, relinked)
        self._seq += 1
        verdict = Verdict(
            id=verdict_id or new_id(self.now),
            organization=self.identity.organization,
            seq=self._seq,
            action=action,
            outcome=outcome,
            rule=rule,
            fact_id=fact_id,
            superseded=entered.superseded if entered is not None else (),
            targets=targets,
            evidence=evidence or {},
            confidence=confidence,
            by=self.identity.user_id,
            authority=authority or self.identity.authority.rung,
            at=at or self.now,
            recorded_at=self.now,
            reason=reason,
            repair=(
                Repair(marked, lifted, tuple(took_office), tuple(stepped_back))
                if marked or lifted or took_office or stepped_back
                else _NO_REPAIR
            ),
            fact=as_seen(workspace.need(fact_id), self.now),
        )
        new, changed = workspace.outcome()
        self.transaction.record(verdict, new, changed)
        self._touch(new, changed)
        self.now = self.lens.when = next_moment(self.now, self.now)
        return self._shown(verdict, workspace)

    def _touch(self, new: Iterable[Fact], changed: Iterable[TenureChange]) -> None:
        for fact in new:
            self.touched[fact.id] = fact
        for before, after in changed:
            sat_down = after.may_hold_after(self.now) and not before.may_hold_after(self.now)
            if after.id in self.touched or sat_down:
                self.touched[after.id] = after

    def _shown(self, verdict: Verdict, workspace: Workspace) -> Verdict:
        """The verdict without the ids of facts that its author may not know of."""
        hidden = {
            fact.id for fact in workspace.held() if not self.lens.sees(self.transaction, fact)
        }
        if not hidden and BESIDE not in verdict.evidence:
            return verdict
        shown = redacted(verdict, hidden)
        return shown.evolve(fact=None) if verdict.fact_id in hidden else shown


def _says_the_same(candidate: Candidate, workspace: Workspace) -> bool:
    there = workspace.incumbents(candidate.fact, candidate.beside)
    return any(same_value(fact.value, candidate.fact.value) for fact in there)
