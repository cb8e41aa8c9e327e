"""Redaction: a verdict for somebody who may not see every fact it concerned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from incumbent.model.fact import Fact
from incumbent.model.verdict import BESIDE, Action, Outcome, Repair, Rule, Verdict


def mentioned(verdict: Verdict) -> set[str]:
    """Every fact id that a verdict can name, besides the fact it decided on."""
    found = {*verdict.superseded, *verdict.targets}
    for name, value in verdict.evidence.items():
        if name == BESIDE:
            continue
        if isinstance(value, list):
            found.update(value)
        elif isinstance(value, str):
            found.add(value)
    repair = verdict.repair
    found.update(repair.lifted, repair.took_office, repair.stepped_back)
    for fact_id, path in repair.marked.items():
        found.update((fact_id, *path))
    return found


def redacted(verdict: Verdict, hidden: set[str]) -> Verdict:
    """The verdict without these ids, as if the facts behind them were not there."""

    def visible(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(fact_id for fact_id in ids if fact_id not in hidden)

    evidence: dict[str, Any] = {}
    for name, value in verdict.evidence.items():
        if name == BESIDE:
            continue
        if isinstance(value, list):
            left = list(visible(value))
            if left or not value:
                evidence[name] = left
        elif value not in hidden:
            evidence[name] = value
    found = (verdict.outcome, verdict.rule)
    if verdict.outcome is Outcome.SUPERSEDED and hidden.issuperset(verdict.superseded):
        # A reader who sees none of the superseded facts sees a first fact.
        found = (Outcome.ESTABLISHED, Rule.FIRST) if verdict.superseded else found
    repair = verdict.repair
    marked = {f: path for f, path in repair.marked.items() if hidden.isdisjoint((f, *path))}
    return verdict.evolve(
        outcome=found[0],
        rule=found[1],
        fact=unlinked(verdict.fact, hidden) if verdict.fact is not None else None,
        superseded=visible(verdict.superseded),
        targets=visible(verdict.targets),
        evidence=evidence,
        repair=Repair(
            marked,
            visible(repair.lifted),
            visible(repair.took_office),
            visible(repair.stepped_back),
        ),
    )


def unlinked(fact: Fact, hidden: set[str]) -> Fact:
    """The fact without links to these."""
    if fact.superseded_by not in hidden and hidden.isdisjoint(fact.predecessors):
        return fact
    return fact.evolve(
        superseded_by=None if fact.superseded_by in hidden else fact.superseded_by,
        predecessors=tuple(i for i in fact.predecessors if i not in hidden),
    )


def blind(verdict: Verdict, fact_id: str) -> Verdict:
    """The verdict for an author who may not see the fact: always the same, whatever its fate."""
    return verdict.evolve(
        action=Action.ASSERT,
        outcome=Outcome.ESTABLISHED,
        rule=Rule.FIRST,
        fact_id=fact_id,
        superseded=(),
        targets=(),
        evidence={},
        repair=Repair(),
        fact=None,
    )
