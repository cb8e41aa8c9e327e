"""The material of a context: everything that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import Any, NamedTuple

from incumbent.context.document import Omission
from incumbent.context.guard import DeadValue, DeadValueIndex
from incumbent.context.ranking import Ranked
from incumbent.context.rendering import Changed, Unknown
from incumbent.context.said_lines import TimeNote
from incumbent.model.fact import Fact
from incumbent.model.identity import Identity
from incumbent.model.records import Environment, WorkingItem


class SaidBefore(NamedTuple):
    """A passage that bears on the query, under its day and its speaker."""

    item: WorkingItem
    place: tuple[Any, ...]
    """Orders passages by when they were said."""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a context is made of: visible, valid, in scope and ranked."""

    identity: Identity
    environment: Environment
    frame: Sequence[str]
    """The lines that set the session apart from plain reality: a task, a branch, a look at the
    past."""
    facts: Sequence[Ranked]
    """Those in office, and those that take it later, which are seen as waiting."""
    working_set: Sequence[WorkingItem] = ()
    """The items of this session's desk to show if there is room, in the order they were put
    there."""
    foremost: Sequence[str] = ()
    """The keys of these items, the most important first; without it, the newest come first."""
    passages: Sequence[SaidBefore] = ()
    """What was said before, the best first."""
    said_share: float = 0.0
    """The share of the room that they may take from facts."""
    days: Mapping[str, Sequence[TimeNote]] = field(default_factory=dict)
    """For facts that were said, the days that their time words mean."""
    aside: Collection[str] = ()
    """Facts that this session said in an aside that is over, and that are not to the point."""
    changed: Mapping[str, Sequence[Changed]] = field(default_factory=dict)
    """For each fact that needs review, the bases that have changed."""
    contested: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    """For each fact that is contested, the statements that say otherwise, newest first."""
    doubted: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    """For each fact in doubt, the statements that put it there, newest first."""
    unknown: Sequence[Unknown] = ()
    """Matters in the query whose last fact was retracted or has expired."""
    unanswered: bool = False
    """Whether nothing was found that the query could be about."""
    past: Sequence[Fact] = ()
    """Earlier facts, for queries that ask for history."""
    dead: DeadValueIndex = field(default_factory=DeadValueIndex)
    """Values that no fact in office holds and that something here could repeat."""
    gone: Mapping[str, Sequence[DeadValue]] = field(default_factory=dict)
    """Facts out of office that notes say they stated, with the values that only those facts
    have."""
    omissions: Sequence[Omission] = ()
    is_common: Callable[[str], bool] = bool
    """Whether a word is used for many things."""
    seq: int = 0
    """The last entry of the log that was known."""

    @property
    def zone(self) -> tzinfo:
        """The time zone that days are told in."""
        return self.environment.current_time.tzinfo or UTC
