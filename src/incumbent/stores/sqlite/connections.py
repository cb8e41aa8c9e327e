"""Connections to a SQLite file: opening, sharing between threads, and translating its errors."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

from incumbent.model.errors import (
    NewerSchema,
    NotADatabase,
    ReadOnlyStore,
    SessionClosed,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
)
from incumbent.model.text_cache import when_forgetting
from incumbent.stores.sqlite.kept import Connection, KeptReads
from incumbent.stores.sqlite.sql import migrations

T = TypeVar("T")

FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""The errors of the driver. The latter is its own failure to report a damaged schema, whose text it
quotes in the message."""
APPLICATION_ID = 0x494E4355  # "INCU"
_FORMER_ID = 0x54454E55  # of files that were made under the former name; they are ours as well
PRIVATE = 0o600
"""The mode of a new file: people's words are for its owner alone, whatever the umask says."""
_BRIEFLY = 20  # milliseconds
_HEADER = b"SQLite format 3\x00"
_UNDECODED = "Could not decode to UTF-8"
_NOT_WRITTEN = (
    *(sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE, sqlite3.SQLITE_IOERR_FSYNC),
    sqlite3.SQLITE_IOERR_SHMSIZE,
)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _primary_code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    return _primary_code(error) in _BUSY


def translate(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> StoreError:
    """Our own error for one of the driver's."""
    if isinstance(error, UnicodeDecodeError):
        return StoreDamaged(_damaged(path, "a schema that is none"))
    code = _primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(f"no space left to write {path}; nothing of this call was kept")
    if code == sqlite3.SQLITE_IOERR:
        return _refused_by_disk(error, path)
    if code == sqlite3.SQLITE_READONLY:
        return ReadOnlyStore(f"{path} cannot be written; check its permissions and its folder's")
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreDamaged(_damaged(path, str(error)))
    if not code and str(error).startswith(_UNDECODED):
        # The driver's message quotes what was said, to whoever happens to read that row.
        return StoreDamaged(_damaged(path, "a text that is none"))
    if code == sqlite3.SQLITE_NOTADB:
        return NotADatabase(f"{path} is not a readable Incumbent database ({error})")
    if code in _BUSY:
        return StoreBusy(f"{path} was held by other writers for too long; raise busy_timeout")
    if code == sqlite3.SQLITE_CANTOPEN:
        return StoreError(
            f"{path} cannot be opened; does its folder exist and may you write there?"
        )
    return StoreError(f"{path}: {error}")


def _refused_by_disk(error: sqlite3.Error, path: Path) -> StoreError:
    """A limit on the size of files looks to SQLite as a disk that fails does."""
    told = (
        f"the disk did not take or give what was asked of {path} ({error.sqlite_errorname}); "
        f"nothing of this call was kept. Look for a limit on the size of files (ulimit -f), a "
        f"quota, a lost mount and a failing disk, and call again"
    )
    return StoreFull(told) if error.sqlite_errorcode in _NOT_WRITTEN else StoreError(told)


def _damaged(path: Path, how: str) -> str:
    return (
        f"{path} is damaged ({how}); nothing of this call was kept. See what can still be read "
        f"with: incumbent doctor. Then restore a backup, or import an export into a new file"
    )


def end(connection: sqlite3.Connection) -> bool:
    """Roll back uncommitted changes; False for a connection that is of no more use."""
    try:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    except sqlite3.Error:
        with suppress(sqlite3.Error):
            connection.close()
        return False
    return True


class SQLiteConnections:
    """A pool for one file. A connection is used by one thread at a time and then goes back."""

    def __init__(self, path: Path, *, durability: str, busy_timeout: float) -> None:
        self.path = path
        self._durability = durability
        self.busy_timeout = busy_timeout
        self._idle: list[Connection] = []
        self._keeping = WeakSet[KeptReads]()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._closed = False
        self._writing = threading.Lock()
        when_forgetting(self.forget)
        self._check_file()
        self._make_private()
        first = self.patiently(self._connect)
        try:
            # Two openers of a new file can each hold what the other waits for. Giving up quickly
            # and trying again lets one of them through; SQLite's own wait would keep both.
            first.execute(f"PRAGMA busy_timeout = {_BRIEFLY}")
            self.patiently(lambda: self._prepare(first))
            first.execute(f"PRAGMA busy_timeout = {int(busy_timeout * 1000)}")
        except FAILURES as error:
            first.close()
            raise translate(error, path) from error
        except BaseException:
            first.close()
            raise
        self.give_back(first)

    def take(self) -> Connection:
        """A connection for this thread alone, until it is given back."""
        self._notice_fork()
        if self._closed:
            raise SessionClosed("the memory is closed; open it again with incumbent.open()")
        try:
            return self._idle.pop()
        except IndexError:
            return self.patiently(self._connect)

    def _notice_fork(self) -> None:
        """A forked child must not touch the parent's connections, nor wait for its locks.

        SQLite's locks are per process, and closing a connection here would drop the parent's.
        """
        if self._process != os.getpid():
            self._idle = []
            self._lock, self._writing = threading.Lock(), threading.Lock()
            self._process = os.getpid()

    def give_back(self, connection: Connection) -> None:
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    def forget(self) -> None:
        """Drop what the connections have read: something was erased."""
        for kept in list(self._keeping):
            kept.forget()

    def patiently(self, step: Callable[[], T]) -> T:
        """Do a step that other processes may block, waiting as long as the settings say.

        SQLite's own wait does not cover every lock (switching to WAL, recovery after a crash), so
        it is wrapped in one of ours; the jitter keeps eight writers from waking in step.
        """
        deadline = time.monotonic() + self.busy_timeout
        while True:
            try:
                return step()
            except sqlite3.Error as error:
                if not is_busy(error) or time.monotonic() >= deadline:
                    raise translate(error, self.path) from error
            time.sleep(random.uniform(0.001, 0.02))

    def _connect(self) -> Connection:
        try:
            connection = self._open()
            connection.execute(
                f"PRAGMA synchronous = {'FULL' if self._durability == 'full' else 'NORMAL'}"
            )
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA cache_size = -8000")
            return connection
        except FAILURES as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                raise
            raise translate(error, self.path) from error

    def _open(self) -> Connection:
        target, uri = str(self.path), False
        if self.path.exists() and not os.access(self.path, os.W_OK):
            # Without the right to write, SQLite can still read; a WAL file that was closed
            # cleanly needs to be told that nobody else is at it.
            clean = not Path(f"{self.path}-wal").exists()
            target, uri = f"{self.path.absolute().as_uri()}?mode=ro&immutable={int(clean)}", True
        connection = sqlite3.connect(
            target,
            timeout=self.busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
            uri=uri,
            factory=Connection,
        )
        connection.kept = KeptReads()
        self._keeping.add(connection.kept)
        return connection

    def _check_file(self) -> None:
        """Refuse a file that is not SQLite's: from a very short one it would make a new
        database."""
        if self.path.is_file() and self.path.stat().st_size:
            with self.path.open("rb") as file:
                if file.read(len(_HEADER)) != _HEADER:
                    raise NotADatabase(
                        f"{self.path} is not a readable Incumbent database (no SQLite file at "
                        f"all); "
                        f"choose another path"
                    )

    def _make_private(self) -> None:
        """Make a new file private to its maker; SQLite gives its other files the same mode.

        An existing file keeps its mode. If a file cannot be made, the error comes when SQLite
        tries.
        """
        if not self.path.exists():
            with suppress(OSError):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))

    @contextmanager
    def writer(self) -> Iterator[Connection]:
        """A connection inside BEGIN IMMEDIATE, rolled back unless the caller has committed.

        Threads of this process queue at a lock of ours, which is fair and cheap; processes queue
        at SQLite's.
        """
        self._notice_fork()
        writing = self._writing
        if not writing.acquire(timeout=self.busy_timeout):
            raise StoreBusy(
                f"{self.path} was held by another writer of this process for {self.busy_timeout} s"
            )
        try:
            connection = self.take()
            try:
                self.patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
                yield connection
            finally:
                connection.kept.doubt()
                if end(connection):
                    self.give_back(connection)
        finally:
            writing.release()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make a new file ours, bring an older one up to date, refuse anything else."""
        latest = migrations()[-1][0]
        # In one transaction: another process may be making the file ours right now.
        connection.execute("BEGIN")
        try:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            mark = connection.execute("PRAGMA application_id").fetchone()[0]
        finally:
            connection.execute("ROLLBACK")
        if mark not in (APPLICATION_ID, _FORMER_ID) and (tables or version):
            raise NotADatabase(
                f"{self.path} is an SQLite database of another program; choose another path"
            )
        if version > latest:
            raise NewerSchema(
                f"{self.path} has schema {version} and this Incumbent knows up to {latest}; "
                f"upgrade with: pip install --upgrade incumbent"
            )
        if version < latest:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)


def migrate(connection: sqlite3.Connection, *, up_to: int | None = None) -> None:
    """Run the migrations that are missing, each in a transaction of its own with its version."""
    for version, script in migrations():
        if up_to is not None and version > up_to:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have got here first.
            if connection.execute("PRAGMA user_version").fetchone()[0] < version:
                for statement in split_statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        except BaseException:
            end(connection)  # a full disk has rolled back by itself
            raise


def split_statements(script: str) -> list[str]:
    """The statements of a script; `executescript` would commit between them."""
    found, buffer = [], ""
    for line in script.splitlines(keepends=True):
        buffer += line
        if sqlite3.complete_statement(buffer):
            found.append(buffer.strip())
            buffer = ""
    return found
