"""What a PostgreSQL database keeps of sessions: working items, turns, what models were asked."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from tenure.model.records import Turn, Usage, WorkingItem
from tenure.model.times import to_micros
from tenure.stores.postgres.index import PostgresIndex
from tenure.stores.rows import item_of, item_parameters, turn_of, turn_parameters


def _where(conditions: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The condition for those that are given, and their parameters."""
    given = {name: value for name, value in conditions.items() if value is not None}
    text = " ".join(
        f"AND {name} {'<=' if name == 'expires_at' else '='} %({name})s" for name in given
    )
    return text, given


class PostgresSessions(PostgresIndex):
    """One connection, bound to an organization, as far as its sessions go."""

    # reading

    def working_items(self, user_id: str, session_id: str) -> list[WorkingItem]:
        where, given = _where({"user_id": user_id, "session_id": session_id})
        return [item_of(row[2:]) for row in self.rows("working_items", given, where)]

    def desks(self, user_id: str | None = None) -> list[tuple[str, str, WorkingItem]]:
        where, given = _where({"user_id": user_id})
        rows = self.rows("working_items", given, where)
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
        place = {"user_id": user_id, "session_id": session_id, "key": key}
        where, given = _where({**place, "expires_at": expires})
        return self.run("drop_items", given, where)

    def put_turn(self, user_id: str, turn: Turn) -> None:
        self.run("put_turn", {"user_id": user_id, **turn_parameters(turn)})

    def drop_turns(self, *, user_id: str | None = None, session_id: str | None = None) -> int:
        where, given = _where({"user_id": user_id, "session_id": session_id})
        return self.run("drop_turns", given, where)

    def drop_keys(self, user_id: str) -> int:
        if not self.rows("has_keys", {})[0][0]:
            return 0  # an older schema, on which nobody has made one
        return self.run("drop_keys", {"user_id": user_id})

    def count_usage(self, usage: Usage) -> None:
        self.run("count_usage", {**asdict(usage), "day": usage.day.isoformat()})
