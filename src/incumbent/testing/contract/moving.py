"""The promises of dump and restore: everything that goes out comes in, here or elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import Basis, Cause, Status
from incumbent.model.records import Declaration, Erasure
from incumbent.stores.in_memory import MemoryStore
from incumbent.stores.port import IndexEntry, Reader, Store
from incumbent.testing.contract.reading import full_fact
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe


def fill(acme: Scribe) -> None:
    """Put a bit of everything that a dump carries into the store."""
    store = acme.store
    with store.write("") as transaction:
        transaction.declare(Declaration("tags", multi_valued=True, requires=("hr",)))
    _, second = acme.supersede(acme.establish("Bern", id="z-first"), "Basel")
    acme.supersede(second, "Zug", id="a-last")
    with store.write("acme") as transaction:
        acme.put(transaction, full_fact(acme), reason="so be it")
        transaction.mark_undone(transaction.log(0, 1)[0].id, "another")
    acme.establish(
        "rests",
        key="rests",
        depends_on=("a-last",),
        basis=(Basis("a-last", "a-last"),),
        causes=(Cause("a-last", None, ("a-last", "rests")),),
    )
    acme.establish("may have changed", key="doubts", doubts=("a-last",))
    acme.establish("waits", key="waits", status=Status.WAITING, awaits="a-last", started_at=None)
    term = acme.establish("for now", key="term")
    acme.change(term, status=Status.RETRACTED, ended_at=term.recorded_at + timedelta(days=99))
    acme.establish("secret", id="gone", key="gone")
    with store.write("acme") as transaction:
        transaction.erase(["gone"], Erasure("e1", "acme", acme.clock(), ("gone",)))


def views(reader: Reader) -> dict[str, Any]:
    """The results of every reading method, without the organization's own name."""
    head = reader.head()[0]
    everyone = ("alice", "bob", "")
    answers: dict[str, Any] = {
        "head": reader.head(),
        "live": reader.live(EVERYTHING),
        "timeline": reader.timeline(EVERYTHING),
        "known": [
            sorted(reader.known(EVERYTHING, seq), key=lambda fact: fact.id)
            for seq in range(head + 1)
        ],
        "log": reader.log(0, 1000),
        "standing": reader.standing_on(["a-last"]),
        "derived": reader.derived_from(["a-last", "base-1"]),
        "waiting": reader.waiting_on(["a-last"]),
        "contested": reader.contested(everyone),
        "in office on bases": reader.derived(everyone),
        "doubting": reader.doubting(["a-last", "doubted-1"]),
        "doubters": reader.doubters(everyone),
        "verdicts": reader.verdicts(["z-first", "a-last", "gone"]),
        "erased": reader.fact("gone"),
        "declarations": reader.declarations(),
    }
    return answers


def at_home(found: Any, organization: str) -> str:
    """A readable form of a result that does not depend on the organization."""
    return repr(found).replace(f"organization={organization!r}", "organization=...")


