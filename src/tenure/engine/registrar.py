"""The registrar: takes proposals and requests inside one transaction, and records the verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tenure.engine.entering import Entered, accept, enter, follow_departures
from tenure.engine.lens import Lens, matching
from tenure.engine.proposal import Proposal
from tenure.engine.settling import settle
from tenure.engine.workspace import Workspace
from tenure.model.authority import Authority
from tenure.model.errors import (
    DependencyCycle,
    DuplicateId,
    InvalidInput,
    NotPermitted,
    UnknownDependency,
    UnknownTarget,
)
from tenure.model.fact import Basis, Fact, MemoryType, Source, Status
from tenure.model.ids import new_id
from tenure.model.records import Declaration
from tenure.model.times import to_micros
from tenure.model.values import same_value
from tenure.model.verdict import Action, Outcome, Repair, Rule, Verdict
from tenure.rules import office
from tenure.rules.authority import check_may_write_as, check_may_write_key, derived_authority
from tenure.rules.classification import classify_constraint, classify_memory
from tenure.rules.supersession import Judgement, binds
from tenure.rules.temporal import as_seen
from tenure.rules.visibility import may_read
from tenure.stores.port import Selection, Transaction

_NOTHING = Judgement(Outcome.ESTABLISHED, Rule.FIRST)


class Registrar:
    """Judges and records for one session, inside one transaction, at one moment."""

    def __init__(self, transaction: Transaction, lens: Lens) -> None:
        self.transaction = transaction
        self.lens = lens
        self.identity = lens.identity
        self.settings = lens.settings
        self.ladder = lens.settings.ladder
        self._seq, last = transaction.head()
        # The log's times never run backwards, even when a clock does: as-of depends on it.
        self.now = max(lens.when, last) if last is not None else lens.when
        self._policy_rungs = (self.ladder.rungs[-1],)

    # writing

    def propose(
        self,
        proposal: Proposal,
        *,
        rule: Rule | None = None,
        outcome: Outcome | None = None,
        replaces: Fact | None = None,
        reason: str | None = None,
    ) -> Verdict:
        """Judge a proposal and record the verdict.

        `rule` and `outcome` name what led here where that says more than the judgement (a commit,
        a reversion), if the candidate takes office. `replaces` is a fact it takes over outright.
        """
        if proposal.id is not None and self.transaction.fact(proposal.id) is not None:
            raise DuplicateId(f"a fact with id {proposal.id!r} exists; ids are used once")
        declared = matching(self.transaction.declarations(), proposal.key)
        authority = self._authority(proposal, declared)
        bases = tuple(
            self.lens.find(self.transaction, base, proposal.subject, UnknownDependency)
            for base in proposal.depends_on
        )
        workspace = Workspace(self.transaction)
        around = self._around(workspace, proposal)
        targets = self._targets(workspace, proposal, replaces)
        candidate = self._candidate(proposal, authority, declared, bases, targets, around)
        if replaces is not None and _says_the_same(candidate, around):
            targets = tuple(target for target in targets if target.id != replaces.id)
        entered = enter(
            workspace,
            candidate,
            self.ladder,
            targets=targets,
            around=tuple(f for f in around if f.address != candidate.address),
            confidence=proposal.confidence,
            contest_below=self.settings.contest_below,
        )
        self._check_cycle(workspace, entered)
        verdict = self._verdict_on(entered, candidate, targets, proposal.confidence, reason)
        if entered.fact.id == candidate.id and entered.fact.is_valid:
            verdict = verdict.evolve(rule=rule or verdict.rule, outcome=outcome or verdict.outcome)
        return self._record(verdict, workspace, entered)

    def _authority(self, proposal: Proposal, declared: tuple[Declaration, ...]) -> Authority:
        authority = self.identity.authority
        if proposal.authority is not None:
            authority = self.ladder.resolve(proposal.authority)
            check_may_write_as(self.identity, authority, self.ladder)
        if declared:
            check_may_write_key(proposal.key, authority, declared, self.ladder)
        return authority

    def _around(self, workspace: Workspace, proposal: Proposal) -> list[Fact]:
        """Valid facts on the same subject and key, in any scope that bears on this one."""
        scope_id = proposal.scope_id or ""
        scope_ids = tuple(dict.fromkeys((*self.lens.scope_ids, scope_id)))
        found = workspace.live(
            Selection(self.lens.owners, scope_ids, proposal.key, proposal.subject or "")
        )
        places = (*self.lens.places, (proposal.scope, scope_id))
        return [fact for fact in found if fact.place in places and fact.held_at(self.now)]

    def _targets(
        self, workspace: Workspace, proposal: Proposal, replaces: Fact | None
    ) -> tuple[Fact, ...]:
        targets = [replaces] if replaces is not None else []
        if proposal.supersedes is not None:
            named = self.lens.find(
                self.transaction, proposal.supersedes, proposal.subject, UnknownTarget
            )
            end = self.lens.end_of(self.transaction, named)
            if end is not None and end.is_valid:
                targets.append(end)
        return tuple(workspace.need(target.id) for target in targets)

    def _candidate(
        self,
        proposal: Proposal,
        authority: Authority,
        declared: tuple[Declaration, ...],
        bases: tuple[Fact, ...],
        targets: tuple[Fact, ...],
        around: list[Fact],
    ) -> Fact:
        rung = authority.rung
        if bases:
            rung = derived_authority(rung, bases, self.ladder)
        source = proposal.source
        if source.authority is None:
            source = _with_authority(source, authority.title)
        constraint = proposal.constraint_type
        if constraint is None and proposal.is_constraint is not False:
            constraint = classify_constraint(proposal.key, proposal.value, source)
            if constraint is None and proposal.is_constraint:
                constraint = "policy"
        memory_type = proposal.memory_type or self._memory_type(
            source, rung, constraint, proposal.subject, targets, around
        )
        timestamp = proposal.at or self.now
        valid_from = proposal.valid_from or timestamp
        if proposal.valid_until is not None and proposal.valid_until <= valid_from:
            raise InvalidInput(
                f"valid_until ({proposal.valid_until.isoformat()}) must come after the start of "
                f"validity ({valid_from.isoformat()}); set valid_from too to record a past term"
            )
        when_superseded = None
        if proposal.when_superseded is not None:
            when_superseded = self._awaited(proposal).id
        return Fact(
            id=proposal.id or new_id(self.now),
            organization=self.identity.organization,
            owner="" if memory_type is MemoryType.ORGANIZATIONAL else self.identity.user_id,
            subject=proposal.subject,
            key=proposal.key,
            value=proposal.value,
            source=source,
            timestamp=timestamp,
            recorded_at=self.now,
            valid_from=valid_from,
            valid_until=proposal.valid_until,
            memory_type=memory_type,
            scope=proposal.scope,
            scope_id=proposal.scope_id,
            authority=rung,
            standing=rung,
            requires=proposal.requires,
            min_authority=(
                self.ladder.resolve(proposal.min_authority).rung if proposal.min_authority else None
            ),
            depends_on=tuple(base.id for base in bases),
            when_superseded=when_superseded,
            is_constraint=constraint is not None,
            constraint_type=constraint,
            multi_valued=any(told.multi_valued for told in declared),
            time_sensitive=any(told.time_sensitive for told in declared),
            basis=tuple(Basis(base.id, base.id) for base in bases),
        )

    def _memory_type(
        self,
        source: Source,
        rung: str,
        constraint: str | None,
        subject: str | None,
        targets: tuple[Fact, ...],
        around: list[Fact],
    ) -> MemoryType:
        """Whoever may settle a shared matter speaks about it, not beside it.

        A statement that names its target, or that meets a binding fact of the organization which
        it does not rank below, belongs to the same memory as that fact.
        """
        for target in targets:
            return target.memory_type
        for fact in around:
            shared = not fact.owner and binds(fact, subject=subject)
            if shared and self.ladder.rank(rung) >= self.ladder.rank(fact.standing):
                return MemoryType.ORGANIZATIONAL
        if constraint == "policy" and self.ladder.rank(rung) >= len(self.ladder.rungs) - 2:
            return MemoryType.ORGANIZATIONAL
        return classify_memory(source, rung=rung, policy_rungs=self._policy_rungs)

    def _awaited(self, proposal: Proposal) -> Fact:
        assert proposal.when_superseded is not None
        base = self.lens.find(
            self.transaction, proposal.when_superseded, proposal.subject, UnknownDependency
        )
        if not base.is_valid:
            raise InvalidInput(
                f"{base.key!r} ({base.id}) has already left office ({base.status}), so nothing can "
                f"wait for it; write {proposal.key!r} without when_superseded"
            )
        return base

    def _check_cycle(self, workspace: Workspace, entered: Entered) -> None:
        """Refuse a fact that rests, through whatever, on one that it retires."""
        retired = set(entered.superseded)
        queue: list[tuple[str, tuple[str, ...]]] = [
            (base, (entered.fact.id, base)) for base in entered.fact.depends_on
        ]
        seen = set()
        while queue and retired:
            fact_id, path = queue.pop()
            if fact_id in retired:
                keys = " ← ".join(workspace.need(step).key for step in path)
                raise DependencyCycle(
                    f"{entered.fact.key!r} would rest on what it replaces: {keys}; "
                    f"leave that base out of depends_on"
                )
            if fact_id not in seen:
                seen.add(fact_id)
                queue.extend(
                    (step, (*path, step))
                    for leg in workspace.need(fact_id).basis
                    for step in dict.fromkeys(leg)
                )

    def _verdict_on(
        self,
        entered: Entered,
        candidate: Fact,
        targets: tuple[Fact, ...],
        confidence: float,
        reason: str | None,
    ) -> Verdict:
        judgement = entered.judgement
        evidence = dict(judgement.evidence)
        if targets:
            evidence["targets"] = [target.id for target in targets]
        outcome, rule, action = judgement.outcome, judgement.rule, Action.ASSERT
        if outcome is Outcome.CONFIRMED:
            action = Action.CONFIRM
            evidence["order"] = to_micros(candidate.order)
        if entered.overruled_by is not None:
            outcome, rule = Outcome.OVERRULED, Rule.AUTHORITY
            evidence["overruled_by"] = entered.overruled_by
        return self.begin(
            action,
            outcome,
            rule,
            entered.fact,
            evidence=evidence,
            superseded=entered.superseded,
            confidence=confidence,
            authority=candidate.authority,
            at=candidate.timestamp,
            reason=reason,
        )

    # leaving office, and reviews

    def retract(
        self, fact: Fact, *, rule: Rule = Rule.RETRACTION, reason: str | None = None
    ) -> Verdict:
        """Take a fact out of office, or off the list of those that want in, with no successor."""
        self.check_may_settle(fact)
        workspace = Workspace(self.transaction)
        fact = workspace.need(fact.id)
        held = fact.status is Status.OFFICE
        status = Status.DISCARDED if rule is Rule.DISCARD else Status.RETRACTED
        entered = Entered(_NOTHING, workspace.put(office.leave(fact, status, self.now)))
        if held:
            follow_departures(workspace, [fact], self.ladder, entered)
        verdict = self.begin(Action.RETRACT, Outcome.RETRACTED, rule, fact, reason=reason)
        return self._record(verdict, workspace, entered)

    def acknowledge(self, fact: Fact, *, reason: str | None = None) -> Verdict:
        """Record that a fact is still right although what it rests on has changed."""
        self.check_may_settle(fact)
        workspace = Workspace(self.transaction)
        fact = workspace.need(fact.id)
        tokens = sorted(cause.token for cause in fact.causes)
        known = fact.acknowledged.union(tokens)
        entered = Entered(_NOTHING, workspace.put(fact.evolve(acknowledged=known)))
        verdict = self.begin(
            Action.ACKNOWLEDGE,
            Outcome.CONFIRMED,
            Rule.REVIEW,
            fact,
            evidence={"acknowledged": tokens},
            reason=reason,
        )
        return self._record(verdict, workspace, entered)

    def accept(self, fact: Fact, *, reason: str | None = None) -> Verdict:
        """Let a contested statement take office."""
        self.check_may_settle(fact)
        workspace = Workspace(self.transaction)
        fact = workspace.need(fact.id)
        for rival in workspace.incumbents(fact.address):
            self.check_may_settle(rival)
        entered = accept(workspace, fact, self.ladder)
        outcome = entered.judgement.outcome
        verdict = self.begin(
            Action.ACCEPT,
            outcome,
            Rule.AUTHORITY if outcome is Outcome.OVERRULED else Rule.REVIEW,
            fact,
            superseded=entered.superseded,
            reason=reason,
        )
        return self._record(verdict, workspace, entered)

    def check_may_settle(self, fact: Fact) -> None:
        """Raise NotPermitted where the fact's standing is above this identity's authority."""
        if self.ladder.rank(fact.standing) > self.identity.authority.rank:
            raise NotPermitted(
                f"{fact.key!r} stands on the authority of {fact.standing!r}; "
                f"{self.identity.user_id!r} has {self.identity.authority.rung!r}"
            )

    # recording

    def begin(
        self,
        action: Action,
        outcome: Outcome,
        rule: Rule,
        fact: Fact,
        *,
        evidence: Mapping[str, Any] | None = None,
        superseded: tuple[str, ...] = (),
        confidence: float = 1.0,
        authority: str | None = None,
        at: datetime | None = None,
        reason: str | None = None,
    ) -> Verdict:
        self._seq += 1
        return Verdict(
            id=new_id(self.now),
            organization=self.identity.organization,
            seq=self._seq,
            action=action,
            outcome=outcome,
            rule=rule,
            fact_id=fact.id,
            superseded=superseded,
            evidence=evidence or {},
            confidence=confidence,
            by=self.identity.user_id,
            authority=authority or self.identity.authority.rung,
            at=at or self.now,
            recorded_at=self.now,
            reason=reason,
        )

    def _record(self, verdict: Verdict, workspace: Workspace, entered: Entered) -> Verdict:
        """Settle the marks, store the decision, and hand it back as its author may see it."""
        marked, lifted = settle(workspace)
        took_office = tuple(entered.activated)
        if marked or lifted or took_office:
            repair = Repair(marked, lifted, took_office, tuple(entered.displaced))
            verdict = verdict.evolve(repair=repair)
        self.transaction.record(verdict, workspace.new(), workspace.changed())
        return self.shown(verdict, workspace)

    def shown(self, verdict: Verdict, workspace: Workspace) -> Verdict:
        """The verdict without the ids of facts that its author may not know of."""
        hidden = {fact.id for fact in workspace.held() if not self._sees(fact)}
        fact = as_seen(workspace.need(verdict.fact_id), self.now)
        if not hidden:
            return verdict.evolve(fact=fact)
        return _redacted(verdict, hidden).evolve(fact=None if fact.id in hidden else fact)

    def _sees(self, fact: Fact) -> bool:
        declared = matching(self.transaction.declarations(), fact.key)
        return may_read(self.identity, fact, self.ladder, declared)


def _redacted(verdict: Verdict, hidden: set[str]) -> Verdict:
    def visible(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(fact_id for fact_id in ids if fact_id not in hidden)

    evidence: dict[str, Any] = {}
    for name, value in verdict.evidence.items():
        if isinstance(value, list):
            evidence[name] = list(visible(value))
        elif value not in hidden:
            evidence[name] = value
    repair = verdict.repair
    marked = {f: path for f, path in repair.marked.items() if hidden.isdisjoint((f, *path))}
    return verdict.evolve(
        superseded=visible(verdict.superseded),
        evidence=evidence,
        repair=Repair(
            marked,
            visible(repair.lifted),
            visible(repair.took_office),
            visible(repair.stepped_back),
        ),
    )


def _with_authority(source: Source, title: str) -> Source:
    return Source(
        source.type,
        source.name,
        source.turn_index,
        source.event_index,
        title,
        source.speaker,
        source.ref,
    )


def _says_the_same(candidate: Fact, around: list[Fact]) -> bool:
    return any(
        fact.address == candidate.address and same_value(fact.value, candidate.value)
        for fact in around
    )
