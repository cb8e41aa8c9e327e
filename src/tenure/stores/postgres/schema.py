"""The schema of a database: made, brought up to date, and checked, by one administrator at a time.

Three roles: whoever runs this makes and owns the tables; `tenure_app` reads and writes them behind
row-level security and can do nothing else; everybody who connects works as `tenure_app`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg
from psycopg import errors as pg

from tenure.model.errors import NewerSchema, NotADatabase, StoreError
from tenure.stores.postgres.errors import translate
from tenure.stores.postgres.sql import APPLICATION_ROLE as APPLICATION_ROLE
from tenure.stores.postgres.sql import SCHEMA as SCHEMA
from tenure.stores.postgres.sql import migrations

PARTITIONS = 16
OLDEST_SERVER = 140_000
_LOCK = 0x54454E55  # "TENU"
EXTENSIONS = ("btree_gin",)
_APPLICATION_TABLES = "SELECT, INSERT, UPDATE, DELETE"

Connection = psycopg.Connection[tuple[Any, ...]]


def latest() -> int:
    """The schema version that this Tenure knows."""
    return migrations()[-1][0]


def version_of(connection: Connection) -> int:
    """The schema version of a database; 0 where there is none."""
    row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_versions",)).fetchone()
    if row is None or row[0] is None:
        return 0
    found = connection.execute(f"SELECT max(version) FROM {SCHEMA}.schema_versions").fetchone()
    return int(found[0] or 0) if found is not None else 0


def prepare(connection: Connection, address: str, *, partitions: int = PARTITIONS) -> int:
    """Make the schema where there is none, bring an older one up to date; returns its version.

    Each migration runs in a transaction of its own, together with the note that it has run.
    """
    try:
        check_server(connection, address)
        # The whole of it under one lock: two services that start at once must not both begin.
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        try:
            found = version_of(connection)
            check_version(found, address)
            if found < latest():
                _migrate(connection, found, partitions)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))
    except psycopg.Error as error:
        raise _refused(error, address) from error
    return latest()


def check_server(connection: Connection, address: str) -> None:
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise StoreError(
            f"{address} is PostgreSQL {version // 10_000}; Tenure needs "
            f"{OLDEST_SERVER // 10_000} or newer"
        )


def check_version(found: int, address: str) -> None:
    if found > latest():
        raise NewerSchema(
            f"{address} has schema {found} and this Tenure knows up to {latest()}; "
            f"upgrade with: pip install --upgrade tenure"
        )


def _migrate(connection: Connection, found: int, partitions: int) -> None:
    for version, script in migrations():
        if version <= found:
            continue
        with connection.transaction():
            if found == 0 and version == migrations()[0][0]:
                _begin(connection)
            connection.execute(f"SET LOCAL search_path = {SCHEMA}, public")
            filled = script.replace("{partitions}", str(partitions)).replace("{schema}", SCHEMA)
            connection.execute(filled.encode())
            connection.execute(
                f"INSERT INTO {SCHEMA}.schema_versions (version) VALUES (%s)", (version,)
            )
            grant(connection)


def _begin(connection: Connection) -> None:
    """The schema with its role, and what it needs of the server."""
    for extension in EXTENSIONS:
        connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute(f"CREATE TABLE {SCHEMA}.schema_versions (version integer PRIMARY KEY)")
    _make_role(connection)


def _make_role(connection: Connection) -> None:
    """Roles belong to the whole server: another database may be making the same one right now."""
    found = "SELECT 1 FROM pg_roles WHERE rolname = %s"
    if not connection.execute(found, (APPLICATION_ROLE,)).fetchall():
        with suppress(pg.DuplicateObject, pg.UniqueViolation), connection.transaction():
            connection.execute(f"CREATE ROLE {APPLICATION_ROLE} NOLOGIN NOBYPASSRLS")
    # Whoever can become it already may not be allowed to say so again.
    if not can_become(connection):
        with suppress(pg.UniqueViolation), connection.transaction():
            connection.execute(f"GRANT {APPLICATION_ROLE} TO CURRENT_USER")


def can_become(connection: Connection) -> bool:
    """Whether whoever connects can work as the application. Being a member is not enough: who made
    a role is one of it, and still has to be let into it."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(f"SET LOCAL ROLE {APPLICATION_ROLE}")
    except pg.InsufficientPrivilege:
        return False
    return True


def grant(connection: Connection) -> None:
    """Give the application what it needs: the tables themselves, never a partition of one.

    A partition asked for by its own name is not behind the policies of its table.
    """
    role = APPLICATION_ROLE
    connection.execute(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}")
    tables = connection.execute(
        "SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition "
        "AND c.relname <> 'schema_versions'",
        (SCHEMA,),
    ).fetchall()
    for (table,) in tables:
        connection.execute(f"GRANT {_APPLICATION_TABLES} ON {table} TO {role}")
    connection.execute(f"GRANT SELECT ON {SCHEMA}.schema_versions TO {role}")
    connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {role}")
    connection.execute(f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {SCHEMA} FROM PUBLIC")
    connection.execute(f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA} TO {role}")


def _refused(error: psycopg.Error, address: str) -> Exception:
    if isinstance(error, pg.FeatureNotSupported | pg.UndefinedFile):
        names = " and ".join(EXTENSIONS)
        return StoreError(
            f"{address} lacks an extension that Tenure needs ({names}): "
            f"{error.diag.message_primary}; install the package postgresql-contrib on the server"
        )
    if isinstance(error, pg.InsufficientPrivilege):
        return StoreError(
            f"the schema of {address} cannot be made with this role "
            f"({error.diag.message_primary}); let an administrator run: tenure db init"
        )
    if isinstance(error, pg.OutOfMemory):
        return StoreError(
            f"{address} has too few locks for so many partitions ({error.diag.message_primary}); "
            f"ask for fewer, or raise max_locks_per_transaction on the server"
        )
    if isinstance(error, pg.DuplicateTable | pg.DuplicateObject):
        return NotADatabase(
            f"{address} has a schema {SCHEMA!r} that Tenure did not make "
            f"({error.diag.message_primary}); choose another database"
        )
    return translate(error, address)
