"""Opening a memory: from an address to a store of this process, or to a service elsewhere."""

from __future__ import annotations

from os import PathLike, fspath

from incumbent.clock import Clock, system_clock
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.reading.asked.config import as_llms
from incumbent.settings import Settings
from incumbent.stores.in_memory import MemoryStore
from incumbent.stores.port import Store
from incumbent.stores.sqlite import SQLiteStore


def open(
    where: str | PathLike[str],
    *,
    clock: Clock | None = None,
    settings: Settings | None = None,
    key: str | None = None,
) -> Memory:
    """Open a memory: a path to a SQLite file, made if missing, ":memory:" for one that goes away
    when closed, the address of a PostgreSQL database, "postgresql://user@host/database", or that
    of a service, "https://host", with the `key` that it asks for (or INCUMBENT_KEY).

    Use it as a context manager, or call `close()`.
    """
    settings = settings or Settings()
    if fspath(where).startswith(("http://", "https://")):
        return _service(fspath(where), clock, settings, key)
    for llm in as_llms(settings.llm).values():
        from incumbent.reading.asked.client import completion_for

        completion_for(llm)  # a missing key or package is told before a file is made
    return Memory(_store(fspath(where), settings), clock or system_clock, settings)


def _service(where: str, clock: Clock | None, settings: Settings, key: str | None) -> Memory:
    try:
        from incumbent.client.remote import RemoteMemory
    except ImportError as error:
        raise InvalidInput(f"a memory behind a service needs a client: {error}") from error
    return RemoteMemory(where, key=key, settings=settings, clock=clock)


def _store(where: str, settings: Settings) -> Store:
    if where == ":memory:":
        return MemoryStore()
    if not where:
        raise InvalidInput('where is empty; give a path such as "agent.db", or ":memory:"')
    kind, mark, _ = where.partition("://")
    if mark and kind in ("postgresql", "postgres"):
        return _postgres(where, settings)
    if mark:
        raise InvalidInput(
            f"{kind!r} addresses are not supported; give a path to a SQLite file, or an address "
            f'such as "postgresql://user@host/database" or "https://host"'
        )
    return SQLiteStore(where, durability=settings.durability, busy_timeout=settings.busy_timeout)


def _postgres(where: str, settings: Settings) -> Store:
    try:
        from incumbent.stores.postgres import PostgresStore
    except ImportError as error:
        raise InvalidInput(
            f"a PostgreSQL store needs a driver ({error}); install it with: "
            f"pip install 'incumbent[postgres]'"
        ) from error
    return PostgresStore(
        where,
        durability=settings.durability,
        busy_timeout=settings.busy_timeout,
        statement_timeout=settings.statement_timeout,
        pool_size=settings.pool_size,
        read_url=settings.read_url,
    )
