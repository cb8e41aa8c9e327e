"""The same API, awaited. A thin façade: every call runs on a thread of a small pool.

    async with incumbent.aio.open("agent.db") as memory:
        alice = memory.session(user_id="alice")
        await alice.observe("I moved to 456 Oak Ave.")
        context = await alice.context("Where should we ship the order?")

A call that is cancelled while it waits for a thread is not made. One that has begun is finished:
what it writes is written whole, and only its answer is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from functools import partial, wraps
from itertools import islice
from os import PathLike
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from incumbent import opening
from incumbent.audit.entries import AuditEntry
from incumbent.clock import Clock
from incumbent.environment import Providers
from incumbent.memory import Memory
from incumbent.model.errors import SessionClosed
from incumbent.model.identity import Identity
from incumbent.model.modes import Mode
from incumbent.model.records import Change, Environment
from incumbent.session import Session
from incumbent.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

_THREADS = 8
_AT_A_TIME = 200
_CLOSED = "this memory was closed; open it again with incumbent.aio.open(...)"

__all__ = ["AsyncMemory", "AsyncSession", "open"]


class _Threads:
    """A few threads on which calls are made."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="incumbent-aio")
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    async def run(self, call: Callable[..., T], *given: Any, **named: Any) -> T:
        """Make a call on a thread, with the context variables of whoever awaits it."""
        if self._closed:
            raise SessionClosed(_CLOSED)
        whole = partial(copy_context().run, self._made, call, *given, **named)
        return await asyncio.get_running_loop().run_in_executor(self._pool, whole)

    def _made(self, call: Callable[..., T], *given: Any, **named: Any) -> T:
        if self._closed:
            raise SessionClosed(_CLOSED)
        return call(*given, **named)

    def close(self) -> None:
        """Wait for the calls that have begun; those that wait are told that it is too late."""
        self._closed = True
        self._pool.shutdown(wait=True)


