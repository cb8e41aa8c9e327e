"""Moments: the times at which something was decided, found with few questions to a long list.

A list is asked through a `Recorded`: the moments of some span, the last first, and whether these
are all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

Recorded = Callable[[datetime | None, datetime | None, int], tuple[list[datetime], bool]]
"""From a moment on, before a moment, so many at most."""

STEPS = 1_000
"""The positions of a slider."""
_EXACT = 100
_FEW = 20
_BINS = 60
_TICK = timedelta(microseconds=1)
_MINUTE = timedelta(minutes=1)
_FARTHEST = timedelta(days=365 * 200)


@dataclass(frozen=True)
class DecisionAxis:
    """The time between two moments, both included, with marks in it."""

    first: datetime
    last: datetime
    marks: tuple[datetime, ...] = ()
    """In order."""
    is_exact: bool = True
    """Whether each mark is one decision and all are there; else each stands for some near it."""

    def position(self, when: datetime) -> int:
        """Where a moment is on a slider."""
        long = self.last - self.first
        if not long or when >= self.last:
            return STEPS
        return max(0, round(STEPS * ((when - self.first) / long)))

    def moment(self, position: int) -> datetime:
        """The moment at a position."""
        share = max(0, min(position, STEPS)) / STEPS
        return self.first + (self.last - self.first) * share

    def ticks(self, count: int = 5) -> list[datetime]:
        """Moments at even distances, for labels."""
        return [self.moment(STEPS * i // (count - 1)) for i in range(count)]


def axis_of(recorded: Recorded) -> DecisionAxis | None:
    """The time from the first to the last decision; None if there was none."""
    found, whole = recorded(None, None, _EXACT)
    if not found:
        return None
    if whole:
        marks = tuple(sorted(set(found)))
        return DecisionAxis(marks[0], marks[-1], marks)
    last = found[0]
    first = _first(recorded, found[-1])
    return DecisionAxis(first, last, _sample(recorded, first, last), is_exact=False)


def before(recorded: Recorded, when: datetime) -> datetime | None:
    """The last decision before a moment."""
    found, _ = recorded(None, when, 1)
    return found[0] if found else None


def after(recorded: Recorded, when: datetime, last: datetime) -> datetime | None:
    """The first decision after a moment."""
    if when >= last:
        return None
    since, step = when + _TICK, _MINUTE
    while True:
        until = min(since + step, last + _TICK)
        found, whole = recorded(since, until, _FEW)
        if found and whole:
            return found[-1]
        if found:
            step /= 4
            if step < _TICK:
                return found[-1]
        elif until > last:
            return None
        else:
            since, step = until, step * 4


def _first(recorded: Recorded, some: datetime) -> datetime:
    """The first decision of all, which is `some` or before it."""
    step = timedelta(hours=1)
    while step < _FARTHEST:
        found, _ = recorded(None, some - step, 1)
        if not found:
            # Nothing lies further back than that: the first one after it is the first of all.
            return after(recorded, some - step - _TICK, some) or some
        some, step = found[0], step * 2
    return some


def _sample(recorded: Recorded, first: datetime, last: datetime) -> tuple[datetime, ...]:
    """A moment for each part of the time that has any."""
    marks: list[datetime] = []
    part = max((last - first) / _BINS, _TICK)
    until = last + _TICK
    while len(marks) <= _BINS:
        found, _ = recorded(None, until, 1)
        if not found:
            break
        marks.append(found[0])
        until = first + part * ((found[0] - first) // part)
    return tuple(reversed(marks))
