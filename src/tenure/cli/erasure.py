"""Erasing by name: what one person may have erased from within a conversation."""

from __future__ import annotations

from tenure import Erasure, Fact, Memory, Session
from tenure.model.errors import NotPermitted, UnknownFact


def erase_own(
    memory: Memory, session: Session, key_or_id: str, subject: str | None = None
) -> list[Erasure]:
    """Erase a fact, or everything that a key ever said, of this person alone.

    What belongs to the organization is not one person's to erase, whatever they may do otherwise.
    """
    who = session.identity
    mine = [fact for fact in _named(session, key_or_id, subject) if fact.owner == who.user_id]
    if not mine:
        raise NotPermitted(
            f"{key_or_id!r:.80} belongs to the organization, not to {who.user_id!r}; whoever keeps "
            f"the memory erases it with `tenure forget`"
        )
    return [
        memory.forget(organization=who.organization, by=who.user_id, fact_id=fact.id)
        for fact in mine
    ]


def _named(session: Session, key_or_id: str, subject: str | None) -> list[Fact]:
    """The fact of an id, or all that a key ever said."""
    fact = session.get(key_or_id)
    if fact is not None:
        return [fact]
    chain = session.history(key_or_id, subject)
    found = [*chain.facts, *chain.overruled]
    if not found:
        raise UnknownFact(f"no fact with id or key {key_or_id!r:.80} exists here")
    return found
