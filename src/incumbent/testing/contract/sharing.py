"""The promises of a store to those who share it: turns, consistent views, and an end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from incumbent.model.errors import SessionClosed
from incumbent.model.records import Declaration, Turn, WorkingItem
from incumbent.model.scope import EVERYWHERE
from incumbent.stores.port import Store
from incumbent.testing.contract.catalogue import posted, shelf_of, shelve
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe

THREADS = 4
ROUNDS = 20


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """Run tasks in threads of their own, at once; an error in one is raised here."""
    start = threading.Barrier(len(tasks))

    def run(task: Callable[[], Any]) -> Any:
        start.wait(timeout=30)
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


class SharingContract(Contract):
    """Threads, snapshots, and closing."""

    def test_transactions_take_turns(self, store: Store, acme: Scribe) -> None:
        """Threads that number their entries by the head they see make a dense log."""

        def work(name: str) -> None:
            for number in range(ROUNDS):
                with store.write("acme") as transaction:
                    fact = acme.fact(id=f"{name}-{number}", key=f"{name} {number}")
                    acme.put(transaction, fact)

        together(*(partial(work, f"t{number}") for number in range(THREADS)))
        with store.read("acme") as reader:
            log = reader.log(0, 1000)
            assert [verdict.seq for verdict in log] == list(range(1, THREADS * ROUNDS + 1))
            assert len(reader.live(EVERYTHING)) == THREADS * ROUNDS

    def test_readers_never_see_half_a_transaction(self, store: Store, acme: Scribe) -> None:
        """While pairs are written, every reader finds whole pairs, and the same ones each time."""
        done = threading.Event()

        def write() -> None:
            try:
                for number in range(ROUNDS):
                    with store.write("acme") as transaction:
                        for side in ("left", "right"):
                            acme.put(transaction, acme.fact(number, key=f"{side} {number}"))
            finally:
                done.set()

        def read() -> int:
            looks = 0
            while not done.is_set() or looks == 0:
                with store.read("acme") as reader:
                    first = reader.live(EVERYTHING)
                    assert len(first) % 2 == 0
                    assert reader.head()[0] == len(first)
                    assert reader.timeline(EVERYTHING) == sorted(
                        first, key=lambda fact: fact.recorded_at
                    )
                    assert reader.live(EVERYTHING) == first
                looks += 1
            return looks

        together(write, read, read)
        with store.read("acme") as reader:
            assert reader.head()[0] == 2 * ROUNDS

    def test_a_reader_keeps_its_view(self, store: Store, acme: Scribe) -> None:
        """Commits of others do not show in an open view."""
        acme.establish(key="before")
        writer = threading.Thread(target=lambda: acme.establish(key="meanwhile"))
        with store.read("acme") as reader:
            seen = reader.timeline(EVERYTHING)
            writer.start()
            writer.join(timeout=0.2)  # a store may let it wait until the view is closed
            assert reader.timeline(EVERYTHING) == seen
            assert reader.head()[0] == 1
        writer.join(timeout=30)
        with store.read("acme") as reader:
            assert [fact.key for fact in reader.timeline(EVERYTHING)] == ["before", "meanwhile"]

    def test_a_reader_keeps_its_view_of_the_index(self, store: Store, acme: Scribe) -> None:
        """Entries and versions that others commit do not show in an open view."""
        shelve(acme, "bern")
        writer = threading.Thread(target=lambda: shelve(acme, "bern"))
        with store.read("acme") as reader:
            seen = shelf_of(reader), posted(reader, "bern")
            writer.start()
            writer.join(timeout=0.2)
            assert (shelf_of(reader), posted(reader, "bern")) == seen
            assert len(list(reader.placed(seen[0].id, 0))) == 1
        writer.join(timeout=30)
        with store.read("acme") as reader:
            assert len(posted(reader, "bern")) == 2

    def test_uncommitted_writes_are_invisible(self, store: Store, acme: Scribe) -> None:
        """Another thread that reads before the commit finds the state before it, or waits."""
        seen: list[int] = []

        def look() -> None:
            with store.read("acme") as reader:
                seen.append(reader.head()[0])
                seen.append(len(reader.declarations()))
                seen.append(len(reader.desks()))
                seen.append(len(reader.turns("alice", "s1", 9)))

        reader = threading.Thread(target=look)

        def write_and_give_up() -> None:
            with store.write("acme") as transaction:
                acme.put(transaction, acme.fact())
                transaction.declare(Declaration("tags", multi_valued=True))
                transaction.put_item("alice", "s1", WorkingItem("k", 1, acme.clock()))
                transaction.put_turn("alice", Turn("s1", 0, "user", acme.clock(), "d"))
                assert len(transaction.declarations()) == 1
                reader.start()
                reader.join(timeout=0.2)
                raise RuntimeError("never mind")

        with pytest.raises(RuntimeError, match="never mind"):
            write_and_give_up()
        reader.join(timeout=30)
        assert seen == [0, 0, 0, 0]

    # the store as a whole

    def test_organizations_with_a_log_in_order(self, store: Store) -> None:
        """Only an organization with an entry in its log is listed, and in order."""
        assert store.organizations() == []
        for name in ("zeta", "acme", "mid"):
            Scribe(store, name).establish()
        with store.read("merely read") as reader:
            assert reader.head()[0] == 0
        with store.write("") as transaction:
            transaction.declare(Declaration("tags"))
        assert store.organizations() == ["acme", "mid", "zeta"]

    def test_sound_store_has_no_findings(self, store: Store, acme: Scribe) -> None:
        """The integrity check of a store in use finds nothing."""
        acme.supersede(acme.establish("Bern"), "Basel")
        assert store.check() == []

    def test_closed_store_refuses_everything(self, store: Store, acme: Scribe) -> None:
        """After close every call raises SessionClosed, and closing again does no harm."""
        acme.establish()
        store.close()
        store.close()
        calls: list[Callable[[], Any]] = [
            lambda: store.read("acme").__enter__(),
            lambda: store.write("acme").__enter__(),
            lambda: store.glance("acme", ("alice",), (EVERYWHERE,), "city", ""),
            lambda: store.organizations(),
            lambda: store.erasures("acme"),
            lambda: list(store.dump("acme")),
            lambda: store.scrub(),
            lambda: store.check(),
        ]
        for call in calls:
            with pytest.raises(SessionClosed, match=r"closed.*open"):
                call()
