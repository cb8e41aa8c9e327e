"""The promises of a store about many facts that are written at once."""

from __future__ import annotations

import pytest

from incumbent.model.errors import DuplicateId, StoreError
from incumbent.model.fact import Basis, Fact, Status
from incumbent.model.scope import Scope
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Store, Transaction
from incumbent.testing.contract.catalogue import entry, placed, posted
from incumbent.testing.contract.scribe import EVERYTHING, Contract, Scribe, ids


def entries_for(
    transaction: Transaction, acme: Scribe, facts: list[Fact]
) -> list[tuple[Verdict, Fact]]:
    """The next entries of a log, each of which brings one of the facts."""
    head = transaction.head()[0]
    return [
        (acme.verdict(transaction, fact, seq=head + n, id=f"entry-{head + n}"), fact)
        for n, fact in enumerate(facts, 1)
    ]


class BatchingContract(Contract):
    """Matters that somebody holds, verdicts recorded together, entries indexed together."""

    # met

    def test_met_are_the_matters_with_a_live_fact(self, store: Store, acme: Scribe) -> None:
        """A matter is a key and a subject; one is met while a fact on it is live."""
        acme.establish(key="city")
        acme.establish(key="size", subject="order 1")
        gone = acme.establish(key="gone")
        acme.change(gone, status=Status.RETRACTED, ended_at=acme.clock.now)
        asked = [("city", ""), ("city", "order 1"), ("size", "order 1"), ("size", ""), ("gone", "")]
        with store.read("acme") as reader:
            found = reader.met(("alice", ""), iter(asked))
            assert found == {("city", ""), ("size", "order 1")}
            assert reader.met(("alice", ""), []) == set()
            assert reader.met((), asked) == set()

    def test_met_are_matters_of_these_owners_alone(self, store: Store, acme: Scribe) -> None:
        """What others hold, or another organization, is not met."""
        acme.establish(key="bobs", owner="bob")
        acme.establish(key="ours", owner="")
        Scribe(store, "other").establish(key="theirs", id="elsewhere")
        asked = [("bobs", ""), ("ours", ""), ("theirs", "")]
        with store.read("acme") as reader:
            assert reader.met(("alice", ""), asked) == {("ours", "")}
            assert reader.met(("bob",), asked) == {("bobs", "")}

    def test_met_in_any_scope(self, store: Store, acme: Scribe) -> None:
        """A fact of a task is on the same matter as one of everywhere."""
        acme.establish(key="city", scope=Scope.TASK, scope_id="t1")
        with store.read("acme") as reader:
            assert reader.met(("alice",), [("city", "")]) == {("city", "")}

    def test_met_of_very_many_matters(self, store: Store, acme: Scribe) -> None:
        """There is no limit to how many matters can be asked for at once."""
        facts = [acme.fact(key=f"key {n} \"'\\,{{}}") for n in range(0, 1_300, 2)]
        with store.write("acme") as transaction:
            transaction.record_all(entries_for(transaction, acme, facts))
        with store.read("acme") as reader:
            asked = ((f"key {n} \"'\\,{{}}", "") for n in range(1_300))
            assert reader.met(("alice", ""), asked) == {(fact.key, "") for fact in facts}

    # recording together

    def test_recorded_together_as_one_by_one(
        self, store: Store, other_store: Store, acme: Scribe
    ) -> None:
        """A store that was given verdicts together is as one that was given them in turn."""
        facts = [
            acme.fact(key="city"),
            acme.fact(key="city", subject="order 1", value={"a": [1, None]}),
            acme.fact(key="pay", owner="", requires=("hr",), min_authority="manager"),
            acme.fact(key="rests", depends_on=("x",), basis=(Basis("x", "x"),), doubts=("y",)),
            acme.fact(key="many", multi_valued=True),
            acme.fact(key="many", multi_valued=True),
        ]
        with store.write("acme") as transaction:
            together = entries_for(transaction, acme, facts)
            transaction.record_all(together)
            assert transaction.live(EVERYTHING) == facts
            assert transaction.head()[0] == len(facts)
        with other_store.write("acme") as transaction:
            for verdict, fact in together:
                transaction.record(verdict, (fact,))
        assert list(store.dump("acme")) == list(other_store.dump("acme"))
        for one in (store, other_store):
            with one.read("acme") as reader:
                assert ids(reader.derived_from(["x"])) == ids(facts[3:4])
                assert ids(reader.doubting(["y"])) == ids(facts[3:4])
                assert reader.verdicts([facts[1].id]) == [together[1][0]]

    def test_none_recorded_together(self, store: Store) -> None:
        """Nothing to record leaves the log as it is."""
        with store.write("acme") as transaction:
            transaction.record_all([])
            assert transaction.head() == (0, None)

    def test_a_taken_id_among_many_is_refused(self, store: Store, acme: Scribe) -> None:
        """An id that exists, or comes twice, raises DuplicateId, which names it and no other."""
        acme.establish(id="taken", key="one")
        before = list(store.dump("acme"))
        for names in (["free", "taken"], ["free", "twice", "twice"]):
            facts = [acme.fact(id=name, key=f"key {n}") for n, name in enumerate(names)]
            with (
                pytest.raises(DuplicateId, match=f"id '{names[-1]}' exists"),
                store.write("acme") as transaction,
            ):
                transaction.record_all(entries_for(transaction, acme, facts))
            assert list(store.dump("acme")) == before

    def test_a_second_incumbent_among_many_is_refused(self, store: Store, acme: Scribe) -> None:
        """Two valid facts at one address are refused, and nothing of the batch is kept."""
        facts = [acme.fact(key="other"), acme.fact("Bern"), acme.fact("Basel")]
        with pytest.raises(StoreError, match="valid fact"), store.write("acme") as transaction:
            transaction.record_all(entries_for(transaction, acme, facts))
        assert list(store.dump("acme")) == []

    # indexing together

    def test_new_and_known_entries_together(self, store: Store, acme: Scribe) -> None:
        """Among many entries, those of facts that have one replace it; the others are new."""
        facts = [acme.establish(key=f"key {n}") for n in range(5)]
        with store.write("acme") as transaction:
            transaction.index([entry(facts[1], "old"), entry(facts[3], "old")])
        with store.read("acme") as reader:
            kept = {row.fact_id: row.entry for row in reader.entries_of(ids(facts))}
        with store.write("acme") as transaction:
            transaction.index([*(entry(fact, "new") for fact in facts), entry(facts[4], "last")])
        with store.read("acme") as reader:
            found = {row.fact_id: row.entry for row in reader.entries_of(ids(facts))}
            assert len(set(found.values())) == 5
            assert {fact_id: found[fact_id] for fact_id in kept} == kept
            assert posted(reader, "old") == []
            assert sorted(posted(reader, "new")) == ids(facts[:4])
            assert posted(reader, "last") == [facts[4].id]
            assert all(placed(reader, fact).live for fact in facts)
