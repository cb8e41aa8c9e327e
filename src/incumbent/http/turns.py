"""Turns: a fair order of calls, so that no organization keeps the others waiting.

One interpreter does one thing at a time. An organization that keeps it busy gets one call at a time
as long as others call too; if its calls are long, or queue, it rests after each. A caller of single
short calls never rests. A call that only waits, for a disk or a model elsewhere, keeps nobody
waiting.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anyio

from incumbent.http.problems import Refusal

_LATELY = 60.0
"""Seconds after its last call in which an organization still counts for the others."""
_HALF = 2.0
"""Seconds after which spent work counts half."""
_BUSY = 0.5
"""Seconds of recent work from which an organization counts as busy."""
_AT_FIRST = 2
"""Calls at once of an organization whose calls have not been measured yet."""
_SHORT = 0.05
"""The most seconds of a short call. An organization with short calls may have several at once."""
_MOST_REST = 5.0
_MOST_LINES = 10_000


class Caller(NamedTuple):
    """The caller, as far as it matters for turns."""

    name: str
    """The name of the credential."""
    organization: str


class Callers:
    """The callers by their credentials, so that nobody has to be looked up to be put in line.

    It says nothing of whether they may come in: that is looked up every time.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Caller] = OrderedDict()

    def of(self, shown: str | None) -> Caller | None:
        return None if shown is None else self._known.get(_digest(shown))

    def keep(self, shown: str, caller: Caller) -> Caller:
        self._known[_digest(shown)] = caller
        while len(self._known) > _MOST_LINES:
            self._known.popitem(last=False)
        return caller


def _digest(shown: str) -> bytes:
    return hashlib.sha256(shown.encode("utf-8", "replace")).digest()


class Meter:
    """Adds up the processor time of a call."""

    def __init__(self, rest: Callable[[float], float] = lambda work: 0.0) -> None:
        """`rest` gives the seconds of rest after so many seconds of work."""
        self.spent = 0.0
        self.rested = 0.0
        """The part of the work that was rested from already."""
        self._rest = rest
        self._since = 0.0

    def measured(self, call: Callable[..., Any], *given: Any) -> Any:
        """Run a call on a thread, and add its work."""
        self._since = time.thread_time()
        try:
            return call(*given)
        finally:
            self._count()

    def pace(self, *_: object) -> None:
        """Rest between two parts of a long call, on its thread."""
        self._count()
        time.sleep(min(_MOST_REST, self._rest(self.spent - self.rested)))
        self.rested = self.spent

    def _count(self) -> None:
        now = time.thread_time()
        self.spent += now - self._since
        self._since = now


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)
"""The meter of the present call, for code that starts threads of its own."""


@dataclass
class _Line:
    """The calls of one organization."""

    running: int = 0
    waiting: deque[anyio.Event] = field(default_factory=deque)
    spent: float = 0.0
    """Seconds of recent work, as of `since`."""
    since: float = 0.0
    usual: float | None = None
    """Average seconds of work of its last calls."""
    called: float = 0.0
    rests_until: float = 0.0


class Turns:
    """Counts the calls under way, and orders them fairly.

    All of it happens on the event loop, one step at a time, so nothing is locked.
    """

    def __init__(
        self,
        *,
        threads: int,
        at_once: int,
        share: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threads = threads
        self._at_once = at_once
        self._share = share
        self._clock = clock
        self._under_way: dict[str, int] = {}
        self._lines: OrderedDict[str, _Line] = OrderedDict()

    @asynccontextmanager
    async def under_way(self, caller: Caller | None) -> AsyncIterator[None]:
        """A call from its first byte to its last; refused if its key has too many already."""
        if caller is None:
            yield
            return
        if self._under_way.get(caller.name, 0) >= self._at_once:
            raise Refusal(
                429,
                "TooManyCalls",
                f"more than {self._at_once} calls of this credential at the same time; "
                f"wait for one to end and try again",
                headers={"Retry-After": "1"},
            )
        self._under_way[caller.name] = self._under_way.get(caller.name, 0) + 1
        try:
            yield
        finally:
            left = self._under_way.pop(caller.name) - 1
            if left:
                self._under_way[caller.name] = left

    @asynccontextmanager
    async def turn(self, caller: Caller | None) -> AsyncIterator[Meter]:
        """A part of a call that takes work, when it is its organization's turn."""
        if caller is None:
            yield Meter()
            return
        line = self._line(caller.organization)
        meter = Meter(lambda work: self._rest(caller.organization, line, work))
        await self._begin(caller.organization, line)
        known = METER.set(meter)
        try:
            yield meter
        finally:
            METER.reset(known)
            self._end(caller.organization, line, meter.spent, meter.spent - meter.rested)

    def most(self, organization: str) -> int:
        """The most calls of an organization that may be worked on at the same time just now."""
        if self._is_alone(organization):
            return max(1, self._threads - 1)  # whoever comes next need not wait for a thread
        line = self._line(organization)
        if self._is_busy(line):
            return 1
        return max(1, self._threads // 2) if _is_short(line) else min(_AT_FIRST, self._threads)

    async def _begin(self, organization: str, line: _Line) -> None:
        if line.running >= self.most(organization) or line.waiting:
            turn = anyio.Event()
            line.waiting.append(turn)
            try:
                await turn.wait()
            except BaseException:
                if turn.is_set():
                    self._end(organization, line, 0.0)
                else:
                    line.waiting.remove(turn)
                raise
        else:
            line.running += 1
        while (rest := line.rests_until - self._clock()) > 0 and not self._is_alone(organization):
            try:
                await anyio.sleep(rest)
            except BaseException:
                self._end(organization, line, 0.0)
                raise

    def _rest(self, organization: str, line: _Line, work: float) -> float:
        """Seconds that an organization rests after work in the middle of a call. Called on a
        thread."""
        is_busy = _left(line, self._clock()) + work > _BUSY
        return self._due(work) if is_busy and not self._is_alone(organization) else 0.0

    def _due(self, work: float) -> float:
        return work * (1 - self._share) / self._share

    def _end(self, organization: str, line: _Line, spent: float, work: float = 0.0) -> None:
        """End a call with its work, and with the part of it that was not rested from yet."""
        line.running -= 1
        now = self._clock()
        line.spent = _left(line, now) + spent
        line.since = now
        if spent:
            line.usual = spent if line.usual is None else (3 * line.usual + spent) / 4
        if self._is_busy(line) and (line.waiting or not _is_short(line)):
            line.rests_until = max(now, line.rests_until) + min(_MOST_REST, self._due(work))
        while line.waiting and line.running < self.most(organization):
            line.running += 1
            line.waiting.popleft().set()

    def _line(self, organization: str) -> _Line:
        line = self._lines.pop(organization, None) or _Line()
        line.called = self._clock()
        self._lines[organization] = line  # the last that called is last
        while len(self._lines) > _MOST_LINES and not next(iter(self._lines.values())).running:
            self._lines.popitem(last=False)
        return line

    def _is_alone(self, organization: str) -> bool:
        """Whether no other organization called recently."""
        oldest = self._clock() - _LATELY
        last = [name for name in list(self._lines)[-2:] if name != organization][-1:]
        return not last or self._lines[last[0]].called < oldest

    def _is_busy(self, line: _Line) -> bool:
        return _left(line, self._clock()) > _BUSY


def _is_short(line: _Line) -> bool:
    """Whether an organization is known to make short calls."""
    return line.usual is not None and line.usual <= _SHORT


def _left(line: _Line, now: float) -> float:
    """The recent work that still counts."""
    decayed: float = line.spent * 0.5 ** ((now - line.since) / _HALF)
    return decayed