class MovingContract(Contract):
    """Dumps that load again, into the same kind of store and into another."""

    @pytest.fixture
    def reference(self) -> Iterator[Store]:
        """The in-memory reference, to and from which every store must be able to move."""
        store = MemoryStore()
        yield store
        store.close()

    def test_dump_is_json_in_log_order(self, store: Store, acme: Scribe) -> None:
        """A dump consists of JSON objects of a kind; facts and verdicts come in log order."""
        fill(acme)
        records = list(store.dump("acme"))
        assert json.loads(json.dumps(records)) == records
        kinds = {record["kind"] for record in records}
        assert kinds == {"declaration", "fact", "tenure", "verdict", "erasure"}
        for kind in ("fact", "verdict"):
            order = [record["seq"] for record in records if record["kind"] == kind]
            assert order == sorted(order)

    def test_dump_of_an_unknown_organization_is_empty(self, store: Store, acme: Scribe) -> None:
        """An unknown organization gives an empty dump, and is not made by it."""
        acme.establish()
        assert list(store.dump("globex")) == []
        assert store.organizations() == ["acme"]

    def test_dump_leaves_out_what_was_erased(self, store: Store, acme: Scribe) -> None:
        """Of an erased fact only the row that keeps its links is dumped."""
        fill(acme)
        assert "secret" not in json.dumps(list(store.dump("acme")))

    def test_restored_store_answers_alike(
        self, store: Store, other_store: Store, acme: Scribe
    ) -> None:
        """Every reading method answers after a restore as it did before."""
        fill(acme)
        records = list(store.dump("acme"))
        with other_store.write("acme") as transaction:
            assert transaction.restore(iter(records)) == len(records)
        with store.read("acme") as reader, other_store.read("acme") as restored:
            expected, found = views(reader), views(restored)
        for name in expected:
            assert found[name] == expected[name], name
        assert list(other_store.dump("acme")) == records
        assert other_store.erasures("acme") == store.erasures("acme")
        assert other_store.check() == []

    def test_a_dump_carries_no_index(self, store: Store, other_store: Store, acme: Scribe) -> None:
        """After a restore no fact has an entry, and nothing claims that there is an index."""
        fill(acme)
        before = list(store.dump("acme"))
        with store.write("acme") as transaction:
            transaction.set_recipe("words")
            transaction.index([IndexEntry(f, "a", "a", 7) for f in transaction.unindexed(100)])
            assert transaction.unindexed(100) == []
        assert list(store.dump("acme")) == before
        with other_store.write("acme") as transaction:
            transaction.restore(before)
        with other_store.read("acme") as reader:
            assert reader.recipe() is None
            every = sorted(reader.timeline(EVERYTHING), key=lambda fact: fact.id)
            assert reader.unindexed(100) == every

    def test_restoring_within_a_store(self, store: Store, acme: Scribe) -> None:
        """A dump loads into another organization of the same store, as its own."""
        fill(acme)
        with store.write("globex") as transaction:
            transaction.restore(list(store.dump("acme")))
        with store.read("acme") as ours, store.read("globex") as theirs:
            expected, found = views(ours), views(theirs)
        for name in expected:
            assert at_home(found[name], "globex") == at_home(expected[name], "acme"), name
        assert store.organizations() == ["acme", "globex"]

    def test_moving_to_the_reference_and_back(
        self, store: Store, other_store: Store, reference: Store, acme: Scribe
    ) -> None:
        """A dump is the same whichever store made it."""
        fill(acme)
        records = list(store.dump("acme"))
        with reference.write("acme") as transaction:
            transaction.restore(json.loads(json.dumps(records)))
        assert list(reference.dump("acme")) == records
        with other_store.write("acme") as transaction:
            transaction.restore(reference.dump("acme"))
        assert list(other_store.dump("acme")) == records

    def test_restored_log_goes_on(self, store: Store, other_store: Store, acme: Scribe) -> None:
        """A restored organization takes new facts where the old one left off."""
        fill(acme)
        with other_store.write("acme") as transaction:
            transaction.restore(store.dump("acme"))
        with store.read("acme") as reader:
            length = reader.head()[0]
            last = reader.fact("a-last")
        assert last is not None
        acme.store = other_store
        acme.supersede(last, "Uri", id="after")
        with other_store.read("acme") as reader:
            assert reader.head()[0] == length + 1
            after = reader.fact("after")
        assert after is not None
        assert after.is_valid

    def test_failed_restore_leaves_nothing(self, store: Store, other_store: Store) -> None:
        """If the records break off with an error, nothing of them was loaded."""
        acme = Scribe(store)
        fill(acme)

        def broken() -> Iterator[dict[str, Any]]:
            records = list(store.dump("acme"))
            yield from records[: len(records) // 2]
            raise RuntimeError("the tape tore")

        with (
            pytest.raises(RuntimeError, match="tore"),
            other_store.write("acme") as transaction,
        ):
            transaction.restore(broken())
        assert list(other_store.dump("acme")) == []
        assert other_store.organizations() == []
