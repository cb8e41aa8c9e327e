"""Redaction: a verdict as somebody may see it who may not see every fact it concerned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenure.model.verdict import Repair, Verdict


def mentioned(verdict: Verdict) -> set[str]:
    """Every fact id that a verdict can name, besides the fact it decided on."""
    found = {*verdict.superseded, *verdict.targets}
    for value in verdict.evidence.values():
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
    """The verdict without these ids."""

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
        targets=visible(verdict.targets),
        evidence=evidence,
        repair=Repair(
            marked,
            visible(repair.lifted),
            visible(repair.took_office),
            visible(repair.stepped_back),
        ),
    )
