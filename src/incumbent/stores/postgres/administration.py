"""Running a PostgreSQL database: making it, bringing it up to date, and examining it.

All of this is for the owner of the database. The application needs none of it: it connects with a
role that can read and write rows, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from incumbent.model.errors import InvalidInput, ReadOnlyStore, StoreError
from incumbent.model.records import Turn
from incumbent.stores.postgres import schema
from incumbent.stores.postgres.connections import Connection, address_of, parts_of
from incumbent.stores.postgres.errors import refusal, translate
from incumbent.stores.postgres.schema import APPLICATION_ROLE, SCHEMA
from incumbent.stores.postgres.store import PostgresStore
from incumbent.stores.sql.columns import TURN
from incumbent.stores.sql.rows import turn_of
from incumbent.stores.sql.statements import named

Row = tuple[Any, ...]
Password = Callable[[], str]

MOST_PARTITIONS = 128
"""The most partitions. Making more takes more locks at once than a server has by default."""
_CONNECT_TIMEOUT = 10
_FOLDER = files("incumbent.stores.postgres")
_WORN = 1_500_000_000  # transactions; at two billions a server stops taking writes
_NAMES = {"schema": SCHEMA, "role": APPLICATION_ROLE}


@cache
def _statements() -> Mapping[str, str]:
    return named(_FOLDER / "administration.sql")


def ask(connection: Connection, name: str, **given: Any) -> list[Row]:
    """The rows of a statement of `administration.sql`."""
    text = _statements()[name].replace("{schema}", SCHEMA).replace("{turn}", ", ".join(TURN))
    return connection.execute(text.encode(), {**_NAMES, **given}).fetchall()


@contextmanager
def administering(url: str) -> Iterator[tuple[Connection, str]]:
    """A connection with the rights of the connecting role, and the address without secrets.

    Statements may take their time: only a limit in the address itself applies.
    """
    address = address_of(url)
    given = {
        "connect_timeout": _CONNECT_TIMEOUT,
        "application_name": "incumbent db",
        **parts_of(url),
    }
    try:
        connection: Connection = psycopg.connect(make_conninfo(**given), autocommit=True)
    except psycopg.Error as error:
        told = translate if error.sqlstate is not None else refusal
        raise told(error, address) from error
    with connection:
        try:
            # Whoever may make functions in a schema that all share could have them called here.
            connection.execute("SET search_path = pg_catalog, pg_temp")
            yield connection, address
        except psycopg.Error as error:
            raise translate(error, address) from error


def version_of(url: str) -> int:
    """The schema version of a database; 0 where there is none."""
    with administering(url) as (connection, _):
        return schema.version_of(connection)


def size_of(url: str) -> int:
    """The bytes of a database on disk."""
    with administering(url) as (connection, _):
        return int(ask(connection, "server")[0][3])


def turns_of(url: str, organization: str) -> list[tuple[str, Turn]]:
    """Every turn that an organization has observed, with its user."""
    with administering(url) as (connection, _), connection.transaction():
        ask(connection, "bind", organization=organization)
        rows = ask(connection, "turns", organization=organization)
    return [(row[0], turn_of(row[1:])) for row in rows]


def migrations() -> list[tuple[int, str]]:
    """The migrations that this Incumbent knows: the version each leads to, and its name."""
    found = (_FOLDER / "migrations").iterdir()
    names = sorted(entry.name for entry in found if entry.name.endswith(".sql"))
    return [(int(name[:4]), name.removesuffix(".sql")) for name in names]


# making a database


@dataclass
class Made:
    """The result of `init`: the state it found, and its changes."""

    address: str
    before: int
    """The schema version that it found; 0 if there was none."""
    after: int
    partitions: int
    done: list[str] = field(default_factory=list)


def init(
    url: str,
    *,
    partitions: int | None = None,
    login: str | None = None,
    password: Password | None = None,
) -> Made:
    """Make the schema and the roles, or bring an older schema up to date; existing parts are left.

    `login` names a role for the application to connect with. `password` gives its password, and is
    called only if the role is made. Without it, the role has no password.
    """
    if partitions is not None and not 1 <= partitions <= MOST_PARTITIONS:
        raise InvalidInput(f"partitions must be from 1 to {MOST_PARTITIONS}, not {partitions}")
    with administering(url) as (connection, address):
        schema.check_server(connection, address)
        _check_primary(connection, address)
        before = schema.version_of(connection)
        _check_partitions(connection, before, partitions)
        secret = _secret(connection, login, password)
        had = _roles(connection)
        after = schema.prepare(connection, address, partitions=partitions or schema.PARTITIONS)
        schema.grant(connection)
        made = Made(address, before, after, _partitions(connection))
        made.done += [f"made {what}" for what in _roles(connection) if what not in had]
        if before == 0:
            made.done.append(
                f"made schema {SCHEMA}, version {after}, in {made.partitions} partitions"
            )
        elif before < after:
            made.done.append(f"brought schema {SCHEMA} from version {before} to {after}")
        if login is not None:
            made.done += _admit(connection, login, secret)
    return made


def _secret(connection: Connection, login: str | None, password: Password | None) -> str:
    """The password of a role that is still to be made, asked for before any change."""
    if login is None:
        return ""
    _check_login(connection, login)
    if password is None or ask(connection, "role", role=login):
        return ""
    return password()


def _check_primary(connection: Connection, address: str) -> None:
    """Refuse a replica: it takes no changes, and its own error names no way out."""
    if ask(connection, "server")[0][1]:
        raise ReadOnlyStore(
            f"{address} is a replica and takes no changes; give the address of its primary"
        )


def _check_partitions(connection: Connection, version: int, partitions: int | None) -> None:
    if version == 0 or partitions is None:
        return
    found = _partitions(connection)
    if found != partitions:
        raise InvalidInput(
            f"this database is in {found} partitions, which is chosen once; leave --partitions "
            f"out, or make another database and carry the facts over with: incumbent copy"
        )


def _partitions(connection: Connection) -> int:
    return int(ask(connection, "partitions")[0][0])


def _roles(connection: Connection) -> list[str]:
    if not ask(connection, "role"):
        return []
    return [f"role {APPLICATION_ROLE}, which reads and writes rows and cannot log in"]


def _check_login(connection: Connection, login: str) -> None:
    """Refuse to make a role with more rights than the application needs a way in for it."""
    if not login or login in (APPLICATION_ROLE, "public", "none") or login.startswith("pg_"):
        raise InvalidInput(f"{login!r} cannot be the name of a role to log in with; choose another")
    for can_login, powers, groups, owned in ask(connection, "role", role=login):
        more = [*powers, *(f"member of {name}" for name in groups if name != APPLICATION_ROLE)]
        more += [f"owner of database {name}" for name in owned]
        if not can_login:
            more.append("no LOGIN")
        if more:
            raise InvalidInput(
                f"role {login!r} exists and is not one for the application ({', '.join(more)}); "
                f"choose another name"
            )


def _admit(connection: Connection, login: str, secret: str) -> list[str]:
    """Make a role that can log in and become the application, and nothing else."""
    done = []
    found = ask(connection, "role", role=login)
    name, application = sql.Identifier(login), sql.Identifier(APPLICATION_ROLE)
    with connection.transaction():
        if not found:
            connection.execute(_making(connection, login, secret))
            done.append(f"made role {login}, which can log in and become {APPLICATION_ROLE}")
        if not found or APPLICATION_ROLE not in found[0][2]:
            connection.execute(sql.SQL("GRANT {} TO {}").format(application, name))
        if found:
            done.append(f"left role {login} its password, and let it become {APPLICATION_ROLE}")
        ((may, database),) = ask(connection, "may_connect", role=login)
        if not may:
            connection.execute(
                sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(
                    sql.Identifier(database), application
                )
            )
            done.append(f"let {APPLICATION_ROLE} connect to database {database}")
    return done


def _making(connection: Connection, login: str, secret: str) -> sql.Composed:
    made = sql.SQL(
        "CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
    ).format(sql.Identifier(login))
    if not secret:
        return made
    # Made unreadable here, so that no log of the server ever has it.
    hidden = connection.pgconn.encrypt_password(secret.encode(), login.encode())
    return made + sql.SQL(" PASSWORD {}").format(sql.Literal(hidden.decode()))


@dataclass(frozen=True)
class Migrated:
    """A database before and after."""

    address: str
    before: int
    after: int
    steps: tuple[str, ...]
    """The migrations that ran, or would run."""


def migrate(url: str, *, dry_run: bool = False) -> Migrated:
    """Bring a database up to date, or tell what that would do."""
    with administering(url) as (connection, address):
        schema.check_server(connection, address)
        found = schema.found_in(connection)
        before = found.version
        if before == 0:
            raise StoreError(f"{address} has no Incumbent schema; make it with: incumbent db init")
        schema.check_served(found, address)
        steps = tuple(name for version, name in migrations() if version > before)
        if steps and not dry_run:
            _check_primary(connection, address)
            schema.prepare(connection, address)
        return Migrated(address, before, schema.version_of(connection), steps)


# examining a database


@dataclass
class Examination:
    """The properties of a database, and the faults in it."""

    address: str
    server: str
    role: str
    replica: bool
    schema_version: int
    known_version: int
    partitions: int
    findings: list[str] = field(default_factory=list)


def check(url: str, *, quick: bool = False) -> Examination:
    """Examine a database.

    A quick check tells whether the application could work now, and takes no longer with more facts.
    """
    with administering(url) as (connection, address):
        server, replica, role, _, age = ask(connection, "server")[0]
        found = schema.found_in(connection)
        about = Examination(
            address, server, role, replica, found.version, schema.latest(), _partitions(connection)
        )
        about.findings += _about_versions(connection, found)
        if found.version == 0:
            return about
        about.findings += _about_access(connection, role)
        usable = not about.findings
        if not quick:
            about.findings += _about_updates(found)
            about.findings += [finding for (finding,) in ask(connection, "exposed")]
            about.findings += [finding for (finding,) in ask(connection, "invalid_indexes")]
            if age > _WORN:
                about.findings.append(
                    f"the oldest row is {age:,} transactions old, and the server stops at two "
                    f"billions; run: incumbent db vacuum"
                )
    if usable and not quick:
        about.findings += _about_contents(url)
    return about


def _about_versions(connection: Connection, found: schema.SchemaFound) -> list[str]:
    """The reasons why this Incumbent cannot work on that server and schema."""
    told = []
    server, oldest = connection.info.server_version, schema.OLDEST_SERVER
    if server < oldest:
        told.append(
            f"the server is PostgreSQL {server // 10_000}; Incumbent needs {oldest // 10_000} or "
            f"newer"
        )
    if found.version == 0:
        told.append("there is no Incumbent schema; make it with: incumbent db init")
    try:
        schema.check_version(found, "the database")
    except StoreError as error:
        told.append(str(error))
    return told


def _about_updates(found: schema.SchemaFound) -> list[str]:
    """A note on an older schema: it works, except for the new features."""
    if not schema.OLDEST_SCHEMA <= found.version < schema.latest():
        return []
    return [
        f"the schema has version {found.version} of {schema.latest()}; bring it up to date with: "
        f"incumbent db migrate"
    ]


def _about_access(connection: Connection, role: str) -> list[str]:
    """Whether the connecting role can become the application, and the application can read."""
    rows = ask(connection, "role")
    if not rows:
        return [f"there is no role {APPLICATION_ROLE}; make it with: incumbent db init"]
    if not schema.can_become(connection):
        return [f"role {role} cannot work here; run: GRANT {APPLICATION_ROLE} TO {role}"]
    ((_, powers, *_),) = rows
    found = [
        f"role {APPLICATION_ROLE} has {power}; run: ALTER ROLE {APPLICATION_ROLE} NO{power}"
        for power in powers
    ]
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL ROLE {APPLICATION_ROLE}")
            connection.execute(f"SELECT 1 FROM {SCHEMA}.organizations LIMIT 1")
    except psycopg.errors.InsufficientPrivilege as error:
        told = error.diag.message_primary
        found.append(f"role {APPLICATION_ROLE} cannot read ({told}); run: incumbent db init")
    return found


def _about_contents(url: str) -> Sequence[str]:
    store = PostgresStore(url, pool_size=2, statement_timeout=3_600.0)
    try:
        return store.check()
    finally:
        store.close()
