"""The promises of a store about shelves: their readers, their versions, and their entries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from incumbent.model.fact import Status
from incumbent.model.records import WorkingItem
from incumbent.model.scope import EVERYWHERE, Scope
from incumbent.stores.port import Placed, Store, StoredReceipt, TenureChange
from incumbent.testing.contract.catalogue import (
    entry,
    index,
    numbers,
    placed,
    posted,
    shelf_of,
    shelve,
    shelves,
)
from incumbent.testing.contract.scribe import Contract, Scribe

ELSEWHERE: dict[str, dict[str, Any]] = {
    "owner": {"owner": "bob"},
    "nobody's": {"owner": ""},
    "scope": {"scope": Scope.TASK, "scope_id": "T1"},
    "permission": {"requires": ("hr",)},
    "two permissions": {"requires": ("finance", "hr")},
    "authority": {"min_authority": "manager"},
    "constraint": {"is_constraint": True},
}
"""Each of these sets a fact apart from an ordinary one of alice."""


class ShelvingContract(Contract):
    """Facts for the same readers stand together, and every change has a version."""

    def test_nothing_is_indexed_at_first(self, store: Store, acme: Scribe) -> None:
        """A fact gets no entry by itself."""
        acme.establish()
        with store.read("acme") as reader:
            assert reader.recipe() is None
            assert shelves(reader) == []
            assert reader.entries_of(["fact-0001"]) == []

    def test_the_recipe_is_the_one_noted_last(self, store: Store) -> None:
        """The recipe of the index is kept as text, any text, and replaced when it is set again."""
        for recipe in ("first", "", "words 2, größer"):
            with store.write("acme") as transaction:
                transaction.set_recipe(recipe)
                assert transaction.recipe() == recipe
            with store.read("acme") as reader:
                assert reader.recipe() == recipe

    # shelves

    def test_a_shelf_tells_whom_its_facts_are_for(self, store: Store, acme: Scribe) -> None:
        """A shelf has the owner, the place and the conditions of the facts that stand on it."""
        shelve(
            acme,
            owner="bob",
            scope=Scope.TASK,
            scope_id="T1",
            requires=("finance", "hr"),
            min_authority="manager",
            is_constraint=True,
        )
        with store.read("acme") as reader:
            shelf = shelf_of(reader, "bob")
        assert shelf[1:6] == ("bob", (Scope.TASK, "T1"), ("finance", "hr"), "manager", True)

    def test_a_shelf_without_conditions_names_none(self, store: Store, acme: Scribe) -> None:
        """A shelf of facts that every reader of an owner may see has no conditions."""
        shelve(acme)
        with store.read("acme") as reader:
            assert shelf_of(reader)[1:6] == ("alice", EVERYWHERE, (), None, False)

    @pytest.mark.parametrize("fields", ELSEWHERE.values(), ids=ELSEWHERE)
    def test_facts_for_other_readers_stand_apart(
        self, store: Store, acme: Scribe, fields: dict[str, Any]
    ) -> None:
        """Another owner, place or condition, and being a constraint, means another shelf."""
        one, other = shelve(acme, "bern"), shelve(acme, "bern", **fields)
        with store.read("acme") as reader:
            first, second = shelves(reader)
            found = [reader.postings([shelf.id], "bern", 10) for shelf in (first, second)]
            assert found == [[number] for number in numbers(reader, [one, other])]

    def test_places_of_one_id_stand_apart(self, store: Store, acme: Scribe) -> None:
        """A task and a session of the same id have a shelf each."""
        shelve(acme, scope=Scope.TASK, scope_id="T1")
        shelve(acme, scope=Scope.SESSION, scope_id="T1")
        with store.read("acme") as reader:
            assert len(shelves(reader)) == 2
            (task,) = reader.shelves(("alice",), ((Scope.TASK, "T1"),))
        assert task.place == (Scope.TASK, "T1")

    def test_facts_for_the_same_readers_share_a_shelf(self, store: Store, acme: Scribe) -> None:
        """Key, subject and authority make no other shelf, nor does the order of permissions."""
        shelve(acme, requires=("finance", "hr"))
        shelve(acme, requires=("hr", "finance"), subject="house", authority="executive")
        with store.read("acme") as reader:
            assert len(list(reader.placed(shelf_of(reader).id, 0))) == 2

    def test_shelves_are_asked_for_by_owner_and_place(self, store: Store, acme: Scribe) -> None:
        """Only the shelves of these owners in these places are given, each once, by their ids."""
        for owner in ("bob", "alice"):
            for task in ("T2", "T1"):
                shelve(acme, owner=owner, scope=Scope.TASK, scope_id=task)
        one, two = (Scope.TASK, "T1"), (Scope.TASK, "T2")
        with store.read("acme") as reader:
            every = reader.shelves(("alice", "bob", "alice"), (one, two, one))
            assert [(s.owner, s.place[1]) for s in every] == [
                ("bob", "T2"),
                ("bob", "T1"),
                ("alice", "T2"),
                ("alice", "T1"),
            ]
            assert [shelf.id for shelf in every] == sorted({shelf.id for shelf in every})
            assert reader.shelves(("bob",), (one,)) == [every[1]]
            assert reader.shelves(("carol",), (one, two)) == []
            assert reader.shelves(("bob",), (EVERYWHERE,)) == []
            assert reader.shelves((), (one,)) == []
            assert reader.shelves(("bob",), ()) == []

    # versions

    def test_a_version_grows_once_in_a_transaction(self, store: Store, acme: Scribe) -> None:
        """However many entries a transaction adds and changes, a shelf has one new version."""
        first = shelve(acme)
        with store.read("acme") as reader:
            before = shelf_of(reader).version
        with store.write("acme") as transaction:
            for _ in range(3):
                fact = acme.fact()
                acme.put(transaction, fact.evolve(key=fact.id))
                transaction.index([entry(fact), entry(first)])
            out = first.evolve(status=Status.RETRACTED, ended_at=acme.clock.now)
            transaction.record(acme.verdict(transaction, first), (), [TenureChange(first, out)])
            assert shelf_of(transaction).version == before + 1
        with store.read("acme") as reader:
            assert shelf_of(reader).version == before + 1

    def test_a_version_is_above_zero(self, store: Store, acme: Scribe) -> None:
        """A reader who knows nothing of a shelf may say so with version 0."""
        shelve(acme)
        with store.read("acme") as reader:
            assert shelf_of(reader).version > 0
            assert len(list(reader.placed(shelf_of(reader).id, 0))) == 1

    def test_a_version_stays_while_no_entry_changes(self, store: Store, acme: Scribe) -> None:
        """Facts without entries, desks, receipts and recipes leave every shelf as it was."""
        fact = shelve(acme)
        with store.read("acme") as reader:
            before = shelves(reader)
        bare = acme.establish()
        acme.supersede(bare, "Basel")
        acme.change(fact, confirmed_at=acme.clock())
        with store.write("acme") as transaction:
            transaction.index([])
            transaction.set_recipe("another")
            transaction.put_item("alice", "s1", WorkingItem("k", 1, acme.clock()))
            transaction.put_receipt(StoredReceipt("r1", "alice", acme.clock(), "{}"))
        with store.read("acme") as reader:
            assert shelves(reader) == before

    def test_versions_of_shelves_are_apart(self, store: Store, acme: Scribe) -> None:
        """A change on one shelf leaves the version of another."""
        shelve(acme)
        fact = shelve(acme, owner="bob")
        with store.read("acme") as reader:
            alice, bob = shelf_of(reader), shelf_of(reader, "bob")
        acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            assert shelf_of(reader) == alice
            assert shelf_of(reader, "bob") == bob._replace(version=bob.version + 1)

    # placed

    def test_placed_has_what_decides_whether_an_entry_counts(
        self, store: Store, acme: Scribe
    ) -> None:
        """An entry is placed with its number, version, tenure, length, key, probes and vector."""
        fact = acme.establish("Bern", key="city", depends_on=("base",))
        index(acme, entry(fact, "city bern bern", probes="bern 東京", vector=bytes(range(256))))
        with store.read("acme") as reader:
            shelf = shelf_of(reader)
            (number,) = numbers(reader, [fact])
            assert list(reader.placed(shelf.id, 0)) == [
                Placed(
                    entry=number,
                    changed=shelf.version,
                    live=True,
                    starts=None,
                    ends=None,
                    derived=True,
                    length=3,
                    key="city",
                    probes="bern 東京",
                    vector=bytes(range(256)),
                )
            ]

    def test_an_entry_may_have_nothing_to_be_found_by(self, store: Store, acme: Scribe) -> None:
        """Neither terms nor probes nor a vector are needed; without them, none are there."""
        fact = acme.establish()
        index(acme, entry(fact, "", probes="", vector=None))
        with store.read("acme") as reader:
            row = placed(reader, fact)
        assert (row.length, row.probes, row.vector, row.derived) == (0, "", None, False)

    def test_placed_gives_what_changed_since(self, store: Store, acme: Scribe) -> None:
        """After a version, only the entries that changed later are given."""
        facts = [shelve(acme) for _ in range(3)]
        with store.read("acme") as reader:
            shelf = shelf_of(reader)
            assert list(reader.placed(shelf.id, shelf.version)) == []
        acme.change(facts[1], status=Status.RETRACTED, ended_at=acme.clock.now)
        fresh = shelve(acme)
        with store.read("acme") as reader:
            since = [row.entry for row in reader.placed(shelf.id, shelf.version)]
            assert since == numbers(reader, [facts[1], fresh])
            later = [row.entry for row in reader.placed(shelf.id, shelf.version + 1)]
            assert later == numbers(reader, [fresh])

    def test_placed_follows_the_changes(self, store: Store, acme: Scribe) -> None:
        """Entries come in the order of the versions that last changed them."""
        first, second, third = (shelve(acme) for _ in range(3))
        acme.change(first, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            shelf = shelf_of(reader)
            rows = list(reader.placed(shelf.id, 0))
            assert [row.entry for row in rows] == numbers(reader, [second, third, first])
            assert [row.changed for row in rows] == sorted({row.changed for row in rows})
            assert rows[-1].changed == shelf.version

    def test_an_unknown_shelf_is_empty(self, store: Store, acme: Scribe) -> None:
        """A number that no shelf has gives nothing."""
        shelve(acme, "bern")
        with store.read("acme") as reader:
            assert list(reader.placed(99_999, 0)) == []
            assert reader.postings([99_999], "bern", 10) == []

    def test_placed_tells_a_start_still_to_come(self, store: Store, acme: Scribe) -> None:
        """A fact in office whose term begins later is live, with its start."""
        later = acme.clock.now + timedelta(days=9)
        fact = shelve(acme, "bern", valid_from=later, started_at=later)
        with store.read("acme") as reader:
            assert placed(reader, fact)[2:5] == (True, later, None)
            assert posted(reader, "bern") == [fact.id]

    def test_placed_tells_an_end(self, store: Store, acme: Scribe) -> None:
        """A fact in office whose term ends is live, with its end, be it past or to come."""
        day = timedelta(days=1)
        now = acme.clock.now
        past = shelve(acme, "bern", valid_from=now - 2 * day, valid_until=now - day)
        limited = shelve(acme, "bern", valid_until=now + day)
        with store.read("acme") as reader:
            assert placed(reader, past)[2:5] == (True, None, now - day)
            assert placed(reader, limited)[2:5] == (True, None, now + day)
            assert posted(reader, "bern") == [past.id, limited.id]
