"""Repeating a call that was in conflict with another transaction."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from incumbent.model.errors import StoreConflict

P = ParamSpec("P")
T = TypeVar("T")

_ATTEMPTS = 6
_PUBLIC = {"_take_in": "observe", "_write_all": "write_many", "log_page": "audit"}
"""Methods that carry out another, and the name of that one."""
_PAUSE = 0.02  # seconds, doubled each time


def repeated(call: Callable[P, T]) -> Callable[P, T]:
    """A call of one transaction, tried again if it was rolled back in favour of another.

    Stores with one writer never need it. A server may: two transactions wait for each other, or a
    replica has to take back rows that a reader still looks at.
    """

    @wraps(call)
    def patient(*given: P.args, **named: P.kwargs) -> T:
        for attempt in range(_ATTEMPTS - 1):
            try:
                return call(*given, **named)
            except StoreConflict:
                _tell(given[0] if given else None, call.__name__)
                # The jitter keeps those who met from meeting again.
                time.sleep(_PAUSE * 2**attempt * random.uniform(0.5, 1.5))
        return call(*given, **named)

    return patient


def _tell(owner: object, name: str) -> None:
    """Report the repetition, if the owner of the call has telemetry."""
    telemetry = getattr(owner, "_telemetry", None)
    if telemetry is not None:
        telemetry.repeated(_PUBLIC.get(name, name))
