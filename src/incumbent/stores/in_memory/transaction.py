"""Writing one organization of the in-memory store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from incumbent.model.errors import DuplicateId, StoreError
from incumbent.model.fact import Fact, Status
from incumbent.model.records import Declaration, Erasure, KeptPassage
from incumbent.model.times import from_micros
from incumbent.model.verdict import Verdict
from incumbent.stores import codec
from incumbent.stores.in_memory.facts import copy_of
from incumbent.stores.in_memory.listing import MemoryListing
from incumbent.stores.in_memory.tables import EarlierTenure, FactRow
from incumbent.stores.port import TenureChange

_BLANK = from_micros(0)


class MemoryTransaction(MemoryListing):
    """Reads and writes one organization; keeps a journal so that it can be rolled back."""

    def roll_back(self, to: int = 0) -> None:
        """Undo the steps of the journal, the last first, until so many are left."""
        while len(self._journal) > to:
            self._journal.pop()()

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        steps, bumped = len(self._journal), set(self._bumped)
        yield
        self.roll_back(to=steps)
        self._bumped = bumped

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[TenureChange] = ()
    ) -> None:
        kept = self._kept
        brought = [fact.id for fact in new]
        for fact_id in brought:
            if fact_id in kept.rows or brought.count(fact_id) > 1:
                raise DuplicateId(f"a fact with id {fact_id!r} exists; ids are used once")
        self._append(verdict)
        # Departures first: the incumbent leaves before its successor sits down.
        for change in sorted(changed, key=lambda change: change.after.is_valid):
            before, after = change
            row = kept.rows[before.id]
            tenures = kept.tenures.get(before.id, ())
            if row.since < verdict.seq:
                tenure = EarlierTenure(row.fact, row.since, verdict.seq)
                self._set(kept.tenures, before.id, (*tenures, tenure))
            self._seat(after, row.born, verdict.seq, verdict.recorded_at)
            self.follow(change, verdict.recorded_at)
        for fact in map(copy_of, new):
            self._seat(fact, verdict.seq, verdict.seq, verdict.recorded_at)
            self._link(fact)

    def record_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        for verdict, fact in entries:
            self.record(verdict, (fact,))

    def _append(self, verdict: Verdict) -> None:
        kept = self._kept
        self._set(kept.verdicts, verdict.seq, verdict.evolve(fact=None))
        self._set(kept.verdict_seq, verdict.id, verdict.seq)
        on_fact = kept.on_fact.get(verdict.fact_id, ())
        self._set(kept.on_fact, verdict.fact_id, (*on_fact, verdict.seq))
        for target in verdict.targets:
            self._set(kept.naming, target, (*kept.naming.get(target, ()), verdict.fact_id))

    def _link(self, fact: Fact) -> None:
        self._set(self._kept.by_key, fact.key, (*self._kept.by_key.get(fact.key, ()), fact.id))
        for base in fact.depends_on:
            self._set(self._kept.derived, base, (*self._kept.derived.get(base, ()), fact.id))
        doubting = self._kept.doubting
        for doubted in fact.doubts:
            self._set(doubting, doubted, (*doubting.get(doubted, ()), fact.id))
        if fact.when_superseded is not None:
            self._set(self._kept.contingent, fact.id, None)

    def _seat(self, fact: Fact, born: int, since: int, now: datetime) -> None:
        """Store a fact's tenure and keep the index of live facts in step with it."""
        kept = self._kept
        where = (fact.owner, fact.key)
        others = tuple(i for i in kept.live.get(where, ()) if i != fact.id)
        live = fact.may_hold_after(now)
        if fact.is_valid and not fact.multi_valued:
            for other in others:
                rival = kept.rows[other].fact
                same = rival.address == fact.address and rival.audience == fact.audience
                if same and rival.is_valid and not rival.multi_valued:
                    raise StoreError(f"{fact.address} already has a valid fact, {rival.id!r}")
        self._set(kept.live, where, (*others, fact.id) if live else others)
        self._set(kept.rows, fact.id, FactRow(fact, born, since, live))
        self._set_apart(fact)
        for leg in fact.basis:
            self._set(kept.standing.setdefault(leg.stands_on, {}), fact.id, None)

    def _set_apart(self, fact: Fact) -> None:
        for status, apart in self._kept.apart.items():
            if fact.status is status:
                self._set(apart, fact.id, None)
            else:
                self._drop(apart, fact.id)

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        seq = self._kept.verdict_seq[verdict_id]
        verdict = self._kept.verdicts[seq]
        self._set(self._kept.verdicts, seq, verdict.evolve(undone_by=undone_by))

    def declare(self, declaration: Declaration) -> None:
        declared, before = self._declared, self._declared.all
        self._journal.append(lambda: setattr(declared, "all", before))
        others = (known for known in before if known.pattern != declaration.pattern)
        declared.all = tuple(sorted((*others, declaration), key=lambda known: known.pattern))

    def drop_keys(self, user_id: str) -> int:
        gone = [key.id for key in self._kept.keys.values() if key.user_id == user_id]
        for key_id in gone:
            self._drop(self._kept.keys, key_id)
        return len(gone)

    def erase(
        self,
        fact_ids: Sequence[str],
        erasure: Erasure,
        *,
        reasons: Sequence[str] = (),
        user_id: str | None = None,
    ) -> Erasure:
        kept, counts = self._kept, {"facts": 0, "tenures": 0, "reasons": 0}
        self.empty_digests(fact_ids, {kept.rows[fact_id].fact.owner for fact_id in fact_ids})
        for fact_id in fact_ids:
            row = kept.rows[fact_id]
            counts["facts"] += 1
            counts["tenures"] += len(kept.tenures.get(fact_id, ()))
            self._drop(kept.tenures, fact_id)
            for seq in kept.on_fact.get(fact_id, ()):
                verdict = kept.verdicts[seq]
                counts["reasons"] += verdict.reason is not None
                self._set(kept.verdicts, seq, verdict.evolve(reason=None, by=""))
            self._forget_index(row.fact)
            self.empty_entry(fact_id)
            blank = codec.erased(row.fact, _BLANK)
            self._set(kept.rows, fact_id, FactRow(blank, row.born, row.since, False))
            self._set_apart(blank)
        self.drop_bare_shelves()
        for verdict in list(kept.verdicts.values()):
            named = verdict.id in reasons
            counts["reasons"] += named and verdict.reason is not None
            emptied = verdict.evolve(
                reason=None if named else verdict.reason,
                by="" if user_id is not None and verdict.by == user_id else verdict.by,
            )
            if emptied != verdict:
                self._set(kept.verdicts, verdict.seq, emptied)
        proven = replace(erasure, removed={**erasure.removed, **counts})
        self._set(kept.erasures, erasure.id, proven)
        return proven

    def _forget_index(self, fact: Fact) -> None:
        kept = self._kept
        where = (fact.owner, fact.key)
        live = _without(kept.live.get(where, ()), fact.id)
        by_key = _without(kept.by_key.get(fact.key, ()), fact.id)
        self._set(kept.live, where, live) if live else self._drop(kept.live, where)
        self._set(kept.by_key, fact.key, by_key) if by_key else self._drop(kept.by_key, fact.key)
        for base in fact.depends_on:
            left = _without(kept.derived.get(base, ()), fact.id)
            self._set(kept.derived, base, left)
        for doubted in fact.doubts:
            self._set(kept.doubting, doubted, _without(kept.doubting.get(doubted, ()), fact.id))
        self._drop(kept.contingent, fact.id)

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        count = 0
        for kept in codec.read_dump(records, self._organization):
            if isinstance(kept, codec.KeptFact):
                self._seat(kept.fact, kept.born, kept.since, kept.changed_at)
                if kept.fact.status is not Status.ERASED:
                    self._link(kept.fact)
            elif isinstance(kept, codec.KeptTenure):
                earlier = self._kept.tenures.get(kept.fact.id, ())
                self._set(self._kept.tenures, kept.fact.id, (*earlier, EarlierTenure(*kept)))
            elif isinstance(kept, Verdict):
                self._append(kept)
            elif isinstance(kept, Declaration):
                self.declare(kept)
            elif isinstance(kept, KeptPassage):
                self.put_passages(kept.user_id, [kept.passage])
            else:
                self._set(self._kept.erasures, kept.id, kept)
            count += 1
        return count


def _without(fact_ids: Iterable[str], gone: str) -> tuple[str, ...]:
    return tuple(fact_id for fact_id in fact_ids if fact_id != gone)
