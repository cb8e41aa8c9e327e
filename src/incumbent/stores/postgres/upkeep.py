"""The contents of a PostgreSQL database, by organization and by table, and tidying it up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psycopg

from incumbent.model.errors import InvalidInput, StoreError
from incumbent.stores.postgres import schema
from incumbent.stores.postgres.administration import administering, ask
from incumbent.stores.postgres.connections import Connection

Told = Callable[[str, int, int | None], None]
"""The callback for progress: the work, the amount done, and the total."""


@dataclass(frozen=True)
class OrganizationStats:
    """One organization in numbers."""

    organization: str
    facts: int
    live: int
    log_entries: int
    bytes: int
    """The bytes of its rows, without indexes."""


@dataclass(frozen=True)
class TableStats:
    """One table with all of its partitions."""

    table: str
    bytes: int
    index_bytes: int
    rows: int
    """An estimate: the server's last count."""
    dead_rows: int


@dataclass(frozen=True)
class IndexStats:
    """One index with all of its partitions."""

    index: str
    table: str
    bytes: int
    scans: int


@dataclass(frozen=True)
class ConnectionStats:
    """The connections to a server."""

    here: int
    """Connections to this database."""
    active: int
    idle_in_transaction: int
    server: int
    """Connections to any database of the server."""
    most: int
    """The most connections that the server takes."""


@dataclass(frozen=True)
class ReplicaStats:
    """A replica as its primary sees it."""

    name: str
    state: str
    sync: str
    behind_bytes: int | None
    behind_seconds: float | None


@dataclass(frozen=True)
class Stats:
    """A database in numbers."""

    address: str
    server: str
    replica: bool
    behind_bytes: int | None
    """On a replica: the bytes it has received and not replayed yet."""
    database_bytes: int
    organizations: tuple[OrganizationStats, ...]
    tables: tuple[TableStats, ...]
    indexes: tuple[IndexStats, ...]
    connections: ConnectionStats
    replicas: tuple[ReplicaStats, ...]


def stats(url: str, *, organization: str | None = None, told: Told | None = None) -> Stats:
    """Count a database: goes through the rows of every organization, or of the one named."""
    with administering(url) as (connection, address):
        _require_schema(connection, address)
        server, replica, _, size, _ = ask(connection, "server")[0]
        names = [name for (name,) in ask(connection, "organization_names")]
        if organization is not None and organization not in names:
            raise InvalidInput(f"organization {organization!r} has nothing in {address}")
        chosen = names if organization is None else [organization]
        return Stats(
            address,
            server,
            replica,
            ask(connection, "behind")[0][0] if replica else None,
            size,
            tuple(_counted(connection, chosen, told)),
            tuple(TableStats(*row) for row in ask(connection, "tables")),
            tuple(IndexStats(*row) for row in ask(connection, "indexes")),
            ConnectionStats(*ask(connection, "connections")[0]),
            () if replica else tuple(ReplicaStats(*row) for row in ask(connection, "replicas")),
        )


def _require_schema(connection: Connection, address: str) -> None:
    if schema.version_of(connection) == 0:
        raise StoreError(f"{address} has no Incumbent schema; make it with: incumbent db init")


def _counted(
    connection: Connection, names: list[str], told: Told | None
) -> Iterable[OrganizationStats]:
    """Count one organization after the other, each behind its fence: this works for the
    application's role too."""
    for number, name in enumerate(names):
        if told is not None:
            told("counting organizations", number, len(names))
        with connection.transaction():
            ask(connection, "bind", organization=name)
            row = ask(connection, "organization", organization=name)[0]
        yield OrganizationStats(name, *row)
    if told is not None:
        told("counting organizations", len(names), len(names))


def analyze(url: str) -> None:
    """Let the planner count the rows, if the connecting role may do so.

    A server counts by itself too, a minute or so after many rows have come.
    """
    with administering(url) as (connection, _):
        for table, _name in ask(connection, "leaves"):
            connection.execute(f"ANALYZE {table}")


@dataclass(frozen=True)
class Vacuumed:
    """The result of tidying up."""

    address: str
    tables: int
    full: bool
    bytes_before: int
    bytes_after: int
    skipped: tuple[str, ...]
    """The server's messages on the tables it left out."""
    open_transactions: int
    """Other open transactions: rows deleted since they began are still there."""


def vacuum(url: str, *, full: bool = False, told: Told | None = None) -> Vacuumed:
    """Free the room of deleted rows, and count anew for the planner, table by table.

    In full, each table is written anew and locked meanwhile, and nothing of a deleted row is left
    in its files. Otherwise the room is kept for new rows, which overwrite it in time.
    """
    with administering(url) as (connection, address):
        _require_schema(connection, address)
        warnings: list[str] = []
        connection.add_notice_handler(lambda notice: _hear(notice, warnings))
        connection.execute("SET statement_timeout = 0")
        before = ask(connection, "size")[0][0]
        waiting = ask(connection, "open_transactions")[0][0]
        leaves = ask(connection, "leaves")
        if full:
            # Last: what the planner has learnt of a column are values out of it, and what it had
            # learnt before is not gone from its file either.
            leaves.append(("pg_catalog.pg_statistic", "pg_statistic"))
        for number, (table, name) in enumerate(leaves):
            if told is not None:
                told(f"vacuuming {name}", number, len(leaves))
            connection.execute(f"VACUUM ({'FULL, ' if full else ''}ANALYZE) {table}")
        if told is not None:
            told("vacuuming", len(leaves), len(leaves))
        if len(warnings) >= len(leaves):
            raise StoreError(
                f"the role that connects to {address} may vacuum none of the tables "
                f"({warnings[0]}); connect as their owner"
            )
        after = ask(connection, "size")[0][0]
    return Vacuumed(
        address, len(leaves) - len(warnings), full, before, after, tuple(warnings), waiting
    )


def _hear(notice: psycopg.errors.Diagnostic, warnings: list[str]) -> None:
    if notice.severity_nonlocalized == "WARNING" and notice.message_primary:
        warnings.append(notice.message_primary)
