"""The network cut at any moment: what a call reports is what is so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import incumbent
from incumbent.clock import system_clock
from incumbent.stores.postgres import PostgresStore
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE
from tests.postgres.proxy import Fault, Proxy, through_a_proxy
from tests.servers import Databases
from tests.stores.invariants import findings

IMPATIENT = incumbent.Settings(
    durability="process", embedder="static", statement_timeout=0.5, busy_timeout=0.5
)
COMMITTING = b"\nCOMMIT"
MESSAGES = 60 if SOAK else 14


@pytest.fixture
def address(databases: Databases) -> str:
    return databases.empty()


@pytest.fixture
def proxy(address: str) -> Iterator[Proxy]:
    with through_a_proxy(address) as proxy:
        yield proxy


def alice(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(
        user_id="alice", authority="manager", organization="acme", session_id="s1"
    )


Write = Callable[[incumbent.Session, str], Any]
WRITES: dict[str, tuple[Write, Callable[[incumbent.Session], list[Any]]]] = {
    "write": (
        lambda session, value: session.write("status", value),
        lambda session: list(session.history("status").values),
    ),
    "batch": (
        lambda session, value: session.write_many(
            [{"key": f"part {i}", "value": value} for i in range(3)]
        ),
        lambda session: [list(session.history(f"part {i}").values) for i in range(3)],
    ),
    "note": (
        lambda session, value: session.note("desk", value),
        lambda session: [item.value for item in session.working_set()],
    ),
}


@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER])
@pytest.mark.parametrize("kind", WRITES)
def test_a_cut_at_any_message_is_reported_as_what_it_did(
    address: str, proxy: Proxy, kind: str, fault: Fault
) -> None:
    """Wherever in a write the connection breaks: done when it returns, undone when it raises."""
    write, look = WRITES[kind]
    outcomes = set()
    with (
        incumbent.open(address, settings=QUICK) as direct,
        incumbent.open(proxy.url, settings=QUICK) as memory,
    ):
        session = alice(memory)
        write(session, "first")
        for message in range(1, MESSAGES):
            before = look(alice(direct))
            proxy.plan(fault, message)
            try:
                write(session, f"value {message}")
            except incumbent.StoreUnavailable as error:
                assert "nothing of this call was kept" in str(error)  # noqa: PT017
                assert look(alice(direct)) == before
                outcomes.add("raised")
            else:
                assert f"value {message}" in str(look(alice(direct)))
                outcomes.add("struck" if proxy.struck.is_set() else "untouched")
            assert findings(direct, "acme") == []
        proxy.relent()
        # The loop has seen cuts that undid a write, and writes that a cut did not undo.
        assert {"raised", "struck"} <= outcomes
        write(session, "last")
        assert "last" in str(look(alice(direct)))


@pytest.mark.parametrize("fault", Fault)
def test_a_commit_that_the_network_swallows(address: str, proxy: Proxy, fault: Fault) -> None:
    """A commit without an answer was carried out if the write returns, and was not if it raises."""
    with (
        incumbent.open(address, settings=QUICK) as direct,
        incumbent.open(proxy.url, settings=IMPATIENT) as memory,
    ):
        session = alice(memory)
        session.write("status", "first")
        proxy.plan(fault, COMMITTING)
        if fault.is_delivered:
            assert session.write("status", "second").took_office
        else:
            with pytest.raises(incumbent.StoreUnavailable, match="nothing of this call was kept"):
                session.write("status", "second")
        assert proxy.struck.is_set()
        expected = ["first", "second"] if fault.is_delivered else ["first"]
        assert list(alice(direct).history("status").values) == expected
        session.write("status", "third")
        assert list(session.history("status").values) == [*expected, "third"]
        assert findings(direct, "acme") == []


@pytest.mark.parametrize("fault", [Fault.CUT_BEFORE, Fault.CUT_AFTER])
def test_the_first_write_of_an_organization_is_told_apart_too(
    address: str, proxy: Proxy, fault: Fault
) -> None:
    """Nothing of the organization is there to look at when its first commit is not answered."""
    with (
        incumbent.open(address, settings=QUICK) as direct,
        incumbent.open(proxy.url, settings=QUICK) as memory,
    ):
        proxy.plan(fault, COMMITTING)
        if fault.is_delivered:
            alice(memory).write("status", "first")
        else:
            with pytest.raises(incumbent.StoreUnavailable, match="nothing of this call was kept"):
                alice(memory).write("status", "first")
        assert proxy.struck.is_set()
        assert alice(direct).current("status") == ("first" if fault.is_delivered else None)
        assert direct.store.organizations() == (["acme"] if fault.is_delivered else [])


def test_a_commit_that_is_still_under_way_is_waited_for(address: str, proxy: Proxy) -> None:
    """A cut while the server is slow to commit: the answer is what comes of it in the end."""
    with (
        incumbent.open(address, settings=QUICK) as direct,
        incumbent.open(proxy.url, settings=QUICK) as memory,
        psycopg.connect(address, autocommit=True) as administrator,
    ):
        alice(memory).write("status", "first")
        # The commit itself takes two seconds: a check that is put off until then.
        administrator.execute(
            "CREATE FUNCTION public.slowly() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$"
        )
        administrator.execute(
            "CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON incumbent.organizations "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.slowly()"
        )
        try:
            proxy.plan(Fault.CUT_AT_ONCE, COMMITTING)
            alice(memory).write("status", "second")
            assert proxy.struck.is_set()
        finally:
            administrator.execute("DROP TRIGGER slow ON incumbent.organizations")
            administrator.execute("DROP FUNCTION public.slowly()")
        assert list(alice(direct).history("status").values) == ["first", "second"]


def test_a_commit_nobody_can_be_asked_about_is_reported_as_unknown(
    address: str, proxy: Proxy
) -> None:
    """With the server out of reach for good, the error says that the write may have been kept."""
    store = PostgresStore(proxy.url, connect_timeout=1)
    memory = incumbent.Memory(store, system_clock, QUICK)
    with memory, incumbent.open(address, settings=QUICK) as direct:
        alice(memory).write("status", "first")
        proxy.plan(Fault.CUT_AFTER, COMMITTING)
        proxy.is_refusing = True
        with pytest.raises(incumbent.StoreUnavailable, match="may or may not have been kept"):
            alice(memory).write("status", "second")
        assert list(alice(direct).history("status").values) == ["first", "second"]
        proxy.is_refusing = False
        assert alice(memory).current("status") == "second"


def test_a_single_connection_is_enough_to_find_out(address: str, proxy: Proxy) -> None:
    """The question what became of a commit needs no second place in the pool."""
    settings = incumbent.Settings(durability="process", embedder="static", pool_size=1)
    with incumbent.open(proxy.url, settings=settings) as memory:
        alice(memory).write("status", "first")
        proxy.plan(Fault.CUT_AFTER, COMMITTING)
        alice(memory).write("status", "second")
        assert list(alice(memory).history("status").values) == ["first", "second"]


def test_a_declaration_without_an_answer_may_be_made_again(address: str, proxy: Proxy) -> None:
    """Declarations belong to no organization: the error says that it may have been kept."""
    with incumbent.open(proxy.url, settings=QUICK) as memory:
        proxy.plan(Fault.CUT_AFTER, b"COMMIT\0")
        with pytest.raises(incumbent.StoreUnavailable, match="may or may not"):
            memory.declare("phone", multi_valued=True)
        assert proxy.struck.is_set()
        memory.declare("phone", multi_valued=True)
        alice(memory).write("phone", 1)
        alice(memory).write("phone", 2)
        assert len(alice(memory).facts("phone")) == 2


def test_a_read_that_is_never_answered_comes_to_an_end(address: str, proxy: Proxy) -> None:
    """A network that swallows answers cannot hold a reader for ever, and the next read works."""
    with incumbent.open(proxy.url, settings=IMPATIENT) as memory:
        alice(memory).write("status", "first")
        proxy.plan(Fault.STALL_AFTER, b"status <> 'erased'")
        with pytest.raises(incumbent.StoreUnavailable, match="was lost"):
            alice(memory).history("status")
        assert proxy.struck.is_set()
        assert list(alice(memory).history("status").values) == ["first"]


def test_a_mark_of_another_is_not_taken_for_ones_own(address: str, proxy: Proxy) -> None:
    """A commit that was lost is not believed because others have committed since."""
    with (
        incumbent.open(address, settings=QUICK) as direct,
        incumbent.open(proxy.url, settings=QUICK) as memory,
    ):
        alice(memory).write("status", "first")
        proxy.plan(Fault.CUT_BEFORE, COMMITTING)
        proxy.is_refusing = True

        def let_others_write() -> None:
            proxy.struck.wait(PATIENCE)
            time.sleep(0.2)  # until the server has noticed that the connection is gone
            alice(direct).write("status", "another's")
            proxy.is_refusing = False

        others = threading.Thread(target=let_others_write)
        others.start()
        with pytest.raises(incumbent.StoreUnavailable, match="nothing of this call was kept"):
            alice(memory).write("status", "lost")
        others.join()
        assert list(alice(direct).history("status").values) == ["first", "another's"]


@pytest.mark.parametrize("how", ["cut", "terminated"])
def test_connections_that_died_in_the_pool_are_replaced_unnoticed(
    address: str, proxy: Proxy, how: str
) -> None:
    """Idle connections that broke cost nobody an error, on whatever is asked next."""
    with incumbent.open(proxy.url, settings=QUICK) as memory:
        asked: list[Callable[[], Any]] = [
            lambda: alice(memory).write("status", "again"),
            lambda: alice(memory).current("status"),
            lambda: alice(memory).facts(),
            lambda: alice(memory).note("desk", 1),
            lambda: alice(memory).context("what is the status?", budget=200),
            lambda: memory.store.organizations(),
            lambda: memory.declare("phone", multi_valued=True),
            lambda: memory.forget(organization="acme", user_id="bob"),
            lambda: memory.store.check(),
        ]
        alice(memory).write("status", "first")
        for ask in asked:
            _fill_the_pool(memory)
            if how == "cut":
                proxy.cut()
            else:
                _terminate_all(address)
            ask()


@pytest.mark.parametrize("limit", ["idle_session_timeout", "idle_in_transaction_session_timeout"])
def test_a_server_that_sends_idle_clients_away(address: str, limit: str) -> None:
    """Connections that an administrator lets end by themselves are replaced unnoticed too."""
    url = f"{address}&options=-c%20{limit}%3D200"
    with incumbent.open(url, settings=QUICK) as memory:
        alice(memory).write("status", "first")
        for value in ("second", "third"):
            time.sleep(0.5)
            alice(memory).write("status", value)
            time.sleep(0.5)
            assert alice(memory).current("status") == value


def _fill_the_pool(memory: incumbent.Memory) -> None:
    together = threading.Barrier(4)

    def hold() -> None:
        with memory.store.read("acme"):
            together.wait(PATIENCE)

    threads = [threading.Thread(target=hold) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _terminate_all(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as administrator:
        administrator.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
