"""Receipts and the usage of models, in a database."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date, datetime

from incumbent.model.records import Usage
from incumbent.model.times import from_micros, to_micros
from incumbent.stores.port import StoredReceipt
from incumbent.stores.sql.connection import BoundConnection
from incumbent.stores.sql.rows import Row


class SQLReceipts(BoundConnection):
    """The receipts and the usage of one organization."""

    # reading

    def receipt(self, receipt_id: str) -> StoredReceipt | None:
        rows = self.rows("receipt", {"id": receipt_id})
        return _receipt_of(rows[0]) if rows else None

    def receipts(
        self,
        user_id: str | None,
        limit: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        after: tuple[datetime, str] | None = None,
    ) -> list[StoredReceipt]:
        where, given = self.dialect.within("at", since, until)
        if after is not None:
            at, last = map(self.dialect.parameter, ("place_at", "place_id"))
            where += f" AND at <= {at} AND (at < {at} OR id > {last})"
            given |= {"place_at": to_micros(after[0]), "place_id": after[1]}
        name = "receipts" if user_id is None else "receipts_of"
        rows = self.rows(name, {**given, "user_id": user_id, "limit": limit}, where)
        return [_receipt_of(row) for row in rows]

    def usage(self, since: date | None = None) -> list[Usage]:
        given = {"since": "" if since is None else since.isoformat()}
        return [Usage(date.fromisoformat(row[0]), *row[1:]) for row in self.rows("usage", given)]

    # writing

    def put_receipt(self, receipt: StoredReceipt) -> None:
        self.run("put_receipt", {**receipt._asdict(), "at": to_micros(receipt.at)})

    def drop_receipts(self, *, user_id: str | None = None, receipt_id: str | None = None) -> int:
        where, given = self.dialect.matching(user_id=user_id, id=receipt_id)
        return self.run("drop_receipts", given, where)

    def count_usage(self, usage: Usage) -> None:
        self.run("count_usage", {**asdict(usage), "day": usage.day.isoformat()})


def _receipt_of(row: Row) -> StoredReceipt:
    return StoredReceipt(row[0], row[1], from_micros(row[2]), row[3])
