"""Servers and clients killed in the middle of writing: nothing acknowledged is lost, nothing that
raised an error is kept, nothing is there by half, and the clients that live go on by themselves."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

import incumbent
from incumbent.stores.postgres.local import LocalServer
from tests import test_crash
from tests.conftest import SOAK
from tests.patience import PATIENCE
from tests.postgres import journal
from tests.servers import Databases, needs_own_server
from tests.stores.processes import CONTEXT

SOON = 7.0  # seconds in which a client waits for a server, to find out what became of a commit
CLIENTS = 4
CRASHES = 30 if SOAK else 3
KILLED_CLIENTS = 200 if SOAK else 12


@pytest.fixture
def server() -> Iterator[LocalServer]:
    """A server that syncs, for this test alone."""
    folder = tempfile.mkdtemp(prefix="incumbent-crash-")
    with LocalServer(folder) as server:
        yield server
    shutil.rmtree(folder)


def write_until_stopped(url: str, organization: str, seed: int, stop: Any, answer: Any) -> None:
    """The client, in a process of its own."""
    try:
        told = journal.write_while(url, organization, seed, lambda: not stop.is_set())
        answer.send((told, None))
    except BaseException as error:
        answer.send(([], f"{type(error).__name__}: {error}"))


class Clients:
    """Several clients in processes of their own, each with an organization of its own."""

    def __init__(self, url: str, count: int) -> None:
        self._url = url
        self._stop = CONTEXT.Event()
        self.organizations = [f"org {number}" for number in range(count)]
        self._running = [self._start(url, name, seed) for seed, name in self._named()]

    def _named(self) -> list[tuple[int, str]]:
        return list(enumerate(self.organizations))

    def _start(self, url: str, organization: str, seed: int) -> tuple[Any, Any]:
        ours, theirs = CONTEXT.Pipe(duplex=False)
        given = (url, organization, seed, self._stop, theirs)
        child = CONTEXT.Process(target=write_until_stopped, args=given, daemon=True)
        child.start()
        theirs.close()
        return child, ours

    def until_writing(self) -> None:
        """Wait until each of them has written something."""
        deadline = time.monotonic() + PATIENCE
        with psycopg.connect(self._url, autocommit=True) as administrator:
            while administrator.execute(
                "SELECT count(*) FROM incumbent.organizations WHERE seq > 3"
            ).fetchone() != (len(self.organizations),):
                assert time.monotonic() < deadline, "a client writes nothing"
                time.sleep(0.02)

    def finish(self) -> dict[str, list[journal.Entry]]:
        """Let them stop; what each was told."""
        self._stop.set()
        told = {}
        for name, (child, pipe) in zip(self.organizations, self._running, strict=True):
            assert pipe.poll(PATIENCE), "a client hangs"
            told[name], error = pipe.recv()
            assert error is None, error
            child.join(PATIENCE)
            child.close()
            pipe.close()
        return told


@needs_own_server
@pytest.mark.timeout(3600)
def test_a_server_killed_while_clients_write(server: LocalServer) -> None:
    """Killed and started again and again, it has what each client was told, and nothing else."""
    chance = random.Random(7)
    url = Databases(server.url(), "crash").empty()
    clients = Clients(url, CLIENTS)
    clients.until_writing()
    longest = 0.0
    for _ in range(CRASHES):
        time.sleep(chance.uniform(0.3, 1.2))
        server.kill()
        down = time.monotonic()
        time.sleep(chance.uniform(0, 0.3))
        server.start()
        longest = max(longest, time.monotonic() - down)
    time.sleep(0.5)
    told = clients.finish()
    with incumbent.open(url, settings=journal.DURABLE) as memory:
        for organization, entries in told.items():
            journal.check(memory, organization, entries)
            assert entries[-1].verdicts is not None  # it went on by itself after the last crash
    failed = [entry for entries in told.values() for entry in entries if entry.verdicts is None]
    assert failed  # they did meet the crashes
    if longest < SOON:
        assert not any(entry.is_unsure for entry in failed)


@needs_own_server
@pytest.mark.timeout(3600)
def test_a_backend_that_crashes_takes_nothing_with_it(server: LocalServer) -> None:
    """One process of the server killed makes all of them start anew; clients go on all the same."""
    url = Databases(server.url(), "crash").empty()
    clients = Clients(url, 2)
    clients.until_writing()
    for _ in range(CRASHES):
        time.sleep(0.7)
        _kill_a_backend(server, url)
    time.sleep(0.5)
    told = clients.finish()
    with incumbent.open(url, settings=journal.DURABLE) as memory:
        for organization, entries in told.items():
            journal.check(memory, organization, entries)
            assert entries[-1].verdicts is not None


def _kill_a_backend(server: LocalServer, url: str) -> None:
    import psutil  # type: ignore[import-untyped]

    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    for _ in range(500):
        try:
            found = server.ask(
                "SELECT pid FROM pg_stat_activity WHERE datname = %s AND state = 'active' "
                "AND pid <> pg_backend_pid()",
                (name,),
            )
        except psycopg.OperationalError:
            found = []
        for (pid,) in found:
            try:
                psutil.Process(pid).kill()
            except psutil.NoSuchProcess:
                continue  # its work was done meanwhile
            return
        time.sleep(0.01)
    raise AssertionError("nobody works on it")


@needs_own_server
@pytest.mark.timeout(3600)
def test_a_server_that_was_away_is_found_again(server: LocalServer) -> None:
    """While it is down every call says so; once it is back, every call works, on one memory."""
    with incumbent.open(server.url(), settings=journal.DURABLE) as memory:
        alice = memory.session(user_id="alice", organization="acme")
        alice.write("city", "Bern")
        calls: list[Callable[[], Any]] = [
            lambda: alice.current("city"),
            lambda: alice.facts(),
            lambda: alice.write("city", "Chur"),
            lambda: alice.note("desk", 1),
            lambda: alice.context("which city?"),
            lambda: memory.store.organizations(),
            lambda: memory.declare("phone", multi_valued=True),
        ]
        for end in (server.stop, server.kill):
            end()
            for call in calls:
                with pytest.raises(incumbent.StoreUnavailable, match="is it running"):
                    call()
            server.start()
            for call in calls:
                call()


@pytest.mark.timeout(3600)
def test_a_client_killed_while_it_writes(databases: Databases) -> None:
    """What it acknowledged is there, and at most the one operation in flight besides, whole."""
    url = databases.empty()
    chance = random.Random(3)
    expected = test_crash.Expected()
    for kill in range(KILLED_CLIENTS):
        path: Any = url
        in_flight = test_crash.kill_a_writer(path, expected, chance, kill, "full")
        _until_alone(url)
        test_crash.check(path, expected, in_flight)
    assert expected.entries > KILLED_CLIENTS


def _until_alone(url: str) -> None:
    """Wait until the server has noticed that its client is gone, and has ended what it asked."""
    with psycopg.connect(url, autocommit=True) as connection:
        deadline = time.monotonic() + PATIENCE
        while connection.execute(
            "SELECT 1 FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall():
            assert time.monotonic() < deadline, "a connection outlives its client"
            time.sleep(0.005)


def make_the_schema(url: str, answer: Any) -> None:
    """The client that makes the schema, in a process of its own."""
    answer.send("ready")
    incumbent.open(url, settings=journal.DURABLE).close()
    answer.send("done")
    time.sleep(60)


@pytest.mark.timeout(3600)
def test_a_client_killed_while_it_makes_the_schema(databases: Databases) -> None:
    """A new database that was half made is as new, and the next client makes it."""
    chance = random.Random(5)
    took = 0.0
    for kill in range(20 if SOAK else 4):
        url = databases.bare()
        ours, theirs = CONTEXT.Pipe(duplex=False)
        child = CONTEXT.Process(target=make_the_schema, args=(url, theirs), daemon=True)
        child.start()
        theirs.close()
        assert ours.recv() == "ready"
        began = time.monotonic()
        if kill == 0:
            assert ours.recv() == "done"
            took = time.monotonic() - began
        else:
            time.sleep(chance.uniform(0, took))
        child.kill()
        child.join()
        child.close()
        ours.close()
        with incumbent.open(url, settings=journal.DURABLE) as memory:
            session = memory.session(user_id="alice", organization="acme")
            session.write("city", "Bern")
            assert session.current("city") == "Bern"
