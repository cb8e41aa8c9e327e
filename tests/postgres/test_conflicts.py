"""What one transaction does to another: queueing, and being tried again."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date
from typing import Any

import psycopg
import pytest

import incumbent
from incumbent.model.records import Usage
from incumbent.stores.postgres import PostgresStore
from incumbent.stores.sql import rows
from tests.conftest import QUICK
from tests.patience import PATIENCE
from tests.servers import Databases


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


def test_a_deadlock_is_sorted_out_unseen(address: str) -> None:
    """A writer that the server chooses as the victim of a deadlock is tried again."""
    with (
        incumbent.open(address, settings=QUICK) as memory,
        psycopg.connect(address, autocommit=True) as other,
    ):
        alice = memory.session(user_id="alice", organization="acme")
        alice.write("city", "Bern")
        # An administrator takes the facts first and the organization after, against the grain.
        other.execute("SET deadlock_timeout = '10s'")  # so that it is the writer who looks first
        other.execute("BEGIN; LOCK TABLE incumbent.facts IN SHARE MODE")
        entered, done = threading.Event(), threading.Event()

        def write() -> None:
            entered.set()
            alice.write("city", "Chur")
            done.set()

        writer = threading.Thread(target=write)
        writer.start()
        entered.wait()
        _until_waiting(address)
        other.execute("UPDATE incumbent.organizations SET seq = seq WHERE organization = 'acme'")
        other.execute("COMMIT")
        writer.join(timeout=PATIENCE)
        assert done.is_set()
        assert alice.current("city") == "Chur"
        assert [fact.value for fact in alice.history("city")] == ["Bern", "Chur"]


def _until_waiting(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as watcher:
        for _ in range(2_000):
            waiting = watcher.execute(
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()"
            ).fetchall()
            if waiting:
                return
            watcher.execute("SELECT pg_sleep(0.005)")
    raise AssertionError("nobody waits")


def test_writers_of_different_organizations_do_not_wait_for_each_other(address: str) -> None:
    """A transaction that is open holds up its own organization only."""
    store = PostgresStore(address, busy_timeout=0.3)
    try:
        with store.write("acme"):
            with store.write("globex"):
                pass
            with pytest.raises(incumbent.StoreBusy, match="busy_timeout"), store.write("acme"):
                pass
    finally:
        store.close()


def test_no_free_connection_is_told(address: str) -> None:
    """When all connections of the pool are in use for too long, the error names pool_size."""
    store = PostgresStore(address, busy_timeout=0.2, pool_size=1)
    try:
        with (
            store.read("acme"),
            pytest.raises(incumbent.StoreBusy, match="pool_size"),
            store.read("acme"),
        ):
            pass
        with store.read("acme") as reader:
            assert reader.head() == (0, None)
    finally:
        store.close()


def test_a_transaction_that_the_server_ended_is_not_taken_for_committed(address: str) -> None:
    """Where an error of the server was caught on the way, leaving the transaction raises."""
    store = PostgresStore(address)
    usage = Usage(date(2026, 5, 1), "model", 1, 0, 1, 10, 1, 0)
    try:
        with (
            pytest.raises(incumbent.StoreError, match="nothing of it was kept"),
            store.write("acme") as transaction,
        ):
            transaction.count_usage(usage)
            with pytest.raises(psycopg.Error):
                transaction.count_usage(replace(usage, calls=1 << 70))  # more than a column takes
        with store.read("acme") as reader:
            assert reader.usage() == []
    finally:
        store.close()


def test_what_is_erased_leaves_the_memory_of_other_processes(address: str) -> None:
    """A store drops what it remembers of sources once another has erased a fact."""
    other = PostgresStore(address)
    kept: Any = rows._remembered
    try:
        with incumbent.open(address, settings=QUICK) as memory:
            alice = memory.session(user_id="alice", organization="acme")
            pin = alice.write("pin", "1234").fact_id
            with other.read("acme"):
                pass  # up to date
            kept('{"type":"system","ref":"the pin is 1234"}')
            with other.read("acme"):
                assert kept.cache_info().currsize
            memory.forget(organization="acme", fact_id=pin)
            # What another process would still have: this one forgot when it erased.
            kept('{"type":"system","ref":"the pin is 1234"}')
            with other.read("acme"):
                assert not kept.cache_info().currsize
    finally:
        other.close()
