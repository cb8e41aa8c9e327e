"""The PostgreSQL store: fetches and commits, decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import psycopg

from incumbent.model.errors import StoreError
from incumbent.model.keys import ApiKey
from incumbent.model.records import Declaration, Erasure
from incumbent.model.scope import Place
from incumbent.model.text_cache import forget_texts
from incumbent.stores.port import Glance, Reader, Transaction
from incumbent.stores.postgres import schema
from incumbent.stores.postgres.commits import Commit, was_kept
from incumbent.stores.postgres.connections import Connection, Limits, PostgresConnections
from incumbent.stores.postgres.errors import is_lost, translate
from incumbent.stores.postgres.kept import Kept, Revision, RevisionReads
from incumbent.stores.postgres.keys import Keys
from incumbent.stores.postgres.replicas import Readers
from incumbent.stores.postgres.sql import statement
from incumbent.stores.postgres.standing import Standing
from incumbent.stores.postgres.transaction import PostgresTransaction
from incumbent.stores.sql.dump import dumped
from incumbent.stores.sql.rows import Row, declaration_of


class PostgresStore:
    """Facts in a PostgreSQL database, shared by any number of threads, processes and machines."""

    def __init__(
        self,
        url: str,
        *,
        durability: str = "full",
        busy_timeout: float = 60.0,
        statement_timeout: float = 60.0,
        connect_timeout: float = 10.0,
        pool_size: int = 10,
        read_url: str | None = None,
    ) -> None:
        limits = Limits(
            pool_size, connect_timeout, statement_timeout, busy_timeout, durability == "full"
        )
        self._connections = PostgresConnections(url, limits)
        replica = PostgresConnections(read_url, limits) if read_url is not None else None
        self._readers = Readers(self._connections, replica)
        self._keys = Keys(self._connections, replica)
        self._declared: tuple[int, tuple[Declaration, ...]] = (-1, ())
        self._erasures = 0
        self._kept = Kept()
        self._prepare()

    @property
    def address(self) -> str:
        """The server and the database, without secrets."""
        return self._connections.address

    def _prepare(self) -> None:
        """Make the schema in a database that has none; refuse one this Incumbent cannot work with.

        An existing schema is left as it is: its operator brings it up to date.
        """
        address = self.address
        try:
            with psycopg.connect(self._connections.conninfo, autocommit=True) as connection:
                schema.check_server(connection, address)
                found = schema.found_in(connection)
                schema.check_version(found, address)
                if found.version == 0:
                    schema.prepare(connection, address)
        except psycopg.Error as error:
            raise self._connections.refused(error) from error

    @contextmanager
    def read(self, organization: str, user_id: str | None = None) -> Iterator[Reader]:
        generation = self._kept.generation
        seen = self._kept.revision_of(organization, user_id)
        given = {
            "organization": organization,
            "person": user_id or "",
            "everybody": "on" if user_id is None else "off",
            "known": seen,
        }
        with self._readers.begun("begin_reading", given) as (connection, rows):
            try:
                _, (versions,), standing = rows
                *row, mark, mark_of_known = standing[0] if standing else (None, None)
                known = Standing(row or None)
                self._notice_erasures(versions)
                revision = Revision(known.revision, mark, seen, mark_of_known)
                if self._kept.is_of_another_history(organization, user_id, revision):
                    # Numbers and even times can be those of entries that are lost.
                    forget_texts()
                kept = self._kept.look(organization, user_id, revision, generation)
                yield self._transaction(connection, organization, known, versions, kept)
            except psycopg.Error as error:
                raise translate(error, self.address) from error
            self._connections.leave(connection)

    @contextmanager
    def write(self, organization: str) -> Iterator[Transaction]:
        patience = f"{max(1, round(self._connections.limits.busy_timeout * 1000))}ms"
        given = {"organization": organization, "patience": patience}
        with self._connections.begun("begin_writing", given) as (connection, rows):
            try:
                _, locked, (versions,) = rows
                if not locked and organization:
                    connection.execute(statement("add_organization"), given)
                    locked = connection.execute(statement("lock_organization"), given).fetchall()
                known = Standing(locked[0] if locked else None)
                self._notice_erasures(versions)
                yield self._transaction(connection, organization, known, versions)
            except psycopg.Error as error:
                raise translate(error, self.address) from error
            self._commit(connection, organization, known)

    def _notice_erasures(self, versions: Row) -> None:
        if versions[1] != self._erasures:
            # Others have erased something: nothing of what facts said is remembered any longer.
            forget_texts()
            self._erasures = versions[1]

    def _transaction(
        self,
        connection: Connection,
        organization: str,
        known: Standing,
        versions: Row,
        kept: RevisionReads | None = None,
    ) -> PostgresTransaction:
        declared = versions[0]
        return PostgresTransaction(
            connection,
            organization,
            known,
            lambda: self._declarations(connection, declared),
            kept,
        )

    def _commit(self, connection: Connection, organization: str, known: Standing) -> None:
        commit = Commit.of(organization, known.revision + known.changed)
        try:
            if known.changed and organization:
                given = {**known.after(), **commit._asdict()}
                done = self._connections.finish(connection, "commit_changes", given)
            else:
                done = connection.execute("COMMIT").statusmessage
        except psycopg.Error as error:
            if not is_lost(error) or (known.changed and not was_kept(self._connections, commit)):
                raise translate(error, self.address) from error
            done = "COMMIT"
        if done != "COMMIT":  # an error that somebody caught on the way had ended it before
            raise StoreError(f"{self.address} rolled the transaction back; nothing of it was kept")
        self._readers.note(organization, commit.revision)

    def _declarations(self, connection: Connection, version: int) -> tuple[Declaration, ...]:
        # Looked at once: others, who see another version, put theirs in its place meanwhile.
        known, declared = self._declared
        if version != known:
            rows = connection.execute(statement("declarations")).fetchall()
            declared = tuple(declaration_of(row) for row in rows)
            self._declared = (version, declared)
        return declared

    def glance(
        self,
        organization: str,
        owners: tuple[str, ...],
        places: tuple[Place, ...],
        key: str,
        subject: str,
    ) -> Glance | None:
        given = {
            "organization": organization,
            "person": next((owner for owner in owners if owner), ""),
            "owners": list(owners),
            "scope_ids": [scope_id for _, scope_id in places],
            "key": key,
            "subject": subject,
        }
        with self._readers.begun("glance", given) as (connection, (_, (versions,), _, found)):
            wanted = {(scope_id, scope.value) for scope, scope_id in places}
            rows = [row for row in found if (row[2], row[3]) in wanted]
            if len(rows) != 1 or not rows[0][1]:
                return None
            return Glance(rows[0][0], self._declarations(connection, versions[0]))

    def organizations(self) -> list[str]:
        with self._connections.begun("organizations", {}) as (_, (found,)):
            return [row[0] for row in found]

    def erasures(self, organization: str) -> list[Erasure]:
        with self.read(organization) as reader:
            return reader.erasures()

    def add_key(self, key: ApiKey) -> None:
        self._keys.add(key)

    def key(self, key_id: str) -> ApiKey | None:
        return self._keys.find(key_id)

    def keys(self, organization: str | None = None) -> list[ApiKey]:
        return self._keys.all_of(organization)

    def revoke_key(self, key_id: str, at: datetime) -> ApiKey | None:
        return self._keys.revoke(key_id, at)

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        with self.read(organization) as reader:
            assert isinstance(reader, PostgresTransaction)
            yield from dumped(reader)

    def scrub(self) -> bool:
        """Return False: freed rows stay on a server's disk until it vacuums, and longer in its log
        and backups. Its operator removes them, with `incumbent db vacuum --full`."""
        self._connections.check_open()
        return False

    def check(self) -> list[str]:
        found = []
        for organization in self.organizations():
            with self.read(organization) as reader:
                assert isinstance(reader, PostgresTransaction)
                told = [row[0] for row in reader.rows("findings", {})]
            found += [f"{organization}: {finding}" for finding in told]
        return found

    def close(self) -> None:
        self._connections.close()
        self._readers.close()
