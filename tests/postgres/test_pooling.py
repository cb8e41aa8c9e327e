"""Behind a pooler: what was set for a connection is gone with every transaction."""

from __future__ import annotations

import psycopg
import pytest

import incumbent
from tests.conftest import QUICK
from tests.servers import Databases


@pytest.fixture
def pooled(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> incumbent.Memory:
    """A memory whose connections forget everything between two transactions, as a pooler's do."""
    memory = incumbent.open(databases.empty(), settings=QUICK)
    connections = memory.store._connections  # type: ignore[attr-defined]
    give_back = connections._give_back

    def forgetful(connection: psycopg.Connection[tuple[object, ...]]) -> None:
        connection.execute("RESET ALL")
        connection.execute("RESET ROLE")
        give_back(connection)

    monkeypatch.setattr(connections, "_give_back", forgetful)
    return memory


def test_every_transaction_takes_schema_and_role_for_itself(pooled: incumbent.Memory) -> None:
    """Reading, writing and glancing work on a connection that has lost all its settings."""
    with pooled as memory:
        alice = memory.session(user_id="alice", organization="acme")
        for place in ("Bern", "Chur"):
            alice.write("city", place)
        assert alice.current("city") == "Chur"
        assert [fact.value for fact in alice.history("city")] == ["Bern", "Chur"]
        assert "Chur" in alice.context("Which city?").text


def test_the_fence_holds_on_such_a_connection(pooled: incumbent.Memory) -> None:
    """Within a transaction the role is the application's, whoever the connection logged in as."""
    with pooled as memory:
        memory.session(user_id="alice", organization="acme").write("city", "Bern")
        memory.session(user_id="bob", organization="globex").write("city", "Chur")
        for _ in range(2):
            with memory.store.read("acme") as reader:
                asked = reader._connection  # type: ignore[attr-defined]
                assert asked.execute("SELECT current_user").fetchone() == ("incumbent_app",)
                rows = asked.execute("SELECT organization, owner FROM facts").fetchall()
                assert rows == [("acme", "alice")]
