"""What tests of the PostgreSQL store share: the command line, a server that asks for passwords."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from typer.testing import CliRunner

from incumbent.cli import app
from incumbent.stores.postgres.local import LocalServer
from tests.servers import AVAILABLE, FAST, Databases

Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as alice of acme, in an empty folder; gives the result."""
    for name in ("DB", "AUTHORITY", "SESSION", "TASK", "LOGIN_PASSWORD"):
        monkeypatch.delenv(f"INCUMBENT_{name}", raising=False)
    monkeypatch.setenv("INCUMBENT_USER", "alice")
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.setenv("INCUMBENT_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0, **options: Any) -> Any:
        result = CliRunner().invoke(app, list(arguments), **options)
        assert result.exit_code == code, (arguments, result.output, result.exception)
        return result

    return invoke


@pytest.fixture(scope="module")
def guarded() -> Iterator[LocalServer]:
    """A server of the module's own that asks for passwords, and has few connections to give."""
    if not AVAILABLE:
        pytest.skip("no package of a PostgreSQL server for this system")
    folder = Path(tempfile.mkdtemp(prefix="incumbent-test-"))
    few = {"max_connections": "12", "superuser_reserved_connections": "2", "max_wal_senders": "4"}
    with LocalServer(folder, options={**FAST, **few}, tcp=True) as server:
        yield server
    shutil.rmtree(folder)


@pytest.fixture
def bare(databases: Databases) -> str:
    """The address of a new database without the schema."""
    return databases.bare()


@pytest.fixture
def login(guarded: LocalServer) -> Iterator[str]:
    """The name of a role that does not exist yet."""
    name = f"app_{secrets.token_hex(4)}"
    yield name
    if guarded.ask("SELECT 1 FROM pg_roles WHERE rolname = %s", (name,)):
        guarded.ask(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def strict(guarded: LocalServer) -> Iterator[str]:
    """The address of a new database without the schema, on a server that asks for passwords."""
    name = f"strict_{secrets.token_hex(4)}"
    guarded.ask(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield guarded.tcp_url(name)
    guarded.ask(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
