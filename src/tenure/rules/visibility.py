"""Who may read what. Deny by default."""

from __future__ import annotations

from collections.abc import Iterable

from tenure.model.authority import Ladder
from tenure.model.fact import Fact, MemoryType
from tenure.model.identity import Identity
from tenure.model.records import Declaration


def may_read(
    identity: Identity,
    fact: Fact,
    ladder: Ladder,
    declarations: Iterable[Declaration] = (),
) -> bool:
    """Whether this identity may know of the fact at all."""
    if fact.organization != identity.organization:
        return False
    if fact.memory_type == MemoryType.ORGANIZATIONAL:
        if fact.owner:
            return False
    elif fact.owner != identity.user_id:
        return False
    if fact.requires and not identity.permissions.issuperset(fact.requires):
        return False
    if fact.min_authority and identity.authority.rank < ladder.rank(fact.min_authority):
        return False
    return all(identity.permissions.issuperset(told.requires) for told in declarations)
