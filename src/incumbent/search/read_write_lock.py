"""A latch: many may read something at the same time, or one may change it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Latch:
    """Keeps readers and writers apart.

    A reader waits for a change that is under way, never for one that waits itself: so two readers
    of several things never wait for each other.
    """

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._looking = 0
        self._changing = False

    @contextmanager
    def looking(self) -> Iterator[None]:
        with self._free:
            while self._changing:
                self._free.wait()
            self._looking += 1
        try:
            yield
        finally:
            with self._free:
                self._looking -= 1
                self._free.notify_all()

    @contextmanager
    def changing(self) -> Iterator[None]:
        with self._free:
            while self._changing or self._looking:
                self._free.wait()
            self._changing = True
        try:
            yield
        finally:
            with self._free:
                self._changing = False
                self._free.notify_all()
