"""Lists of what an organization has, made from the tables of the in-memory store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from incumbent.model.fact import Fact, Status
from incumbent.model.folding import folded
from incumbent.model.listings import ListedSession, VerdictCount
from incumbent.model.records import Turn
from incumbent.model.scope import Place
from incumbent.model.values import text_of
from incumbent.stores.in_memory.facts import MemoryFacts, copy_of
from incumbent.stores.port import Alike, FactCounts, FactFilter, Name, NameColumn, UserActivity


class MemoryListing(MemoryFacts):
    """The lists of one organization."""

    def users(self, after: str, prefix: str, limit: int) -> list[str]:
        kept = self._kept
        named = {
            *(row.fact.owner for row in kept.rows.values()),
            *(verdict.by for verdict in kept.verdicts.values()),
            *(user_id for (user_id, _), turns in kept.sessions.turns.items() if 1 in turns),
            *(receipt.user_id for receipt in kept.index.receipts.values()),
        }
        return sorted(name for name in named if name > after and name.startswith(prefix))[:limit]

    def activity(self, user_ids: Sequence[str]) -> list[UserActivity]:
        last = {
            verdict.by: verdict.recorded_at for _, verdict in sorted(self._kept.verdicts.items())
        }
        begun = [user_id for (user_id, _), turns in self._turns() if 1 in turns]
        return [UserActivity(name, begun.count(name), last.get(name)) for name in sorted(user_ids)]

    def _turns(self) -> Iterable[tuple[tuple[str, str], dict[int, Any]]]:
        return self._kept.sessions.turns.items()

    def _live(self) -> Iterable[Fact]:
        return (row.fact for row in self._kept.rows.values() if row.live)

    def names(
        self,
        column: NameColumn,
        owners: tuple[str, ...] | None,
        after: Name | None,
        prefix: str,
        limit: int,
    ) -> list[Name]:
        found = {
            (fact.owner, _name(column, fact))
            for fact in self._live()
            if (owners is None or fact.owner in owners) and (column == "key" or fact.subject)
        }
        begun = (one for one in found if after is None or one > after)
        return sorted(one for one in begun if one[1].startswith(prefix))[:limit]

    def alike(self, column: NameColumn, names: Sequence[Name], now: datetime) -> list[Alike]:
        wanted = set(names)
        found = (fact for fact in self._live() if (fact.owner, _name(column, fact)) in wanted)
        return _alike(found, now, _in_common)

    def holdings(self, owners: Sequence[str], now: datetime) -> list[Alike]:
        found = (fact for fact in self._live() if fact.owner in owners)
        return _alike(found, now, lambda fact: (fact.owner, "", ""))

    def sessions(
        self,
        user_id: str | None,
        since: datetime | None,
        until: datetime | None,
        before: tuple[datetime, str, str] | None,
        limit: int,
    ) -> list[ListedSession]:
        begun = {
            (turns[1].at, whose, session_id): turns
            for (whose, session_id), turns in self._turns()
            if 1 in turns and user_id in (None, whose)
        }
        chosen = [
            place
            for place in sorted(begun, reverse=True)
            if (since is None or place[0] >= since)
            and (until is None or place[0] < until)
            and (before is None or place < before)
        ]
        return [_session(*place, begun[place]) for place in chosen[:limit]]

    def recorded(
        self, wanted: FactFilter, before: tuple[datetime, str] | None, limit: int
    ) -> list[Fact]:
        found = [
            row.fact
            for row in self._kept.rows.values()
            if _passes(row.fact, wanted) and (before is None or _moment(row.fact) < before)
        ]
        found.sort(key=_moment, reverse=True)
        return [copy_of(fact) for fact in found[:limit]]

    def branches(self, owners: tuple[str, ...], after: Place | None, limit: int) -> list[Place]:
        found = {
            fact.place for fact in self._live() if fact.owner in owners and not fact.scope.is_real
        }
        return sorted(place for place in found if after is None or place > after)[:limit]

    def branched(
        self, owners: tuple[str, ...], places: Sequence[Place], now: datetime
    ) -> list[Alike]:
        found = (f for f in self._live() if f.owner in owners and f.place in places)
        return _alike(found, now, _in_common)

    def turns_after(self, user_id: str, session_id: str, index: int, limit: int) -> list[Turn]:
        turns = self._kept.sessions.turns.get((user_id, session_id), {})
        return [turns[one] for one in sorted(turns) if one > index][:limit]

    def verdict_counts(self, after: int, last: int) -> list[VerdictCount]:
        counts = Counter(
            (verdict.recorded_at.date(), verdict.action, verdict.outcome, verdict.rule)
            for seq, verdict in self._kept.verdicts.items()
            if after < seq <= last
        )
        return [VerdictCount(*kind, count) for kind, count in sorted(counts.items())]

    def fact_counts(self, when: datetime) -> FactCounts:
        facts = [row.fact for row in self._kept.rows.values()]
        return FactCounts(
            sum(fact.held_at(when) for fact in facts),
            sum(fact.is_valid and fact.needs_review for fact in facts),
            sum(fact.status is Status.CONTESTED for fact in facts),
        )


def _moment(fact: Fact) -> tuple[datetime, str]:
    return fact.recorded_at, fact.id


def _passes(fact: Fact, wanted: FactFilter) -> bool:
    held = fact.held_at(wanted.when)
    said = (fact.key, fact.subject or "", text_of(fact.value))
    return (
        (wanted.holding if held else fact.status in wanted.others)
        and fact.owner in wanted.owners
        and fact.place in wanted.places
        and wanted.key in (None, fact.key)
        and wanted.subject in (None, fact.subject or "")
        and wanted.memory_type in (None, fact.memory_type)
        and wanted.authority in (None, fact.authority)
        and (bool(fact.depends_on) or not wanted.derived)
        and (wanted.since is None or fact.recorded_at >= wanted.since)
        and (wanted.until is None or fact.recorded_at < wanted.until)
        and any(wanted.text in folded(text) for text in said)
    )


def _session(
    began: datetime, user_id: str, session_id: str, turns: dict[int, Any]
) -> ListedSession:
    last = max(turns)
    return ListedSession(session_id, user_id, began, turns[last].at, last)


def _name(column: NameColumn, fact: Fact) -> str:
    return fact.key if column == "key" else fact.subject or ""


def _in_common(fact: Fact) -> tuple[Any, ...]:
    about = (fact.owner, fact.subject or "", fact.key, fact.place, fact.memory_type)
    return (*about, fact.requires, fact.min_authority)


def _alike(
    facts: Iterable[Fact], now: datetime, in_common: Callable[[Fact], tuple[Any, ...]]
) -> list[Alike]:
    groups: dict[tuple[Any, ...], list[Fact]] = {}
    for fact in facts:
        own = "" if _has_no_term(fact, now) else fact.id
        groups.setdefault((*in_common(fact), own), []).append(fact)
    found = [
        Alike(
            owner,
            subject,
            key,
            len(same),
            max(fact.recorded_at for fact in same),
            min(fact.id for fact in same),
        )
        for (owner, subject, key, *_), same in groups.items()
    ]
    return sorted(found, key=lambda one: (one.owner, one.subject, one.key, one.fact_id))


def _has_no_term(fact: Fact, now: datetime) -> bool:
    begun = fact.started_at is not None and fact.started_at <= now
    return fact.status is Status.OFFICE and begun and fact.until is None
