"""Putting facts into the index of a store, and reading them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incumbent.model.fact import Fact
from incumbent.model.scope import EVERYWHERE, Place, Scope
from incumbent.stores.port import IndexEntry, Placed, Reader, Shelf, Store
from incumbent.testing.contract.scribe import Scribe, ids

OWNERS = ("alice", "bob", "")
PLACES: tuple[Place, ...] = (
    EVERYWHERE,
    (Scope.TASK, "T1"),
    (Scope.TASK, "T2"),
    (Scope.SESSION, "T1"),
)


def entry(fact: Fact, terms: str = "", **fields: Any) -> IndexEntry:
    """An entry for a fact, with something in every field."""
    given: dict[str, Any] = {"probes": f"of {fact.id}", "tokens": 7, "vector": b"\x01\xff\x00"}
    return IndexEntry(fact, terms, **{**given, **fields})


def shelve(acme: Scribe, terms: str = "", **fields: Any) -> Fact:
    """Commit a fact together with its entry. Its key is its id, unless given."""
    fact = acme.fact(terms, **fields)
    if "key" not in fields:
        fact = fact.evolve(key=fact.id)
    with acme.store.write(acme.organization) as transaction:
        acme.put(transaction, fact)
        transaction.index([entry(fact, terms)])
    return fact


def index(acme: Scribe, *entries: IndexEntry) -> None:
    """Commit entries."""
    with acme.store.write(acme.organization) as transaction:
        transaction.index(entries)


def shelves(reader: Reader) -> list[Shelf]:
    """Every shelf that these tests make."""
    return reader.shelves(OWNERS, PLACES)


def shelf_of(reader: Reader, owner: str = "alice") -> Shelf:
    """The one shelf of an owner."""
    (found,) = reader.shelves((owner,), PLACES)
    return found


def numbers(reader: Reader, facts: Sequence[Fact]) -> list[int]:
    """The entries of facts, in the order given."""
    known = {row.fact_id: row.entry for row in reader.entries_of(ids(facts))}
    return [known[fact.id] for fact in facts]


def placed(reader: Reader, fact: Fact) -> Placed:
    """The search data of a fact's entry."""
    (number,) = numbers(reader, [fact])
    every = [row for shelf in shelves(reader) for row in reader.placed(shelf.id, 0)]
    (found,) = [row for row in every if row.entry == number]
    return found


def posted(reader: Reader, term: str) -> list[str]:
    """The facts that are found by a term, on any shelf, in the order of their entries."""
    entries = reader.postings([shelf.id for shelf in shelves(reader)], term, 1_000)
    return [row.fact_id for row in reader.found(entries)]


def everything_indexed(store: Store, organization: str = "acme") -> list[Any]:
    """Everything that a store shows of the index of an organization."""
    with store.read(organization) as reader:
        stood = shelves(reader)
        asked = [shelf.id for shelf in stood]
        rows = [list(reader.placed(shelf.id, 0)) for shelf in stood]
        found = reader.found([row.entry for portion in rows for row in portion])
        terms = {term for row in found for term in row.terms.split()}
        return [
            reader.recipe(),
            stood,
            rows,
            found,
            {term: reader.postings(asked, term, 1_000) for term in terms},
            reader.unindexed(1_000),
        ]
