"""Reading and writing one organization of a database, inside a transaction."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, ClassVar

from incumbent.model.errors import DuplicateId, StoreError
from incumbent.model.fact import Fact
from incumbent.model.records import Declaration, Erasure, KeptPassage
from incumbent.model.text_cache import forget_texts
from incumbent.model.verdict import Verdict
from incumbent.stores import codec
from incumbent.stores.port import TenureChange
from incumbent.stores.sql.batches import Batches, legs
from incumbent.stores.sql.facts import SQLFacts
from incumbent.stores.sql.index import SQLIndex
from incumbent.stores.sql.listing import SQLListing
from incumbent.stores.sql.log import SQLLog
from incumbent.stores.sql.receipts import SQLReceipts
from incumbent.stores.sql.rows import declaration_of, fact_values, tenure_parameters
from incumbent.stores.sql.sessions import SQLSessions


def _taken(*ids: str) -> DuplicateId:
    named = " or ".join(map(repr, ids))
    return DuplicateId(f"a fact with id {named} exists; ids are used once")


def _arrivals_last(change: TenureChange) -> bool:
    return change.after.is_valid


class SQLTransaction(SQLFacts, SQLLog, SQLIndex, SQLSessions, SQLReceipts, SQLListing):
    """One connection inside BEGIN ... COMMIT, bound to an organization."""

    conflict: ClassVar[type[Exception]]
    """The driver's error for a row that a unique index refuses."""

    def __init__(
        self, organization: str, declarations: Callable[[], tuple[Declaration, ...]]
    ) -> None:
        self._organization = organization
        self._load_declarations = declarations
        self._declared = None
        self._shelf_ids = {}
        self._versions = {}

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        remembered = (self._declared, dict(self._shelf_ids), dict(self._versions))
        self.run("set_savepoint", {})
        yield
        self.run("return_to_savepoint", {})
        self._declared, self._shelf_ids, self._versions = remembered

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[TenureChange] = ()
    ) -> None:
        seq, now = verdict.seq, verdict.recorded_at
        if changed or len(new) > 1:
            # A single fact with nothing to change: the insert itself finds a taken id in time.
            self._check_free(new)
        try:
            # Departures first: the unique index wants the seat free before a successor sits down.
            for change in sorted(changed, key=_arrivals_last) if changed else ():
                self._change(change, seq, now)
            for fact in new:
                if not self.insert("insert_fact", fact_values(fact, seq, seq, now)):
                    raise _taken(fact.id)
                self._stand(fact)
            self._append(verdict, new, changed)
        except self.conflict as error:
            raise StoreError(f"the address already has a valid fact ({error})") from error
        for target in verdict.targets:
            self.run("insert_target", {"target_id": target, "fact_id": verdict.fact_id})

    def record_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        rows = [fact_values(fact, v.seq, v.seq, v.recorded_at) for v, fact in entries]
        try:
            if rows and self.run_many("insert_fact", rows) != len(rows):
                raise self._one_taken([fact for _, fact in entries])
            for verdict, fact in entries:
                if fact.basis or fact.doubts:
                    self._stand(fact)
                for target in verdict.targets:
                    self.run("insert_target", {"target_id": target, "fact_id": fact.id})
            if rows:
                self._append_all(entries)
        except self.conflict as error:
            raise StoreError(f"an address already has a valid fact ({error})") from error

    def _one_taken(self, new: Sequence[Fact]) -> DuplicateId:
        """The error for facts of which not all could be inserted."""
        stored = {fact.id: fact for fact in self.facts(fact.id for fact in new)}
        ids = [fact.id for fact in new]
        others = {fact.id for fact in new if stored[fact.id] != fact}
        return _taken(*sorted(others or {one for one in ids if ids.count(one) > 1}))

    @abstractmethod
    def _append_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        """Insert the rows of verdicts, each with the fact that it brought."""

    def _check_free(self, new: Sequence[Fact]) -> None:
        ids = [fact.id for fact in new]
        taken = {fact.id for fact in self.facts(ids)}
        if len(set(ids)) < len(ids):
            taken.update(fact_id for fact_id in ids if ids.count(fact_id) > 1)
        if taken:
            raise _taken(*sorted(taken))

    @abstractmethod
    def _append(
        self, verdict: Verdict, new: Sequence[Fact], changed: Sequence[TenureChange]
    ) -> None:
        """Insert the row of a verdict, which brought and changed these facts."""

    def _change(self, change: TenureChange, seq: int, now: datetime) -> None:
        after = change.after
        given = {**tenure_parameters(after, now), "id": after.id, "seq": seq}
        self.run("keep_tenure", given)
        self.run("change_tenure", given)
        self._stand(after)
        self.follow(change, now)

    def _stand(self, fact: Fact) -> None:
        for leg in legs(fact):
            self.run("insert_dependency", leg)

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        self.run("mark_undone", {"id": verdict_id, "undone_by": undone_by})

    def declare(self, declaration: Declaration) -> None:
        record = codec.declaration_record(declaration)
        self.run("declare", {**record, "requires": json.dumps(record["requires"])})
        # Uncommitted: it must not get into the store's memory of committed declarations.
        self._declared = tuple(declaration_of(row) for row in self.rows("declarations", {}))

    def drop_keys(self, user_id: str) -> int:
        return self.run("drop_keys", {"user_id": user_id})

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
            self.run("erase_digests", {"ids": self.packed(fact_ids)})
        for fact_id in fact_ids:
            given = {"id": fact_id}
            counts["reasons"] += self.rows("count_reasons", given)[0][0]
            self.run("erase_reasons", given)
            counts["tenures"] += self.run("erase_tenures", given)
            self.run("erase_dependencies", given)
            shelves.add(self.empty_entry(fact_id))
            counts["facts"] += self.run("erase_fact", given)
        self.drop_bare_shelves(shelf for shelf in shelves if shelf is not None)
        for verdict_id in reasons:
            counts["reasons"] += self.run("erase_reason", {"id": verdict_id})
        if user_id is not None:
            self.run("erase_author", {"user_id": user_id})
        self._note_erasure()
        forget_texts()
        proven = replace(erasure, removed={**erasure.removed, **counts})
        self._prove(proven)
        return proven

    def _note_erasure(self) -> None:
        """Tell other processes of an erasure, if they have to be told."""

    def _prove(self, erasure: Erasure) -> None:
        proof = json.dumps(codec.erasure_record(erasure))
        self.run("insert_erasure", {"id": erasure.id, "proof": proof})

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        count = 0
        batches = Batches(self.run_many)
        try:
            for kept in codec.read_dump(records, self._organization):
                if isinstance(kept, Declaration):
                    self.declare(kept)
                elif isinstance(kept, Erasure):
                    self._prove(kept)
                elif isinstance(kept, KeptPassage):
                    self.put_passages(kept.user_id, [kept.passage])
                else:
                    batches.add(kept)
                count += 1
            batches.finish()
        except self.conflict as error:
            raise StoreError(f"two records claim the same place ({self.told(error)})") from error
        self._settle(batches.last)
        return count

    def told(self, error: Exception) -> str:
        """The driver's message on a conflict."""
        return str(error)

    def _settle(self, last: Verdict | None) -> None:
        """Settle an organization that has arrived, with that as the last entry of its log."""
