"""Visibility: who may read what. Deny by default."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact, MemoryType
from incumbent.model.identity import Identity
from incumbent.model.records import Declaration


def meets(
    identity: Identity, requires: Iterable[str], min_authority: str | None, ladder: Ladder
) -> bool:
    """Whether this identity meets the conditions on the readers of a fact."""
    if requires and not identity.permissions.issuperset(requires):
        return False
    return not min_authority or not ladder.outranks(min_authority, identity.authority)


def may_read(
    identity: Identity,
    fact: Fact,
    ladder: Ladder,
    declarations: Iterable[Declaration] = (),
) -> bool:
    """Whether this identity may know of the fact at all."""
    if fact.organization != identity.organization:
        return False
    # A fact that a capability learned is nobody's own: it requires the capability's permission.
    shared = fact.memory_type is MemoryType.ORGANIZATIONAL or bool(fact.capability)
    if fact.owner != ("" if shared else identity.user_id):
        return False
    if not meets(identity, fact.requires, fact.min_authority, ladder):
        return False
    return all(identity.permissions.issuperset(told.requires) for told in declarations)
