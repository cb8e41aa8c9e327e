"""The promises of a reader about facts that are fetched many at once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from incumbent.model.fact import Status
from incumbent.model.records import Erasure
from incumbent.model.scope import Scope
from incumbent.stores.port import Selection, Store
from incumbent.testing.contract.reading import each_kind
from incumbent.testing.contract.scribe import Contract, Scribe, ids


class FetchingContract(Contract):
    """Facts with many ids, at many addresses, and those last retracted."""

    def test_facts_of_many_ids(self, store: Store, acme: Scribe) -> None:
        """Facts are given by id, each once, as they stand; unknown ids are left out."""
        old = acme.establish("Bern", id="z")
        ended, new = acme.supersede(old, "Basel", id="a")
        acme.establish(id="other", key="other")
        with store.read("acme") as reader:
            assert reader.facts(iter(["z", "unknown", "a", "z"])) == [new, ended]
            assert reader.facts([]) == []

    def test_facts_include_what_was_erased(self, store: Store, acme: Scribe) -> None:
        """An erased fact is given as the row that is left of it."""
        acme.establish(id="gone")
        with store.write("acme") as transaction:
            transaction.erase(["gone"], Erasure("e1", "acme", acme.clock(), ("gone",)))
        with store.read("acme") as reader:
            assert reader.facts(["gone"]) == [reader.fact("gone")]
            assert reader.facts(["gone"])[0].status is Status.ERASED

    def test_live_at_several_addresses(self, store: Store, acme: Scribe) -> None:
        """A reader gives the live facts at each of the addresses, ordered by id."""
        each_kind(acme)
        acme.supersede(acme.establish(id="old", key="size"), "XL", id="new")
        acme.establish(id="bobs", owner="bob")
        with store.read("acme") as reader:
            facts = {fact.id: fact for fact in reader.live(Selection())}
            here = facts["plain"].address
            for fact in facts.values():
                same = [f.id for f in facts.values() if f.address == fact.address]
                assert ids(reader.live_at([fact.address])) == same
            wanted = [facts[name].address for name in ("task", "new", "plain", "new")]
            found = reader.live_at(iter([*wanted, here._replace(key="unknown")]))
            assert ids(found) == ["new", "plain", "task"]
            assert reader.live_at([here._replace(scope_id="elsewhere")]) == []
            assert reader.live_at([here._replace(scope=Scope.TASK)]) == []
            assert reader.live_at([]) == []

    def test_live_at_an_address_elsewhere(self, store: Store, acme: Scribe) -> None:
        """An address is looked up in the reader's organization, even if it names another."""
        fact = acme.establish()
        with store.read("other") as reader:
            assert reader.live_at([fact.address]) == []
        with store.read("acme") as reader:
            assert reader.live_at([fact.address._replace(organization="other")]) == [fact]

    def test_live_at_very_many_addresses(self, store: Store, acme: Scribe) -> None:
        """There is no limit to how many addresses, or facts, can be asked for at once."""
        facts = [acme.fact(key=f"key {number}") for number in range(1_200)]
        with store.write("acme") as transaction:
            transaction.record(acme.verdict(transaction, facts[0]), facts)
        with store.read("acme") as reader:
            found = reader.live_at(fact.address for fact in reversed(facts))
            assert ids(found) == ids(facts)
            assert reader.facts(reversed(ids(facts))) == facts

    # retracted

    def test_retracted_are_those_taken_back_last(self, store: Store, acme: Scribe) -> None:
        """Retracted facts come by the entry that last changed them, whatever end it gave them."""
        facts = [acme.establish(id=name, key=name) for name in ("b", "d", "a", "c")]
        ended = [
            acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now - timedelta(days=n))
            for n, fact in enumerate(facts)
        ]
        acme.change(ended[0], acknowledged=frozenset({"x"}))
        with store.read("acme") as reader:
            assert ids(reader.retracted(("alice",), 100)) == ["b", "c", "a", "d"]
            assert ids(reader.retracted(("alice",), 2)) == ["b", "c"]
            assert reader.retracted(("alice",), 0) == []

    def test_retracted_are_of_these_owners(self, store: Store, acme: Scribe) -> None:
        """The latest of several owners are given together, each once, and of no other owner."""
        for name, owner in (("a1", "alice"), ("b1", "bob"), ("c1", "carol"), ("a2", "alice")):
            fact = acme.establish(id=name, key=name, owner=owner)
            acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            assert ids(reader.retracted(("bob", "alice", "bob"), 2)) == ["a2", "b1"]
            assert ids(reader.retracted(("bob", "alice", "bob"), 9)) == ["a2", "b1", "a1"]
            assert reader.retracted((), 9) == []

    @pytest.mark.parametrize("status", [s for s in Status if s is not Status.RETRACTED], ids=str)
    def test_retracted_takes_no_other_status(
        self, store: Store, acme: Scribe, status: Status
    ) -> None:
        """A fact that left otherwise, or is back in office, was not retracted."""
        out = acme.change(acme.establish(), status=Status.RETRACTED, ended_at=acme.clock.now)
        acme.change(out, status=status)
        with store.read("acme") as reader:
            assert reader.retracted(("alice",), 9) == []
