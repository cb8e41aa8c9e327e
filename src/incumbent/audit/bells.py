"""Waking those who follow a log, as soon as this process has added to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Bells:
    """Rung after every commit. Costs nothing worth counting while nobody listens."""

    def __init__(self) -> None:
        self._bells: tuple[Event, ...] = ()
        self._lock = Lock()

    @property
    def is_unheard(self) -> bool:
        """Whether nobody listens."""
        return not self._bells

    @contextmanager
    def listening(self) -> Iterator[Event]:
        """An event that is set whenever something was committed."""
        bell = Event()
        with self._lock:
            self._bells = (*self._bells, bell)
        try:
            yield bell
        finally:
            with self._lock:
                self._bells = tuple(one for one in self._bells if one is not bell)

    def ring(self) -> None:
        for bell in self._bells:
            bell.set()
