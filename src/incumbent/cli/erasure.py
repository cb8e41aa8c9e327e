"""Erasing by name: the facts that one person may erase from within a conversation."""

from __future__ import annotations

from incumbent import Erasure, Fact, Memory, Session
from incumbent.model.errors import NotPermitted, UnknownFact


def erase_own(
    memory: Memory, session: Session, key_or_id: str, subject: str | None = None
) -> list[Erasure]:
    """Erase a fact, or every fact at a key, of this person alone.

    Facts of the organization are not one person's to erase, whatever that person's permissions are.
    """
    who = session.identity
    mine = [fact for fact in _named(session, key_or_id, subject) if fact.owner == who.user_id]
    if not mine:
        raise NotPermitted(
            f"{key_or_id!r:.80} belongs to the organization, not to {who.user_id!r}; whoever keeps "
            f"the memory erases it with `incumbent forget`"
        )
    return [
        memory.forget(organization=who.organization, by=who.user_id, fact_id=fact.id)
        for fact in mine
    ]


def _named(session: Session, key_or_id: str, subject: str | None) -> list[Fact]:
    """The fact with an id, or every fact at a key."""
    fact = session.get(key_or_id)
    if fact is not None:
        return [fact]
    chain = session.history(key_or_id, subject)
    found = [*chain.facts, *chain.overruled]
    if not found:
        raise UnknownFact(f"no fact with id or key {key_or_id!r:.80} exists here")
    return found
