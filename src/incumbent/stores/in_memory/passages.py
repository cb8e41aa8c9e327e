"""Passages in the in-memory store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from incumbent.model.records import KeptPassage, Passage
from incumbent.stores.in_memory.index import IndexTables, MemoryIndex


@dataclass
class PassageTables:
    """The passages of one organization, by number."""

    kept: dict[int, KeptPassage] = field(default_factory=dict)
    owned: dict[str, dict[int, None]] = field(default_factory=dict)
    """The numbers of each person's."""
    places: dict[tuple[str, str, int, int], int] = field(default_factory=dict)
    """The numbers by person, session, turn and place."""
    posted: dict[tuple[str, str], dict[int, None]] = field(default_factory=dict)
    """The numbers by person and term."""


class MemoryPassages(MemoryIndex):
    """Reads and writes the passages of one organization."""

    def __init__(self, index: IndexTables, passages: PassageTables) -> None:
        super().__init__(index)
        self._passages = passages

    # reading

    def passages(
        self,
        user_id: str | None,
        after: int,
        limit: int,
        *,
        session_id: str | None = None,
        turn_index: int | None = None,
    ) -> list[KeptPassage]:
        tables = self._passages
        there = tables.kept if user_id is None else tables.owned.get(user_id, {})
        found = (tables.kept[number] for number in sorted(there) if number > after)
        matching = (
            kept
            for kept in found
            if session_id in (None, kept.passage.session_id)
            and turn_index in (None, kept.passage.turn_index)
        )
        return list(islice(matching, limit))

    def passages_numbered(self, numbers: Sequence[int]) -> list[KeptPassage]:
        kept = self._passages.kept
        return [kept[number] for number in sorted(set(numbers) & kept.keys())]

    def passage_count(self, user_id: str) -> int:
        return len(self._passages.owned.get(user_id, ()))

    def passages_under(self, user_id: str, terms: Sequence[str], limit: int) -> list[list[int]]:
        posted = self._passages.posted
        return [sorted(posted.get((user_id, term), ()), reverse=True)[:limit] for term in terms]

    # writing

    def put_passages(self, user_id: str, passages: Sequence[Passage]) -> None:
        tables = self._passages
        for passage in passages:
            place = (user_id, passage.session_id, passage.turn_index, passage.place)
            number = tables.places.get(place)
            if number is None:
                number = self._next("passage")
            self.drop_passages([number])
            self._set(tables.places, place, number)
            self._set(tables.kept, number, KeptPassage(number, user_id, passage))
            self._set(tables.owned.setdefault(user_id, {}), number, None)
            for term in set(passage.terms.split()):
                self._set(tables.posted.setdefault((user_id, term), {}), number, None)

    def drop_passages(self, numbers: Sequence[int]) -> int:
        tables = self._passages
        gone = self.passages_numbered(numbers)
        for number, user_id, passage in gone:
            self._drop(tables.kept, number)
            self._drop(tables.owned[user_id], number)
            place = (user_id, passage.session_id, passage.turn_index, passage.place)
            self._drop(tables.places, place)
            for term in set(passage.terms.split()):
                self._drop(tables.posted[user_id, term], number)
        return len(gone)
