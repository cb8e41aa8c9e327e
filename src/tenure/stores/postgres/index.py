"""The index of a PostgreSQL database: shelves, entries, what is posted, and receipts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from tenure.model.fact import Fact
from tenure.model.scope import Place, Scope
from tenure.model.times import from_micros, to_micros
from tenure.stores.port import Entry, Found, Placed, Shelf, StoredReceipt, term_of
from tenure.stores.postgres.connections import Connection
from tenure.stores.postgres.sql import STANDING, array_of, statement
from tenure.stores.rows import Row

_LONGEST = 500  # characters, of up to four bytes


def _micros(value: datetime | None) -> int | None:
    return None if value is None else to_micros(value)


def _moment(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def _lexemes(shelf: int, terms: str) -> list[str]:
    """What an entry is posted under: the number of its shelf with each of its terms, once."""
    return [_lexeme(shelf, term) for term in dict.fromkeys(terms.split())]


def _lexeme(shelf: int, term: str) -> str:
    """PostgreSQL takes no lexeme beyond 2,046 bytes, so that a digest stands for a long term."""
    return f"{shelf}x{term if len(term) <= _LONGEST else sha256(term.encode()).hexdigest()}"


def _asked(shelves: Sequence[int], term: str) -> list[str]:
    """What a term is posted under on these shelves; nothing for what can be no term."""
    return [_lexeme(shelf, term) for shelf in set(shelves)] if term.isalnum() else []


class Standing:
    """Where an organization stands when a transaction begins, and what that changes of it."""

    def __init__(self, row: Sequence[Any] | None) -> None:
        self.seq, self.recorded_at, self.recipe, self.entries, self.revision = row or _NOTHING
        self.changed = False
        """Whether the transaction wrote anything at all."""

    seq: int
    recorded_at: int | None
    recipe: str | None
    entries: int
    revision: int

    @property
    def row(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in STANDING)

    def after(self) -> dict[str, Any]:
        """What is to be kept of it, with a revision of its own."""
        return {name: getattr(self, name) for name in STANDING} | {"revision": self.revision + 1}


_NOTHING = (0, None, None, 0, 0)
REVISION = STANDING.index("revision")


class PostgresIndex:
    """One connection, bound to an organization, as far as searching goes."""

    def __init__(self, connection: Connection, organization: str, standing: Standing) -> None:
        self._connection = connection
        self._organization = organization
        self._standing = standing
        self._shelf_ids: dict[tuple[Any, ...], int] = {}
        self._versions: dict[int, int] = {}

    def rows(self, name: str, given: dict[str, Any], where: str = "") -> list[Row]:
        """What a statement gives."""
        given["organization"] = self._organization
        return self._connection.execute(statement(name, where=where), given).fetchall()

    def run(self, name: str, given: dict[str, Any], where: str = "") -> int:
        """Run a statement that gives nothing; returns how many rows it touched."""
        given["organization"] = self._organization
        self._standing.changed = True
        return self._connection.execute(statement(name, where=where), given).rowcount

    def run_many(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        """Run a statement once for each of many rows, without waiting for each."""
        for given in rows:
            given["organization"] = self._organization
        self._standing.changed = True
        with self._connection.cursor() as cursor:
            cursor.executemany(statement(name), rows)

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
        return [_shelf_of(row) for row in rows if (row[2], row[3]) in wanted]

    def placed(self, shelf: int, after: int) -> Iterator[Placed]:
        for row in self.rows("placed", {"shelf": shelf, "after": after}):
            entry, changed, live, starts, ends, derived, length, key, probes, vector = row
            yield Placed(
                entry,
                changed,
                live,
                _moment(starts),
                _moment(ends),
                derived,
                length,
                key,
                probes,
                vector,
            )

    def postings(self, shelves: Sequence[int], term: str, limit: int) -> list[int]:
        return self.many_postings(shelves, [term], limit)[0]

    def many_postings(
        self, shelves: Sequence[int], terms: Sequence[str], limit: int
    ) -> list[list[int]]:
        wanted = [_asked(shelves, term) for term in terms]
        lexemes = sorted({lexeme for asked in wanted for lexeme in asked})
        given = {"lexemes": lexemes, "limit": limit}
        rows = self.rows("postings", given) if lexemes and limit > 0 else ()
        found: dict[str, list[int]] = dict(rows)
        return [
            sorted(entry for lexeme in asked for entry in found.get(lexeme, ()))[:limit]
            for asked in wanted
        ]

    def found(self, entries: Sequence[int]) -> list[Found]:
        return self._found("found", entries)

    def entries_of(self, fact_ids: Iterable[str]) -> list[Found]:
        return self._found("entries_of", fact_ids)

    def _found(self, name: str, wanted: Iterable[Any]) -> list[Found]:
        ids = list(wanted)
        rows = self.rows(name, {"ids": array_of(ids)}) if ids else ()
        return [Found._make(row) for row in rows]

    def receipt(self, receipt_id: str) -> StoredReceipt | None:
        rows = self.rows("receipt", {"id": receipt_id})
        return _receipt_of(rows[0]) if rows else None

    def receipts(self, user_id: str | None, limit: int) -> list[StoredReceipt]:
        where = "" if user_id is None else "AND user_id = %(user_id)s"
        rows = self.rows("receipts", {"user_id": user_id, "limit": limit}, where)
        return [_receipt_of(row) for row in rows]

    # writing

    def index(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        recorded = self._standing.recorded_at
        now = from_micros(recorded) if recorded is not None else entries[0].fact.recorded_at
        for entry in entries:
            self._put(entry, now)

    def _put(self, entry: Entry, now: datetime) -> None:
        fact = entry.fact
        shelf = self._shelf_id(fact)
        live, starts, ends = term_of(fact, now)
        number = self._standing.entries + 1
        given = {
            "entry": number,
            "fact_id": fact.id,
            "shelf": shelf,
            "owner": fact.owner,
            "changed": self._version(shelf),
            "live": live,
            "starts": _micros(starts),
            "ends": _micros(ends),
            "derived": bool(fact.depends_on),
            "length": len(entry.terms.split()),
            "tokens": entry.tokens,
            "key": fact.key,
            "terms": entry.terms,
            "probes": entry.probes,
            "vector": entry.vector,
            "posted": _lexemes(shelf, entry.terms) if live else None,
        }
        self._standing.changed = True
        if self.rows("put_entry", given)[0][0] == number:
            self._standing.entries = number

    def _shelf_id(self, fact: Fact) -> int:
        place = {
            "owner": fact.owner,
            "scope": fact.scope.value,
            "scope_id": fact.scope_id or "",
            "requires": json.dumps(sorted(fact.requires)),
            "min_authority": fact.min_authority or "",
            "binding": fact.is_constraint,
        }
        name = tuple(place.values())
        known = self._shelf_ids.get(name)
        if known is None:
            known, version = self.rows("shelf", place)[0]
            self._shelf_ids[name] = known
            self._versions[known] = version
        return known

    def _version(self, shelf: int) -> int:
        """The version that this transaction's changes to a shelf belong to."""
        version = self._versions.get(shelf)
        if version is None:
            version = self._versions[shelf] = self.rows("bump_shelf", {"shelf": shelf})[0][0]
        return version

    def follow(self, fact: Fact, now: datetime) -> None:
        """Keep the entry of a fact in step with its tenure."""
        rows = self.rows("entry_of", {"fact_id": fact.id})
        if not rows:
            return
        number, shelf, terms, *term = rows[0]
        live, starts, ends = term_of(fact, now)
        if term == [live, _micros(starts), _micros(ends)]:
            return
        given = {
            "live": live,
            "starts": _micros(starts),
            "ends": _micros(ends),
            "posted": _lexemes(shelf, terms) if live else None,
        }
        self.run("move_entry", {**given, "changed": self._version(shelf), "entry": number})

    def empty_entry(self, fact_id: str) -> int | None:
        """Leave nothing of an entry but its number, which tells other processes that it is gone.

        Returns the number of its shelf.
        """
        rows = self.rows("entry_of", {"fact_id": fact_id})
        if not rows:
            return None
        number, shelf, *_ = rows[0]
        self.run("empty_entry", {"changed": self._version(shelf), "entry": number})
        return int(shelf)

    def drop_bare_shelves(self, shelves: Iterable[int]) -> None:
        """Remove those of the shelves on which only erased facts are left."""
        self.run("drop_bare_shelves", {"ids": list(shelves)})
        self._shelf_ids.clear()

    def unindex(self, limit: int) -> int:
        removed = self.run("delete_entries", {"limit": limit}) if limit > 0 else 0
        if not removed and limit > 0:
            # New shelves have new numbers, so that nobody takes them for those they remember.
            self.run("delete_shelves", {})
            self._shelf_ids.clear()
        return removed

    def set_recipe(self, recipe: str) -> None:
        self._standing.recipe = recipe
        self._standing.changed = True

    def put_receipt(self, receipt: StoredReceipt) -> None:
        self.run("put_receipt", {**receipt._asdict(), "at": to_micros(receipt.at)})

    def drop_receipts(self, *, user_id: str | None = None, receipt_id: str | None = None) -> int:
        where = "" if user_id is None else "AND user_id = %(user_id)s "
        where += "" if receipt_id is None else "AND id = %(id)s"
        return self.run("drop_receipts", {"user_id": user_id, "id": receipt_id}, where)


def _shelf_of(row: Row) -> Shelf:
    number, owner, scope, scope_id, requires, min_authority, binding, version = row
    place = (Scope(scope), scope_id)
    conditions = tuple(json.loads(requires))
    return Shelf(number, owner, place, conditions, min_authority or None, binding, version)


def _receipt_of(row: Row) -> StoredReceipt:
    return StoredReceipt(row[0], row[1], from_micros(row[2]), row[3])
