"""What mem0 keeps beside the text of a memory: agents, runs, metadata, who said it.

It is no part of what a person said, so it stands in no context: a keeper owns it, under the name of
the person as its subject. To forget the person is to forget it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incumbent.compat.mem0.scoping import KEEPER
from incumbent.memory import Memory

_KEY = "mem0."
Details = dict[str, Any]
"""`agent_ids`, `run_ids`, `metadata`, `actor_id`, `role`, `expiration_date`, as far as known."""


class DetailKeeper:
    """Keeps the details of memories as facts of its own, by the first fact of each chain."""

    def __init__(self, memory: Memory, organization: str) -> None:
        self._session = memory.session(
            user_id=KEEPER, organization=organization, session_id="details"
        )

    def of(self, owner: str) -> dict[str, Details]:
        """The details of all memories of an owner."""
        kept = self._session.facts(subject=owner)
        return {fact.key[len(_KEY) :]: fact.value for fact in kept if fact.key.startswith(_KEY)}

    def of_one(self, owner: str, root: str) -> Details:
        """The details of one memory."""
        found = self._session.current(_KEY + root, owner)
        return found if isinstance(found, dict) else {}

    def owners(self, name: str, value: str) -> list[str]:
        """Those who have memories of an agent or a run (`name` is "agent_ids" or "run_ids")."""
        kept = self._session.facts()
        having = (fact.subject for fact in kept if value in fact.value.get(name, ()))
        return sorted({owner for owner in having if owner})

    def keep(self, owner: str, details: Mapping[str, Details]) -> None:
        """Keep details, all of them or none."""
        writes = [
            {"key": _KEY + root, "value": one, "subject": owner, "source": "mem0"}
            for root, one in details.items()
            if one
        ]
        if writes:
            self._session.write_many(writes)

    def drop(self, owner: str, root: str) -> None:
        """Let go of the details of a memory that is gone."""
        if self._session.current(_KEY + root, owner) is not None:
            self._session.retract(_KEY + root, subject=owner)


def merged(known: Details, new: Details) -> Details:
    """Details with newer ones: agents and runs add up, of the rest the newer counts."""
    made = {**known, **new}
    for name in ("agent_ids", "run_ids"):
        several = dict.fromkeys([*known.get(name, ()), *new.get(name, ())])
        if several:
            made[name] = list(several)
    metadata = {**known.get("metadata", {}), **new.get("metadata", {})}
    if metadata:
        made["metadata"] = metadata
    return made
