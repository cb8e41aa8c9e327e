"""Working items and turns: written and read for a session."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from incumbent.model.records import Turn, WorkingItem


class SessionReader(Protocol):
    """The working items and turns of one organization."""

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        """The items of one session, expired ones included, in the order they were put."""
        ...

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        """(user id, session id, item) for every session, or every session of one user."""
        ...

    def turns(self, user_id: str, session_id: str, limit: int) -> list[Turn]:
        """The last `limit` turns of one session, in the order of their `turn_index`."""
        ...

    def turns_called(self, user_id: str, ref: str) -> list[Turn]:
        """Every turn of a user with that ref, in any session, oldest first.

        Turns of one moment are ordered by session and index.
        """
        ...


class SessionWriter(SessionReader, Protocol):
    """Keeps and removes working items and turns."""

    def put_item(self, user_id: str, session_id: str, item: WorkingItem) -> None:
        """Put a working item, replacing one of the same key."""
        ...

    def drop_items(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        expired_at: datetime | None = None,
    ) -> int:
        """Remove working items that match every given condition; returns how many."""
        ...

    def put_turn(self, user_id: str, turn: Turn) -> None:
        """Keep an observed turn, replacing the one of the same session and index."""
        ...

    def drop_turns(self, *, user_id: str | None = None, session_id: str | None = None) -> int:
        """Remove the turns that match every given condition, and their passages.

        Returns how many turns these were.
        """
        ...
