"""Chains: facts in the order in which they superseded each other."""

from __future__ import annotations

from datetime import datetime
from heapq import heapify, heappop, heappush

from incumbent.model.fact import Fact


def in_order(facts: dict[str, Fact]) -> list[Fact]:
    """Facts in order: each after those it superseded, and otherwise by their start."""

    def age(fact: Fact) -> tuple[datetime, datetime, str]:
        return (fact.started_at or fact.valid_from, fact.recorded_at, fact.id)

    open_links = {
        fact.id: sum(earlier in facts for earlier in fact.predecessors) for fact in facts.values()
    }
    ready = [age(fact) for fact in facts.values() if not open_links[fact.id]]
    heapify(ready)
    ordered = []
    while ready:
        fact = facts[heappop(ready)[-1]]
        ordered.append(fact)
        successor = facts.get(fact.superseded_by or "")
        if successor is not None:
            open_links[successor.id] -= 1
            if not open_links[successor.id]:
                heappush(ready, age(successor))
    return ordered
