"""The index in a database: shelves and entries. Each database posts terms in a way of its own."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.model.text_cache import remembering
from incumbent.stores.port import (
    Found,
    IndexEntry,
    Placed,
    Shelf,
    TenureChange,
    Tenured,
    TenuredBefore,
    is_moved,
    term_of,
)
from incumbent.stores.sql.connection import BoundConnection, Given
from incumbent.stores.sql.rows import Row, micros_of, moment_of

_REMEMBERED = 4_096


class EntryColumns(NamedTuple):
    """The ENTRY columns of an entry, with its shelf and whether it is live."""

    row: Row
    shelf: int
    live: bool


class SQLIndex(BoundConnection):
    """The index of one organization."""

    _shelf_ids: dict[tuple[Any, ...], int]
    _versions: dict[int, int]

    @abstractmethod
    def head(self) -> tuple[int, datetime | None]: ...

    # reading

    def placed(self, shelf: int, after: int) -> Iterator[Placed]:
        for row in self.each("placed", {"shelf": shelf, "after": after}):
            entry, changed, live, starts, ends, derived, length, key, probes, vector = row
            yield Placed(
                entry,
                changed,
                bool(live),
                None if starts is None else moment_of(starts),
                None if ends is None else moment_of(ends),
                bool(derived),
                length,
                key,
                probes,
                vector,
            )

    def tenured(self, shelf: int, after: int) -> Iterator[Tenured]:
        return map(Tenured._make, self.each("tenured", {"shelf": shelf, "after": after}))

    def tenured_before(self, shelf: int, after: int) -> Iterator[TenuredBefore]:
        rows = self.each("tenured_before", {"shelf": shelf, "after": after})
        return map(TenuredBefore._make, rows)

    def found(self, entries: Sequence[int]) -> list[Found]:
        return list(map(Found._make, self.rows_of("found", entries)))

    def entries_of(self, fact_ids: Iterable[str]) -> list[Found]:
        return list(map(Found._make, self.rows_of("entries_of", fact_ids)))

    # writing

    def index(self, entries: Sequence[IndexEntry]) -> None:
        if not entries:
            return
        now = self.head()[1] or entries[0].fact.recorded_at
        self._put_rows([self._row(entry, now) for entry in entries], entries)

    def _row(self, entry: IndexEntry, now: datetime) -> EntryColumns:
        """The ENTRY columns of an entry."""
        fact = entry.fact
        shelf = self._shelf_id(fact)
        live, starts, ends = term_of(fact, now)
        row = (
            self._version(shelf),
            live,
            micros_of(starts),
            micros_of(ends),
            bool(fact.depends_on),
            entry.terms.count(" ") + 1 if entry.terms else 0,
            entry.tokens,
            fact.key,
            entry.terms,
            entry.probes,
            entry.vector,
            shelf,
            self._organization,
            fact.id,
        )
        return EntryColumns(row, shelf, live)

    @abstractmethod
    def _put_rows(self, rows: Sequence[EntryColumns], entries: Sequence[IndexEntry]) -> None:
        """Insert the rows of entries, or replace those that their facts have.

        Post the terms of those that are live.
        """

    def _shelf_id(self, fact: Fact) -> int:
        asked = (
            fact.owner,
            fact.scope,
            fact.scope_id,
            fact.requires,
            fact.min_authority,
            fact.comes_first,
        )
        known = self._shelf_ids.get(asked)
        if known is None:
            known = self._shelf_ids[asked] = self._find_shelf(_place(self._organization, fact))
        return known

    @abstractmethod
    def _find_shelf(self, place: Row) -> int:
        """The number of the shelf with these SHELF columns, which is made if there is none."""

    def _version(self, shelf: int) -> int:
        """The version that this transaction's changes to a shelf belong to."""
        version = self._versions.get(shelf)
        if version is None:
            version = self._versions[shelf] = self._new_version(shelf)
        return version

    @abstractmethod
    def _new_version(self, shelf: int) -> int:
        """Raise the version of a shelf by one."""

    def follow(self, change: TenureChange, now: datetime) -> None:
        """Keep the entry of a fact in step with its tenure."""
        fact = change.after
        rows = self.rows("entry_of", {"fact_id": fact.id})
        if not rows:
            return
        number, shelf, terms, *before = rows[0]
        live, starts, ends = term_of(fact, now)
        after = [live, micros_of(starts), micros_of(ends)]
        if before == after:
            if is_moved(*change):
                self.run("touch_entry", {"entry": number, "changed": self._version(shelf)})
            return
        term = dict(zip(("live", "starts", "ends"), after, strict=True))
        given = {"entry": number, "changed": self._version(shelf), **term}
        self._move(given, shelf, terms, was_live=bool(before[0]))

    @abstractmethod
    def _move(self, given: Given, shelf: int, terms: str, *, was_live: bool) -> None:
        """Give an entry another term. Post its terms where it is live, and only there."""

    def empty_entry(self, fact_id: str) -> int | None:
        """Leave only the number of an entry, which tells other processes that it is gone.

        Returns the number of its shelf.
        """
        rows = self.rows("entry_of", {"fact_id": fact_id})
        if not rows:
            return None
        number, shelf, terms, live, *_ = rows[0]
        if live:
            self._unpost(number, shelf, terms)
        self.run("empty_entry", {"changed": self._version(shelf), "entry": number})
        return int(shelf)

    @abstractmethod
    def _unpost(self, entry: int, shelf: int, terms: str) -> None:
        """Remove the postings of an entry that do not go with its row."""

    def drop_bare_shelves(self, shelves: Iterable[int]) -> None:
        """Remove those of the shelves on which only erased facts are left."""
        self.run("drop_bare_shelves", {"ids": self.packed(shelves)})
        self._shelf_ids.clear()

    def unindex(self, limit: int) -> int:
        removed = self._delete_entries(limit) if limit > 0 else 0
        if not removed and limit > 0:
            # New shelves have new numbers, so that nobody takes them for those they remember.
            self.run("delete_shelves", {})
            self._shelf_ids.clear()
        return removed

    @abstractmethod
    def _delete_entries(self, limit: int) -> int:
        """Remove entries, at most `limit`; returns how many."""


def _place(organization: str, fact: Fact) -> Row:
    """The SHELF columns of the shelf on which a fact stands."""
    return (
        organization,
        fact.owner,
        fact.scope.value,
        fact.scope_id or "",
        json.dumps(sorted(fact.requires)),
        fact.min_authority or "",
        fact.comes_first,
    )


@remembering(_REMEMBERED)
def shelf_of(row: Row) -> Shelf:
    """A shelf from its row."""
    number, owner, scope, scope_id, requires, min_authority, binding, version = row
    place = (Scope(scope), scope_id)
    conditions = tuple(json.loads(requires))
    return Shelf(number, owner, place, conditions, min_authority or None, bool(binding), version)
