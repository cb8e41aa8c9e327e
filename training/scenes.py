"""Scenes: a turn, what was said before it, and what it does to what is known.

What the reader learns from. A scene is what the model reads at once: the turn before, the turn, and
the statements that it may be about. Whatever is not known of it stays `None` and teaches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from incumbent.reading.learned.pieces import Age

Becomes = Literal[
    "leaves", "replaces", "ends", "part", "confirms", "adds", "depends", "doubts", "later"
]
"""What a turn does to a statement."""


class Place(NamedTuple):
    """A stretch of the turn, or of the turn before it."""

    start: int
    end: int
    in_previous: bool = False


class Value(NamedTuple):
    """A value of a statement, and whether the turn puts it out of date."""

    start: int
    end: int
    is_over: bool
    new: Place | None = None


@dataclass(frozen=True)
class KnownText:
    """A statement that a turn may be about."""

    text: str
    age: Age
    becomes: Becomes | None = None
    by: int | None = None
    """Where in the turn the statement begins that does it."""
    new: Place | None = None
    values: tuple[Value, ...] = ()
    is_whole: bool = False
    """Whether `values` are all of it: what else it says is not over."""


@dataclass(frozen=True)
class Line:
    """A line of a turn."""

    start: int
    end: int
    kind: int | None = None
    """Its kind, by its number in `KINDS`."""
    tags: tuple[tuple[int, int, int], ...] | None = None
    """Stretches with the number of their tag; what is between has none."""
    rests_on: int | None = None
    """Where the line of the same turn begins that it depends on; -1 where there is none."""


@dataclass(frozen=True)
class Scene:
    """All that the model reads at once, and what is right about it."""

    previous: str
    turn: str
    known: tuple[KnownText, ...] = ()
    lines: tuple[Line, ...] = ()
    source: str = ""
    tells_cuts: bool = False
    """Whether `lines` are where statements begin."""
