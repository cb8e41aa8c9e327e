"""The schema of a database: made, brought up to date, and checked, by one administrator at a time.

Three roles: the administrator makes and owns the tables; `incumbent_app` reads and writes them
behind row-level security and can do nothing else; every connection works as `incumbent_app`.
"""

from __future__ import annotations

import random
import re
import time
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import errors as pg

from incumbent.model.errors import (
    NewerSchema,
    NotADatabase,
    StoreBusy,
    StoreError,
    StoreUnavailable,
)
from incumbent.stores.postgres.errors import is_lost, translate
from incumbent.stores.postgres.sql import APPLICATION_ROLE as APPLICATION_ROLE
from incumbent.stores.postgres.sql import SCHEMA as SCHEMA
from incumbent.stores.postgres.sql import migrations

PARTITIONS = 16
OLDEST_SERVER = 140_000
OLDEST_SCHEMA = 1
"""The oldest schema version that this Incumbent still works on."""
PATIENCE = 120.0  # seconds that a migration tries to get its locks
_FORMER_SCHEMA = "tenure"
_LOCK = 0x494E4355  # "INCU"
_SERVES = re.compile(r"^-- serves: (\d+)$", re.MULTILINE)
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 2.0  # seconds that others may have to wait behind us
_APPLICATION_TABLES = "SELECT, INSERT, UPDATE, DELETE"

Connection = psycopg.Connection[tuple[Any, ...]]


class SchemaFound(NamedTuple):
    """The schema of a database."""

    version: int
    """0 if there is none."""
    serves: int
    """The oldest code that may work on it, by the schema version that this code knows."""


def latest() -> int:
    """The schema version that this Incumbent knows."""
    return migrations()[-1][0]


def version_of(connection: Connection) -> int:
    """The schema version of a database; 0 if there is none."""
    return found_in(connection).version


def found_in(connection: Connection) -> SchemaFound:
    """The schema of a database, made by any version of Incumbent."""
    row = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.schema_versions",)).fetchone()
    if row is None or row[0] is None:
        _refuse_the_former_name(connection)
        return SchemaFound(0, 0)
    # The first version has no column "serves", and serves those who know it.
    found = connection.execute(
        f"SELECT version, coalesce((to_jsonb(v) ->> 'serves')::integer, 1) "
        f"FROM {SCHEMA}.schema_versions AS v ORDER BY version DESC LIMIT 1"
    ).fetchone()
    return SchemaFound(0, 0) if found is None else SchemaFound(*found)


def _refuse_the_former_name(connection: Connection) -> None:
    """A new schema beside the old one would look as if all facts were lost."""
    row = connection.execute(
        "SELECT to_regclass(%s)", (f"{_FORMER_SCHEMA}.schema_versions",)
    ).fetchone()
    if row is not None and row[0] is not None:
        raise StoreError(
            f"the database has facts in schema {_FORMER_SCHEMA}, of the time when Incumbent had "
            f"that name; export each organization with the last version of that name, and bring "
            f"the files into another database with: incumbent import"
        )


def prepare(
    connection: Connection,
    address: str,
    *,
    partitions: int = PARTITIONS,
    up_to: int | None = None,
    patience: float = PATIENCE,
) -> int:
    """Make the schema if there is none, or bring an older one up to date; return its version.

    Each migration runs in a transaction of its own, together with the note that it has run. Others
    work meanwhile: a lock that is not free at once is given up and asked for again, as long as
    `patience` says, so that nobody has to wait behind a migration that waits.
    """
    try:
        check_server(connection, address)
        # The whole of it under one lock: two services that start at once must not both begin.
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        try:
            found = found_in(connection)
            check_served(found, address)
            # A new one is made whole: nobody is to find it without its latest tables.
            whole = nullcontext() if found.version else connection.transaction()
            with whole:
                for version, script in migrations():
                    if found.version < version and (up_to is None or version <= up_to):
                        filled = script.replace("{partitions}", str(partitions))
                        _patiently(connection, version, filled, time.monotonic() + patience)
            return version_of(connection)
        finally:
            with suppress(psycopg.OperationalError):  # a connection that is gone holds no lock
                connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))
    except psycopg.Error as error:
        raise _refused(error, address) from error


def check_server(connection: Connection, address: str) -> None:
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise StoreError(
            f"{address} is PostgreSQL {version // 10_000}; Incumbent needs "
            f"{OLDEST_SERVER // 10_000} or newer"
        )


def check_version(found: SchemaFound, address: str) -> None:
    """Refuse a schema that this Incumbent cannot work on; an older or newer one may well do."""
    check_served(found, address)
    if 0 < found.version < OLDEST_SCHEMA:
        raise StoreError(
            f"{address} has schema {found.version} and this Incumbent works on {OLDEST_SCHEMA} or "
            f"newer; let an administrator run: incumbent db migrate"
        )


def check_served(found: SchemaFound, address: str) -> None:
    """Refuse a schema that is for newer code only."""
    if latest() < found.serves:
        raise NewerSchema(
            f"{address} has schema {found.version}, for an Incumbent that knows schema "
            f"{found.serves}, "
            f"and this one knows up to {latest()}; upgrade with: pip install --upgrade incumbent"
        )


