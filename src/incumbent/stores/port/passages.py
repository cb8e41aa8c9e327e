"""Passages: the words of turns, found by their terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from incumbent.model.records import KeptPassage, Passage


class PassageReader(Protocol):
    """The passages of one organization."""

    def passages(
        self,
        user_id: str | None,
        after: int,
        limit: int,
        *,
        session_id: str | None = None,
        turn_index: int | None = None,
    ) -> list[KeptPassage]:
        """The passages that match every given condition, with a number above `after`.

        At most `limit`, ordered by number.
        """
        ...

    def passages_numbered(self, numbers: Sequence[int]) -> list[KeptPassage]:
        """These passages, ordered by number; missing ones are left out."""
        ...

    def passage_count(self, user_id: str) -> int:
        """The number of passages of one person."""
        ...

    def passages_under(self, user_id: str, terms: Sequence[str], limit: int) -> list[list[int]]:
        """For each of these terms the numbers of a person's passages that have it.

        At most `limit` for each, the latest first.
        """
        ...


class PassageWriter(PassageReader, Protocol):
    """Keeps and removes passages."""

    def put_passages(self, user_id: str, passages: Sequence[Passage]) -> None:
        """Keep passages of one person's sessions, in this order.

        One of the same session, turn and place is replaced and keeps its number.
        """
        ...

    def drop_passages(self, numbers: Sequence[int]) -> int:
        """Remove these passages; returns how many."""
        ...
