"""Facts and the log of one organization, read from the in-memory store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from datetime import datetime
from itertools import chain, islice

from incumbent.model.fact import Address, Fact, Status
from incumbent.model.records import Declaration, Erasure
from incumbent.model.times import to_micros
from incumbent.model.verdict import Verdict
from incumbent.stores.in_memory.sessions import MemorySessions
from incumbent.stores.in_memory.tables import Declared, FactRow, Tables
from incumbent.stores.port import Matter, Selection, Tenured, TenuredBefore


class MemoryFacts(MemorySessions):
    """Reads one organization."""

    def __init__(self, tables: Tables, organization: str, declared: Declared) -> None:
        super().__init__(tables.index, tables.passages, tables.sessions)
        self._kept = tables
        self._organization = organization
        self._declared = declared

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
        return copy_of(row.fact) if row else None

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._where(set(fact_ids) & self._kept.rows.keys(), lambda _: True)

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        wanted = {address[1:] for address in addresses}  # of this organization, whichever they say
        places = {(owner, key) for owner, _, key, *_ in wanted}
        ids = {fact_id for place in places for fact_id in self._kept.live.get(place, ())}
        return self._where(ids, lambda fact: fact.address[1:] in wanted)

    def met(self, owners: tuple[str, ...], matters: Iterable[Matter]) -> set[Matter]:
        found: set[Matter] = set()
        for key, subject in matters:
            there = (i for owner in owners for i in self._kept.live.get((owner, key), ()))
            if any((self._kept.rows[i].fact.subject or "") == subject for i in there):
                found.add((key, subject))
        return found

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
        return [copy_of(fact) for fact in found if _selected(fact, selection)]

    def owned(self, owner: str, limit: int) -> list[Fact]:
        kept = (ids for (whose, _), ids in self._kept.live.items() if whose == owner)
        found = sorted(islice(chain.from_iterable(kept), limit))
        return [copy_of(self._kept.rows[fact_id].fact) for fact_id in found]

    def timeline(self, selection: Selection) -> list[Fact]:
        return [
            copy_of(row.fact)
            for row in self._rows(selection)
            if row.fact.status is not Status.ERASED and _selected(row.fact, selection)
        ]

    def _rows(self, selection: Selection) -> list[FactRow]:
        if selection.key is None:
            rows: Iterable[FactRow] = self._kept.rows.values()
        else:
            rows = (self._kept.rows[i] for i in self._kept.by_key.get(selection.key, ()))
        return sorted(rows, key=lambda row: (row.born, row.fact.id))

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        rows = (row for row in self._rows(selection) if _selected(row.fact, selection))
        return list(self._known_of(rows, seq))

    def _known_of(self, rows: Iterable[FactRow], seq: int) -> Iterator[Fact]:
        for row in rows:
            if row.born > seq or row.fact.status is Status.ERASED:
                continue
            fact = row.fact
            if row.since > seq:
                earlier = self._kept.tenures.get(fact.id, ())
                fact = next(t.fact for t in earlier if t.since <= seq < t.until)
            yield copy_of(fact)

    def tenured(self, shelf: int, after: int) -> Iterator[Tenured]:
        for kept in list(self._index.entries.values()):
            if kept.shelf != shelf or kept.placed.changed <= after:
                continue
            row = self._kept.rows[kept.found.fact_id]
            fact = row.fact
            yield Tenured(
                kept.placed.entry,
                fact.id,
                kept.placed.key,
                fact.subject or "",
                kept.found.terms,
                kept.placed.probes,
                kept.placed.derived,
                fact.multi_valued,
                row.born,
                to_micros(fact.timestamp),
                row.since,
                fact.status.value,
                *_span(fact),
            )

    def tenured_before(self, shelf: int, after: int) -> Iterator[TenuredBefore]:
        for one in self.tenured(shelf, after):
            for fact, since, until in self._kept.tenures.get(one.fact_id, ()):
                yield TenuredBefore(one.entry, since, until, fact.status.value, *_span(fact))

    def known_facts(self, fact_ids: Iterable[str], seq: int) -> list[Fact]:
        wanted = set(fact_ids)
        rows = [self._kept.rows[i] for i in wanted if i in self._kept.rows]
        rows.sort(key=lambda row: (row.born, row.fact.id))
        return list(self._known_of(rows, seq))

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

    def doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        ids = {i for doubted in fact_ids for i in self._kept.doubting.get(doubted, ())}
        return self._where(ids, lambda f: self._kept.rows[f.id].live)

    def ever_doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        ids = {i for doubted in fact_ids for i in self._kept.doubting.get(doubted, ())}
        return self._where(ids, lambda f: f.status is not Status.ERASED)

    def doubters(self, owners: tuple[str, ...] | None) -> list[Fact]:
        ids = {fact_id for those in self._kept.doubting.values() for fact_id in those}
        return self._where(
            ids, lambda f: self._kept.rows[f.id].live and (owners is None or f.owner in owners)
        )

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

    def unapproved(self, owners: tuple[str, ...]) -> list[Fact]:
        waiting = self._kept.apart[Status.WAITING]
        return self._where(waiting, lambda f: f.is_unapproved and f.owner in owners)

    def _where(self, ids: Iterable[str], condition: Callable[[Fact], bool]) -> list[Fact]:
        found = (self._kept.rows[fact_id].fact for fact_id in sorted(ids))
        return [copy_of(fact) for fact in found if condition(fact)]

    def verdict(self, verdict_id: str) -> Verdict | None:
        seq = self._kept.verdict_seq.get(verdict_id)
        return self._kept.verdicts[seq] if seq is not None else None

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        seqs = {seq for fact_id in fact_ids for seq in self._kept.on_fact.get(fact_id, ())}
        return [self._kept.verdicts[seq] for seq in sorted(seqs)]

    def verdicts_by_id(self, verdict_ids: Iterable[str]) -> list[Verdict]:
        known = self._kept.verdict_seq
        return [
            self._kept.verdicts[s] for s in sorted({known[i] for i in verdict_ids if i in known})
        ]

    def log_before(self, before: int, limit: int) -> list[Verdict]:
        last = min(before - 1, len(self._kept.verdicts))
        return [self._kept.verdicts[seq] for seq in range(last, max(0, last - limit), -1)]

    def log(self, after: int, limit: int) -> list[Verdict]:
        last = min(len(self._kept.verdicts), after + limit)
        return [self._kept.verdicts[seq] for seq in range(after + 1, last + 1)]


def copy_of(fact: Fact) -> Fact:
    """The fact with a copy of its value, so that nobody can reach into the store through it."""
    if isinstance(fact.value, list | dict):
        return fact.evolve(value=deepcopy(fact.value))
    return fact


def _span(fact: Fact) -> tuple[int | None, int | None]:
    """The beginning and the end of a fact's time in office."""
    starts, ends = fact.started_at, fact.until
    return (
        None if starts is None else to_micros(starts),
        None if ends is None else to_micros(ends),
    )


def _selected(fact: Fact, selection: Selection) -> bool:
    return (
        (selection.owners is None or fact.owner in selection.owners)
        and (selection.scope_ids is None or (fact.scope_id or "") in selection.scope_ids)
        and selection.key in (None, fact.key)
        and selection.subject in (None, fact.subject or "")
        and selection.said in (None, fact.value)
    )
