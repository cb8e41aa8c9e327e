"""The index of a PostgreSQL database, in which each entry carries its own postings."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from incumbent.model.scope import Place
from incumbent.stores.port import IndexEntry, Shelf
from incumbent.stores.postgres.connection import PostgresConnection
from incumbent.stores.sql.columns import ENTRY, SHELF
from incumbent.stores.sql.connection import Given
from incumbent.stores.sql.index import EntryColumns, SQLIndex, shelf_of
from incumbent.stores.sql.rows import Row

_LONGEST = 500  # characters, of up to four bytes


def _lexemes(shelf: int, terms: str) -> list[str]:
    """The lexemes of an entry: the number of its shelf with each of its terms, once."""
    return [_lexeme(shelf, term) for term in dict.fromkeys(terms.split())]


def _lexeme(shelf: int, term: str) -> str:
    """A term as a lexeme. PostgreSQL takes none beyond 2,046 bytes, so a digest stands for a long
    term."""
    return f"{shelf}x{term if len(term) <= _LONGEST else sha256(term.encode()).hexdigest()}"


def _asked(shelves: Sequence[int], term: str) -> list[str]:
    """The lexemes of a term on these shelves; none for a text that cannot be a term."""
    return [_lexeme(shelf, term) for shelf in set(shelves)] if term.isalnum() else []


class PostgresIndex(PostgresConnection, SQLIndex):
    """The search part of one connection, bound to an organization."""

    # reading

    def recipe(self) -> str | None:
        return self._standing.recipe

    def shelves(self, owners: tuple[str, ...], places: tuple[Place, ...]) -> list[Shelf]:
        given = {
            "owners": list(owners),
            "scope_ids": [scope_id for _, scope_id in places],
        }
        wanted = {(scope.value, scope_id) for scope, scope_id in places}
        rows = self.rows("shelves", given)
        return [shelf_of(row) for row in rows if (row[2], row[3]) in wanted]

    def postings(self, shelves: Sequence[int], term: str, limit: int) -> list[int]:
        return self.many_postings(shelves, [term], limit)[0]

    def many_postings(
        self, shelves: Sequence[int], terms: Sequence[str], limit: int
    ) -> list[list[int]]:
        wanted = [_asked(shelves, term) for term in terms]
        lexemes = sorted({lexeme for asked in wanted for lexeme in asked})
        found = self.posted_under(lexemes, limit) if lexemes and limit > 0 else {}
        return [
            sorted(entry for lexeme in asked for entry in found.get(lexeme, ()))[:limit]
            for asked in wanted
        ]

    def posted_under(self, lexemes: Sequence[str], limit: int) -> dict[str, list[int]]:
        """The first entries under each of these lexemes; nothing where there are none."""
        return dict(self.rows("postings", {"lexemes": list(lexemes), "limit": limit}))

    def lexemes(self, shelf: int, terms: str) -> list[str]:
        """The lexemes under which an entry is posted while it is live."""
        return _lexemes(shelf, terms)

    # writing

    def set_recipe(self, recipe: str) -> None:
        self._standing.recipe = recipe
        self._standing.changed = True

    def _put_rows(self, rows: Sequence[EntryColumns], entries: Sequence[IndexEntry]) -> None:
        had = {found.fact_id for found in self.entries_of(entry.fact.id for entry in entries)}
        given: list[Given] = []
        for (row, shelf, live), entry in zip(rows, entries, strict=True):
            number = self._standing.entries + 1
            posted = _lexemes(shelf, entry.terms) if live else None
            own = {"entry": number, "owner": entry.fact.owner, "posted": posted}
            given.append({**dict(zip(ENTRY, row, strict=True)), **own})
            if entry.fact.id not in had:
                self._standing.entries = number
                had.add(entry.fact.id)
        self.run_many("put_entry", given)

    def _find_shelf(self, place: Row) -> int:
        shelf, version = self.rows("shelf", dict(zip(SHELF, place, strict=True)))[0]
        self._versions[shelf] = version
        return int(shelf)

    def _new_version(self, shelf: int) -> int:
        return int(self.rows("bump_shelf", {"shelf": shelf})[0][0])

    def _move(self, given: Given, shelf: int, terms: str, *, was_live: bool) -> None:
        posted = _lexemes(shelf, terms) if given["live"] else None
        self.run("move_entry", {**given, "posted": posted})

    def _unpost(self, entry: int, shelf: int, terms: str) -> None:
        """Do nothing: an entry is emptied with its postings."""

    def _delete_entries(self, limit: int) -> int:
        return self.run("delete_entries", {"limit": limit})
