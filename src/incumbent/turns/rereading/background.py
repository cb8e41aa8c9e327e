"""The background: the line of turns that wait to be read again, and threads that see to those that
are due, while the conversation goes on.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

from incumbent.model.identity import Identity
from incumbent.model.scope import Place
from incumbent.reading.asked.asking import Trouble
from incumbent.reading.asked.config import LLM
from incumbent.turns.rereading.waiting import Waiting

Name: TypeAlias = tuple[Identity, str, str | None, Place | None]


class Line:
    """Turns in the order in which they came, by conversation. Guarded by whoever has it.

    A conversation is due at once, after a pause, with so many turns, or once it was called, as the
    settings of the model say.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._turns: dict[Name, list[Waiting]] = {}
        self._last: dict[Name, float] = {}
        """When the last turn of each came."""
        self._called: set[Name] = set()

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def __iter__(self) -> Iterator[Waiting]:
        return (one for some in self._turns.values() for one in some)

    def add(self, waiting: Waiting, now: float) -> None:
        name = waiting.conversation.name
        self._turns.setdefault(name, []).append(waiting)
        self._last[name] = now

    def call(self, name: Name) -> None:
        """Have what waits of a conversation read now."""
        if name in self._turns:
            self._called.add(name)

    def call_all(self) -> None:
        self._called |= self._turns.keys()

    def due(self, now: float, busy: Container[Name]) -> list[Name]:
        """The conversations to read now, but for those that are being read."""
        return [name for name in self._turns if name not in busy and self._is_due(name, now)]

    def _is_due(self, name: Name, now: float) -> bool:
        pause, enough = self._llm.pause, self._llm.after_turns
        if name in self._called or (enough is not None and len(self._turns[name]) >= enough):
            return True
        return pause is not None and now - self._last[name] >= pause

    def next_due(self, busy: Container[Name]) -> float | None:
        """When the next conversation is due by its pause."""
        if (pause := self._llm.pause) is None:
            return None
        return min(
            (at + pause for name, at in self._last.items() if name not in busy), default=None
        )

    def take(self, name: Name) -> list[Waiting]:
        """The first turns of a conversation, as many as fit into a request; others are first then.

        So a conversation with many turns keeps nobody waiting.
        """
        turns = self._turns.pop(name)
        chosen, rest = turns[: self._llm.batch_turns], turns[self._llm.batch_turns :]
        if rest:
            self._turns[name] = rest
        else:
            self._called.discard(name)
            del self._last[name]
        return chosen

    def clear(self) -> None:
        self._turns.clear()
        self._last.clear()
        self._called.clear()


log = logging.getLogger("incumbent.llm")

Advise = Callable[[Sequence[Waiting], Callable[[], AbstractContextManager[None]]], None]

