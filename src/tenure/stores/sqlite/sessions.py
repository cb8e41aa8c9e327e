"""What a SQLite file keeps of sessions: working items, turns, and what models were asked."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from tenure.model.records import Turn, Usage, WorkingItem
from tenure.model.times import to_micros
from tenure.stores.rows import item_of, item_parameters, turn_of, turn_parameters
from tenure.stores.sqlite.index import SQLiteIndex
from tenure.stores.sqlite.sql import statement


def _where(conditions: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The condition for those that are given, and their parameters.

    Left out rather than made optional within one statement, which no index could serve.
    """
    given = {name: value for name, value in conditions.items() if value is not None}
    text = " ".join(
        f"AND {name} = :{name}" if name != "expires_at" else "AND expires_at <= :expires_at"
        for name in given
    )
    return text, given


class SQLiteSessions(SQLiteIndex):
    """One connection, bound to an organization, as far as its sessions go."""

    # reading

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        where, given = _where({"user_id": user_id, "session_id": session_id})
        return [item_of(row[2:]) for row in self.rows("working_items", given, where=where)]

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        where, given = _where({"user_id": user_id})
        rows = self.rows("working_items", given, where=where)
        return [(row[0], row[1], item_of(row[2:])) for row in rows]

    def turns(self, user_id: str, session_id: str, limit: int) -> list[Turn]:
        given = {"user_id": user_id, "session_id": session_id, "limit": limit}
        return [turn_of(row) for row in reversed(self.rows("turns", given))]

    def turns_called(self, user_id: str, ref: str) -> list[Turn]:
        return [turn_of(row) for row in self.rows("turns_called", {"user_id": user_id, "ref": ref})]

    def usage(self, since: date | None = None) -> list[Usage]:
        given = {"since": "" if since is None else since.isoformat()}
        return [Usage(date.fromisoformat(row[0]), *row[1:]) for row in self.rows("usage", given)]

    # writing

    def put_item(self, user_id: str, session_id: str, item: WorkingItem) -> None:
        # A replaced item moves to the end of the desk.
        self.drop_items(user_id=user_id, session_id=session_id, key=item.key)
        place = {"user_id": user_id, "session_id": session_id}
        self.rows("put_item", {**place, **item_parameters(item)})

    def drop_items(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        key: str | None = None,
        expired_at: datetime | None = None,
    ) -> int:
        return self._delete(
            "drop_items",
            {
                "user_id": user_id,
                "session_id": session_id,
                "key": key,
                "expires_at": None if expired_at is None else to_micros(expired_at),
            },
        )

    def put_turn(self, user_id: str, turn: Turn) -> None:
        self.rows("put_turn", {"user_id": user_id, **turn_parameters(turn)})

    def drop_turns(self, *, user_id: str | None = None, session_id: str | None = None) -> int:
        return self._delete("drop_turns", {"user_id": user_id, "session_id": session_id})

    def drop_keys(self, user_id: str) -> int:
        return self._delete("drop_keys", {"user_id": user_id})

    def count_usage(self, usage: Usage) -> None:
        self.rows("count_usage", {**asdict(usage), "day": usage.day.isoformat()})

    def _delete(self, name: str, conditions: dict[str, Any]) -> int:
        where, given = _where(conditions)
        given["organization"] = self._organization
        return self._connection.execute(statement(name, where=where), given).rowcount
