"""The clock. Everything else is given the time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The wall clock. Incumbent reads it only here; pass `clock=` to use another."""
    return datetime.now(UTC)
