"""Reading and writing one organization of a PostgreSQL database, inside a transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from psycopg import errors as pg

from tenure.model.errors import DuplicateId, StoreError
from tenure.model.fact import Address, Fact
from tenure.model.records import Declaration, Erasure
from tenure.model.text_cache import forget_texts
from tenure.model.times import from_micros, to_micros
from tenure.model.verdict import Verdict
from tenure.stores import codec
from tenure.stores.port import Change, Selection
from tenure.stores.postgres.connections import Connection
from tenure.stores.postgres.index import Standing
from tenure.stores.postgres.restoring import Batches, fact_row, legs, verdict_row
from tenure.stores.postgres.sessions import PostgresSessions
from tenure.stores.postgres.sql import array_of
from tenure.stores.rows import (
    address_values,
    declaration_of,
    fact_of,
    tenure_parameters,
    verdict_of,
)


def _where(selection: Selection, prefix: str = "") -> tuple[str, dict[str, Any]]:
    """The condition and the parameters for a selection. What is not asked for is left out rather
    than made optional, which no index could serve."""
    owners, scope_ids, key, subject = selection
    parts, given = [], dict[str, Any]()
    if owners is not None:
        parts.append(f"AND {prefix}owner = ANY(%(owners)s)")
        given["owners"] = list(owners)
    if key is not None:
        parts.append(f"AND {prefix}key = %(key)s")
        given["key"] = key
    if subject is not None:
        parts.append(f"AND {prefix}subject = %(subject)s")
        given["subject"] = subject
    if scope_ids is not None:
        parts.append(f"AND {prefix}scope_id = ANY(%(scope_ids)s)")
        given["scope_ids"] = list(scope_ids)
    return " ".join(parts), given


def _taken(*ids: str) -> DuplicateId:
    named = " or ".join(map(repr, ids))
    return DuplicateId(f"a fact with id {named} exists; ids are used once")


def _arrivals_last(change: Change) -> bool:
    return change.after.is_valid


class PostgresTransaction(PostgresSessions):
    """One connection inside BEGIN ... COMMIT, bound to an organization."""

    def __init__(
        self,
        connection: Connection,
        organization: str,
        standing: Standing,
        declarations: Callable[[], tuple[Declaration, ...]],
    ) -> None:
        super().__init__(connection, organization, standing)
        self._load_declarations = declarations
        self._declared: tuple[Declaration, ...] | None = None

    @property
    def organization(self) -> str:
        return self._organization

    # reading

    @contextmanager
    def _planned_without(self, step: str) -> Iterator[None]:
        """Until the planner has counted, it takes an organization that has just arrived for a small
        one, and sorts or compares all of it for a few rows."""
        self.rows("advise", {"setting": f"enable_{step}", "value": "off"})
        yield
        self.rows("advise", {"setting": f"enable_{step}", "value": "on"})

    def _facts(self, name: str, ids: Iterable[str]) -> list[Fact]:
        wanted = list(ids)
        rows = self.rows(name, {"ids": array_of(wanted)}) if wanted else ()
        return [fact_of(row) for row in rows]

    def _select(self, name: str, selection: Selection, **given: Any) -> list[Fact]:
        if selection.owners == () or selection.scope_ids == ():
            return []
        where, chosen = _where(selection, prefix="f." if name == "known" else "")
        return [fact_of(row) for row in self.rows(name, {**chosen, **given}, where)]

    def declarations(self) -> tuple[Declaration, ...]:
        if self._declared is None:
            self._declared = self._load_declarations()
        return self._declared

    def head(self) -> tuple[int, datetime | None]:
        recorded = self._standing.recorded_at
        return self._standing.seq, None if recorded is None else from_micros(recorded)

    def erasures(self, after: str = "") -> list[Erasure]:
        rows = self.rows("erasures", {"after": after})
        return [codec.erasure_from_record(json.loads(row[0])) for row in rows]

    def fact(self, fact_id: str) -> Fact | None:
        found = self._facts("facts", [fact_id])
        return found[0] if found else None

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("facts", fact_ids)

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        wanted = list(map(address_values, dict.fromkeys(addresses)))
        names = ("owners", "subjects", "keys", "scopes", "scope_ids")
        columns = map(array_of, zip(*wanted, strict=True))
        rows = self.rows("live_at", dict(zip(names, columns, strict=True))) if wanted else ()
        return [fact_of(row) for row in rows]

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        return self._select("retracted", Selection(owners), limit=limit)

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        with self._planned_without("sort"):
            rows = self.rows("unindexed", {"limit": limit, "after": after})
        return [fact_of(row) for row in rows]

    def live(self, selection: Selection) -> list[Fact]:
        owners, scope_ids, key, subject = selection
        if owners is None and scope_ids is None and key is not None and subject is not None:
            rows = self.rows("live_of_all", {"key": key, "subject": subject})
            return [fact_of(row) for row in rows]
        return self._select("live", selection)

    def owned(self, owner: str, limit: int) -> list[Fact]:
        found = [fact_of(row) for row in self.rows("owned", {"owner": owner, "limit": limit})]
        return sorted(found, key=lambda fact: fact.id)

    def timeline(self, selection: Selection) -> list[Fact]:
        return self._select("timeline", selection)

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        return self._select("known", selection, seq=seq)

    def seq_at(self, moment: datetime) -> int:
        return int(self.rows("entry_at", {"moment": to_micros(moment)})[0][0])

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("standing_on", fact_ids)

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("derived_from", fact_ids)

    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("waiting_on", fact_ids)

    def contingent_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("contingent_on", fact_ids)

    def naming(self, fact_ids: Iterable[str]) -> list[str]:
        wanted = list(fact_ids)
        return [row[0] for row in self.rows("naming", {"ids": wanted})] if wanted else []

    def contested(self, owners: tuple[str, ...]) -> list[Fact]:
        return self._select("contested", Selection(owners))

    def derived(self, owners: tuple[str, ...]) -> list[Fact]:
        return self._select("derived", Selection(owners))

    def verdict(self, verdict_id: str) -> Verdict | None:
        rows = self.rows("verdict", {"id": verdict_id})
        return verdict_of(rows[0]) if rows else None

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        wanted = list(fact_ids)
        return [verdict_of(row) for row in self.rows("verdicts", {"ids": wanted})] if wanted else []

    def log(self, after: int, limit: int) -> list[Verdict]:
        return [verdict_of(row) for row in self.rows("log", {"after": after, "limit": limit})]

    # writing

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[Change] = ()
    ) -> None:
        seq, now = verdict.seq, verdict.recorded_at
        if changed:
            # With nothing to change first, the insert itself finds a taken id in time.
            self._check_free(new)
        try:
            # Departures first: the unique index wants the seat free before a successor sits down.
            for _, after in sorted(changed, key=_arrivals_last) if changed else ():
                self._change(after, seq, now)
            for fact in new:
                self._insert(fact, seq, seq, now)
            known = {fact.id: fact.owner for fact in (*new, *(after for _, after in changed))}
            self._append(verdict, known.get(verdict.fact_id))
        except pg.UniqueViolation as error:
            raise StoreError(f"the address already has a valid fact ({error})") from error

    def _check_free(self, new: Sequence[Fact]) -> None:
        ids = [fact.id for fact in new]
        taken = [fact.id for fact in self.facts(ids)] or sorted(
            {i for i in ids if ids.count(i) > 1}
        )
        if taken:
            raise _taken(*taken)

    def _insert(self, fact: Fact, born: int, since: int, now: datetime) -> None:
        if not self.run("insert_fact", fact_row(fact, born, since, now)):
            raise _taken(fact.id)
        self._stand(fact)

    def _append(self, verdict: Verdict, owner: str | None) -> None:
        if owner is None:
            found = self.rows("owner", {"id": verdict.fact_id})
            owner = found[0][0] if found else ""
        self.run("insert_verdict", {**verdict_row(verdict), "owner": owner})
        for target in verdict.targets:
            self.run("insert_target", {"target_id": target, "fact_id": verdict.fact_id})
        self._stand_at(verdict)

    def _stand_at(self, verdict: Verdict) -> None:
        """The log ends with this one now."""
        self._standing.seq = verdict.seq
        self._standing.recorded_at = to_micros(verdict.recorded_at)

    def _change(self, after: Fact, seq: int, now: datetime) -> None:
        given = {**tenure_parameters(after, now), "id": after.id, "seq": seq}
        self.run("keep_tenure", given)
        self.run("change_tenure", given)
        self._stand(after)
        self.follow(after, now)

    def _stand(self, fact: Fact) -> None:
        for leg in legs(fact):
            self.run("insert_dependency", leg)

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        self.run("mark_undone", {"id": verdict_id, "undone_by": undone_by})

    def declare(self, declaration: Declaration) -> None:
        record = codec.declaration_record(declaration)
        self.run("new_declaration_version", {})
        self.run("declare", {**record, "requires": json.dumps(record["requires"])})
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
        shelves: set[int | None] = set()
        if fact_ids:
            self.run("erase_digests", {"ids": array_of(fact_ids)})
        for fact_id in fact_ids:
            counts["reasons"] += self.rows("count_reasons", {"id": fact_id})[0][0]
            self.run("erase_reasons", {"id": fact_id})
            counts["tenures"] += self.run("erase_tenures", {"id": fact_id})
            self.run("erase_dependencies", {"id": fact_id})
            shelves.add(self.empty_entry(fact_id))
            counts["facts"] += self.run("erase_fact", {"id": fact_id})
        self.drop_bare_shelves(shelf for shelf in shelves if shelf is not None)
        for verdict_id in reasons:
            counts["reasons"] += self.run("erase_reason", {"id": verdict_id})
        if user_id is not None:
            self.run("erase_author", {"user_id": user_id})
        self.run("new_erasure_version", {})
        forget_texts()
        proven = replace(erasure, removed={**erasure.removed, **counts})
        self._prove(proven)
        return proven

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        count = 0
        batches = Batches(self.run_many)
        try:
            for kept in codec.read_dump(records, self._organization):
                if isinstance(kept, Declaration):
                    self.declare(kept)
                elif isinstance(kept, Erasure):
                    self._prove(kept)
                else:
                    batches.add(kept)
                count += 1
            batches.finish()
        except pg.UniqueViolation as error:
            told = error.diag.message_detail or error.diag.message_primary
            raise StoreError(f"two records claim the same place ({told})") from error
        with self._planned_without("nestloop"):
            self.run("own_verdicts", {})
        if batches.last is not None:
            self._stand_at(batches.last)
        return count

    def _prove(self, erasure: Erasure) -> None:
        proof = json.dumps(codec.erasure_record(erasure))
        self.run("insert_erasure", {"id": erasure.id, "proof": proof})
