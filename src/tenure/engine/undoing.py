"""Undo: set an entry of the log aside, and let everything stand as if it had not been made."""

from __future__ import annotations

from tenure.engine.registrar import Registrar
from tenure.engine.replay import component, replay
from tenure.engine.workspace import Workspace
from tenure.model.errors import NothingToUndo, NotPermitted, UnknownVerdict
from tenure.model.fact import Fact, Status
from tenure.model.ids import new_id
from tenure.model.verdict import Action, Outcome, Rule, Verdict


def undo(registrar: Registrar, verdict_id: str, *, reason: str | None = None) -> Verdict:
    """Undo a verdict; undoing an undo brings the first one back."""
    transaction = registrar.transaction
    verdict = transaction.verdict(verdict_id)
    fact = transaction.fact(verdict.fact_id) if verdict is not None else None
    if verdict is None or fact is None or _hidden(registrar, fact):
        raise UnknownVerdict(
            f"no verdict with id {verdict_id!r} exists here; "
            f"`tenure explain KEY` or session.explain(key) lists those on a fact"
        )
    if fact.status is Status.ERASED or verdict.action is Action.FORGET:
        raise NothingToUndo(f"what verdict {verdict_id!r} decided on was erased for good")
    if verdict.undone_by is not None:
        raise NothingToUndo(
            f"verdict {verdict_id!r} is undone already, by {verdict.undone_by!r}; "
            f"undo that one to bring it back"
        )
    _check_rank(registrar, verdict)
    return _set_aside(registrar, verdict, fact, reason)


def _set_aside(registrar: Registrar, verdict: Verdict, fact: Fact, reason: str | None) -> Verdict:
    transaction = registrar.transaction
    undo_id = new_id(registrar.now)
    linked = component(transaction, [fact.id, *verdict.superseded])
    flips = _flips(registrar, verdict, active=False, by=undo_id)
    entries = [
        entry
        for entry in transaction.verdicts(linked)
        if flips.get(entry.id, entry.undone_by) is None and entry.action is not Action.UNDO
    ]
    workspace = Workspace(transaction)
    stepped_back, took_office = [], []
    for fact_id, after in replay(linked, entries, registrar.ladder).items():
        before = workspace.need(fact_id)
        workspace.put(after.evolve(basis=before.basis, causes=before.causes))
        if before.is_valid and not after.is_valid:
            registrar.check_may_settle(before)
            stepped_back.append(fact_id)
        elif after.is_valid and not before.is_valid:
            took_office.append(fact_id)
    undoing = registrar.record(
        workspace,
        Action.UNDO,
        Outcome.REVERTED,
        Rule.UNDO,
        fact.id,
        verdict_id=undo_id,
        relinked=linked,
        took_office=sorted(took_office),
        stepped_back=sorted(stepped_back),
        evidence={"undoes": verdict.id},
        reason=reason,
    )
    for entry_id, undone_by in flips.items():
        transaction.mark_undone(entry_id, undone_by)
    return undoing


def _flips(
    registrar: Registrar, verdict: Verdict, *, active: bool, by: str
) -> dict[str, str | None]:
    """Which verdicts change between standing and undone, each with the one that undoes it now."""
    flips: dict[str, str | None] = {verdict.id: None if active else by}
    if verdict.action is Action.UNDO:
        inner = registrar.transaction.verdict(verdict.evidence["undoes"])
        assert inner is not None
        flips |= _flips(registrar, inner, active=not active, by=verdict.id)
    return flips


def _hidden(registrar: Registrar, fact: Fact) -> bool:
    return fact.status is not Status.ERASED and not registrar.lens.sees(registrar.transaction, fact)


def _check_rank(registrar: Registrar, verdict: Verdict) -> None:
    if registrar.ladder.rank(verdict.authority) > registrar.identity.authority.rank:
        raise NotPermitted(
            f"verdict {verdict.id!r} was made with the authority of {verdict.authority!r}; "
            f"{registrar.identity.user_id!r} has {registrar.identity.authority.rung!r}"
        )
