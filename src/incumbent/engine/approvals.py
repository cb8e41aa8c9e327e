"""Approvals: statements that wait until their own author says that they are to be kept."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.engine import entry
from incumbent.engine.lens import Lens, matching
from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.engine.workspace import Workspace
from incumbent.model.fact import Fact
from incumbent.model.verdict import BESIDE, Action, Outcome, Rule, Verdict
from incumbent.stores.port import Reader


def unapproved(reader: Reader, lens: Lens) -> list[Fact]:
    """The statements that wait for the approval of this identity, here."""
    if lens.past:
        found = [fact for fact in lens.everything(reader) if fact.is_unapproved]
    else:
        found = reader.unapproved(lens.owners)
    return [fact for fact in found if fact.place in lens.places and lens.sees(reader, fact)]


def approve(registrar: Registrar, fact: Fact, *, reason: str | None = None) -> Verdict:
    """Judge a statement that has waited, as of when it was said, and record what comes of it."""
    registrar.check_may_settle(fact)
    transaction, lens, candidates = registrar.transaction, registrar.lens, registrar.candidates
    workspace = Workspace(transaction, registrar.now)
    around = candidates.around(_address_of(fact))
    workspace.adopt(around.selection, around.found)
    fact = workspace.need(fact.id)
    there = () if fact.multi_valued else (*workspace.seats(fact), *workspace.departed(fact))
    hidden = {seat.audience for seat in there if not lens.sees(transaction, seat)}
    declared = matching(transaction.declarations(), fact.key)
    beneath = candidates.beneath(fact, declared, registrar.now)
    entered = entry.approve(
        workspace,
        fact,
        named_by(registrar, workspace, fact),
        registrar.ladder,
        around=candidates.wider(fact, around, registrar.now),
        beneath=tuple(workspace.need(one.id) for one in beneath),
        beside=hidden,
    )
    judgement = entered.judgement
    outcome = Outcome.OVERRULED if entered.overruled_by is not None else judgement.outcome
    evidence = {**judgement.evidence}
    if entered.overruled_by is not None:
        evidence["overruled_by"] = entered.overruled_by
    if hidden:
        evidence[BESIDE] = sorted(hidden)
    return registrar.record(
        workspace,
        Action.ACCEPT,
        outcome,
        Rule.AUTHORITY if outcome is Outcome.OVERRULED else Rule.APPROVAL,
        fact.id,
        entered=entered,
        evidence=evidence,
        authority=fact.authority,
        reason=reason,
    )


def _address_of(fact: Fact) -> Proposal:
    return Proposal(
        key=fact.key,
        value=fact.value,
        subject=fact.subject,
        scope=fact.scope,
        scope_id=fact.scope_id,
    )


def named_by(registrar: Registrar, workspace: Workspace, fact: Fact) -> tuple[Fact, ...]:
    """What a statement named as superseded when it was made, at the ends of its chains now."""
    return _ends(workspace, (one.targets for one in registrar.transaction.verdicts([fact.id])))


def _ends(workspace: Workspace, named: Iterable[tuple[str, ...]]) -> tuple[Fact, ...]:
    ids = sorted({target for targets in named for target in targets})
    found = (one for one in map(workspace.get, ids) if one is not None)
    return tuple({end.id: end for end in map(workspace.end_of, found)}.values())