def _awaited(
    method: Callable[Concatenate[Any, P], T],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The same method, awaited."""

    @wraps(method)
    async def awaited(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        call: Callable[..., T] = getattr(self._plain, method.__name__)
        threads: _Threads = self._threads
        return await threads.run(call, *given, **named)

    return awaited


def _made(
    method: Callable[Concatenate[Any, P], Session],
) -> Callable[Concatenate[Any, P], AsyncSession]:
    """The same method, which makes a session. It asks nothing of the store, and is a plain call."""

    @wraps(method)
    def made(self: Any, /, *given: P.args, **named: P.kwargs) -> AsyncSession:
        call: Callable[..., Session] = getattr(self._plain, method.__name__)
        return AsyncSession(call(*given, **named), self._threads)

    return made


class AsyncSession:
    """A session whose calls are awaited. See `incumbent.Session`."""

    def __init__(self, plain: Session, threads: _Threads) -> None:
        self._plain = plain
        self._threads = threads

    @property
    def identity(self) -> Identity:
        return self._plain.identity

    @property
    def session_id(self) -> str:
        return self._plain.session_id

    @property
    def task_id(self) -> str | None:
        return self._plain.task_id

    @property
    def mode(self) -> Mode:
        return self._plain.mode

    @mode.setter
    def mode(self, given: Mode) -> None:
        self._plain.mode = given

    @property
    def ask_before_keeping(self) -> bool | None:
        return self._plain.ask_before_keeping

    @ask_before_keeping.setter
    def ask_before_keeping(self, given: bool | None) -> None:
        self._plain.ask_before_keeping = given

    observe = _awaited(Session.observe)
    observe_many = _awaited(Session.observe_many)
    write = _awaited(Session.write)
    write_many = _awaited(Session.write_many)
    note = _awaited(Session.note)
    context = _awaited(Session.context)
    guard = _awaited(Session.guard)
    current = _awaited(Session.current)
    is_current = _awaited(Session.is_current)
    get = _awaited(Session.get)
    facts = _awaited(Session.facts)
    history = _awaited(Session.history)
    explain = _awaited(Session.explain)
    working_set = _awaited(Session.working_set)
    receipts = _awaited(Session.receipts)
    list_sessions = _awaited(Session.list_sessions)
    list_subjects = _awaited(Session.list_subjects)
    list_keys = _awaited(Session.list_keys)
    list_receipts = _awaited(Session.list_receipts)
    list_facts = _awaited(Session.list_facts)
    list_branches = _awaited(Session.list_branches)
    list_turns = _awaited(Session.list_turns)
    retract = _awaited(Session.retract)
    revert = _awaited(Session.revert)
    promote = _awaited(Session.promote)
    undo = _awaited(Session.undo)
    reviews = _awaited(Session.reviews)
    resolve = _awaited(Session.resolve)
    commit = _awaited(Session.commit)
    discard = _awaited(Session.discard)
    close = _awaited(Session.close)

    async def environment(self) -> Environment:
        """The environment, read afresh."""
        return await self._threads.run(lambda: self._plain.environment)

    hypothetical = _made(Session.hypothetical)
    draft = _made(Session.draft)
    as_of = _made(Session.as_of)
    rehearsal = _made(Session.rehearsal)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What the last call of a rehearsal would change. See `incumbent.Session.changes`."""
        return self._plain.changes

    def __repr__(self) -> str:
        return f"<Async{repr(self._plain)[1:]}"

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class AsyncMemory:
    """A memory whose calls are awaited. See `incumbent.Memory`."""

    def __init__(self, plain: Memory, threads: _Threads) -> None:
        self._plain = plain
        self._threads = threads

    @property
    def plain(self) -> Memory:
        """The same memory, for code that does not await its calls."""
        return self._plain

    @property
    def settings(self) -> Settings:
        return self._plain.settings

    @property
    def environment(self) -> Providers:
        return self._plain.environment

    def now(self) -> datetime:
        """The present, as this memory's clock has it, in UTC."""
        return self._plain.now()

    session = _made(Memory.session)

    declare = _awaited(Memory.declare)
    forget = _awaited(Memory.forget)
    usage = _awaited(Memory.usage)
    reindex = _awaited(Memory.reindex)
    flush = _awaited(Memory.flush)
    record = _awaited(Memory.record)
    receipt = _awaited(Memory.receipt)
    replay = _awaited(Memory.replay)
    compare = _awaited(Memory.compare)
    import_ = _awaited(Memory.import_)
    list_users = _awaited(Memory.list_users)
    list_sessions = _awaited(Memory.list_sessions)
    list_subjects = _awaited(Memory.list_subjects)
    list_keys = _awaited(Memory.list_keys)
    list_receipts = _awaited(Memory.list_receipts)
    list_audit = _awaited(Memory.list_audit)
    activity = _awaited(Memory.activity)

    async def export(self, organization: str) -> AsyncIterator[dict[str, Any]]:
        """Everything of an organization as JSON objects, for `import_`."""
        async for record in self._each(self._plain.export(organization)):
            yield record

    async def audit(
        self, organization: str, *, after: int = 0, values: bool = False
    ) -> AsyncIterator[AuditEntry]:
        """The log of an organization from after an entry on. See `incumbent.Memory.audit`."""
        entries = await self._threads.run(
            self._plain.audit, organization, after=after, values=values
        )
        async for entry in self._each(entries):
            yield entry

    async def _each(self, found: Iterable[T]) -> AsyncIterator[T]:
        """Yield records a few at a time. A caller that stops early leaves nothing open in the
        store."""
        one_by_one = iter(found)
        try:
            while some := await self._threads.run(_some, one_by_one):
                for record in some:
                    yield record
        finally:
            if isinstance(one_by_one, Generator) and not self._threads.closed:
                await asyncio.shield(self._threads.run(one_by_one.close))

    async def close(self) -> None:
        """Release the store, once the calls that have begun are over. Cancelled, it goes on."""
        await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._threads.close()
        self._plain.close()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _some(records: Iterator[T]) -> list[T]:
    return list(islice(records, _AT_A_TIME))


def _close_unwanted(threads: _Threads, opening: asyncio.Future[Memory]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
    threads.close()


class _Opening:
    """A memory that is about to be opened: `async with` it, or await it."""

    def __init__(self, open_it: Callable[[], Memory], threads: int) -> None:
        self._open_it = open_it
        self._count = threads
        self._opened: AsyncMemory | None = None

    async def _open(self) -> AsyncMemory:
        threads = _Threads(self._count)
        opening = asyncio.ensure_future(threads.run(self._open_it))
        try:
            return AsyncMemory(await asyncio.shield(opening), threads)
        except asyncio.CancelledError:
            # The opening goes on; nobody is left who would close the memory.
            opening.add_done_callback(partial(_close_unwanted, threads))
            raise
        except BaseException:
            threads.close()
            raise

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemory:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.close()


def open(
    where: str | PathLike[str],
    *,
    clock: Clock | None = None,
    settings: Settings | None = None,
    key: str | None = None,
    threads: int = _THREADS,
) -> _Opening:
    """Open a memory whose calls are awaited: `async with incumbent.aio.open("agent.db") as memory`.

    Takes what `incumbent.open` takes. `threads` is how many calls are made at the same time.
    """
    return _Opening(
        lambda: opening.open(where, clock=clock, settings=settings, key=key), max(1, threads)
    )
