"""What the property tests check a store against: simple truths, computed the long way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import incumbent
from incumbent.model.fact import Fact, Status
from incumbent.model.values import same_value
from incumbent.stores.codec import fact_from_record

ORGANIZATION = "acme"
RUNGS = incumbent.Ladder().rungs


def rank(rung: str) -> int:
    return RUNGS.index(rung)


def all_facts(memory: incumbent.Memory, organization: str = ORGANIZATION) -> dict[str, Fact]:
    """Every fact of an organization as stored, whoever may see it."""
    found = {}
    for record in memory.store.dump(organization):
        if record["kind"] == "fact":
            fields = {k: v for k, v in record.items() if k not in ("kind", "seq", "since")}
            fact = fact_from_record(fields)
            found[fact.id] = fact
    return found


def tenures(facts: Iterable[Fact]) -> dict[str, tuple[Any, ...]]:
    """How facts stand, in a form two moments can be compared by."""
    return {
        fact.id: (
            fact.status,
            fact.superseded_by,
            fact.predecessors,
            fact.started_at,
            fact.ended_at,
            fact.standing,
            fact.confirmed_at,
            fact.awaits,
            fact.causes if fact.is_valid else (),
            fact.acknowledged,
        )
        for fact in facts
    }


def differences(
    left: dict[str, tuple[Any, ...]], right: dict[str, tuple[Any, ...]]
) -> dict[str, tuple[Any, Any]]:
    """What stands differently, for an assertion that says so."""
    return {
        fact: (left.get(fact), right.get(fact))
        for fact in sorted(left.keys() | right.keys())
        if left.get(fact) != right.get(fact)
    }


def check_links(facts: dict[str, Fact]) -> None:
    """Invariants 1 and 2: one incumbent an address, links agree, no cycle, one live end."""
    seats: dict[Any, str] = {}
    for fact in facts.values():
        if fact.status is Status.OFFICE and not fact.multi_valued:
            assert fact.address not in seats, f"two incumbents at {fact.address}"
            seats[fact.address] = fact.id
        if fact.status is not Status.ERASED:
            assert (fact.superseded_by is not None) == (fact.status is Status.SUPERSEDED)
        if fact.superseded_by is not None:
            assert fact.id in facts[fact.superseded_by].predecessors
        for earlier in fact.predecessors:
            assert facts[earlier].superseded_by == fact.id
        seen = {fact.id}
        step = fact
        while step.superseded_by is not None:
            step = facts[step.superseded_by]
            assert step.id not in seen, "a chain runs in a circle"
            seen.add(step.id)


def end_of(facts: dict[str, Fact], fact: Fact) -> Fact:
    while fact.superseded_by is not None:
        fact = facts[fact.superseded_by]
    return fact


def reasons(facts: dict[str, Fact], fact: Fact) -> set[str]:
    """Why a fact needs review, from the definition: by recursion over all its bases."""
    found = set()
    for base_id in fact.depends_on:
        base = facts[base_id]
        end = end_of(facts, base)
        if not end.is_valid:
            token = f"{base_id}>"
            broken = True
        else:
            token = f"{base_id}>{end.id}"
            broken = end.id != base_id and not same_value(end.value, base.value)
        if broken and token not in fact.acknowledged:
            found.add(token)
        elif end.is_valid:
            found |= reasons(facts, end) - fact.acknowledged
    return found


def check_marks(facts: dict[str, Fact]) -> None:
    """Invariant 7: review marks are what their definition says, with a path that exists."""
    for fact in facts.values():
        if not fact.is_valid:
            continue
        assert {cause.token for cause in fact.causes} == reasons(facts, fact), fact.key
        for cause in fact.causes:
            assert cause.path[0] == cause.base
            assert cause.path[-1] == fact.id
