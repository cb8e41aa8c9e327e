"""Sessions in the in-memory store: working items, turns, and the usage of models."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from typing import NamedTuple

from incumbent.model.records import Turn, Usage, WorkingItem
from incumbent.stores.in_memory.index import IndexTables
from incumbent.stores.in_memory.passages import MemoryPassages, PassageTables

_Place = tuple[str, str]
"""A user and a session."""


class _Item(NamedTuple):
    user_id: str
    session_id: str
    item: WorkingItem


@dataclass
class SessionTables:
    """The session data of one organization."""

    items: dict[tuple[str, str, str], _Item] = field(default_factory=dict)
    turns: dict[_Place, dict[int, Turn]] = field(default_factory=dict)
    called: dict[tuple[str, str], dict[tuple[str, int], None]] = field(default_factory=dict)
    """By user and ref, the session and index of every turn with that ref."""
    usage: dict[tuple[date, str], Usage] = field(default_factory=dict)
    """By day and model."""


class MemorySessions(MemoryPassages):
    """Reads and writes the sessions of one organization, with the journal of the index."""

    def __init__(
        self, index: IndexTables, passages: PassageTables, sessions: SessionTables
    ) -> None:
        super().__init__(index, passages)
        self._sessions = sessions

    # reading

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        return [
            _copy(kept.item)
            for kept in self._sessions.items.values()
            if kept.user_id == user_id and kept.session_id == session_id
        ]

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        return [
            (kept.user_id, kept.session_id, _copy(kept.item))
            for kept in self._sessions.items.values()
            if user_id in (None, kept.user_id)
        ]

    def turns(self, user_id: str, session_id: str, limit: int) -> list[Turn]:
        found = self._sessions.turns.get((user_id, session_id), {})
        return [found[index] for index in sorted(found, reverse=True)[:limit][::-1]]

    def turns_called(self, user_id: str, ref: str) -> list[Turn]:
        found = [
            self._sessions.turns[user_id, session_id][index]
            for session_id, index in self._sessions.called.get((user_id, ref), ())
        ]
        return sorted(found, key=lambda turn: (turn.at, turn.session_id, turn.turn_index))

    def usage(self, since: date | None = None) -> list[Usage]:
        kept = self._sessions.usage
        return [kept[place] for place in sorted(kept) if since is None or place[0] >= since]

    # writing

    def put_item(self, user_id: str, session_id: str, item: WorkingItem) -> None:
        place = (user_id, session_id, item.key)
        items = {k: kept for k, kept in self._sessions.items.items() if k != place}
        self._put_items(items | {place: _Item(user_id, session_id, _copy(item))})

    def _put_items(self, items: dict[tuple[str, str, str], _Item]) -> None:
        """Replace the items as a whole: a rollback restores their order too."""
        kept, before = self._sessions, self._sessions.items
        self._journal.append(lambda: setattr(kept, "items", before))
        kept.items = items

    def drop_items(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        expired_at: datetime | None = None,
    ) -> int:
        def matches(kept: _Item) -> bool:
            return (
                key in (None, kept.item.key)
                and user_id in (None, kept.user_id)
                and session_id in (None, kept.session_id)
                and (expired_at is None or kept.item.expired(expired_at))
            )

        items = {k: kept for k, kept in self._sessions.items.items() if not matches(kept)}
        dropped = len(self._sessions.items) - len(items)
        if dropped:
            self._put_items(items)
        return dropped

    def put_turn(self, user_id: str, turn: Turn) -> None:
        place = (user_id, turn.session_id)
        if place not in self._sessions.turns:
            self._set(self._sessions.turns, place, {})
        self._drop_turn(place, turn.turn_index)
        self._set(self._sessions.turns[place], turn.turn_index, turn)
        if turn.ref is not None:
            name = (user_id, turn.ref)
            if name not in self._sessions.called:
                self._set(self._sessions.called, name, {})
            self._set(self._sessions.called[name], (turn.session_id, turn.turn_index), None)

    def drop_turns(self, *, user_id: str | None = None, session_id: str | None = None) -> int:
        gone = [
            (place, index)
            for place, turns in self._sessions.turns.items()
            if user_id in (None, place[0]) and session_id in (None, place[1])
            for index in turns
        ]
        for place, index in gone:
            self._drop_turn(place, index)
        self.drop_passages(
            [
                number
                for number, owner, passage in self._passages.kept.values()
                if user_id in (None, owner) and session_id in (None, passage.session_id)
            ]
        )
        return len(gone)

    def empty_digests(self, fact_ids: Iterable[str], owners: Iterable[str]) -> None:
        """Cut the digests of turns to their marks, for these users and for users who stated one of
        these facts."""
        gone, tables = set(fact_ids), self._sessions.turns
        stated = (
            user_id
            for (user_id, _), turns in tables.items()
            if any(not gone.isdisjoint(turn.fact_ids) for turn in turns.values())
        )
        whose = {*owners, *stated}
        for (user_id, _), turns in tables.items():
            for index, turn in list(turns.items()) if user_id in whose else ():
                mark, end, _ = turn.digest.partition("$")
                self._set(turns, index, replace(turn, digest=f"{mark}{end}" if end else ""))

    def count_usage(self, usage: Usage) -> None:
        place = (usage.day, usage.model)
        before = asdict(self._sessions.usage.get(place, Usage(*place)))
        counts = {
            name: before[name] + more for name, more in asdict(usage).items() if type(more) is int
        }
        self._set(self._sessions.usage, place, Usage(*place, **counts))

    def _drop_turn(self, place: _Place, index: int) -> None:
        """Remove a turn, if there is one, and its ref."""
        user_id, session_id = place
        turn = self._sessions.turns[place].get(index)
        self._drop(self._sessions.turns[place], index)
        if turn is None or turn.ref is None:
            return
        name = (user_id, turn.ref)
        self._drop(self._sessions.called[name], (session_id, index))
        if not self._sessions.called[name]:
            # A ref may name a person, and goes with the last turn that had it.
            self._drop(self._sessions.called, name)


def _copy(item: WorkingItem) -> WorkingItem:
    """The item with a copy of its value, so that nobody can reach into the store through it."""
    if isinstance(item.value, list | dict):
        return replace(item, value=deepcopy(item.value))
    return item