_alive: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """A line of turns that wait, and a few daemon threads that see to them, started when needed.

    Turns of one conversation are seen to in order, as many at once as fit into a request. The line
    is bounded: who finds it full is told so at once.
    """

    def __init__(
        self, advise: Advise, llm: LLM, stopwatch: Callable[[], float] = time.monotonic
    ) -> None:
        self._advise = advise
        self._llm = llm
        self._stopwatch = stopwatch
        self._start_afresh()
        _alive.add(self)

    def _start_afresh(self) -> None:
        self._line = Line(self._llm)
        self._changed = threading.Condition()
        self._in_hand: dict[Name, Sequence[Waiting]] = {}
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._closed = False
        # Held while an answer is put into effect, so that no store is closed in the middle of it.
        self._effecting = threading.Lock()

    def add(self, turns: Iterable[Waiting]) -> None:
        """Put turns in line; one that finds it full or closed goes without an opinion."""
        with self._changed:
            for waiting in turns:
                if self._closed:
                    waiting.opinion.fail("the memory was closed")
                elif len(self._line) >= self._llm.queue_size:
                    reason = f"{self._llm.queue_size:,} turns are waiting already"
                    waiting.opinion.fail(reason)
                    log.warning("no second opinion, the offline reading stands: %s", reason)
                else:
                    self._line.add(waiting, self._stopwatch())
            self._wake()

    def end(self, name: Name) -> None:
        """Have what waits of a conversation read now: it is over."""
        with self._changed:
            self._line.call(name)
            self._wake()

    def flush(self, timeout: float | None) -> bool:
        """Have all that waits read now, and wait for it; False if that takes longer."""
        with self._changed:
            self._line.call_all()
            self._wake()
            return self._changed.wait_for(lambda: not self._line and not self._in_hand, timeout)

    def wait_for(self, person: tuple[str, str], timeout: float) -> bool:
        """Wait for readings of a person's turns that are under way; False if that takes longer."""

        def is_done() -> bool:
            due = self._line.due(self._stopwatch(), ())
            return all(_person_of(name) != person for name in (*due, *self._in_hand))

        with self._changed:
            return self._changed.wait_for(is_done, timeout)

    def close(self, timeout: float) -> int:
        """See to those in line for so long, then give up the rest; returns how many those are."""
        if self._closed:
            return 0
        done = self.flush(timeout) if timeout else not self._left()  # no thread starts at the end
        with self._changed:
            self._closed = True
            rest = self._left()
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
        """In a child process: the parent sees to its line, and its threads and locks stay there."""
        left = self._left()
        self._start_afresh()
        for waiting in left:
            waiting.opinion.forked()

    def _left(self) -> list[Waiting]:
        return [*(one for some in self._in_hand.values() for one in some), *self._line]

    def _wake(self) -> None:
        """Have a thread for each conversation that is due, or one that waits until one is."""
        self._threads = {thread for thread in self._threads if thread.is_alive()}
        wanted = len(self._line.due(self._stopwatch(), self._in_hand))
        wanted = wanted or int(self._line.next_due(self._in_hand) is not None)
        for _ in range(min(wanted - self._idle, self._llm.at_once - len(self._threads))):
            thread = threading.Thread(
                target=_work, args=(weakref.ref(self),), name="incumbent-llm", daemon=True
            )
            self._threads.add(thread)
            thread.start()
        self._changed.notify_all()

    # the threads' side

    def take(self, patience: float) -> Sequence[Waiting] | None:
        """The next turns of one conversation; () if none come for a while, None at the end."""
        with self._changed:
            self._idle += 1
            try:
                return self._taken(self._stopwatch() + patience)
            finally:
                self._idle -= 1

    def _taken(self, deadline: float) -> Sequence[Waiting] | None:
        while not self._closed:
            now = self._stopwatch()
            if due := self._line.due(now, self._in_hand):
                chosen = self._line.take(due[0])
                self._in_hand[due[0]] = chosen
                return chosen
            if now >= deadline:
                return ()
            pause_ends = self._line.next_due(self._in_hand)
            self._changed.wait(min(deadline, pause_ends or deadline) - now)
        return None

    def see_to(self, turns: Sequence[Waiting]) -> None:
        try:
            self._advise(turns, self._effect)
        finally:
            with self._changed:
                del self._in_hand[turns[0].conversation.name]
                self._changed.notify_all()

    @contextmanager
    def _effect(self) -> Iterator[None]:
        """Hold off closing while an answer is put into effect; refuse it afterwards."""
        with self._effecting:
            if self._closed:
                raise Trouble("dropped", "the memory was closed before the model had answered")
            yield

    def retire(self) -> bool:
        """Let this thread end if there is nothing to do; the next turn starts another."""
        with self._changed:
            waits = self._line.next_due(self._in_hand) is not None
            if waits or self._line.due(self._stopwatch(), self._in_hand):
                return False
            self._threads.discard(threading.current_thread())
            return True


def _person_of(name: Name) -> tuple[str, str]:
    return name[0].organization, name[0].user_id


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
