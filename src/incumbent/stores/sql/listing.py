"""Lists of what an organization has, read from a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from incumbent.model.fact import Fact
from incumbent.model.listings import ListedSession, VerdictCount
from incumbent.model.records import Turn
from incumbent.model.scope import Place, Scope
from incumbent.model.times import from_micros, to_micros
from incumbent.model.verdict import Action, Outcome, Rule
from incumbent.stores.port import Alike, FactCounts, FactFilter, Name, NameColumn, UserActivity
from incumbent.stores.sql.connection import BoundConnection
from incumbent.stores.sql.filters import filtering, placed
from incumbent.stores.sql.rows import Row, fact_of, moment_of, turn_of

_NEXT = "\x01"
"""A text with this at its end is the next one after it: none has a NUL."""
_LAST = 0x10FFFF
_DAY = 24 * 60 * 60 * 1_000_000
_SURROGATES = range(0xD800, 0xE000)
_NAMES: Mapping[NameColumn, str] = {"subject": "subjects", "key": "keys_held"}
_ALIKE: Mapping[NameColumn, str] = {"subject": "alike_subjects", "key": "alike_keys"}


class SQLListing(BoundConnection):
    """The lists of one organization."""

    def users(self, after: str, prefix: str, limit: int) -> list[str]:
        begin = max(after + _NEXT, prefix)
        rows = self.rows("users", {"begin": begin, "limit": limit})
        # They come in order, so that those without the prefix are the last.
        return [row[0] for row in rows if row[0].startswith(prefix)]

    def activity(self, user_ids: Sequence[str]) -> list[UserActivity]:
        rows = self.rows("activity", {"users": self.packed(user_ids)})
        return [UserActivity(row[0], row[1], moment_of(row[2])) for row in rows]

    def names(
        self,
        column: NameColumn,
        owners: tuple[str, ...] | None,
        after: Name | None,
        prefix: str,
        limit: int,
    ) -> list[Name]:
        given = {
            "owners": None if owners is None else self.packed(sorted(set(owners))),
            "owner": "" if after is None else after[0],
            "begin": prefix if after is None else max(after[1] + _NEXT, prefix),
            "prefix": prefix,
            "end": _end_of(prefix),
            "limit": limit,
        }
        return [(row[0], row[1]) for row in self.rows(_NAMES[column], given)]

    def alike(self, column: NameColumn, names: Sequence[Name], now: datetime) -> list[Alike]:
        given = {
            "owners": self.packed(owner for owner, _ in names),
            "names": self.packed(name for _, name in names),
            "now": to_micros(now),
        }
        return _alike(self.rows(_ALIKE[column], given))

    def holdings(self, owners: Sequence[str], now: datetime) -> list[Alike]:
        given = {"owners": self.packed(owners), "now": to_micros(now)}
        return _alike(self.rows("holdings", given))

    def sessions(
        self,
        user_id: str | None,
        since: datetime | None,
        until: datetime | None,
        before: tuple[datetime, str, str] | None,
        limit: int,
    ) -> list[ListedSession]:
        where, given = self.dialect.within("at", since, until)
        told = self.dialect.parameter
        if before is not None:
            last = dict(zip(("place_at", "place_user", "place_session"), before, strict=True))
            given |= {**last, "place_at": to_micros(before[0])}
            if user_id is None:
                place = f"{told('place_at')}, {told('place_user')}, {told('place_session')}"
                where += f" AND (at, user_id, session_id) < ({place})"
            else:
                where += f" AND (at, session_id) < ({told('place_at')}, {told('place_session')})"
        name = "sessions" if user_id is None else "sessions_of"
        rows = self.rows(name, {**given, "user_id": user_id, "limit": limit}, where)
        return [_session(*row) for row in rows]

    def recorded(
        self, wanted: FactFilter, before: tuple[datetime, str] | None, limit: int
    ) -> list[Fact]:
        where, given = filtering(self.dialect, wanted, before)
        found: list[Row] = []
        # One owner at a time, so that each is a walk along the index from its end; and only what
        # is live where nothing else can hold office.
        for owner in dict.fromkeys(wanted.owners):
            for live in (True, False) if wanted.others else (True,):
                asked = {**given, "owner": owner, "limit": limit}
                there = f"AND {self.dialect.flag('live', live)} {where}"
                found.extend(self.rows(self._way_to(wanted, owner, live), asked, there))
        found.sort(key=lambda row: (row[1], row[0]), reverse=True)
        return [fact_of(row) for row in found[:limit]]

    def _way_to(self, wanted: FactFilter, owner: str, live: bool) -> str:
        """The statement for a filter. A planner that has counted needs one alone."""
        return "recorded"

    def branches(self, owners: tuple[str, ...], after: Place | None, limit: int) -> list[Place]:
        given = {
            "owners": self.packed(owners),
            "scope": "" if after is None else after[0].value,
            "scope_id": "" if after is None else after[1],
            "limit": limit,
        }
        return [(Scope(row[0]), row[1]) for row in self.rows("branches", given)]

    def branched(
        self, owners: tuple[str, ...], places: Sequence[Place], now: datetime
    ) -> list[Alike]:
        where, given = placed(self.dialect, places)
        given |= {"owners": self.packed(owners), "now": to_micros(now)}
        return _alike(self.rows("branched", given, where))

    def turns_after(self, user_id: str, session_id: str, index: int, limit: int) -> list[Turn]:
        whose = {"user_id": user_id, "session_id": session_id}
        rows = self.rows("turns_after", {**whose, "index": index, "limit": limit})
        return [turn_of(row) for row in rows]

    def verdict_counts(self, after: int, last: int) -> list[VerdictCount]:
        rows = self.rows("verdict_counts", {"after": after, "last": last, "day": _DAY})
        return [_counted(*row) for row in sorted(rows)]

    def fact_counts(self, when: datetime) -> FactCounts:
        return FactCounts(*self.rows("fact_counts", {"when": to_micros(when)})[0])


def _counted(day: int, action: str, outcome: str, rule: str, count: int) -> VerdictCount:
    when = from_micros(day * _DAY).date()
    return VerdictCount(when, Action(action), Outcome(outcome), Rule(rule), count)


def _session(session_id: str, user_id: str, began: int, last: int, turns: int) -> ListedSession:
    return ListedSession(session_id, user_id, from_micros(began), from_micros(last), turns)


def _alike(rows: Sequence[Row]) -> list[Alike]:
    found = [Alike._make((*row[:4], from_micros(row[4]), row[5])) for row in rows]
    return sorted(found, key=lambda one: (one.owner, one.subject, one.key, one.fact_id))


def _end_of(prefix: str) -> str | None:
    """The first text above all those that begin with a prefix; None where there is none."""
    kept = prefix.rstrip(chr(_LAST))
    if not kept:
        return None
    after = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES.stop if after in _SURROGATES else after)
