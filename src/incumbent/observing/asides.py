"""Asides: what stands apart from what is so: drafts, what-ifs, and what was given word for word."""

from __future__ import annotations

from dataclasses import replace

from incumbent.language.statements import Kind
from incumbent.model.scope import Scope
from incumbent.observing.desk import Desk
from incumbent.observing.situation import VERBATIM
from incumbent.observing.understanding import Understood


def propose(desk: Desk, said: Understood, kind: Kind) -> None:
    """File a draft or a what-if in a scope of its own, where it has something to say."""
    if not said.frame.parts or "counterfactual" in said.statement.cues:
        return
    scope = Scope.DRAFT if kind is Kind.DRAFT else Scope.HYPOTHETICAL
    proposal = replace(desk.filing.proposal(said), supersedes=None)
    if desk.around.branch is None:
        proposal = replace(proposal, scope=scope, scope_id=desk.around.session_id)
    desk.note(desk.registrar.propose(proposal))


def keep(desk: Desk, said: Understood) -> None:
    """Keep what was given word for word."""
    if said.text.strip():
        proposal = desk.filing.proposal(said)
        proposal = replace(proposal, key=VERBATIM, value=said.text, multi_valued=True)
        desk.note(desk.registrar.propose(proposal))
