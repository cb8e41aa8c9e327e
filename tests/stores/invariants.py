"""Invariants 1 and 2, and a sound log, checked on whatever a store holds."""

from __future__ import annotations

from collections import Counter

import incumbent
from incumbent.stores.port import Selection


def findings(memory: incumbent.Memory, organization: str) -> list[str]:
    """What is wrong with the facts and the log of an organization; nothing, if all is well."""
    with memory.store.read(organization) as reader:
        facts = {fact.id: fact for fact in reader.timeline(Selection())}
        log = reader.log(0, 1_000_000)
        head = reader.head()[0]
    erased = {i for erasure in memory.store.erasures(organization) for i in erasure.fact_ids}
    return [
        *_incumbents(facts),
        *_links(facts, erased),
        *_cycles(facts),
        *_log(log, head),
        *memory.store.check(),
    ]


def _incumbents(facts: dict[str, incumbent.Fact]) -> list[str]:
    held = Counter(
        (*fact.address, fact.audience)
        for fact in facts.values()
        if fact.is_valid and not fact.multi_valued
    )
    return [f"{count} incumbents at {address}" for address, count in held.items() if count > 1]


def _links(facts: dict[str, incumbent.Fact], erased: set[str]) -> list[str]:
    wrong = []
    for fact in facts.values():
        ahead = fact.superseded_by
        if (fact.status is incumbent.Status.SUPERSEDED) != (ahead is not None):
            wrong.append(f"{fact.id} is {fact.status} and superseded by {ahead}")
        if ahead and ahead not in erased and fact.id not in facts[ahead].predecessors:
            wrong.append(f"{fact.id} is superseded by {ahead}, which does not say so")
        wrong.extend(
            f"{fact.id} supersedes {behind}, which does not say so"
            for behind in fact.predecessors
            if behind not in erased and facts[behind].superseded_by != fact.id
        )
    return wrong


def _cycles(facts: dict[str, incumbent.Fact]) -> list[str]:
    sound: set[str] = set()
    for start in facts:
        path: list[str] = []
        step: str | None = start
        while step in facts and step not in sound:
            if step in path:
                return [f"the chain of {start} runs in a circle"]
            path.append(step)
            step = facts[step].superseded_by
        sound.update(path)
    return []


def _log(log: list[incumbent.Verdict], head: int) -> list[str]:
    wrong = []
    if [verdict.seq for verdict in log] != list(range(1, head + 1)):
        wrong.append(f"the log of {head} entries has gaps")
    times = [verdict.recorded_at for verdict in log]
    if times != sorted(times):
        wrong.append("the times of the log run backwards")
    return wrong
