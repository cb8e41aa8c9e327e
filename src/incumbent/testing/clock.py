"""A clock for tests: it stands still until it is told to move, and it moves only forwards."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from incumbent.model.times import moment

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""The start of a test clock unless told otherwise: a Monday morning."""


class SteppingClock:
    """An injected clock: `incumbent.open(where, clock=SteppingClock())`. Safe to share by threads.

    Invariant: readings are aware, in UTC, and never run backwards.
    """

    def __init__(self, start: datetime = START, *, step: timedelta = timedelta(0)) -> None:
        """Start at `start`; with a `step`, every reading is that much later than the last."""
        if step < timedelta(0):
            raise ValueError(f"a clock steps forwards or not at all, not by {step}")
        self._now = moment(start, "start")
        self._step = step
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        """The present; the step, if there is one, is taken after the reading."""
        with self._lock:
            now = self._now
            self._now += self._step
            return now

    @property
    def now(self) -> datetime:
        """The present, without taking a step."""
        return self._now

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Move on by a timedelta, or by its parts: `advance(days=1, hours=2)`. Returns the new
        present."""
        distance = timedelta(**parts) if by is None else by + timedelta(**parts)
        with self._lock:
            if distance < timedelta(0):
                raise ValueError(f"a clock does not go back; it was asked to, by {-distance}")
            self._now += distance
            return self._now

    def move_to(self, when: datetime) -> datetime:
        """Move on to a moment that is not in the past."""
        return self.advance(moment(when, "when") - self._now)
