"""Working items and turns, in a database."""

from __future__ import annotations

from datetime import datetime

from incumbent.model.records import Turn, WorkingItem
from incumbent.model.times import to_micros
from incumbent.stores.sql.passages import SQLPassages
from incumbent.stores.sql.rows import item_of, item_parameters, turn_of, turn_parameters


class SQLSessions(SQLPassages):
    """The sessions of one organization."""

    # reading

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        where, given = self.dialect.matching(user_id=user_id, session_id=session_id)
        return [item_of(row[2:]) for row in self.rows("working_items", given, where)]

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        where, given = self.dialect.matching(user_id=user_id)
        rows = self.rows("working_items", given, where)
        return [(row[0], row[1], item_of(row[2:])) for row in rows]

    def turns(self, user_id: str, session_id: str, limit: int) -> list[Turn]:
        given = {"user_id": user_id, "session_id": session_id, "limit": limit}
        return [turn_of(row) for row in reversed(self.rows("turns", given))]

    def turns_called(self, user_id: str, ref: str) -> list[Turn]:
        return [turn_of(row) for row in self.rows("turns_called", {"user_id": user_id, "ref": ref})]

    # writing

    def put_item(self, user_id: str, session_id: str, item: WorkingItem) -> None:
        place = {"user_id": user_id, "session_id": session_id}
        self.run("put_item", {**place, **item_parameters(item)})

    def drop_items(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        expired_at: datetime | None = None,
    ) -> int:
        expires = None if expired_at is None else to_micros(expired_at)
        where, given = self.dialect.matching(
            user_id=user_id, session_id=session_id, key=key, expires_at=expires
        )
        return self.run("drop_items", given, where)

    def put_turn(self, user_id: str, turn: Turn) -> None:
        self.run("put_turn", {"user_id": user_id, **turn_parameters(turn)})

    def drop_turns(self, *, user_id: str | None = None, session_id: str | None = None) -> int:
        self.drop_passages_of(user_id, session_id)
        where, given = self.dialect.matching(user_id=user_id, session_id=session_id)
        return self.run("drop_turns", given, where)
