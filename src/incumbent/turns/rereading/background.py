"""The background: the line of turns that wait to be read again, and threads that see to those that
are due, while the conversation goes on.
"""

from __future__ import annotations

import atexit
import logging
import math
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

_NOW, _NEVER = -math.inf, math.inf
Name: TypeAlias = tuple[Identity, str, str | None, Place | None]


class Line:
    """Turns in the order in which they came, by conversation. Guarded by whoever has it.

    A conversation is due at once, after a pause, with so many turns, or once it was called, as the
    settings of the model say.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._turns: dict[Name, list[Waiting]] = {}
        self._due: dict[Name, float] = {}
        """When each is due, in the same order."""

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def __iter__(self) -> Iterator[Waiting]:
        return (one for some in self._turns.values() for one in some)

    def add(self, waiting: Waiting, now: float) -> None:
        name = waiting.conversation.name
        turns = self._turns.setdefault(name, [])
        turns.append(waiting)
        enough, pause = self._llm.after_turns, self._llm.pause
        if enough is not None and len(turns) >= enough:
            self._due[name] = _NOW
        elif self._due.setdefault(name, _NEVER) != _NOW:
            self._due[name] = _NEVER if pause is None else now + pause

    def call(self, names: Iterable[Name]) -> None:
        """Have what waits of conversations read now."""
        self._due |= dict.fromkeys(self._turns.keys() & names, _NOW)

    def due(self, now: float, busy: Container[Name]) -> list[Name]:
        """The conversations to read now, but for those that are being read."""
        return [name for name, at in self._due.items() if name not in busy and at <= now]

    def next_due(self, busy: Container[Name]) -> float:
        """When the next conversation is due, as far as that is known."""
        return min((at for name, at in self._due.items() if name not in busy), default=_NEVER)

    def take(self, name: Name) -> list[Waiting]:
        """The first turns of a conversation, as many as fit into a request; others are first then.

        So a conversation with many turns keeps nobody waiting.
        """
        turns, due = self._turns.pop(name), self._due.pop(name)
        chosen, rest = turns[: self._llm.batch_turns], turns[self._llm.batch_turns :]
        if rest:
            self._turns[name], self._due[name] = rest, due
        return chosen


log = logging.getLogger("incumbent.llm")

Advise = Callable[[Sequence[Waiting], Callable[[], AbstractContextManager[None]]], None]

_alive: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """A line of turns that wait, and a few daemon threads that see to them, started when needed.

    Turns of one conversation are seen to in order, as many at once as fit into a request. The line
    is bounded: who finds it full is told so at once.
    """

    def __init__(self, advise: Advise, llm: LLM) -> None:
        self._advise = advise
        self._llm = llm
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
                    self._line.add(waiting, time.monotonic())
            self._wake()

    def end(self, name: Name) -> None:
        """Have what waits of a conversation read now: it is over."""
        with self._changed:
            self._line.call([name])
            self._wake()

    def flush(self, timeout: float | None) -> bool:
        """Have all that waits read now, and wait for it; False if that takes longer."""
        with self._changed:
            self._line.call([waiting.conversation.name for waiting in self._line])
            self._wake()
            return self._changed.wait_for(lambda: not self._line and not self._in_hand, timeout)

    def wait_for(self, person: tuple[str, str], timeout: float) -> bool:
        """Wait for readings of a person's turns that are under way; False if that takes longer."""

        def is_done() -> bool:
            due = self._line.due(time.monotonic(), ())
            busy = (name[0] for name in (*due, *self._in_hand))
            return all((one.organization, one.user_id) != person for one in busy)

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
            self._line = Line(self._llm)
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
        wanted = len(self._line.due(time.monotonic(), self._in_hand))
        wanted = wanted or int(self._line.next_due(self._in_hand) < _NEVER)
        for _ in range(min(wanted - self._idle, self._llm.at_once - len(self._threads))):
            thread = threading.Thread(target=self._work, name="incumbent-llm", daemon=True)
            self._threads.add(thread)
            thread.start()
        self._changed.notify_all()

    # the threads' side

    def _work(self) -> None:
        """See to turns as long as any are due, or will be."""
        while turns := self._next():
            try:
                self._advise(turns, self._effect)
            finally:
                with self._changed:
                    del self._in_hand[turns[0].conversation.name]
                    self._changed.notify_all()

    def _next(self) -> Sequence[Waiting]:
        """The next turns of one conversation, once they are due; none where none will be."""
        with self._changed:
            while not self._closed:
                now, wakes = time.monotonic(), self._line.next_due(self._in_hand)
                if due := self._line.due(now, self._in_hand):
                    self._in_hand[due[0]] = self._line.take(due[0])
                    return self._in_hand[due[0]]
                if wakes == _NEVER:
                    break
                self._idle += 1
                self._changed.wait(wakes - now)
                self._idle -= 1
            self._threads.discard(threading.current_thread())
            return ()

    @contextmanager
    def _effect(self) -> Iterator[None]:
        """Hold off closing while an answer is put into effect; refuse it afterwards."""
        with self._effecting:
            if self._closed:
                raise Trouble("dropped", "the memory was closed before the model had answered")
            yield


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
