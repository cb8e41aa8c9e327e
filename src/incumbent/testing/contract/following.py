"""The promises of a store about entries over time: they live and die with their facts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from incumbent.model.fact import Status
from incumbent.model.records import Erasure
from incumbent.stores.port import Found, Placed, Store, TenureChange, Transaction
from incumbent.testing.contract.catalogue import (
    entry,
    everything_indexed,
    index,
    numbers,
    placed,
    posted,
    shelf_of,
    shelve,
    shelves,
)
from incumbent.testing.contract.reading import LEFT
from incumbent.testing.contract.scribe import Contract, Scribe, ids


def erase(store: Store, acme: Scribe, *fact_ids: str) -> None:
    """Empty facts for good."""
    with store.write("acme") as transaction:
        name = f"erasure of {fact_ids[0]}"
        transaction.erase(fact_ids, Erasure(name, "acme", acme.clock(), fact_ids))


class FollowingContract(Contract):
    """Supersession, retraction, undo, terms and erasure, as the index sees them."""

    def test_a_superseded_fact_leaves_the_postings(self, store: Store, acme: Scribe) -> None:
        """An entry is found no longer once another fact has taken the place of its own."""
        old = shelve(acme, "city bern")
        _, new = acme.supersede(old, "Basel")
        index(acme, entry(new, "city basel"))
        with store.read("acme") as reader:
            assert posted(reader, "bern") == []
            assert posted(reader, "city") == posted(reader, "basel") == [new.id]

    @pytest.mark.parametrize("status", LEFT, ids=str)
    def test_a_fact_out_of_office_is_not_posted(
        self, store: Store, acme: Scribe, status: Status
    ) -> None:
        """A fact that left office for any reason keeps its entry, which is not live, and no term
        finds it."""
        fact = shelve(acme, "bern")
        ended = acme.change(fact, status=status, ended_at=fact.started_at)
        with store.read("acme") as reader:
            assert posted(reader, "bern") == []
            assert placed(reader, fact)[2:5] == (False, None, ended.ended_at)
            assert [row.terms for row in reader.entries_of([fact.id])] == ["bern"]

    @pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.RETRACTED, Status.EXPIRED])
    def test_a_fact_whose_end_is_to_come_stays_posted(
        self, store: Store, acme: Scribe, status: Status
    ) -> None:
        """A fact can be found until the end that was set for it, and its entry has the end."""
        fact = shelve(acme, "bern")
        later = fact.recorded_at + timedelta(days=365)
        acme.change(fact, status=status, ended_at=later)
        with store.read("acme") as reader:
            assert posted(reader, "bern") == [fact.id]
            assert placed(reader, fact)[2:5] == (True, None, later)

    def test_a_fact_back_in_office_is_posted_again(self, store: Store, acme: Scribe) -> None:
        """An undo brings the entry back as it was, under its number, at a newer version."""
        fact = shelve(acme, "city bern")
        with store.read("acme") as reader:
            before = placed(reader, fact)
        ended, new = acme.supersede(fact, "Basel")
        index(acme, entry(new, "city basel"))
        with store.write("acme") as transaction:
            back = ended.evolve(status=Status.OFFICE, superseded_by=None, ended_at=None)
            out = new.evolve(status=Status.WITHDRAWN, predecessors=())
            verdict = acme.verdict(transaction, new)
            transaction.record(verdict, (), [TenureChange(ended, back), TenureChange(new, out)])
        with store.read("acme") as reader:
            assert posted(reader, "city") == posted(reader, "bern") == [fact.id]
            assert posted(reader, "basel") == []
            after = placed(reader, fact)
            assert after == before._replace(changed=shelf_of(reader).version)

    def test_out_and_back_again_and_again(self, store: Store, acme: Scribe) -> None:
        """However often a fact leaves and returns, it is posted exactly while it holds office."""
        fact = shelve(acme, "bern bern ünïcode")
        for _ in range(5):
            ended = acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
            with store.read("acme") as reader:
                assert posted(reader, "bern") == posted(reader, "ünïcode") == []
            fact = acme.change(ended, status=Status.OFFICE, ended_at=None)
            with store.read("acme") as reader:
                assert posted(reader, "bern") == posted(reader, "ünïcode") == [fact.id]

    def test_a_fact_that_waited_is_posted_when_it_takes_office(
        self, store: Store, acme: Scribe
    ) -> None:
        """An entry made while its fact waits is found from the day that it takes office."""
        fact = shelve(acme, "bern", status=Status.WAITING, awaits="base", started_at=None)
        with store.read("acme") as reader:
            assert posted(reader, "bern") == []
        acme.change(fact, status=Status.OFFICE, started_at=acme.clock.now)
        with store.read("acme") as reader:
            assert posted(reader, "bern") == [fact.id]
            assert placed(reader, fact).live

    def test_a_start_is_told_only_while_it_is_to_come(self, store: Store, acme: Scribe) -> None:
        """A change that is recorded after the term began leaves no start in the entry."""
        later = acme.clock.now + timedelta(hours=1)
        fact = shelve(acme, "bern", valid_from=later, started_at=later)
        confirmed = acme.change(fact, confirmed_at=acme.clock.now)
        with store.read("acme") as reader:
            assert placed(reader, fact).starts == later
        acme.clock.advance(hours=2)
        acme.change(confirmed, confirmed_at=acme.clock.now)
        with store.read("acme") as reader:
            assert placed(reader, fact)[2:5] == (True, None, None)

    def test_a_term_cut_short_is_told(self, store: Store, acme: Scribe) -> None:
        """When an end is set, moved or taken away, the entry has the new one."""
        fact = shelve(acme, "bern")
        for days in (9, 3, None):
            ends = None if days is None else fact.recorded_at + timedelta(days=days)
            fact = acme.change(fact, ended_at=ends)
            with store.read("acme") as reader:
                assert placed(reader, fact).ends == ends

    def test_a_fact_without_an_entry_gets_none(self, store: Store, acme: Scribe) -> None:
        """Changing and erasing facts that were never indexed makes no entries."""
        ended, new = acme.supersede(acme.establish("Bern"), "Basel")
        acme.change(new, status=Status.RETRACTED, ended_at=acme.clock.now)
        erase(store, acme, ended.id)
        with store.read("acme") as reader:
            assert reader.entries_of([ended.id, new.id]) == []
            assert shelves(reader) == []

    def test_brought_and_retired_in_one_transaction(self, store: Store, acme: Scribe) -> None:
        """Entries keep in step within the transaction that made them."""
        fact, successor = acme.fact("Bern"), acme.fact("Basel")
        ended = fact.evolve(status=Status.SUPERSEDED, superseded_by=successor.id)
        ended = ended.evolve(ended_at=successor.started_at)
        with store.write("acme") as transaction:
            acme.put(transaction, fact)
            transaction.index([entry(fact, "city bern")])
            acme.put(transaction, successor, [TenureChange(fact, ended)])
            transaction.index([entry(successor, "city basel")])
            assert posted(transaction, "city") == [successor.id]
        with store.read("acme") as reader:
            assert posted(reader, "bern") == []
            assert posted(reader, "city") == [successor.id]

    # erasure

    def test_the_entry_of_an_erased_fact_is_empty(self, store: Store, acme: Scribe) -> None:
        """Its number stays, so that a reader who remembers it learns that it is empty now."""
        kept, gone = shelve(acme, "bern"), shelve(acme, "bern secret", depends_on=("base",))
        with store.read("acme") as reader:
            shelf = shelf_of(reader)
            (number,) = numbers(reader, [gone])
        erase(store, acme, gone.id)
        with store.read("acme") as reader:
            version = shelf.version + 1
            assert list(reader.placed(shelf.id, shelf.version)) == [
                Placed(number, version, False, None, None, False, 0, "", "", None)
            ]
            assert len(list(reader.placed(shelf.id, 0))) == 2
            assert reader.found([number]) == [Found(number, gone.id, "", "", 0, None)]
            assert posted(reader, "bern") == [kept.id]
            assert posted(reader, "secret") == []

    def test_the_entry_of_a_superseded_fact_is_emptied_too(
        self, store: Store, acme: Scribe
    ) -> None:
        """Erasing a fact that had left office empties its entry as well."""
        old = shelve(acme, "secret")
        acme.supersede(old, "Basel")
        erase(store, acme, old.id)
        with store.read("acme") as reader:
            assert [row[2:] for row in reader.entries_of([old.id])] == [("", "", 0, None)]
            assert posted(reader, "secret") == []

    def test_a_shelf_of_erased_facts_alone_is_gone(self, store: Store, acme: Scribe) -> None:
        """The owner and the readers of facts are content: the shelf goes with the last of them."""
        private = {"owner": "bob", "requires": ("hr",)}
        first, last = shelve(acme, "bern", **private), shelve(acme, "bern", **private)
        other = shelve(acme, "bern")
        with store.read("acme") as reader:
            shelf = shelf_of(reader, "bob")
        erase(store, acme, first.id)
        with store.read("acme") as reader:
            assert shelf_of(reader, "bob").id == shelf.id
        erase(store, acme, last.id)
        with store.read("acme") as reader:
            assert [found.owner for found in shelves(reader)] == ["alice"]
            assert posted(reader, "bern") == [other.id]

    def test_a_place_that_was_erased_gets_a_new_shelf(self, store: Store, acme: Scribe) -> None:
        """Facts that come after an erasure stand on a shelf of another number."""
        gone = shelve(acme, "bern")
        with store.read("acme") as reader:
            before = shelf_of(reader).id
        fact = acme.fact(key="new")
        with store.write("acme") as transaction:
            transaction.index([entry(gone, "again")])
            transaction.erase([gone.id], Erasure("e1", "acme", acme.clock(), (gone.id,)))
            acme.put(transaction, fact)
            transaction.index([entry(fact, "bern")])
        with store.read("acme") as reader:
            assert shelf_of(reader).id != before
            assert posted(reader, "bern") == [fact.id]

    # whole or not at all, and nobody else's

    @pytest.mark.parametrize(
        "step", ["index", "replace", "retire", "erase", "unindex", "recipe"], ids=str
    )
    def test_a_rollback_takes_the_index_back(self, store: Store, acme: Scribe, step: str) -> None:
        """Entries, postings, shelves and versions are as before, whatever was being done."""
        first = shelve(acme, "city bern")
        shelve(acme, "city basel", owner="bob")
        ended = shelve(acme, "city zug", status=Status.RETRACTED, ended_at=acme.clock.now)
        bare = [acme.establish(key=key) for key in ("one", "two")]
        with store.write("acme") as transaction:
            transaction.set_recipe("words")
        before = everything_indexed(store)

        def work(transaction: Transaction) -> None:
            if step == "index":
                transaction.index([entry(fact, "city new") for fact in bare])
            elif step == "replace":
                transaction.index([entry(first, "other"), entry(ended, "other")])
            elif step == "retire":
                out = first.evolve(status=Status.RETRACTED, ended_at=acme.clock.now)
                back = ended.evolve(status=Status.OFFICE, ended_at=None)
                changes = [TenureChange(first, out), TenureChange(ended, back)]
                transaction.record(acme.verdict(transaction, first), (), changes)
            elif step == "erase":
                proof = Erasure("e1", "acme", acme.clock(), (first.id, ended.id))
                transaction.erase(proof.fact_ids, proof)
            elif step == "unindex":
                while transaction.unindex(2):
                    pass
            else:
                transaction.set_recipe("another")

        def fail() -> None:
            with store.write("acme") as transaction:
                work(transaction)
                raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            fail()
        assert everything_indexed(store) == before

    def test_indexes_of_organizations_do_not_meet(self, store: Store, acme: Scribe) -> None:
        """Nothing of another's index shows, not even to one who knows its numbers."""
        globex = Scribe(store, "globex")
        for scribe in (acme, globex):
            name = scribe.organization
            shelve(scribe, f"shared {name}", id="same", key=name)
            with store.write(name) as transaction:
                transaction.set_recipe(f"recipe of {name}")
        shelve(globex, "shared globex", key="second")
        with store.read("acme") as ours, store.read("globex") as theirs:
            assert ours.recipe() == "recipe of acme"
            known = {shelf.id for reader in (ours, theirs) for shelf in shelves(reader)}
            foreign = [row.entry for row in theirs.placed(shelf_of(theirs).id, 0)]
            assert ours.postings(sorted(known), "globex", 9) == []
            assert len(ours.postings(sorted(known), "shared", 9)) == 1
            assert {row.key for shelf in known for row in ours.placed(shelf, 0)} == {"acme"}
            assert {row.key for row in ours.found(foreign)} <= {"acme"}
            assert [row.key for row in ours.entries_of(["same", "fact-0001"])] == ["acme"]
            assert [shelf.version for shelf in shelves(ours)] == [1]

    def test_writing_one_index_leaves_the_other(self, store: Store, acme: Scribe) -> None:
        """Indexing, retiring, erasing and unindexing in one organization touch no other."""
        globex = Scribe(store, "globex")
        for scribe in (acme, globex):
            shelve(scribe, "bern", id="same")
            shelve(scribe, "bern", id="more")
            scribe.establish(id="bare")
        with store.write("globex") as transaction:
            transaction.set_recipe("theirs")
        before = everything_indexed(store, "globex")
        with store.read("acme") as reader:
            same, bare = reader.facts(["bare", "same"])[::-1]
        acme.change(same, status=Status.RETRACTED, ended_at=acme.clock.now)
        index(acme, entry(bare, "bern"))
        erase(store, acme, "more")
        with store.write("acme") as transaction:
            transaction.set_recipe("ours")
            assert transaction.unindex(100) == 3
            assert transaction.unindex(100) == 0
        assert everything_indexed(store, "globex") == before
        with store.read("acme") as reader:
            assert ids(reader.unindexed(9)) == ["bare", "same"]
