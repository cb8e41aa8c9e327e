"""Undo: set an entry of the log aside, and let everything stand as if it had not been made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from incumbent.engine.registrar import Registrar
from incumbent.engine.replay import component, replay
from incumbent.engine.rights import check_may_speak
from incumbent.engine.workspace import Workspace
from incumbent.model.errors import NothingToUndo, NotPermitted, UnknownVerdict
from incumbent.model.fact import Fact, Status
from incumbent.model.ids import new_id
from incumbent.model.verdict import Action, Outcome, Rule, Verdict


def undo(
    registrar: Registrar,
    verdict_id: str,
    *,
    reason: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Verdict:
    """Undo a verdict; undoing an undo brings the first one back. `evidence` is added to its own."""
    transaction = registrar.transaction
    verdict = transaction.verdict(verdict_id)
    fact = transaction.fact(verdict.fact_id) if verdict is not None else None
    if verdict is None or fact is None or _hidden(registrar, fact):
        raise UnknownVerdict(
            f"no verdict with id {verdict_id!r} exists here; "
            f"`incumbent explain KEY` or session.explain(key) lists those on a fact"
        )
    if fact.status is Status.ERASED or verdict.action is Action.FORGET:
        raise NothingToUndo(f"what verdict {verdict_id!r} decided on was erased for good")
    if verdict.undone_by is not None:
        raise NothingToUndo(
            f"verdict {verdict_id!r} is undone already, by {verdict.undone_by!r}; "
            f"undo that one to bring it back"
        )
    _check_rank(registrar, verdict)
    check_may_speak(registrar.lens, fact)
    return _set_aside(registrar, verdict, fact, reason, evidence or {})


def _set_aside(
    registrar: Registrar,
    verdict: Verdict,
    fact: Fact,
    reason: str | None,
    evidence: Mapping[str, Any],
) -> Verdict:
    transaction = registrar.transaction
    undo_id = new_id(registrar.now)
    linked = component(transaction, [fact.id, *verdict.superseded])
    _check_nothing_erased_since(registrar, verdict, linked)
    flips = _flips(registrar, verdict, undo_id)
    entries = [
        entry
        for entry in transaction.verdicts(linked)
        if flips.get(entry.id, entry.undone_by) is None and entry.action is not Action.UNDO
    ]
    workspace = Workspace(transaction, registrar.now)
    stepped_back, took_office = [], []
    for fact_id, after in replay(linked, entries, registrar.ladder).items():
        before = workspace.need(fact_id)
        workspace.put(after.evolve(basis=before.basis, causes=before.causes))
        leaves = _holds(before, registrar.now) and not _holds(after, registrar.now)
        if leaves and not _yields(before, after, fact):
            registrar.check_may_settle(before)
        if before.is_valid and not after.is_valid:
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
        evidence={**evidence, "undoes": verdict.id},
        reason=reason,
    )
    for entry_id, undone_by in flips.items():
        transaction.mark_undone(entry_id, undone_by)
    return undoing


def _flips(registrar: Registrar, verdict: Verdict, undo_id: str) -> dict[str, str | None]:
    """The verdicts that change between standing and undone, each with the one that undoes it now.

    A verdict is undone while an undo of it stands. The entries are read from the last undo back.
    """
    entries = registrar.transaction.verdicts([verdict.fact_id])
    undone: dict[str, str] = {verdict.id: undo_id}
    for entry in reversed(entries):
        if entry.action is Action.UNDO and entry.id not in undone:
            undone.setdefault(entry.evidence["undoes"], entry.id)
    return {
        entry.id: undone.get(entry.id)
        for entry in entries
        if undone.get(entry.id) != entry.undone_by
    }


def _check_nothing_erased_since(
    registrar: Registrar, verdict: Verdict, linked: dict[str, Fact]
) -> None:
    """Refuse if a linked fact of later date was erased: it could no longer keep others down."""
    erased = [fact.id for fact in linked.values() if fact.status is Status.ERASED]
    for entry in registrar.transaction.verdicts(erased) if erased else ():
        if entry.action is Action.ASSERT and entry.seq > verdict.seq:
            raise NothingToUndo(
                f"a fact that came after verdict {verdict.id!r} was erased, and undoing could "
                f"bring back what it replaced; write the value that should hold"
            )


def _holds(fact: Fact, now: datetime) -> bool:
    return fact.is_valid or fact.held_at(now)


def _yields(before: Fact, after: Fact, settled: Fact) -> bool:
    """Whether a statement of one person goes because the fact at hand settles it for all again."""
    return bool(before.owner) and not settled.owner and after.superseded_by == settled.id


def _hidden(registrar: Registrar, fact: Fact) -> bool:
    return fact.status is not Status.ERASED and not registrar.lens.sees(registrar.transaction, fact)


def _check_rank(registrar: Registrar, verdict: Verdict) -> None:
    if registrar.ladder.outranks(verdict.authority, registrar.identity.authority):
        raise NotPermitted(
            f"verdict {verdict.id!r} was made with the authority of {verdict.authority!r}; "
            f"{registrar.identity.user_id!r} has {registrar.identity.authority.rung!r}"
        )
