"""The index as SQLite keeps it: what an erasure leaves of it, other handles, read-only files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from incumbent.model.fact import Fact, Status
from incumbent.model.records import Erasure
from incumbent.model.scope import Scope
from incumbent.stores.port import StoredReceipt, TenureChange
from incumbent.stores.sqlite import SQLiteStore
from incumbent.testing.contract.catalogue import (
    entry,
    everything_indexed,
    index,
    posted,
    shelf_of,
    shelve,
)
from incumbent.testing.contract.scribe import Scribe
from tests.stores import processes

# Unlike every other term from the first letter on: neighbours in the index share beginnings.
SECRETS = ["zzwordfish", "ünïzzwordfish", "東京zzwordfish"]
MARK = b"zzwordfish"
TERMS = " ".join(["common", *SECRETS])


@pytest.fixture
def store(store_path: Path) -> Iterator[SQLiteStore]:
    """A store on a file."""
    with closing(SQLiteStore(store_path, durability="process")) as store:
        yield store


@pytest.fixture
def acme(store: SQLiteStore) -> Scribe:
    """Writes into the organization acme."""
    return Scribe(store, "acme")


def secret(acme: Scribe) -> Fact:
    """A fact that no store has seen, with a secret in all that the index keeps of it."""
    return acme.fact(
        "zzwordfish",
        id="secret",
        key="zzwordfish key",
        owner="zzwordfish owner",
        scope=Scope.TASK,
        scope_id="zzwordfish task",
        requires=("zzwordfish permission",),
    )


def put(acme: Scribe) -> Fact:
    """Commit the secret fact with its entry."""
    fact = secret(acme)
    with acme.store.write("acme") as transaction:
        acme.put(transaction, fact)
        transaction.index([entry(fact, TERMS, probes=TERMS, vector=MARK)])
    return fact


def only_indexed(acme: Scribe) -> None:
    put(acme)


def superseded(acme: Scribe) -> None:
    acme.supersede(put(acme), "harmless", id="next", key="next", owner="bob")


def out_and_back(acme: Scribe) -> None:
    fact = put(acme)
    for _ in range(3):
        ended = acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
        fact = acme.change(ended, status=Status.OFFICE, ended_at=None)


def indexed_anew(acme: Scribe) -> None:
    index(acme, entry(put(acme), "harmless", probes="", vector=None))


def all_at_once(acme: Scribe) -> None:
    fact = secret(acme)
    ended = fact.evolve(status=Status.RETRACTED, ended_at=acme.clock.now)
    with acme.store.write("acme") as transaction:
        acme.put(transaction, fact)
        transaction.index([entry(fact, TERMS)])
        transaction.record(acme.verdict(transaction, fact), (), [TenureChange(fact, ended)])


def among_many(acme: Scribe) -> None:
    """So many that SQLite merges parts of the index on its own, with the secret in some."""
    for number in range(100):
        shelve(acme, f"common number{number}")
    superseded(acme)
    for number in range(100):
        shelve(acme, f"common other{number}")


HISTORIES = [only_indexed, superseded, out_and_back, indexed_anew, all_at_once, among_many]


def remains(path: Path) -> list[str]:
    """The files in which something of the secret can still be read."""
    beside = [Path(f"{path}{end}") for end in ("", "-wal", "-shm", "-journal")]
    return [file.name for file in beside if file.exists() and MARK in file.read_bytes()]


def vocabulary(path: Path) -> set[str]:
    """Every token that is anywhere in the postings, without the number of its shelf."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab (main, postings, row)")
        found = connection.execute("SELECT term FROM words").fetchall()
    return {token.partition("x")[2] for (token,) in found}


class TestErasure:
    """Erasing reaches the bytes of the index."""

    @pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
    def test_no_byte_is_left(
        self, store: SQLiteStore, acme: Scribe, history: Callable[[Scribe], None]
    ) -> None:
        """Once erased and scrubbed, terms, probes, vector and shelf are nowhere in the file."""
        shelve(acme, "kept common")
        history(acme)
        assert remains(store.path)
        with store.write("acme") as transaction:
            transaction.erase(["secret"], Erasure("e1", "acme", acme.clock(), ("secret",)))
        assert store.scrub()
        assert remains(store.path) == []
        assert not vocabulary(store.path) & set(SECRETS)
        with store.read("acme") as reader:
            assert "fact-0001" in posted(reader, "kept")
        assert store.check() == []

    def test_scrubbing_keeps_the_index(self, store: SQLiteStore, acme: Scribe) -> None:
        """Rewriting the file changes no number, no version and no posting."""
        among_many(acme)
        with store.write("acme") as transaction:
            transaction.erase(["secret"], Erasure("e1", "acme", acme.clock(), ("secret",)))
        before = everything_indexed(store)
        assert store.scrub()
        assert everything_indexed(store) == before


class TestHandles:
    """Several stores on one file, as several processes have."""

    def test_another_handle_learns_what_changed(self, store: SQLiteStore, acme: Scribe) -> None:
        """Who remembers a version reads only what others have committed since."""
        facts = [shelve(acme, "bern") for _ in range(3)]
        with closing(SQLiteStore(store.path)) as other:
            with other.read("acme") as reader:
                known = shelf_of(reader)
            acme.change(facts[1], status=Status.RETRACTED, ended_at=acme.clock.now)
            with other.read("acme") as reader:
                shelf = shelf_of(reader)
                assert (shelf.id, shelf.version) == (known.id, known.version + 1)
                changed = list(reader.placed(shelf.id, known.version))
                assert [row.key for row in changed] == [facts[1].key]
                assert posted(reader, "bern") == [facts[0].id, facts[2].id]

    def test_a_read_only_file_can_be_searched(self, public_folder: Path) -> None:
        """Without the right to write, index and receipts are read, and not written."""
        path = public_folder / "agent.db"
        with closing(SQLiteStore(path)) as store:
            acme = Scribe(store)
            facts = [shelve(acme, "bern 東京") for _ in range(2)]
            with store.write("acme") as transaction:
                transaction.put_receipt(StoredReceipt("r1", "alice", acme.clock(), "{}"))
        path.chmod(0o444)
        before = path.read_bytes()
        told = processes.run_as_nobody(processes.search_and_try_to_index, path)
        assert told["found"] == [fact.id for fact in facts]
        assert told["placed"] == 2
        assert told["receipts"] == ["r1"]
        assert told["refused"] == ["ReadOnlyStore"] * 4
        assert path.read_bytes() == before
