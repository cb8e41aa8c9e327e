"""Reading and writing one organization of a SQLite file, inside a transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from tenure.model.errors import DuplicateId, StoreError
from tenure.model.fact import Address, Fact
from tenure.model.records import Declaration, Erasure
from tenure.model.text_cache import forget_texts
from tenure.model.times import from_micros, to_micros
from tenure.model.verdict import Verdict
from tenure.stores import codec
from tenure.stores.columns import TENURE
from tenure.stores.port import Change, Selection
from tenure.stores.rows import (
    Row,
    address_values,
    content_values,
    declaration_of,
    fact_of,
    index_values,
    tenure_parameters,
    tenure_values,
    verdict_of,
    verdict_values,
)
from tenure.stores.sqlite.index import chunks
from tenure.stores.sqlite.sessions import SQLiteSessions
from tenure.stores.sqlite.sql import probes, statement

_ADDRESSES = 150  # of five parts each: below every build's limit on bound parameters


@lru_cache(maxsize=256)
def _where_text(owners: int, scope_ids: int, key: bool, subject: bool, prefix: str) -> str:
    parts = []
    if owners >= 0:
        names = ", ".join(f":owner{i}" for i in range(owners))
        parts.append(f"AND {prefix}owner IN ({names})")
    if key:
        parts.append(f"AND {prefix}key = :key")
    if subject:
        parts.append(f"AND {prefix}subject = :subject")
    if scope_ids >= 0:
        names = ", ".join(f":scope{i}" for i in range(scope_ids))
        parts.append(f"AND {prefix}scope_id IN ({names})")
    return " ".join(parts)


def where_of(selection: Selection, prefix: str = "") -> tuple[str, dict[str, Any]]:
    """The condition and the parameters for a selection."""
    owners, scope_ids, key, subject = selection
    text = _where_text(
        -1 if owners is None else len(owners),
        -1 if scope_ids is None else len(scope_ids),
        key is not None,
        subject is not None,
        prefix,
    )
    parameters: dict[str, Any] = {"key": key, "subject": subject}
    for index, owner in enumerate(owners or ()):
        parameters[f"owner{index}"] = owner
    for index, scope_id in enumerate(scope_ids or ()):
        parameters[f"scope{index}"] = scope_id
    return text, parameters


def _taken(*ids: str) -> DuplicateId:
    named = " or ".join(map(repr, ids))
    return DuplicateId(f"a fact with id {named} exists; ids are used once")


def _arrivals_last(change: Change) -> bool:
    return change.after.is_valid


class SQLiteTransaction(SQLiteSessions):
    """One connection inside BEGIN ... COMMIT, bound to an organization."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        organization: str,
        declarations: Callable[[sqlite3.Connection], tuple[Declaration, ...]],
    ) -> None:
        super().__init__(connection, organization)
        self._load_declarations = declarations
        self._declared: tuple[Declaration, ...] | None = None

    @property
    def organization(self) -> str:
        return self._organization

    # reading

    def _facts(self, name: str, ids: Iterable[str]) -> list[Fact]:
        found: dict[str, Fact] = {}
        for chunk in chunks(ids):
            for row in self.rows(name, dict(chunk), ids=len(chunk)):
                found[row[0]] = fact_of(row)
        return [found[fact_id] for fact_id in sorted(found)]

    def _select(self, name: str, selection: Selection) -> list[Fact]:
        if selection.owners == () or selection.scope_ids == ():
            return []
        where, parameters = where_of(selection)
        return [fact_of(row) for row in self.rows(name, parameters, where=where)]

    def declarations(self) -> tuple[Declaration, ...]:
        if self._declared is None:
            self._declared = self._load_declarations(self._connection)
        return self._declared

    def head(self) -> tuple[int, datetime | None]:
        rows = self.rows("head", {})
        return (rows[0][0], from_micros(rows[0][1])) if rows else (0, None)

    def erasures(self, after: str = "") -> list[Erasure]:
        rows = self.rows("erasures", {"after": after})
        return [codec.erasure_from_record(json.loads(row[0])) for row in rows]

    def fact(self, fact_id: str) -> Fact | None:
        rows = self.rows("fact", {"id": fact_id})
        return fact_of(rows[0]) if rows else None

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("facts", fact_ids)

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

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        # One owner at a time, so that each is a walk along the index from its end.
        found: list[Row] = []
        for owner in dict.fromkeys(owners):
            where, parameters = where_of(Selection((owner,)))
            parameters["limit"] = limit
            found.extend(self.rows("retracted", parameters, where=where))
        found.sort(key=lambda row: (-row[-1], row[0]))
        return [fact_of(row) for row in found[:limit]]

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        rows = self.rows("unindexed", {"limit": limit, "after": after})
        return [fact_of(row) for row in rows]

    def live(self, selection: Selection) -> list[Fact]:
        owners, scope_ids, key, subject = selection
        if owners == () or scope_ids == ():
            return []
        if owners is None and scope_ids is None and key is not None and subject is not None:
            rows = self.rows("live_of_all", {"key": key, "subject": subject})
            return [fact_of(row) for row in rows]
        if owners is None or scope_ids is None or key is None or subject is None:
            return self._select("live", selection)
        rows = self._connection.execute(
            probes("live_of", len(owners), len(scope_ids)),
            (self._organization, key, subject, *owners, *scope_ids),
        ).fetchall()
        rows.sort()
        return [fact_of(row) for row in rows]

    def owned(self, owner: str, limit: int) -> list[Fact]:
        found = [fact_of(row) for row in self.rows("owned", {"owner": owner, "limit": limit})]
        return sorted(found, key=lambda fact: fact.id)

    def timeline(self, selection: Selection) -> list[Fact]:
        return self._select("timeline", selection)

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        if selection.owners == () or selection.scope_ids == ():
            return []
        where, parameters = where_of(selection, prefix="f.")
        parameters["seq"] = seq
        return [fact_of(row) for row in self.rows("known", parameters, where=where)]

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

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("standing_on", fact_ids)

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("derived_from", fact_ids)

    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("waiting_on", fact_ids)

    def contingent_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("contingent_on", fact_ids)

    def naming(self, fact_ids: Iterable[str]) -> list[str]:
        found: set[str] = set()
        for chunk in chunks(fact_ids):
            rows = self.rows("naming", dict(chunk), ids=len(chunk))
            found.update(row[0] for row in rows)
        return sorted(found)

    def contested(self, owners: tuple[str, ...]) -> list[Fact]:
        return self._select("contested", Selection(owners))

    def derived(self, owners: tuple[str, ...]) -> list[Fact]:
        return self._select("derived", Selection(owners))

    def verdict(self, verdict_id: str) -> Verdict | None:
        rows = self.rows("verdict", {"id": verdict_id})
        return verdict_of(rows[0]) if rows else None

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        found: dict[int, Verdict] = {}
        for chunk in chunks(fact_ids):
            for row in self.rows("verdicts", dict(chunk), ids=len(chunk)):
                found[row[1]] = verdict_of(row)
        return [found[seq] for seq in sorted(found)]

    def log(self, after: int, limit: int) -> list[Verdict]:
        return [verdict_of(row) for row in self.rows("log", {"after": after, "limit": limit})]

    # writing

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[Change] = ()
    ) -> None:
        execute = self._connection.execute
        seq, now = verdict.seq, verdict.recorded_at
        if changed:
            # With nothing to change first, the insert itself finds a taken id in time.
            self._check_free(new)
        try:
            # Departures first: the unique index wants the seat free before a successor sits down.
            for _, after in sorted(changed, key=_arrivals_last) if changed else ():
                self._change(after, seq, now)
            for fact in new:
                values = (*content_values(fact), *tenure_values(fact), seq, seq)
                execute(statement("insert_fact"), (*values, *index_values(fact, now)))
                self._stand(fact)
            self._append(verdict)
        except sqlite3.IntegrityError as error:
            raise self._conflict(error, new) from error

    def _check_free(self, new: Sequence[Fact]) -> None:
        for fact in new:
            if self.rows("fact", {"id": fact.id}):
                raise _taken(fact.id)

    def _append(self, verdict: Verdict) -> None:
        self._connection.execute(statement("insert_verdict"), verdict_values(verdict))
        for target in verdict.targets:
            self.rows("insert_target", {"target_id": target, "fact_id": verdict.fact_id})

    def _change(self, after: Fact, seq: int, now: datetime) -> None:
        parameters = tenure_parameters(after, now)
        parameters |= {"organization": self._organization, "id": after.id, "seq": seq}
        self._connection.execute(statement("keep_tenure"), parameters)
        self._connection.execute(statement("change_tenure"), parameters)
        self._stand(after)
        self.follow(after, now)

    def _stand(self, fact: Fact) -> None:
        for base, stands_on in fact.basis:
            self._connection.execute(
                statement("insert_dependency"),
                {
                    "organization": self._organization,
                    "fact_id": fact.id,
                    "base_id": base,
                    "stands_on": stands_on,
                },
            )

    def _conflict(self, error: sqlite3.IntegrityError, new: Sequence[Fact]) -> Exception:
        if "facts.id" in str(error):
            return _taken(*(fact.id for fact in new))
        return StoreError(f"the address already has a valid fact ({error})")

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        self.rows("mark_undone", {"id": verdict_id, "undone_by": undone_by})

    def declare(self, declaration: Declaration) -> None:
        record = codec.declaration_record(declaration)
        self.rows("declare", {**record, "requires": json.dumps(record["requires"])})
        # Uncommitted: it must not get into the store's memory of committed declarations.
        self._declared = tuple(declaration_of(row) for row in self.rows("declarations", {}))

    def erase(
        self,
        fact_ids: Sequence[str],
        erasure: Erasure,
        *,
        reasons: Sequence[str] = (),
        user_id: str | None = None,
    ) -> Erasure:
        counts = {"facts": 0, "tenures": 0, "reasons": 0}
        execute = self._connection.execute
        shelves: set[int | None] = set()
        if fact_ids:
            self.rows("erase_digests", {"ids": json.dumps(list(fact_ids))})
        for fact_id in fact_ids:
            given = {"organization": self._organization, "id": fact_id}
            counts["reasons"] += self.rows("count_reasons", given)[0][0]
            execute(statement("erase_reasons"), given)
            counts["tenures"] += execute(statement("erase_tenures"), given).rowcount
            execute(statement("erase_dependencies"), given)
            shelves.add(self.empty_entry(fact_id))
            counts["facts"] += execute(statement("erase_fact"), given).rowcount
        self.drop_bare_shelves(shelf for shelf in shelves if shelf is not None)
        for verdict_id in reasons:
            given = {"organization": self._organization, "id": verdict_id}
            counts["reasons"] += execute(statement("erase_reason"), given).rowcount
        if user_id is not None:
            self.rows("erase_author", {"user_id": user_id})
        forget_texts()
        proven = replace(erasure, removed={**erasure.removed, **counts})
        self._prove(proven)
        return proven

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        count = 0
        for kept in codec.read_dump(records, self._organization):
            if isinstance(kept, codec.KeptFact):
                values = (*content_values(kept.fact), *tenure_values(kept.fact))
                index = index_values(kept.fact, kept.changed_at)
                self._connection.execute(
                    statement("insert_fact"), (*values, kept.born, kept.since, *index)
                )
                self._stand(kept.fact)
            elif isinstance(kept, codec.KeptTenure):
                named = dict(zip(TENURE, tenure_values(kept.fact), strict=True))
                span = {"id": kept.fact.id, "since": kept.since, "until": kept.until}
                self.rows("insert_tenure", {**named, **span})
            elif isinstance(kept, Verdict):
                self._append(kept)
            elif isinstance(kept, Declaration):
                self.declare(kept)
            else:
                self._prove(kept)
            count += 1
        return count

    def _prove(self, erasure: Erasure) -> None:
        proof = json.dumps(codec.erasure_record(erasure))
        self.rows("insert_erasure", {"id": erasure.id, "proof": proof})
