"""The background: a thread that has turns looked at again, while the conversation goes on."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from incumbent.reading.asked.asking import Trouble
from incumbent.turns.rereading.waiting import Waiting

log = logging.getLogger("incumbent.llm")

Advise = Callable[[Sequence[Waiting], Callable[[], AbstractContextManager[None]]], None]

_alive: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """A line of turns that wait, and one daemon thread that sees to them, started when needed.

    Turns of one conversation are seen to in order, as many at once as fit into a request. The line
    is bounded: who finds it full is told so at once.
    """

    def __init__(self, advise: Advise, *, batch: int, size: int) -> None:
        self._advise = advise
        self._batch = batch
        self._size = size
        self._start_afresh()
        _alive.add(self)

    def _start_afresh(self) -> None:
        self._line: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._in_hand: Sequence[Waiting] = ()
        self._thread: threading.Thread | None = None
        self._closed = False
        # Held while an answer is put into effect, so that no store is closed in the middle of it.
        self._effecting = threading.Lock()

    def add(self, turns: Iterable[Waiting]) -> None:
        """Put turns in line; one that finds it full or closed goes without an opinion."""
        with self._changed:
            for waiting in turns:
                if self._closed:
                    waiting.opinion.fail("the memory was closed")
                elif len(self._line) >= self._size:
                    reason = f"{self._size:,} turns are waiting already"
                    waiting.opinion.fail(reason)
                    log.warning("no second opinion, the offline reading stands: %s", reason)
                else:
                    self._line.append(waiting)
            if self._line and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(
                    target=_work, args=(weakref.ref(self),), name="incumbent-llm", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def flush(self, timeout: float | None) -> bool:
        """Wait until nobody is in line or in hand; False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._line and not self._in_hand, timeout)

    def close(self, timeout: float) -> int:
        """See to those in line for so long, then give up the rest; returns how many those are."""
        if self._closed:
            return 0
        done = self.flush(timeout)
        with self._changed:
            self._closed = True
            rest = [*self._in_hand, *self._line]
            self._line.clear()
            self._changed.notify_all()
        with self._effecting:  # an answer that is being put into effect is let through
            left = [waiting for waiting in rest if waiting.opinion.status == "pending"]
            for waiting in left:
                waiting.opinion.fail("the memory was closed before the model had answered")
        if left and not done:
            log.warning("closed with %d turn(s) left without a second opinion", len(left))
        return len(left)

    def forked(self) -> None:
        """In a child process: the parent sees to its line, and its thread and locks stay there."""
        left = [*self._in_hand, *self._line]
        self._start_afresh()
        for waiting in left:
            waiting.opinion.forked()

    # the thread's side

    def take(self, patience: float) -> Sequence[Waiting] | None:
        """The next turns of one conversation; () if none come for a while, None at the end."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._line or self._closed, patience):
                return ()
            if self._closed:
                return None
            name = self._line[0].conversation.name
            chosen = [one for one in self._line if one.conversation.name == name][: self._batch]
            self._line = deque(one for one in self._line if one not in chosen)
            self._in_hand = chosen
            return chosen

    def see_to(self, turns: Sequence[Waiting]) -> None:
        try:
            self._advise(turns, self._effect)
        finally:
            with self._changed:
                self._in_hand = ()
                self._changed.notify_all()

    @contextmanager
    def _effect(self) -> Iterator[None]:
        """Hold off closing while an answer is put into effect; refuse it afterwards."""
        with self._effecting:
            if self._closed:
                raise Trouble("dropped", "the memory was closed before the model had answered")
            yield

    def retire(self) -> bool:
        """Let the thread end if there is nothing to do; the next turn starts another."""
        with self._changed:
            if self._line:
                return False
            self._thread = None
            return True


_PATIENCE = 10.0
"""Seconds without work after which the thread ends."""


def _work(owner: weakref.ref[Background]) -> None:
    """See to turns until there are none for a while, or nobody is left to see to them for."""
    while (background := owner()) is not None:
        turns = background.take(_PATIENCE)
        if turns is None or (not turns and background.retire()):
            return
        if turns:
            background.see_to(turns)
        del background


def _after_fork() -> None:
    for background in list(_alive):
        background.forked()


@atexit.register
def _at_exit() -> None:
    """Let an answer that is being put into effect through: the process would abort if the
    interpreter ended while its thread is in native code."""
    for background in list(_alive):
        background.close(0.0)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

__all__ = ["Background"]
