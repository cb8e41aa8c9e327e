"""How long a test waits for somebody else: a process, a thread, a socket.

A wait ends with the event it waits for, so a long limit costs a test that passes nothing. It only
says how long a test that fails goes on, on whatever machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds, for whatever comes sooner or later by itself."""


def eventually(holds: Callable[[], object], pause: float = 0.05) -> bool:
    """Whether something comes to hold; asked again and again until it does."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(pause)
    return bool(holds())
