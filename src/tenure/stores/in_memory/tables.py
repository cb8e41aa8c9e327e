"""Reading and writing one organization of the in-memory store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple

from tenure.model.errors import DuplicateId, StoreError
from tenure.model.fact import Address, Fact, Status
from tenure.model.keys import ApiKey
from tenure.model.records import Declaration, Erasure
from tenure.model.times import from_micros
from tenure.model.verdict import Verdict
from tenure.stores import codec
from tenure.stores.in_memory.index import IndexTables
from tenure.stores.in_memory.sessions import MemorySessions, SessionTables
from tenure.stores.port import Change, Selection

_BLANK = from_micros(0)


class _Row(NamedTuple):
    """A fact with the log entries at which it was born and at which its tenure last changed."""

    fact: Fact
    born: int
    since: int
    live: bool


class _Tenure(NamedTuple):
    """An earlier tenure of a fact, known from entry `since` up to, not including, `until`."""

    fact: Fact
    since: int
    until: int


@dataclass
class Declared:
    """The declarations of a store; replaced as a whole when one changes."""

    all: tuple[Declaration, ...] = ()


@dataclass
class Tables:
    """What is kept of one organization, with the indexes that keep look-ups short."""

    rows: dict[str, _Row] = field(default_factory=dict)
    by_key: dict[str, tuple[str, ...]] = field(default_factory=dict)
    live: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    apart: dict[Status, dict[str, None]] = field(
        default_factory=lambda: {status: {} for status in (Status.RETRACTED, Status.CONTESTED)}
    )
    """The facts of those kinds that are asked for by their kind."""
    tenures: dict[str, tuple[_Tenure, ...]] = field(default_factory=dict)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    verdict_seq: dict[str, int] = field(default_factory=dict)
    on_fact: dict[str, tuple[int, ...]] = field(default_factory=dict)
    derived: dict[str, tuple[str, ...]] = field(default_factory=dict)
    standing: dict[str, dict[str, None]] = field(default_factory=dict)
    """For each fact, those that stand on it or once did."""
    naming: dict[str, tuple[str, ...]] = field(default_factory=dict)
    contingent: dict[str, None] = field(default_factory=dict)
    sessions: SessionTables = field(default_factory=SessionTables)
    erasures: dict[str, Erasure] = field(default_factory=dict)
    index: IndexTables = field(default_factory=IndexTables)
    keys: dict[str, ApiKey] = field(default_factory=dict)


class MemoryTransaction(MemorySessions):
    """Reads and writes one organization; keeps a journal so that it can be rolled back."""

    def __init__(self, tables: Tables, organization: str, declared: Declared) -> None:
        super().__init__(tables.index, tables.sessions)
        self._kept = tables
        self._organization = organization
        self._declared = declared

    def roll_back(self) -> None:
        while self._journal:
            self._journal.pop()()

    # reading

    @property
    def organization(self) -> str:
        return self._organization

    def declarations(self) -> tuple[Declaration, ...]:
        return self._declared.all

    def erasures(self, after: str = "") -> list[Erasure]:
        return [proof for key, proof in sorted(self._kept.erasures.items()) if key > after]

    def head(self) -> tuple[int, datetime | None]:
        last = len(self._kept.verdicts)
        return (last, self._kept.verdicts[last].recorded_at) if last else (0, None)

    def fact(self, fact_id: str) -> Fact | None:
        row = self._kept.rows.get(fact_id)
        return _copy(row.fact) if row else None

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._where(set(fact_ids) & self._kept.rows.keys(), lambda _: True)

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        wanted = {address[1:] for address in addresses}  # of this organization, whichever they say
        places = {(owner, key) for owner, _, key, *_ in wanted}
        ids = {fact_id for place in places for fact_id in self._kept.live.get(place, ())}
        return self._where(ids, lambda fact: fact.address[1:] in wanted)

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        found = self._where(self._kept.apart[Status.RETRACTED], lambda f: f.owner in owners)
        found.sort(key=lambda fact: self._kept.rows[fact.id].since, reverse=True)
        return found[:limit]

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        missing = self._kept.rows.keys() - self._kept.index.entry_of.keys()
        return self._where(missing, lambda f: f.status is not Status.ERASED and f.id > after)[
            :limit
        ]

    def _recorded(self, fact: Fact) -> datetime:
        return self.head()[1] or fact.recorded_at

    def _is_erased(self, fact_id: str) -> bool:
        return self._kept.rows[fact_id].fact.status is Status.ERASED

    def live(self, selection: Selection) -> list[Fact]:
        if selection.key is None or selection.owners is None:
            ids = [fact_id for kept in self._kept.live.values() for fact_id in kept]
        else:
            places = ((owner, selection.key) for owner in selection.owners)
            ids = [fact_id for place in places for fact_id in self._kept.live.get(place, ())]
        found = (self._kept.rows[fact_id].fact for fact_id in sorted(ids))
        return [_copy(fact) for fact in found if _selected(fact, selection)]

    def owned(self, owner: str, limit: int) -> list[Fact]:
        kept = (ids for (whose, _), ids in self._kept.live.items() if whose == owner)
        found = sorted(islice(chain.from_iterable(kept), limit))
        return [_copy(self._kept.rows[fact_id].fact) for fact_id in found]

    def timeline(self, selection: Selection) -> list[Fact]:
        return [
            _copy(row.fact)
            for row in self._rows(selection)
            if row.fact.status is not Status.ERASED and _selected(row.fact, selection)
        ]

    def _rows(self, selection: Selection) -> list[_Row]:
        if selection.key is None:
            rows: Iterable[_Row] = self._kept.rows.values()
        else:
            rows = (self._kept.rows[i] for i in self._kept.by_key.get(selection.key, ()))
        return sorted(rows, key=lambda row: (row.born, row.fact.id))

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        found = []
        for row in self._rows(selection):
            if row.born > seq or row.fact.status is Status.ERASED:
                continue
            fact = row.fact
            if row.since > seq:
                earlier = self._kept.tenures.get(fact.id, ())
                fact = next(t.fact for t in earlier if t.since <= seq < t.until)
            if _selected(fact, selection):
                found.append(_copy(fact))
        return found

    def seq_at(self, moment: datetime) -> int:
        low, high = 0, len(self._kept.verdicts)
        while low < high:
            middle = (low + high + 1) // 2
            if self._kept.verdicts[middle].recorded_at <= moment:
                low = middle
            else:
                high = middle - 1
        return low

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        wanted = set(fact_ids)
        ids = {i for fact_id in wanted for i in self._kept.standing.get(fact_id, ())}
        return self._where(
            ids, lambda f: f.is_valid and any(leg.stands_on in wanted for leg in f.basis)
        )

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        ids = {i for base in fact_ids for i in self._kept.derived.get(base, ())}
        return self._where(ids, lambda _: True)

    def derived(self, owners: tuple[str, ...]) -> list[Fact]:
        ids = {fact_id for derived in self._kept.derived.values() for fact_id in derived}
        return self._where(ids, lambda f: f.is_valid and f.owner in owners)

    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        wanted = set(fact_ids)
        return self._where(
            self._kept.contingent, lambda f: f.status is Status.WAITING and f.awaits in wanted
        )

    def contingent_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        wanted = set(fact_ids)
        return self._where(self._kept.contingent, lambda f: f.when_superseded in wanted)

    def naming(self, fact_ids: Iterable[str]) -> list[str]:
        return sorted({i for target in fact_ids for i in self._kept.naming.get(target, ())})

    def contested(self, owners: tuple[str, ...]) -> list[Fact]:
        return self._where(self._kept.apart[Status.CONTESTED], lambda f: f.owner in owners)

    def _where(self, ids: Iterable[str], condition: Callable[[Fact], bool]) -> list[Fact]:
        found = (self._kept.rows[fact_id].fact for fact_id in sorted(ids))
        return [_copy(fact) for fact in found if condition(fact)]

    def verdict(self, verdict_id: str) -> Verdict | None:
        seq = self._kept.verdict_seq.get(verdict_id)
        return self._kept.verdicts[seq] if seq is not None else None

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        seqs = {seq for fact_id in fact_ids for seq in self._kept.on_fact.get(fact_id, ())}
        return [self._kept.verdicts[seq] for seq in sorted(seqs)]

    def log(self, after: int, limit: int) -> list[Verdict]:
        last = min(len(self._kept.verdicts), after + limit)
        return [self._kept.verdicts[seq] for seq in range(after + 1, last + 1)]

    # writing

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[Change] = ()
    ) -> None:
        kept = self._kept
        brought = [fact.id for fact in new]
        for fact_id in brought:
            if fact_id in kept.rows or brought.count(fact_id) > 1:
                raise DuplicateId(f"a fact with id {fact_id!r} exists; ids are used once")
        self._append(verdict)
        # Departures first: the incumbent leaves before its successor sits down.
        for before, after in sorted(changed, key=lambda change: change.after.is_valid):
            row = kept.rows[before.id]
            tenures = kept.tenures.get(before.id, ())
            if row.since < verdict.seq:
                tenure = _Tenure(row.fact, row.since, verdict.seq)
                self._set(kept.tenures, before.id, (*tenures, tenure))
            self._seat(after, row.born, verdict.seq, verdict.recorded_at)
            self.follow(after, verdict.recorded_at)
        for fact in map(_copy, new):
            self._seat(fact, verdict.seq, verdict.seq, verdict.recorded_at)
            self._link(fact)

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
        self._set(kept.rows, fact.id, _Row(fact, born, since, live))
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
            self._set(kept.rows, fact_id, _Row(blank, row.born, row.since, False))
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
                self._set(self._kept.tenures, kept.fact.id, (*earlier, _Tenure(*kept)))
            elif isinstance(kept, Verdict):
                self._append(kept)
            elif isinstance(kept, Declaration):
                self.declare(kept)
            else:
                self._set(self._kept.erasures, kept.id, kept)
            count += 1
        return count


def _without(fact_ids: Iterable[str], gone: str) -> tuple[str, ...]:
    return tuple(fact_id for fact_id in fact_ids if fact_id != gone)


def _copy(fact: Fact) -> Fact:
    """The fact with a value of its own, so that nobody can reach into the store through it."""
    if isinstance(fact.value, list | dict):
        return fact.evolve(value=deepcopy(fact.value))
    return fact


def _selected(fact: Fact, selection: Selection) -> bool:
    return (
        (selection.owners is None or fact.owner in selection.owners)
        and (selection.scope_ids is None or (fact.scope_id or "") in selection.scope_ids)
        and selection.key in (None, fact.key)
        and selection.subject in (None, fact.subject or "")
    )
