"""A scene: one rendered context of a situation, with what must and must not be in it."""

from __future__ import annotations

from dataclasses import dataclass

from tenure import Context


@dataclass(frozen=True, slots=True)
class Scene:
    """A context that goes into a golden file of that name."""

    name: str
    context: Context
    says: tuple[str, ...] = ()
    """Words that have to be in the text exactly so."""
    dead: tuple[str, ...] = ()
    """Words of what is no longer so, or not for this reader: nowhere in the text."""
