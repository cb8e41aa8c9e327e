"""Keys in a database: behind the fence, and whole whatever becomes of a connection."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from incumbent.keys import make_key
from incumbent.model.keys import ApiKey
from incumbent.stores.postgres import PostgresStore
from incumbent.stores.postgres.local import LocalServer
from incumbent.testing import SteppingClock
from tests.postgres.operating import as_role, do
from tests.postgres.proxy import Fault, through_a_proxy
from tests.servers import Databases

NOW = SteppingClock()()
ORGANIZATIONS = ("acme", "globex", "initech")


def a_key(organization: str = "acme") -> ApiKey:
    """A key that no store has seen."""
    return make_key(
        organization=organization,
        name=f"of {organization}",
        scopes=["read"],
        max_authority="employee",
        now=NOW,
    )[0]


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


@pytest.fixture
def kept(address: str) -> dict[str, ApiKey]:
    """A key of each organization."""
    with closing(PostgresStore(address)) as store:
        keys = {name: a_key(name) for name in ORGANIZATIONS}
        for key in keys.values():
            store.add_key(key)
    return keys


@contextmanager
def acting(address: str, organization: str | None) -> Iterator[psycopg.Connection[Any]]:
    """SQL of one's own as the application, for an organization or for none; rolled back."""
    with psycopg.connect(address) as connection:
        connection.execute("SET ROLE incumbent_app")
        if organization is not None:
            connection.execute(
                "SELECT set_config('incumbent.organization', %s, true)", [organization]
            )
            connection.execute("SELECT set_config('incumbent.everybody', 'on', true)")
        yield connection
        connection.rollback()


class TestTheFence:
    @pytest.mark.parametrize("organization", [*ORGANIZATIONS, "nowhere", "", None])
    def test_shows_the_keys_of_one_organization(
        self, address: str, kept: dict[str, ApiKey], organization: str | None
    ) -> None:
        """Whatever the application asks for, it gets those of the organization that it said."""
        mine = [kept[organization].id] if organization in kept else []
        with acting(address, organization) as connection:
            for how in ("", "WHERE true", "WHERE organization <> '' OR true", "ORDER BY digest"):
                rows = connection.execute(f"SELECT id FROM incumbent.api_keys {how}".encode())
                assert [row[0] for row in rows] == mine
            for change in (
                "UPDATE incumbent.api_keys SET max_authority = 'policy'",
                "DELETE FROM incumbent.api_keys",
            ):
                assert connection.execute(change.encode()).rowcount == len(mine)

    def test_lets_no_key_be_planted(self, address: str, kept: dict[str, ApiKey]) -> None:
        """Neither a new one for another organization, nor one's own given away."""
        planting = (
            "INSERT INTO incumbent.api_keys SELECT repeat('0', 32), 'globex', name, scopes, "
            "max_authority, user_id, permissions, created_at, expires_at, revoked_at, digest "
            "FROM incumbent.api_keys",
            "UPDATE incumbent.api_keys SET organization = 'globex'",
        )
        for statement in planting:
            with (
                acting(address, "acme") as connection,
                pytest.raises(pg.InsufficientPrivilege, match="row-level security"),
            ):
                connection.execute(statement.encode())

    def test_is_passed_by_the_id_alone(self, address: str, kept: dict[str, ApiKey]) -> None:
        """One row for who knows an id, names alone for who runs the service, nothing else."""
        with acting(address, None) as connection:
            for key in kept.values():
                rows = connection.execute(
                    "SELECT id, digest FROM incumbent.key_of_id(%s)", [key.id]
                ).fetchall()
                assert rows == [(key.id, key.digest)]
            for guess in ("", "%", key.id[:-1], f"{key.id}' OR '1'='1", secrets.token_hex(16)):
                rows = connection.execute(
                    "SELECT id FROM incumbent.key_of_id(%s)", [guess]
                ).fetchall()
                assert rows == []
            names = connection.execute("SELECT incumbent.key_organizations()").fetchall()
            assert names == [(name,) for name in ORGANIZATIONS]

    def test_is_closed_to_everybody_else(
        self, guarded: LocalServer, strict: str, login: str
    ) -> None:
        """A role that is not of the application can neither read the table nor ask by id."""
        with closing(PostgresStore(strict)) as store:
            store.add_key(a_key())
        do(strict, f"CREATE ROLE {login} LOGIN PASSWORD '{login}'")
        stranger = as_role(strict, login, login)
        for statement in (
            "SELECT * FROM incumbent.api_keys",
            "SELECT * FROM incumbent.key_of_id('')",
            "SELECT incumbent.key_organizations()",
        ):
            with (
                psycopg.connect(stranger, autocommit=True) as connection,
                pytest.raises(pg.InsufficientPrivilege),
            ):
                connection.execute(statement.encode())


class TestABrokenConnection:
    @pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER, Fault.CUT_AT_ONCE])
    @pytest.mark.parametrize("at", [b"INSERT INTO api_keys", b"UPDATE api_keys", b"key_of_id"])
    def test_does_no_harm(self, address: str, fault: Fault, at: bytes) -> None:
        """Cut before or after the server got it, each call does what it says, once."""
        with through_a_proxy(address) as proxy, closing(PostgresStore(proxy.url)) as store:
            first, second = a_key(), a_key()
            store.add_key(first)
            proxy.plan(fault, at)
            store.add_key(second)
            assert store.key(second.id) == second
            ended = store.revoke_key(first.id, NOW + timedelta(hours=1))
            assert proxy.struck.is_set()
            assert ended is not None
            assert ended.revoked_at == NOW + timedelta(hours=1)
            assert store.keys("acme") == sorted([ended, second], key=lambda key: key.id)
