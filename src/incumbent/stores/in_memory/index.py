"""The index of the in-memory store: shelves, entries and postings, and the receipts beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from incumbent.model.fact import Fact
from incumbent.model.scope import Place
from incumbent.stores.port import (
    Found,
    IndexEntry,
    Placed,
    Shelf,
    StoredReceipt,
    TenureChange,
    is_moved,
    term_of,
)


class _Indexed(NamedTuple):
    """An entry as it stands, with the data for searching and for ranking."""

    placed: Placed
    found: Found
    shelf: int


@dataclass
class IndexTables:
    """The search data of one organization."""

    shelves: dict[tuple[Any, ...], Shelf] = field(default_factory=dict)
    entries: dict[int, _Indexed] = field(default_factory=dict)
    entry_of: dict[str, int] = field(default_factory=dict)
    postings: dict[tuple[int, str], dict[int, None]] = field(default_factory=dict)
    recipe: dict[str, str] = field(default_factory=dict)
    receipts: dict[str, StoredReceipt] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """The last numbers given to a shelf and to an entry. Never used twice."""


class MemoryIndex:
    """Reads and writes the index of one organization, with a journal for rolling back."""

    def __init__(self, index: IndexTables) -> None:
        self._index = index
        self._journal: list[Callable[[], None]] = []
        self._bumped: set[int] = set()

    def _set(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        if key in where:
            old = where[key]
            self._journal.append(lambda: where.__setitem__(key, old))
        else:
            self._journal.append(lambda: where.pop(key, None))
        where[key] = value

    def _drop(self, where: dict[Any, Any], key: Any) -> None:
        if key in where:
            old = where.pop(key)
            self._journal.append(lambda: where.__setitem__(key, old))

    # reading

    def recipe(self) -> str | None:
        return self._index.recipe.get("recipe")

    def shelves(self, owners: tuple[str, ...], places: tuple[Place, ...]) -> list[Shelf]:
        return sorted(
            shelf
            for shelf in self._index.shelves.values()
            if shelf.owner in owners and shelf.place in places
        )

    def placed(self, shelf: int, after: int) -> Iterator[Placed]:
        found = (
            kept.placed
            for kept in self._index.entries.values()
            if kept.shelf == shelf and kept.placed.changed > after
        )
        yield from sorted(found, key=lambda placed: (placed.changed, placed.entry))

    def postings(self, shelves: Sequence[int], term: str, limit: int) -> list[int]:
        found = (self._index.postings.get((shelf, term), {}) for shelf in set(shelves))
        return sorted(entry for entries in found for entry in entries)[:limit]

    def many_postings(
        self, shelves: Sequence[int], terms: Sequence[str], limit: int
    ) -> list[list[int]]:
        return [self.postings(shelves, term, limit) for term in terms]

    def found(self, entries: Sequence[int]) -> list[Found]:
        kept = self._index.entries
        return [kept[entry].found for entry in sorted(set(entries)) if entry in kept]

    def entries_of(self, fact_ids: Iterable[str]) -> list[Found]:
        numbers = self._index.entry_of
        return self.found([numbers[fact_id] for fact_id in fact_ids if fact_id in numbers])

    def receipt(self, receipt_id: str) -> StoredReceipt | None:
        return self._index.receipts.get(receipt_id)

    def receipts(
        self,
        user_id: str | None,
        limit: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        after: tuple[datetime, str] | None = None,
    ) -> list[StoredReceipt]:
        kept = sorted(self._index.receipts.values())
        kept.sort(key=lambda receipt: receipt.at, reverse=True)
        return [
            receipt
            for receipt in kept
            if user_id in (None, receipt.user_id)
            and (since is None or receipt.at >= since)
            and (until is None or receipt.at < until)
            and (after is None or _comes_after(receipt, *after))
        ][:limit]

    # writing

    def index(self, entries: Sequence[IndexEntry]) -> None:
        for entry in entries:
            self._put(entry, self._recorded(entry.fact))

    def _recorded(self, fact: Fact) -> datetime:
        """The moment of the last decision."""
        raise NotImplementedError

    def _put(self, entry: IndexEntry, now: datetime) -> None:
        fact, kept = entry.fact, self._index
        shelf = self._shelf_id(fact)
        number = kept.entry_of.get(fact.id)
        if number is None:
            number = self._next("entry")
        else:
            self._unpost(number)
        live, starts, ends = term_of(fact, now)
        length = len(entry.terms.split())
        placed = Placed(
            number,
            self._version(shelf),
            live,
            starts,
            ends,
            bool(fact.depends_on),
            length,
            fact.key,
            entry.probes,
            entry.vector,
        )
        found = Found(number, fact.id, fact.key, entry.terms, entry.tokens, entry.vector)
        self._set(kept.entries, number, _Indexed(placed, found, shelf))
        self._set(kept.entry_of, fact.id, number)
        if live:
            self._post(number)

    def _next(self, what: str) -> int:
        number = self._index.numbers.get(what, 0) + 1
        self._set(self._index.numbers, what, number)
        return number

    def _shelf_id(self, fact: Fact) -> int:
        conditions = tuple(sorted(fact.requires))
        where = (fact.owner, fact.place, conditions, fact.min_authority, fact.comes_first)
        known = self._index.shelves.get(where)
        if known is None:
            known = Shelf(self._next("shelf"), *where, version=0)
            self._set(self._index.shelves, where, known)
        return known.id

    def _version(self, shelf: int) -> int:
        """The version that this transaction's changes to a shelf belong to."""
        where, known = next(
            (where, kept) for where, kept in self._index.shelves.items() if kept.id == shelf
        )
        if shelf not in self._bumped:
            self._bumped.add(shelf)
            known = known._replace(version=known.version + 1)
            self._set(self._index.shelves, where, known)
        return known.version

    def _post(self, number: int) -> None:
        kept = self._index.entries[number]
        for term in dict.fromkeys(kept.found.terms.split()):
            where = (kept.shelf, term)
            if where not in self._index.postings:
                self._set(self._index.postings, where, {})
            self._set(self._index.postings[where], number, None)

    def _unpost(self, number: int) -> None:
        kept = self._index.entries[number]
        for term in dict.fromkeys(kept.found.terms.split()):
            where = (kept.shelf, term)
            posted = self._index.postings.get(where, {})
            self._drop(posted, number)
            if not posted:
                self._drop(self._index.postings, where)  # the term itself is content

    def follow(self, change: TenureChange, now: datetime) -> None:
        """Keep the entry of a fact in step with its tenure."""
        fact = change.after
        number = self._index.entry_of.get(fact.id)
        if number is None:
            return
        kept = self._index.entries[number]
        live, starts, ends = term_of(fact, now)
        if kept.placed[2:5] == (live, starts, ends):
            if is_moved(*change):
                placed = kept.placed._replace(changed=self._version(kept.shelf))
                self._set(self._index.entries, number, kept._replace(placed=placed))
            return
        placed = kept.placed._replace(
            live=live, starts=starts, ends=ends, changed=self._version(kept.shelf)
        )
        self._unpost(number)
        self._set(self._index.entries, number, kept._replace(placed=placed))
        if live:
            self._post(number)

    def empty_entry(self, fact_id: str) -> None:
        """Leave only the number of an entry, which tells others that it is gone."""
        number = self._index.entry_of.get(fact_id)
        if number is None:
            return
        self._unpost(number)
        kept = self._index.entries[number]
        gone = Placed(number, self._version(kept.shelf), False, None, None, False, 0, "", "", None)
        found = Found(number, fact_id, "", "", 0, None)
        self._set(self._index.entries, number, _Indexed(gone, found, kept.shelf))

    def drop_bare_shelves(self) -> None:
        """Remove the shelves on which only erased facts are left: their labels tell the owners."""
        used = {
            kept.shelf
            for kept in self._index.entries.values()
            if not self._is_erased(kept.found.fact_id)
        }
        for where, shelf in list(self._index.shelves.items()):
            if shelf.id not in used:
                self._drop(self._index.shelves, where)

    def _is_erased(self, fact_id: str) -> bool:
        """Whether a fact was emptied."""
        raise NotImplementedError

    def unindex(self, limit: int) -> int:
        doomed = list(self._index.entries)[:limit]
        for number in doomed:
            self._unpost(number)
            self._drop(self._index.entry_of, self._index.entries[number].found.fact_id)
            self._drop(self._index.entries, number)
        if not doomed and limit > 0:
            for where in list(self._index.shelves):
                self._drop(self._index.shelves, where)
        return len(doomed)

    def set_recipe(self, recipe: str) -> None:
        self._set(self._index.recipe, "recipe", recipe)

    def put_receipt(self, receipt: StoredReceipt) -> None:
        self._set(self._index.receipts, receipt.id, receipt)

    def drop_receipts(self, *, user_id: str | None = None, receipt_id: str | None = None) -> int:
        doomed = [
            kept.id
            for kept in self._index.receipts.values()
            if user_id in (None, kept.user_id) and receipt_id in (None, kept.id)
        ]
        for kept_id in doomed:
            self._drop(self._index.receipts, kept_id)
        return len(doomed)


def _comes_after(receipt: StoredReceipt, at: datetime, receipt_id: str) -> bool:
    return receipt.at < at or (receipt.at == at and receipt.id > receipt_id)
