"""A primary and a replica that follows it: the one dies, and the other takes over."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from psycopg.conninfo import conninfo_to_dict

import incumbent
from incumbent.clock import system_clock
from incumbent.keys import make_key
from incumbent.stores.postgres import PostgresStore
from incumbent.stores.postgres.local import LocalServer
from tests.conftest import QUICK, SOAK
from tests.patience import PATIENCE
from tests.postgres import journal
from tests.postgres.test_crashes import Clients
from tests.servers import Databases, needs_own_server

pytestmark = [needs_own_server, pytest.mark.timeout(3600)]

NO_POWER_CUTS = {"fsync": "off"}
"""Killed servers leave what they have written to the system."""
CLIENTS = 8 if SOAK else 3


class Pair(NamedTuple):
    """Two servers with a database that both have."""

    primary: LocalServer
    replica: LocalServer
    database: str

    @property
    def url(self) -> str:
        return self.primary.url(self.database)

    @property
    def read_url(self) -> str:
        return self.replica.url(self.database)

    @property
    def either(self) -> str:
        """An address that leads to whichever of them takes writes."""
        parts = [conninfo_to_dict(server.url()) for server in (self.primary, self.replica)]
        hosts = quote(",".join(str(part["host"]) for part in parts))
        ports = ",".join(str(part["port"]) for part in parts)
        return (
            f"postgresql://postgres@/{self.database}?host={hosts}&port={ports}"
            f"&target_session_attrs=read-write"
        )


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A primary that acknowledges nothing before its replica has it."""
    folder = Path(tempfile.mkdtemp(prefix="incumbent-pair-"))
    folder.chmod(0o755)
    primary = LocalServer(folder / "one", options=NO_POWER_CUTS).start()
    address = Databases(primary.url(), "pair").empty()
    replica = primary.replica(folder / "two", synchronous=True, options=NO_POWER_CUTS)
    yield Pair(primary, replica, str(conninfo_to_dict(address)["dbname"]))
    replica.kill()
    primary.kill()
    shutil.rmtree(folder)


def alice(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="alice", authority="manager", organization="acme")


def test_reads_go_on_when_the_primary_dies(pair: Pair) -> None:
    """With a replica to read from, everything that reads works on; what writes says why not."""
    settings = incumbent.Settings(embedder="static", read_url=pair.read_url)
    with incumbent.open(pair.url, settings=settings) as memory:
        alice(memory).write("city", "Bern")
        alice(memory).write("city", "Chur")
        assert alice(memory).current("city") == "Chur"
        _until_replayed(pair)
        pair.primary.kill()
        for _ in range(3):
            assert alice(memory).current("city") == "Chur"
            assert [fact.value for fact in alice(memory).history("city")] == ["Bern", "Chur"]
            assert "Chur" in alice(memory).context("which city?", budget=300).text
        with pytest.raises(incumbent.StoreUnavailable):
            alice(memory).write("city", "Genf")
        pair.primary.start()
        alice(memory).write("city", "Genf")
        assert alice(memory).current("city") == "Genf"


def test_reads_go_on_from_a_replica_that_is_behind_when_the_primary_dies(pair: Pair) -> None:
    """Where nothing better is left, what the replica has is better than no answer."""
    settings = incumbent.Settings(embedder="static", read_url=pair.read_url)
    with incumbent.open(pair.url, settings=settings) as memory:
        alice(memory).write("city", "Bern")
        _until_replayed(pair)
        pair.replica.ask("SELECT pg_wal_replay_pause()")
        alice(memory).write("city", "Chur")
        assert alice(memory).current("city") == "Chur"  # from the primary
        pair.primary.kill()
        assert alice(memory).current("city") == "Bern"
        assert [fact.value for fact in alice(memory).facts("city")] == ["Bern"]


def test_writes_resume_after_promotion(pair: Pair) -> None:
    """Clients that know both servers go on by themselves; nothing acknowledged is lost."""
    clients = Clients(pair.either, CLIENTS)
    clients.until_writing()
    pair.primary.kill()
    time.sleep(0.3)
    pair.replica.promote()
    time.sleep(1.5)
    told = clients.finish()
    with incumbent.open(pair.read_url, settings=QUICK) as memory:
        for organization, entries in told.items():
            journal.check(memory, organization, entries)
            assert entries[-1].verdicts is not None  # it went on by itself
            assert sum(entry.verdicts is not None for entry in entries) > 3
    # They met the end of the first server, and did not just go on.
    assert any(entry.verdicts is None for entries in told.values() for entry in entries)


def test_a_write_that_the_replica_did_not_get_is_not_acknowledged(pair: Pair) -> None:
    """A commit that waits for a replica in vain is never reported as kept, however long."""
    store = PostgresStore(pair.url, statement_timeout=0.5, busy_timeout=0.5, connect_timeout=1)
    with incumbent.Memory(store, system_clock, QUICK) as memory:
        alice(memory).write("city", "Bern")
        pair.replica.kill()
        with pytest.raises(incumbent.StoreUnavailable, match="may or may not"):
            alice(memory).write("city", "Chur")
        assert alice(memory).current("city") == "Bern"
        pair.replica.start()
        _until(lambda: alice(memory).current("city") == "Chur")
        alice(memory).write("city", "Genf")
        assert list(alice(memory).history("city").values) == ["Bern", "Chur", "Genf"]


def _until_replayed(pair: Pair) -> None:
    ((written,),) = pair.primary.ask("SELECT pg_current_wal_lsn()::text")
    _until(
        lambda: (
            pair.replica.ask("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (written,))
            == [(True,)]
        )
    )


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline, "it never comes"
        time.sleep(0.02)


def test_a_revoked_key_is_known_at_once_although_a_replica_is_behind(pair: Pair) -> None:
    """Keys come from the primary; only while none answers from the replica, so that people who
    read can still be let in."""
    with (
        closing(PostgresStore(pair.url)) as elsewhere,
        closing(PostgresStore(pair.url, read_url=pair.read_url)) as store,
    ):
        key, other = (
            make_key(
                organization="acme",
                name="reports",
                scopes=["read"],
                max_authority="employee",
                now=system_clock(),
            )[0]
            for _ in range(2)
        )
        elsewhere.add_key(key)
        _until_replayed(pair)
        pair.replica.ask("SELECT pg_wal_replay_pause()")
        ended = elsewhere.revoke_key(key.id, system_clock())
        assert store.key(key.id) == ended
        pair.primary.kill()
        assert store.key(key.id) == key
        assert store.keys("acme") == [key]
        with pytest.raises(incumbent.StoreUnavailable):
            store.add_key(other)
