"""The SQLite store: fetches and commits, decides nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from incumbent.model.errors import DuplicateId
from incumbent.model.keys import ApiKey
from incumbent.model.records import Declaration, Erasure
from incumbent.model.scope import Place
from incumbent.model.times import to_micros
from incumbent.stores.port import Glance, Reader, Transaction
from incumbent.stores.sql.dump import dumped
from incumbent.stores.sql.rows import declaration_of, key_of, key_parameters
from incumbent.stores.sqlite.connections import FAILURES, SQLiteConnections, end, translate
from incumbent.stores.sqlite.kept import KeptReads
from incumbent.stores.sqlite.sql import probes, statement
from incumbent.stores.sqlite.transaction import SQLiteTransaction

T = TypeVar("T")


class SQLiteStore:
    """Facts in one SQLite file, shared by any number of threads and processes."""

    def __init__(
        self, path: str | Path, *, durability: str = "full", busy_timeout: float = 60.0
    ) -> None:
        self.path = Path(path)
        self._connections = SQLiteConnections(
            self.path, durability=durability, busy_timeout=busy_timeout
        )
        self._declared: tuple[int, tuple[Declaration, ...]] = (-1, ())

    @contextmanager
    def read(self, organization: str, user_id: str | None = None) -> Iterator[Reader]:
        connection = self._connections.take()
        try:
            connection.kept.begin()
            connection.execute("BEGIN")
            connection.kept.look(connection.execute("PRAGMA data_version").fetchone()[0])
            yield self._transaction(connection, organization, connection.kept)
        except FAILURES as error:
            raise translate(error, self.path) from error
        finally:
            if end(connection):
                self._connections.give_back(connection)

    @contextmanager
    def write(self, organization: str) -> Iterator[Transaction]:
        with self._connections.writer() as connection:
            try:
                yield self._transaction(connection, organization)
                connection.execute("COMMIT")
            except FAILURES as error:
                raise translate(error, self.path) from error

    def _transaction(
        self, connection: sqlite3.Connection, organization: str, kept: KeptReads | None = None
    ) -> SQLiteTransaction:
        return SQLiteTransaction(
            connection, organization, lambda: self._declarations(connection), kept
        )

    def glance(
        self,
        organization: str,
        owners: tuple[str, ...],
        places: tuple[Place, ...],
        key: str,
        subject: str,
    ) -> Glance | None:
        parameters = [organization, key, subject, *owners]
        for scope, scope_id in places:
            parameters += (scope_id, scope)
        connection = self._connections.take()
        try:
            rows = connection.execute(
                probes("glance", len(owners), len(places)), parameters
            ).fetchall()
            if len(rows) != 1 or not rows[0][1]:
                return None
            value, _, version = rows[0]
            known, declared = self._declared
            if version != known:
                declared = self._declarations(connection)
            return Glance(value, declared)
        except FAILURES as error:
            raise translate(error, self.path) from error
        finally:
            self._connections.give_back(connection)

    def _declarations(self, connection: sqlite3.Connection) -> tuple[Declaration, ...]:
        version = connection.execute(statement("declaration_version")).fetchone()[0]
        # Looked at once: others, who see another version, put theirs in its place meanwhile.
        known, declared = self._declared
        if version != known:
            rows = connection.execute(statement("declarations")).fetchall()
            declared = tuple(declaration_of(row) for row in rows)
            self._declared = (version, declared)
        return declared

    def organizations(self) -> list[str]:
        return self._with_connection(
            lambda c: [row[0] for row in c.execute(statement("organizations"))]
        )

    def erasures(self, organization: str) -> list[Erasure]:
        with self.read(organization) as reader:
            return reader.erasures()

    def add_key(self, key: ApiKey) -> None:
        with self._connections.writer() as connection:
            try:
                added = connection.execute(statement("add_key"), key_parameters(key)).rowcount
                connection.execute("COMMIT")
            except FAILURES as error:
                raise translate(error, self.path) from error
        if not added and self.key(key.id) != key:
            raise DuplicateId(f"a key with id {key.id!r} exists; ids are used once")

    def key(self, key_id: str) -> ApiKey | None:
        found = self._keys("key", {"id": key_id})
        return found[0] if found else None

    def keys(self, organization: str | None = None) -> list[ApiKey]:
        if organization is None:
            return self._keys("all_keys", {})
        return self._keys("keys", {"organization": organization})

    def _keys(self, name: str, given: dict[str, str]) -> list[ApiKey]:
        rows = self._with_connection(lambda c: c.execute(statement(name), given).fetchall())
        return [key_of(row) for row in rows]

    def revoke_key(self, key_id: str, at: datetime) -> ApiKey | None:
        with self._connections.writer() as connection:
            try:
                given = {"id": key_id, "at": to_micros(at)}
                connection.execute(statement("revoke_key"), given)
                connection.execute("COMMIT")
            except FAILURES as error:
                raise translate(error, self.path) from error
        return self.key(key_id)

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        with self.read(organization) as reader:
            assert isinstance(reader, SQLiteTransaction)
            yield from dumped(reader)

    def scrub(self) -> bool:
        """Rewrite the file and empty the write-ahead log, so that no freed byte keeps content."""

        def rewrite(connection: sqlite3.Connection) -> bool:
            try:
                connection.execute("PRAGMA busy_timeout = 2000")
                connection.execute(statement("merge_postings"))
                connection.execute(statement("merge_passage_postings"))
                connection.execute("VACUUM")
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                return not busy
            except sqlite3.DatabaseError:
                return False  # busy, full or damaged: what was erased is, and the file is as it was
            finally:
                timeout = int(self._connections.busy_timeout * 1000)
                connection.execute(f"PRAGMA busy_timeout = {timeout}")

        return self._with_connection(rewrite)

    def check(self) -> list[str]:
        def findings(connection: sqlite3.Connection) -> list[str]:
            rows = connection.execute("PRAGMA integrity_check(20)").fetchall()
            return [row[0] for row in rows if row[0] != "ok"]

        return self._with_connection(findings)

    def close(self) -> None:
        self._connections.close()

    def _with_connection(self, use: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connections.take()
        try:
            return use(connection)
        except FAILURES as error:
            raise translate(error, self.path) from error
        finally:
            self._connections.give_back(connection)
