"""Settling: after the offices are filled, bring every review mark up to date."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.engine.workspace import Workspace
from incumbent.model.errors import DependencyCycle
from incumbent.model.fact import Basis, Fact, Status
from incumbent.rules.repair import causes_of


def settle(
    workspace: Workspace, relinked: Iterable[str] = ()
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Recompute the marks that the workspace's changes can have altered, to any depth.

    `relinked` names facts whose chains may have come apart, as after an undo; their derived facts
    are looked at from their bases upwards. Otherwise chains only grow, and a leg can be followed
    from its present place. Returns the facts newly marked, with the path, and those lifted.
    """
    touched = workspace.touched()
    # Nothing can rest on a fact that this very decision brings.
    moved = [fact.id for fact in touched if workspace.before(fact.id) is not None]
    relinked = list(relinked)
    if not moved and not relinked and not any(fact.depends_on for fact in touched):
        return {}, ()  # a plain new fact, as most are
    loosened = (*workspace.derived_from(relinked), *workspace.standing_on(relinked))
    afresh = {fact.id for fact in loosened}
    # A fact may have been out of office while its bases moved on.
    entering = [fact for fact in touched if fact.is_valid and fact.depends_on]
    afresh.update(fact.id for fact in entering)
    wave = afresh | {fact.id for fact in workspace.standing_on(moved)}
    for fact in entering:
        # Nothing leads to a new fact that took nobody's place.
        if fact.predecessors or workspace.before(fact.id) is not None:
            _check_rests_on_others(workspace, fact)
    while wave:
        changed = []
        for fact_id in sorted(wave):
            fact = workspace.need(fact_id)
            if fact.is_valid:
                settled = _settled(workspace, fact, afresh=fact_id in afresh)
                if settled != fact:
                    workspace.put(settled)
                if settled.causes != fact.causes:
                    changed.append(fact_id)
        wave = {fact.id for fact in workspace.standing_on(changed)}
    return _difference(workspace)


def _check_rests_on_others(workspace: Workspace, fact: Fact) -> None:
    """Refuse a fact in office that rests on itself, through any bases and successors."""
    queue: list[tuple[str, tuple[str, ...]]] = [(base, (base,)) for base in fact.depends_on]
    seen = set()
    while queue:
        base_id, path = queue.pop()
        end = workspace.end_of(workspace.need(base_id))
        if end.id == fact.id:
            keys = " ← ".join(workspace.need(step).key or step for step in (fact.id, *path))
            raise DependencyCycle(
                f"{fact.quoted_key} would rest on what it replaces, or on itself: {keys}; "
                f"leave that base out of depends_on, or retract {fact.quoted_key} ({fact.id}) first"
            )
        if end.id not in seen:
            seen.add(end.id)
            if end.is_valid:
                queue.extend((base, (*path, base)) for base in end.depends_on)


def _settled(workspace: Workspace, fact: Fact, *, afresh: bool) -> Fact:
    bases = {base: workspace.need(base) for base in fact.depends_on}
    stands = {base: base for base in fact.depends_on} if afresh else dict(fact.basis)
    ends = {base: workspace.end_of(workspace.need(stands[base])) for base in fact.depends_on}
    return fact.evolve(
        basis=tuple(Basis(base, ends[base].id) for base in fact.depends_on),
        causes=causes_of(fact, bases, ends),
    )


def _difference(workspace: Workspace) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    marked: dict[str, tuple[str, ...]] = {}
    lifted = []
    for fact in workspace.touched():
        before = workspace.before(fact.id)
        was_marked = before is not None and before.status is Status.OFFICE and before.needs_review
        if fact.is_valid and fact.needs_review and not was_marked:
            marked[fact.id] = fact.causes[0].path
        elif was_marked and not (fact.is_valid and fact.needs_review):
            lifted.append(fact.id)
    return marked, tuple(lifted)
