"""The promises of a store about entries: the terms they are found by, and their removal."""

from __future__ import annotations

import pytest

from incumbent.model.fact import Status
from incumbent.model.records import Erasure
from incumbent.stores.port import Found, Store
from incumbent.testing.contract.catalogue import (
    PLACES,
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
from incumbent.testing.contract.scribe import Contract, Scribe, ids

TERMS = {
    "letters": "bern",
    "one letter": "b",
    "digits": "2024",
    "a number with a fraction": "1250p5",
    "accents": "ünïcode",
    "no spaces": "東京",
    "cyrillic": "привет",
    "arabic digits": "١٢٣",
    "beyond the first plane": "𠮷野",
    "letters as in a shelf's own mark": "1xbern",
    "a word of query languages": "or",
    "another one": "not",
    "very long": "abc" * 3_000,
}

NO_TERMS = ["", "*", "ber*", '"', 'bern" OR "', "two words", "-bern", "bern:bern", "(", "'", "b_n"]


class IndexingContract(Contract):
    """Postings, entries, and facts without any."""

    # postings

    @pytest.mark.parametrize("term", TERMS.values(), ids=TERMS)
    def test_an_entry_is_found_by_each_of_its_terms(
        self, store: Store, acme: Scribe, term: str
    ) -> None:
        """A term is any run of letters and digits, in any script, and found whole."""
        shelve(acme, "something else")
        fact = shelve(acme, f"before {term} after")
        with store.read("acme") as reader:
            for each in ("before", term, "after"):
                assert posted(reader, each) == [fact.id]

    @pytest.mark.parametrize("term", TERMS.values(), ids=TERMS)
    def test_a_part_of_a_term_finds_nothing(self, store: Store, acme: Scribe, term: str) -> None:
        """Neither the beginning of a term nor the term with more to it is the term."""
        shelve(acme, term)
        with store.read("acme") as reader:
            assert posted(reader, f"{term}n") == []
            assert posted(reader, f"1{term}") == []
            assert posted(reader, term[:-1]) == []
            assert posted(reader, term[1:]) == []

    @pytest.mark.parametrize("term", NO_TERMS)
    def test_what_is_no_term_finds_nothing(self, store: Store, acme: Scribe, term: str) -> None:
        """Text with anything but letters and digits has no special meaning, and finds nothing."""
        shelve(acme, "bern two words b n")
        with store.read("acme") as reader:
            assert posted(reader, term) == []

    def test_postings_keep_to_the_shelves_asked_for(self, store: Store, acme: Scribe) -> None:
        """The same term on another shelf is not found, and without a shelf nothing is."""
        of_alice, of_bob = shelve(acme, "bern"), shelve(acme, "bern", owner="bob")
        shelve(acme, "bern", requires=("hr",))
        with store.read("acme") as reader:
            alice, bob = (reader.shelves((name,), PLACES)[0].id for name in ("alice", "bob"))
            assert reader.postings([alice], "bern", 9) == numbers(reader, [of_alice])
            both = numbers(reader, [of_alice, of_bob])
            assert reader.postings([bob, alice, bob], "bern", 9) == both
            assert reader.postings([], "bern", 9) == []

    def test_many_postings_are_those_of_each_term(self, store: Store, acme: Scribe) -> None:
        """For several terms at once, a store gives the postings of each of them."""
        for text, owner in (("bern basel", "alice"), ("basel chur", "alice"), ("bern", "bob")):
            shelve(acme, text, owner=owner)
        wanted = ["basel", "nowhere", "bern", "basel", "no term", "chur"]
        with store.read("acme") as reader:
            asked = [shelf.id for shelf in reader.shelves(("alice",), PLACES)]
            each = [reader.postings(asked, term, 9) for term in wanted]
            assert reader.many_postings(asked, wanted, 9) == each
            assert [len(found) for found in each] == [2, 0, 1, 2, 0, 1]
            assert reader.many_postings(asked, wanted, 1) == [found[:1] for found in each]
            assert reader.many_postings(asked, [], 9) == []
            assert reader.many_postings([], wanted, 9) == [[]] * len(wanted)

    def test_postings_come_in_order_up_to_the_limit(self, store: Store, acme: Scribe) -> None:
        """The first entries that have a term are given, by their numbers, and no more than asked.

        They may be on any shelves, and have a term any number of times.
        """
        facts = [shelve(acme, "bern bern", owner=("bob", "alice")[n % 2]) for n in range(6)]
        with store.read("acme") as reader:
            every = sorted(numbers(reader, facts))
            asked = [shelf.id for shelf in reversed(shelves(reader))]
            assert reader.postings(asked, "bern", 100) == every
            assert reader.postings(asked, "bern", 4) == every[:4]
            assert reader.postings(asked, "bern", 0) == []

    def test_postings_over_very_many_shelves(self, store: Store, acme: Scribe) -> None:
        """A reader of a thousand shelves gets the entries of them all."""
        facts = [acme.fact(key=f"k{n}", requires=(f"permission {n}",)) for n in range(1_000)]
        with store.write("acme") as transaction:
            for fact in facts:
                acme.put(transaction, fact)
            transaction.index([entry(fact, "bern") for fact in facts])
        with store.read("acme") as reader:
            asked = [shelf.id for shelf in shelves(reader)]
            assert len(asked) == 1_000
            entries = reader.postings(asked, "bern", 2_000)
            assert len(entries) == 1_000
            assert ids(facts) == sorted(row.fact_id for row in reader.found(entries))

    def test_entries_of_facts_out_of_office_are_not_posted(
        self, store: Store, acme: Scribe
    ) -> None:
        """Indexing a fact that has left, or waits, makes an entry that no term finds."""
        ended = shelve(acme, "bern", status=Status.RETRACTED, ended_at=acme.clock.now)
        waits = shelve(acme, "bern", status=Status.WAITING, started_at=None)
        with store.read("acme") as reader:
            assert posted(reader, "bern") == []
            assert placed(reader, ended).live is False
            assert placed(reader, waits).live is False

    # entries

    def test_found_has_what_ranking_needs(self, store: Store, acme: Scribe) -> None:
        """Entries come whole, by their numbers, each once, and unknown numbers are left out."""
        one, two = shelve(acme, "a b a", key="city"), shelve(acme, "ü")
        with store.read("acme") as reader:
            first, second = numbers(reader, [one, two])
            expected = [
                Found(first, one.id, "city", "a b a", 7, b"\x01\xff\x00"),
                Found(second, two.id, two.key, "ü", 7, b"\x01\xff\x00"),
            ]
            assert reader.found([second, 99_999, first, second]) == expected
            assert reader.found([]) == []

    def test_entries_are_found_by_fact(self, store: Store, acme: Scribe) -> None:
        """The entries of facts come by their numbers, whether the facts hold office or not."""
        one, two = shelve(acme, id="z"), shelve(acme, id="a")
        acme.change(one, status=Status.RETRACTED, ended_at=acme.clock.now)
        with store.read("acme") as reader:
            found = reader.entries_of(iter(["a", "unknown", "z", "a"]))
            assert [row.fact_id for row in found] == ["z", "a"]
            assert [row.entry for row in found] == sorted(numbers(reader, [one, two]))
            assert reader.entries_of([]) == []

    def test_very_many_entries_are_found_at_once(self, store: Store, acme: Scribe) -> None:
        """There is no limit to how many entries, or entries of facts, can be asked for."""
        facts = [acme.fact(key=f"k{n}") for n in range(1_200)]
        with store.write("acme") as transaction:
            verdict = acme.verdict(transaction, facts[0])
            transaction.record(verdict, facts)
            transaction.index([entry(fact, "bern") for fact in facts])
        with store.read("acme") as reader:
            found = reader.entries_of(ids(facts))
            assert len(found) == 1_200
            assert reader.found([row.entry for row in reversed(found)]) == found

    def test_indexing_again_replaces(self, store: Store, acme: Scribe) -> None:
        """A fact has one entry: its former terms no longer find it."""
        fact = shelve(acme, "old shared")
        with store.read("acme") as reader:
            (number,) = numbers(reader, [fact])
            version = shelf_of(reader).version
        index(acme, entry(fact, "shared new", probes="p", tokens=9, vector=b"\x02"))
        with store.read("acme") as reader:
            assert posted(reader, "old") == []
            assert posted(reader, "new") == posted(reader, "shared") == [fact.id]
            found = [Found(number, fact.id, fact.key, "shared new", 9, b"\x02")]
            assert reader.entries_of([fact.id]) == found
            (row,) = reader.placed(shelf_of(reader).id, version)
            assert (row.entry, row.length, row.probes, row.vector) == (number, 2, "p", b"\x02")

    def test_indexing_again_goes_by_the_tenure_given(self, store: Store, acme: Scribe) -> None:
        """A replaced entry is posted according to the status of its fact then."""
        fact = shelve(acme, "old")
        ended = acme.change(fact, status=Status.RETRACTED, ended_at=acme.clock.now)
        index(acme, entry(ended, "new"))
        with store.read("acme") as reader:
            assert posted(reader, "old") == posted(reader, "new") == []
        acme.change(ended, status=Status.OFFICE, ended_at=None)
        with store.read("acme") as reader:
            assert posted(reader, "old") == []
            assert posted(reader, "new") == [fact.id]

    def test_a_transaction_sees_its_own_entries(self, store: Store, acme: Scribe) -> None:
        """Entries can be searched before they are committed."""
        fact = acme.fact()
        with store.write("acme") as transaction:
            acme.put(transaction, fact)
            transaction.index([entry(fact, "bern")])
            assert posted(transaction, "bern") == [fact.id]
            assert placed(transaction, fact).live
            assert transaction.unindexed(9) == []

    # what has no entry, and taking entries away

    def test_unindexed_are_the_facts_without_an_entry(self, store: Store, acme: Scribe) -> None:
        """Facts of any status without an entry are listed by id, at most as many as asked."""
        left = acme.establish(id="c", key="c")
        acme.change(left, status=Status.RETRACTED, ended_at=acme.clock.now)
        b, a = acme.establish(id="b", key="b"), acme.establish(id="a", key="a")
        shelve(acme, id="indexed")
        with store.read("acme") as reader:
            assert ids(reader.unindexed(100)) == ["a", "b", "c"]
            assert reader.unindexed(2) == [a, b]
            assert reader.unindexed(0) == []
        index(acme, entry(b))
        with store.read("acme") as reader:
            assert ids(reader.unindexed(100)) == ["a", "c"]

    def test_unindexed_leaves_out_what_was_erased(self, store: Store, acme: Scribe) -> None:
        """An erased fact has nothing to index."""
        acme.establish(id="gone")
        with store.write("acme") as transaction:
            transaction.erase(["gone"], Erasure("e1", "acme", acme.clock(), ("gone",)))
            assert transaction.unindexed(9) == []

    def test_unindexing_takes_entries_away(self, store: Store, acme: Scribe) -> None:
        """As many entries as asked for go, with their postings, and their facts stay."""
        facts = [shelve(acme, "bern") for _ in range(5)]
        with store.write("acme") as transaction:
            assert transaction.unindex(2) == 2
        with store.read("acme") as reader:
            left = reader.entries_of(ids(facts))
            assert len(left) == 3
            assert posted(reader, "bern") == [row.fact_id for row in left]
            assert len(list(reader.placed(shelf_of(reader).id, 0))) == 3
            assert len(reader.unindexed(9)) == 2
            assert reader.facts(ids(facts)) == facts

    def test_unindexing_none_changes_nothing(self, store: Store, acme: Scribe) -> None:
        """A limit of 0 removes neither an entry nor its shelf."""
        shelve(acme, "bern")
        before = everything_indexed(store)
        with store.write("acme") as transaction:
            assert transaction.unindex(0) == 0
        assert everything_indexed(store) == before

    def test_shelves_go_after_the_last_entry(self, store: Store, acme: Scribe) -> None:
        """Unindexing until nothing is left removes the shelves; new ones have other numbers."""
        facts = [shelve(acme, "bern", **fields) for fields in ({}, {"owner": "bob"}, {})]
        with store.read("acme") as reader:
            before = {shelf.id for shelf in shelves(reader)}
        with store.write("acme") as transaction:
            transaction.index([entry(facts[0], "again")])
            assert [transaction.unindex(2) for _ in range(3)] == [2, 1, 0]
            assert shelves(transaction) == []
            transaction.index([entry(facts[0], "bern")])
        index(acme, entry(facts[1], "bern"))
        with store.read("acme") as reader:
            assert len(shelves(reader)) == 2
            assert not before & {shelf.id for shelf in shelves(reader)}
            assert posted(reader, "bern") == [facts[0].id, facts[1].id]
            for gone in before:
                assert list(reader.placed(gone, 0)) == []
                assert reader.postings([gone], "bern", 9) == []
