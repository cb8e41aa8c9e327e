"""The index of a SQLite file, in which an FTS5 table keeps the postings."""

from __future__ import annotations

from collections.abc import Sequence

from incumbent.model.scope import Place
from incumbent.stores.port import IndexEntry, Shelf
from incumbent.stores.sql.connection import Given
from incumbent.stores.sql.index import EntryColumns, SQLIndex, shelf_of
from incumbent.stores.sql.rows import Row
from incumbent.stores.sqlite.connection import SQLiteConnection
from incumbent.stores.sqlite.sql import statement


def _tokens(shelf: int, terms: str) -> str:
    """The tokens under which an entry is posted. Each once: an index of terms counts nothing."""
    return " ".join([f"{shelf}x{term}" for term in dict.fromkeys(terms.split())])


class SQLiteIndex(SQLiteConnection, SQLIndex):
    """The search part of one connection, bound to an organization."""

    _ours: set[int]
    """The shelves that are known to belong to this organization."""

    # reading

    def recipe(self) -> str | None:
        rows = self.rows("recipe", {})
        return rows[0][0] if rows else None

    def shelves(self, owners: tuple[str, ...], places: tuple[Place, ...]) -> list[Shelf]:
        found: list[Shelf] = []
        for owner in dict.fromkeys(owners):
            for scope, scope_id in dict.fromkeys(places):
                given = {"owner": owner, "scope": scope.value, "scope_id": scope_id}
                found.extend(map(shelf_of, self.rows("shelves", given)))
        self._ours.update(shelf.id for shelf in found)
        return sorted(found)

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
        """Those of the shelves that belong to this organization."""
        unknown = [shelf for shelf in shelves if shelf not in self._ours]
        self._ours.update(row[0] for row in self.rows_of("own_shelves", unknown))
        return [shelf for shelf in shelves if shelf in self._ours]

    # writing

    def set_recipe(self, recipe: str) -> None:
        self.run("set_recipe", {"recipe": recipe})

    def _put_rows(self, rows: Sequence[EntryColumns], entries: Sequence[IndexEntry]) -> None:
        last = self._connection.execute(statement("last_entry")).fetchone()[0]
        inserted = self.run_many("insert_entry", [row for row, _, _ in rows])
        if inserted == len(rows):
            # New entries are numbered one after the other.
            posted = [
                (number, _tokens(shelf, entry.terms))
                for number, ((_, shelf, live), entry) in enumerate(
                    zip(rows, entries, strict=True), last + 1
                )
                if live
            ]
            self.run_many("post", posted)
            return
        new = {
            found.fact_id: found.entry
            for found in self.entries_of(entry.fact.id for entry in entries)
            if found.entry > last
        }
        for (row, shelf, live), entry in zip(rows, entries, strict=True):
            number = new.pop(entry.fact.id, None)
            if number is None:
                number = self._replace(row, entry.fact.id)
            if live:
                self.insert("post", (number, _tokens(shelf, entry.terms)))

    def _replace(self, row: Row, fact_id: str) -> int:
        """Give the entry that a fact has these columns, and no postings; returns its number."""
        number, stood, terms, was_live, *_ = self.rows("entry_of", {"fact_id": fact_id})[0]
        if was_live:
            self._unpost(number, stood, terms)
        self.insert("replace_entry", row)
        return int(number)

    def _find_shelf(self, place: Row) -> int:
        self.insert("insert_shelf", place)
        return int(self._connection.execute(statement("shelf_id"), place).fetchone()[0])

    def _new_version(self, shelf: int) -> int:
        self.insert("bump_shelf", (shelf,))
        return int(self._connection.execute(statement("shelf_version"), (shelf,)).fetchone()[0])

    def _move(self, given: Given, shelf: int, terms: str, *, was_live: bool) -> None:
        if given["live"] and not was_live:
            self.insert("post", (given["entry"], _tokens(shelf, terms)))
        elif was_live and not given["live"]:
            self._unpost(given["entry"], shelf, terms)
        self.run("move_entry", given)

    def _unpost(self, entry: int, shelf: int, terms: str) -> None:
        self.insert("unpost", (entry, _tokens(shelf, terms)))

    def _delete_entries(self, limit: int) -> int:
        rows = self.rows("some_entries", {"limit": limit})
        for entry, shelf, live, terms in rows:
            if live:
                self._unpost(entry, shelf, terms)
            self.run("delete_entry", {"entry": entry})
        return len(rows)
