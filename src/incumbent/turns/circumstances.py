"""Circumstances: who says a turn, where and when; and where what they say comes to sit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from incumbent.model.fact import Fact, Said
from incumbent.model.scope import Place

_MOST_TURNS = 8
"""How many turns a statement that was corrected again and again names as its source."""


@dataclass(frozen=True)
class Speaker:
    """Who is speaking, and for whom."""

    name: str
    is_self: bool
    """Whether it is the person whose session it is."""
    authority: str | None = None


@dataclass(frozen=True)
class Circumstances:
    """Where and when a turn was said."""

    speaker: Speaker
    session_id: str
    task_id: str | None
    branch: Place | None
    turn_index: int
    ref: str | None
    at: datetime | None
    text: str = ""
    """The whole turn."""
    asks_first: bool = False
    """Whether what it says is kept only once its author approves it."""


def history_of(fact: Fact) -> tuple[Said, ...]:
    """The turns whose words a fact keeps, its own last."""
    source = fact.source
    if source.turn_index is None:
        return source.earlier
    start, end = source.span or (0, 0)
    said = Said(source.turn_index, source.speaker or "", source.ref, start, end)
    return (*source.earlier[1 - _MOST_TURNS :], said)
