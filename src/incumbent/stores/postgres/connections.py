"""Connections to a PostgreSQL server: a pool, transactions that begin in one round trip, errors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import psycopg
from psycopg import errors, pq
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from incumbent.model.errors import InvalidInput, SessionClosed, StoreBusy
from incumbent.stores.postgres.errors import is_lost, refusal, translate
from incumbent.stores.postgres.schema import APPLICATION_ROLE, SCHEMA
from incumbent.stores.postgres.sql import statement

Connection = psycopg.Connection[tuple[Any, ...]]
Rows = list[tuple[Any, ...]]
Answer = TypeVar("Answer")

_ATTEMPTS = 3
_IDLE = 300.0  # seconds
_GRACE = 5.0  # seconds that a server has beyond its own limits
_LEFT_TO_PARENTS: list[Connection] = []
"""Connections of a process that forked: kept, so that no child closes them."""


class Limits(NamedTuple):
    """The limits on time and number."""

    pool_size: int
    connect_timeout: float
    statement_timeout: float
    busy_timeout: float
    synchronous: bool
    """Whether a commit waits for the disk."""


def parts_of(conninfo: str) -> dict[str, Any]:
    """The parts of an address, by the names of libpq; refused if it cannot be read."""
    try:
        parts = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as error:
        told = str(error).strip().replace(conninfo, "...")  # it may have a password in it
        raise InvalidInput(
            f"the address of the database cannot be read ({told}); write it as "
            f"postgresql://user@host:5432/database, with options such as ?sslmode=require after it"
        ) from None
    return {name: value for name, value in parts.items() if value is not None}


def address_of(conninfo: str) -> str:
    """A server and database as they may be shown: without password or options."""
    parts = parts_of(conninfo)
    host, port = parts.get("host") or "localhost", parts.get("port")
    return f"postgresql://{host}{f':{port}' if port else ''}/{parts.get('dbname') or ''}"


class PatientConnection(psycopg.Connection[tuple[Any, ...]]):
    """Gives up on a server that is silent: the server's own limits are no help when it hangs, or
    when the network loses its answers."""

    patience: float | None = None
    can_begin: bool = False
    """Whether the statements that begin a transaction for reading are prepared."""

    def wait(
        self,
        gen: PQGen[Answer],
        interval: float = 0.1,
        timeout: float | None = None,
    ) -> Answer:
        try:
            return super().wait(gen, interval, timeout or self.patience)
        except psycopg.OperationalError as error:
            if error.sqlstate is None:
                self.pgconn.finish()  # what came later would be taken for the answer to the next
            raise


class PostgresConnections:
    """A pool for one address. Forked children get a pool of their own."""

    def __init__(self, conninfo: str, limits: Limits) -> None:
        self.address = address_of(conninfo)
        self.limits = limits
        given: dict[str, Any] = {"connect_timeout": max(1, round(limits.connect_timeout))}
        given |= parts_of(conninfo)
        given.setdefault("application_name", "incumbent")
        self.conninfo = make_conninfo(**given)
        self._closed = False
        self._process = os.getpid()
        self._idle: list[tuple[Connection, float]] = []
        self._free = threading.BoundedSemaphore(limits.pool_size)

    # the pool

    @contextmanager
    def lent(self) -> Iterator[Connection]:
        """A connection for one thread; it is given back whatever happens."""
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> Connection:
        self._notice_fork()
        self.check_open()
        if not self._free.acquire(timeout=self.limits.busy_timeout):
            raise StoreBusy(
                f"none of {self.limits.pool_size} connections to {self.address} was free for "
                f"{self.limits.busy_timeout:g} s; raise pool_size"
            )
        try:
            while self._idle:
                connection, since = self._idle.pop()
                if not connection.closed and time.monotonic() - since < _IDLE:
                    return connection
                connection.close()
            return self.connect()
        except BaseException:
            self._free.release()
            raise

    def check_open(self) -> None:
        if self._closed:
            raise SessionClosed("the memory is closed; open it again with incumbent.open()")

    def _notice_fork(self) -> None:
        """A forked child must not talk on its parent's connections, nor close them."""
        if self._process != os.getpid():
            _LEFT_TO_PARENTS.extend(connection for connection, _ in self._idle)
            self._idle = []
            self._free = threading.BoundedSemaphore(self.limits.pool_size)
            self._process = os.getpid()

    def connect(self) -> Connection:
        """A new connection, ready to work for any organization."""
        try:
            connection = PatientConnection.connect(self.conninfo, autocommit=True)
        except psycopg.Error as error:
            raise self.refused(error) from error
        try:
            self._configure(connection)
        except psycopg.Error as error:
            connection.close()
            raise translate(error, self.address) from error
        return connection

    def refused(self, error: psycopg.Error) -> Exception:
        """Our error for a connection that could not be made."""
        if error.sqlstate is None:
            return refusal(error, self.address)
        return translate(error, self.address)

    def _configure(self, connection: PatientConnection) -> None:
        """Set the properties that a connection keeps for life. The organization is not one of them:
        every transaction sets its own."""
        connection.patience = max(self.limits.statement_timeout, self.limits.busy_timeout) + _GRACE
        timeout = round(self.limits.statement_timeout * 1000)
        commit = "on" if self.limits.synchronous else "off"
        # Planning takes longer than most of our statements, and what suits one organization suits
        # the next: every statement names its organization and walks an index.
        connection.execute(
            f"SET search_path = {SCHEMA}, pg_temp; SET statement_timeout = {timeout}; "
            f"SET idle_in_transaction_session_timeout = {2 * timeout}; "
            f"SET synchronous_commit = {commit}; SET plan_cache_mode = force_generic_plan; "
            f"SET ROLE {APPLICATION_ROLE}"
        )

    def _give_back(self, connection: Connection) -> None:
        try:
            if connection.info.transaction_status != pq.TransactionStatus.IDLE:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
            if connection.closed or self._closed:
                connection.close()
            else:
                self._idle.append((connection, time.monotonic()))
        finally:
            self._free.release()

    def close(self) -> None:
        self._closed = True
        self._notice_fork()
        self._forget_idle()

    def _forget_idle(self) -> None:
        while self._idle:
            with suppress(IndexError, psycopg.Error):
                self._idle.pop()[0].close()

    # statements

    def together(self, connection: Connection, name: str, given: Mapping[str, Any]) -> list[Rows]:
        """Run several statements in one round trip; return the rows of those that give any."""
        cursor = psycopg.ClientCursor(connection)
        cursor.execute(statement(name), given)
        found: list[Rows] = []
        while True:
            if cursor.description is not None:
                found.append(cursor.fetchall())
            if not cursor.nextset():
                return found

    def finish(self, connection: Connection, name: str, given: Mapping[str, Any]) -> str | None:
        """Run several statements in one round trip; return the server's status of the last."""
        cursor = psycopg.ClientCursor(connection)
        cursor.execute(statement(name), given)
        while cursor.nextset():
            pass
        return cursor.statusmessage

    def _begin(self, connection: Connection, name: str, given: Mapping[str, Any]) -> list[Rows]:
        """Begin a transaction. What begins it is planned once for each connection, though not when
        that is made: there are those that work where there is no schema."""
        assert isinstance(connection, PatientConnection)
        if connection.can_begin:
            try:
                return self.together(connection, name, given)
            except errors.InvalidSqlStatementName:
                # The driver has dropped what was prepared, or a pooler gave us another connection.
                connection.execute("ROLLBACK")
        with suppress(errors.DuplicatePreparedStatement):
            connection.execute(statement("prepare_reading"))
        connection.can_begin = True
        return self.together(connection, name, given)

    def leave(self, connection: Connection) -> None:
        """End a transaction that has only read. Not by a rollback, which the driver takes for a
        reason to prepare all of its statements anew."""
        with suppress(psycopg.Error):
            connection.execute("COMMIT")

    @contextmanager
    def begun(self, name: str, given: Mapping[str, Any]) -> Iterator[tuple[Connection, list[Rows]]]:
        """A connection in a transaction that has begun, and the rows of its beginning.

        A connection can have died while it was idle. Nothing has been done by then, so another one
        is tried.
        """
        for attempt in range(_ATTEMPTS):
            with self.lent() as connection:
                try:
                    rows = self._begin(connection, name, given)
                except psycopg.Error as error:
                    if not is_lost(error) or attempt == _ATTEMPTS - 1:
                        raise translate(error, self.address) from error
                    self._forget_idle()
                    continue
                yield connection, rows
                return
