"""Reading and writing one organization of a SQLite file, inside a transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from incumbent.model.fact import UNNAMED, Address, Fact
from incumbent.model.records import Declaration, WorkingItem
from incumbent.model.times import from_micros, to_micros
from incumbent.model.verdict import Verdict
from incumbent.stores.port import FactFilter, Matter, Selection, TenureChange
from incumbent.stores.sql.connection import Given
from incumbent.stores.sql.rows import (
    Row,
    address_values,
    fact_of,
    is_worth_keeping,
    verdict_values,
)
from incumbent.stores.sql.transaction import SQLTransaction
from incumbent.stores.sqlite.index import SQLiteIndex
from incumbent.stores.sqlite.kept import KeptReads, ReadFact
from incumbent.stores.sqlite.passages import SQLitePassages
from incumbent.stores.sqlite.sql import probes, statement

_KEPT = frozenset(
    {"head", "recipe", "shelves", "retracted", "contested", "working_items", "passage_count"}
)
"""Short answers that every context needs, and that nobody changes who is given them."""
_FEW = 500  # rows that are sorted sooner than found by walking along an index
_ADDRESSES = 150  # of five parts each: below every build's limit on bound parameters
_MATTERS = 400  # of two parts each


class SQLiteTransaction(SQLiteIndex, SQLitePassages, SQLTransaction):
    """One connection inside BEGIN ... COMMIT, bound to an organization."""

    conflict = sqlite3.IntegrityError

    def __init__(
        self,
        connection: sqlite3.Connection,
        organization: str,
        declarations: Callable[[], tuple[Declaration, ...]],
        kept: KeptReads | None = None,
    ) -> None:
        """`kept` is what the connection has read before; None where this transaction writes."""
        super().__init__(organization, declarations)
        self._connection = connection
        self._kept = kept
        self._ours = set()

    # reading

    def head(self) -> tuple[int, datetime | None]:
        rows = self.rows("head", {})
        return (rows[0][0], from_micros(rows[0][1])) if rows else (0, None)

    def rows(self, name: str, given: Given, where: str = "") -> list[Row]:
        if self._kept is None or name not in _KEPT:
            return super().rows(name, given, where)
        asked = (self._organization, name, where, *given.values())
        known = self._kept.answers.get(asked)
        if known is None:
            known = super().rows(name, given, where)
            self._kept.answer(asked, known)
        return known

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        if self._kept is None:
            return super().facts(fact_ids)
        wanted = sorted(set(fact_ids))
        sure = self._kept.sure(self._organization)
        missing = [fact_id for fact_id in wanted if fact_id not in sure]
        if not missing:
            return [sure[fact_id].fact for fact_id in wanted]
        read = {fact_id: sure[fact_id].fact for fact_id in wanted if fact_id in sure}
        read |= self._read_again(self._kept, missing)
        return [read[fact_id] for fact_id in wanted if fact_id in read]

    def _read_again(self, kept: KeptReads, fact_ids: Sequence[str]) -> dict[str, Fact]:
        """These facts as they stand; those that have not changed are not made anew."""
        older = kept.older(self._organization)
        found: dict[str, Fact] = {}
        unsure = [fact_id for fact_id in fact_ids if fact_id in older]
        for fact_id, since, status in self.rows_of("changed_since", unsure) if unsure else ():
            known = older[fact_id]
            if (known.since, known.status) == (since, status):
                kept.keep(self._organization, known)
                found[fact_id] = known.fact
        missing = [fact_id for fact_id in fact_ids if fact_id not in found]
        for row in self.rows_of("facts_since", missing) if missing else ():
            fact = found[row[0]] = fact_of(row[:-1])
            if is_worth_keeping(row):
                kept.keep(self._organization, ReadFact(row[-1], fact.status.value, fact))
        return found

    def doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        if self._kept is None:
            return super().doubting(fact_ids)
        undoubted = self._kept.undoubted.setdefault(self._organization, set())
        asked = set(fact_ids).difference(undoubted)
        found = super().doubting(asked) if asked else []
        undoubted |= asked.difference(*(fact.doubts for fact in found))
        return found

    def seq_at(self, moment: datetime) -> int:
        # The log is dense and its times never run backwards, so halving needs no index of times.
        wanted = to_micros(moment)
        low, high = 0, self.head()[0]
        while low < high:
            middle = (low + high + 1) // 2
            if self.rows("recorded_at", {"seq": middle})[0][0] <= wanted:
                low = middle
            else:
                high = middle - 1
        return low

    def live(self, selection: Selection) -> list[Fact]:
        owners, scope_ids, key, subject, said = selection
        if key == UNNAMED and owners and said is not None:
            return self._select("live_said", selection)
        if not owners or not scope_ids or key is None or subject is None or said is not None:
            return super().live(selection)
        rows = self._connection.execute(
            probes("live_of", len(owners), len(scope_ids)),
            (self._organization, key, subject, *owners, *scope_ids),
        ).fetchall()
        rows.sort()
        return [fact_of(row) for row in rows]

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        found: list[Fact] = []
        wanted = list(dict.fromkeys(addresses))
        for start in range(0, len(wanted), _ADDRESSES):
            chunk = wanted[start : start + _ADDRESSES]
            given = [part for address in chunk for part in address_values(address)]
            rows = self._connection.execute(
                statement("live_at", addresses=len(chunk)), (*given, self._organization)
            )
            found.extend(map(fact_of, rows))
        return sorted(found, key=lambda fact: fact.id)

    def met(self, owners: tuple[str, ...], matters: Iterable[Matter]) -> set[Matter]:
        found: set[Matter] = set()
        # Without owners, SQLite finds no way to use the index that the statement names.
        wanted = list(dict.fromkeys(matters)) if owners else []
        for start in range(0, len(wanted), _MATTERS):
            chunk = wanted[start : start + _MATTERS]
            given = [part for matter in chunk for part in matter]
            text = statement("met", owners=len(owners), matters=len(chunk))
            given += [self._organization, *owners]
            found.update(self._connection.execute(text, given))
        return found

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        # One owner at a time, so that each is a walk along the index from its end.
        found: list[Row] = []
        for owner in dict.fromkeys(owners):
            where, given = self.dialect.where(Selection((owner,)))
            found.extend(self.rows("retracted", {**given, "limit": limit}, where))
        found.sort(key=lambda row: (-row[-1], row[0]))
        return [fact_of(row) for row in found[:limit]]

    def _way_to(self, wanted: FactFilter, owner: str, live: bool) -> str:
        # The planner knows nothing of how many there are of what. A key may be that of most facts,
        # and most facts of a key may be long out of office.
        if wanted.key is not None:
            few = live and self._live_at_key(wanted.key, owner) < _FEW
            return "recorded_live" if few else "recorded_at_key"
        if wanted.subject and live:
            return "recorded_about"
        return "recorded_derived" if wanted.derived else "recorded"

    def _live_at_key(self, key: str, owner: str) -> int:
        """How many live facts of an owner have a key, up to a number."""
        given = {"key": key, "owner": owner, "limit": _FEW}
        return int(self.rows("live_at_key", given)[0][0])

    # writing

    def _append(
        self, verdict: Verdict, new: Sequence[Fact], changed: Sequence[TenureChange]
    ) -> None:
        self.insert("insert_verdict", verdict_values(verdict))

    def _append_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        self.run_many("insert_verdict", [verdict_values(verdict) for verdict, _ in entries])

    def put_item(self, user_id: str, session_id: str, item: WorkingItem) -> None:
        # A replaced item moves to the end of the desk.
        self.drop_items(user_id=user_id, session_id=session_id, key=item.key)
        super().put_item(user_id, session_id, item)