def serves_of(script: str) -> int:
    """The oldest code that may work on the result of a migration, as its first line says."""
    told = _SERVES.search(script)
    if told is None:
        raise StoreError("a migration does not say whom it serves; begin it with: -- serves: N")
    return int(told[1])


def _patiently(connection: Connection, version: int, script: str, deadline: float) -> None:
    """Run a migration, again if need be, and let others pass in between."""
    wait = _FIRST_WAIT
    while True:
        try:
            _run(connection, version, script, wait)
            return
        except (pg.LockNotAvailable, pg.QueryCanceled, pg.DeadlockDetected) as error:
            if time.monotonic() >= deadline:
                raise StoreBusy(
                    f"migration {version} did not get its locks: others have had transactions "
                    f"open all the while. Nothing of it was done; run it again when they are "
                    f"over: incumbent db migrate"
                ) from error
        time.sleep(wait * random.uniform(1.0, 2.0))
        # Longer each time, up to what makes the server's own upkeep give way.
        wait = min(2 * wait, _LONGEST_WAIT)


def _run(connection: Connection, version: int, script: str, wait: float) -> None:
    patience = f"{round(wait * 1000)}"
    with connection.transaction():
        connection.execute(f"SET LOCAL lock_timeout = {patience}")
        if version == migrations()[0][0]:
            _begin(connection)
        connection.execute(f"SET LOCAL search_path = {SCHEMA}, pg_temp")
        filled = script.replace("{schema}", SCHEMA).replace("{patience}", patience)
        connection.execute(filled.encode())
        if version == migrations()[0][0]:
            _note(connection, {"version": version})
        else:
            _note(connection, {"version": version, "serves": serves_of(script)})
        grant(connection)


def _note(connection: Connection, given: dict[str, int]) -> None:
    names, values = ", ".join(given), ", ".join(f"%({name})s" for name in given)
    connection.execute(f"INSERT INTO {SCHEMA}.schema_versions ({names}) VALUES ({values})", given)


def _begin(connection: Connection) -> None:
    """Make the schema with its role."""
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    connection.execute(f"CREATE TABLE {SCHEMA}.schema_versions (version integer PRIMARY KEY)")
    _make_role(connection)


def _make_role(connection: Connection) -> None:
    """Make the role. Roles belong to the whole server: another database may be making the same one
    right now."""
    found = "SELECT 1 FROM pg_roles WHERE rolname = %s"
    if not connection.execute(found, (APPLICATION_ROLE,)).fetchall():
        with suppress(pg.DuplicateObject, pg.UniqueViolation), connection.transaction():
            connection.execute(f"CREATE ROLE {APPLICATION_ROLE} NOLOGIN NOBYPASSRLS")
    # Whoever can become it already may not be allowed to say so again.
    if not can_become(connection):
        with suppress(pg.UniqueViolation), connection.transaction():
            connection.execute(f"GRANT {APPLICATION_ROLE} TO CURRENT_USER")


def can_become(connection: Connection) -> bool:
    """Whether the connecting role can work as the application. Membership is not enough: the maker
    of a role is a member of it, and still has to be let into it."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(f"SET LOCAL ROLE {APPLICATION_ROLE}")
    except pg.InsufficientPrivilege:
        return False
    return True


def grant(connection: Connection) -> None:
    """Grant the application its rights: on the tables themselves, never on a partition of one.

    A partition queried by its own name is not behind the policies of its table.
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
    _take_temporary(connection)


def _take_temporary(connection: Connection) -> None:
    """Revoke everybody's right to make temporary objects, if we own the database.

    Nothing of ours needs it, and a temporary object can pose as something else. If somebody else
    owns the database, `incumbent db check` tells what they can do.
    """
    ((is_ours, is_open, database),) = connection.execute(
        "SELECT pg_has_role(datdba, 'USAGE'), has_database_privilege(%s, oid, 'TEMPORARY'), "
        "format('%%I', datname) FROM pg_database WHERE datname = current_database()",
        (APPLICATION_ROLE,),
    ).fetchall()
    if is_ours and is_open:
        connection.execute(
            f"REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC, {APPLICATION_ROLE}"
        )


def _refused(error: psycopg.Error, address: str) -> Exception:
    if isinstance(error, pg.InsufficientPrivilege):
        return StoreError(
            f"the schema of {address} cannot be made with this role "
            f"({error.diag.message_primary}); let an administrator run: incumbent db init"
        )
    if isinstance(error, pg.OutOfMemory):
        return StoreError(
            f"{address} has too few locks for so many partitions ({error.diag.message_primary}); "
            f"ask for fewer, or raise max_locks_per_transaction on the server"
        )
    if isinstance(error, pg.DuplicateTable | pg.DuplicateObject):
        return NotADatabase(
            f"{address} has a schema {SCHEMA!r} that Incumbent did not make "
            f"({error.diag.message_primary}); choose another database"
        )
    if is_lost(error):
        return StoreUnavailable(
            f"the connection to {address} was lost while its schema was made or migrated "
            f"({error.diag.message_primary or error}); each migration is there whole or not at "
            f"all. Run it again: incumbent db init"
        )
    return translate(error, address)
