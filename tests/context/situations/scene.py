"""A scene: one rendered context of a situation, with what must and must not be in it."""

from __future__ import annotations

from dataclasses import dataclass

from incumbent import Context, Memory, Session


@dataclass(frozen=True, slots=True)
class Scene:
    """A context that goes into a golden file of that name."""

    name: str
    context: Context
    says: tuple[str, ...] = ()
    """Words that have to be in the text exactly so."""
    dead: tuple[str, ...] = ()
    """Words of what is no longer so, or not for this reader: nowhere in the text."""


def feed(memory: Memory, session: Session) -> Session:
    """A system of record of the same organization, with the authority of somebody there."""
    who = session.identity
    return memory.session(
        user_id="records",
        authority=who.authority.title,
        organization=who.organization,
        permissions=["organization:write", "organization:bind"],
    )
