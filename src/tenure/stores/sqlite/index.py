"""The index of a SQLite file: shelves, entries and postings, and the receipts beside them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from tenure.model.fact import Fact
from tenure.model.scope import Place, Scope
from tenure.model.times import from_micros, to_micros
from tenure.stores.port import Entry, Found, Placed, Shelf, StoredReceipt, term_of
from tenure.stores.rows import Row
from tenure.stores.sqlite.sql import statement

_CHUNK = 500  # below every build's limit on bound parameters


def chunks(ids: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Ids as named parameters, in portions that every build of SQLite takes."""
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        yield {f"id{index}": fact_id for index, fact_id in enumerate(chunk)}


def _micros(value: datetime | None) -> int | None:
    return None if value is None else to_micros(value)


def _moment(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def _tokens(shelf: int, terms: str) -> str:
    """The tokens under which an entry is posted. Each once: an index of terms counts nothing."""
    return " ".join([f"{shelf}x{term}" for term in dict.fromkeys(terms.split())])


class SQLiteIndex:
    """One connection, bound to an organization, as far as searching goes."""

    def __init__(self, connection: sqlite3.Connection, organization: str) -> None:
        self._connection = connection
        self._organization = organization
        self._shelf_ids: dict[tuple[Any, ...], int] = {}
        self._versions: dict[int, int] = {}
        self._ours: set[int] = set()

    def rows(self, name: str, parameters: dict[str, Any], **fill: Any) -> list[Row]:
        parameters["organization"] = self._organization
        return self._connection.execute(statement(name, **fill), parameters).fetchall()

    # reading

    def recipe(self) -> str | None:
        rows = self.rows("recipe", {})
        return rows[0][0] if rows else None

    def shelves(self, owners: tuple[str, ...], places: tuple[Place, ...]) -> list[Shelf]:
        found: list[Shelf] = []
        for owner in dict.fromkeys(owners):
            for scope, scope_id in dict.fromkeys(places):
                given = {"owner": owner, "scope": scope.value, "scope_id": scope_id}
                found.extend(map(_shelf_of, self.rows("shelves", given)))
        self._ours.update(shelf.id for shelf in found)
        return sorted(found)

    def placed(self, shelf: int, after: int) -> Iterator[Placed]:
        given = (shelf, after, self._organization)
        cursor = self._connection.execute(statement("placed"), given)
        for row in cursor:
            entry, changed, live, starts, ends, derived, length, key, probes, vector = row
            yield Placed(
                entry,
                changed,
                bool(live),
                _moment(starts),
                _moment(ends),
                bool(derived),
                length,
                key,
                probes,
                vector,
            )

    def postings(self, shelves: Sequence[int], term: str, limit: int) -> list[int]:
        ours = self._own(shelves)
        if not ours or not term.isalnum():  # nothing else is a term, and much means something here
            return []
        match = " OR ".join(f'"{shelf}x{term}"' for shelf in ours)
        rows = self._connection.execute(statement("postings"), (match, limit)).fetchall()
        return [row[0] for row in rows]

    def many_postings(
        self, shelves: Sequence[int], terms: Sequence[str], limit: int
    ) -> list[list[int]]:
        return [self.postings(shelves, term, limit) for term in terms]

    def _own(self, shelves: Sequence[int]) -> list[int]:
        """Those of the shelves that are of this organization."""
        for chunk in chunks(shelf for shelf in shelves if shelf not in self._ours):
            rows = self.rows("own_shelves", dict(chunk), ids=len(chunk))
            self._ours.update(row[0] for row in rows)
        return [shelf for shelf in shelves if shelf in self._ours]

    def found(self, entries: Sequence[int]) -> list[Found]:
        return self._found("found", entries)

    def entries_of(self, fact_ids: Iterable[str]) -> list[Found]:
        return self._found("entries_of", fact_ids)

    def _found(self, name: str, wanted: Iterable[Any]) -> list[Found]:
        found: list[Found] = []
        for chunk in chunks(wanted):
            found.extend(map(Found._make, self.rows(name, dict(chunk), ids=len(chunk))))
        return sorted(found)

    def receipt(self, receipt_id: str) -> StoredReceipt | None:
        rows = self.rows("receipt", {"id": receipt_id})
        return _receipt_of(rows[0]) if rows else None

    def receipts(self, user_id: str | None, limit: int) -> list[StoredReceipt]:
        return [
            _receipt_of(row) for row in self.rows("receipts", {"user_id": user_id, "limit": limit})
        ]

    # writing

    def index(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        head = self.rows("head", {})
        now = from_micros(head[0][1]) if head else entries[0].fact.recorded_at
        for entry in entries:
            self._put(entry, now)

    def _put(self, entry: Entry, now: datetime) -> None:
        fact = entry.fact
        shelf = self._shelf_id(fact)
        live, starts, ends = term_of(fact, now)
        length = entry.terms.count(" ") + 1 if entry.terms else 0
        row = (
            self._version(shelf),
            live,
            _micros(starts),
            _micros(ends),
            bool(fact.depends_on),
            length,
            entry.tokens,
            fact.key,
            entry.terms,
            entry.probes,
            entry.vector,
            shelf,
            self._organization,
            fact.id,
        )
        inserted = self._connection.execute(statement("insert_entry"), row)
        number = inserted.lastrowid
        if not inserted.rowcount:
            number, stood, was_live, terms, *_ = self._need_entry(fact.id)
            if was_live:
                self._connection.execute(statement("unpost"), (number, _tokens(stood, terms)))
            self._connection.execute(statement("replace_entry"), row)
        if live:
            self._connection.execute(statement("post"), (number, _tokens(shelf, entry.terms)))

    def _need_entry(self, fact_id: str) -> Row:
        row = self._entry_of(fact_id)
        assert row is not None
        return row

    def _entry_of(self, fact_id: str) -> Row | None:
        found: Row | None = self._connection.execute(
            statement("entry_of"), (self._organization, fact_id)
        ).fetchone()
        return found

    def _shelf_id(self, fact: Fact) -> int:
        place = (
            self._organization,
            fact.owner,
            fact.scope.value,
            fact.scope_id or "",
            json.dumps(sorted(fact.requires)),
            fact.min_authority or "",
            fact.is_constraint,
        )
        known = self._shelf_ids.get(place)
        if known is None:
            self._connection.execute(statement("insert_shelf"), place)
            known = self._connection.execute(statement("shelf_id"), place).fetchone()[0]
            self._shelf_ids[place] = known
        return known

    def _version(self, shelf: int) -> int:
        """The version that this transaction's changes to a shelf belong to."""
        version = self._versions.get(shelf)
        if version is None:
            self._connection.execute(statement("bump_shelf"), (shelf,))
            row = self._connection.execute(statement("shelf_version"), (shelf,)).fetchone()
            version = self._versions[shelf] = row[0]
        return version

    def follow(self, fact: Fact, now: datetime) -> None:
        """Keep the entry of a fact in step with its tenure."""
        row = self._entry_of(fact.id)
        if row is None:
            return
        number, shelf, was_live, terms, *term = row
        live, starts, ends = term_of(fact, now)
        if live != bool(was_live):
            name = "post" if live else "unpost"
            self._connection.execute(statement(name), (number, _tokens(shelf, terms)))
        elif term == [_micros(starts), _micros(ends)]:
            return
        self._connection.execute(
            statement("move_entry"),
            (live, _micros(starts), _micros(ends), self._version(shelf), number),
        )

    def empty_entry(self, fact_id: str) -> int | None:
        """Leave nothing of an entry but its number, which tells other processes that it is gone.

        Returns the number of its shelf.
        """
        row = self._entry_of(fact_id)
        if row is None:
            return None
        number, shelf, live, terms, *_ = row
        if live:
            self._connection.execute(statement("unpost"), (number, _tokens(shelf, terms)))
        self._connection.execute(statement("empty_entry"), (self._version(shelf), number))
        return int(shelf)

    def drop_bare_shelves(self, shelves: Iterable[int]) -> None:
        """Remove those of the shelves on which only erased facts are left."""
        for shelf in shelves:
            self._connection.execute(statement("drop_bare_shelf"), (shelf,))
        self._shelf_ids.clear()

    def unindex(self, limit: int) -> int:
        rows = self.rows("some_entries", {"limit": limit})
        for number, shelf, live, terms in rows:
            if live:
                self._connection.execute(statement("unpost"), (number, _tokens(shelf, terms)))
            self._connection.execute(statement("delete_entry"), (number,))
        if not rows and limit > 0:
            # New shelves have new numbers, so that nobody takes them for those they remember.
            self.rows("delete_shelves", {})
            self._shelf_ids.clear()
        return len(rows)

    def set_recipe(self, recipe: str) -> None:
        self.rows("set_recipe", {"recipe": recipe})

    def put_receipt(self, receipt: StoredReceipt) -> None:
        given = {**receipt._asdict(), "at": to_micros(receipt.at)}
        self.rows("put_receipt", given)

    def drop_receipts(self, *, user_id: str | None = None, receipt_id: str | None = None) -> int:
        given = {"organization": self._organization, "user_id": user_id, "id": receipt_id}
        return self._connection.execute(statement("drop_receipts"), given).rowcount


def _shelf_of(row: Row) -> Shelf:
    number, owner, scope, scope_id, requires, min_authority, binding, version = row
    place = (Scope(scope), scope_id)
    conditions = tuple(json.loads(requires))
    return Shelf(number, owner, place, conditions, min_authority or None, bool(binding), version)


def _receipt_of(row: Row) -> StoredReceipt:
    return StoredReceipt(row[0], row[1], from_micros(row[2]), row[3])
