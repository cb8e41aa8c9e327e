"""Receipts of contexts, and the usage of models."""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple, Protocol

from incumbent.model.records import Usage


class StoredReceipt(NamedTuple):
    """A receipt as a store keeps it: user and time for finding it, the rest as JSON text."""

    id: str
    user_id: str
    at: datetime
    body: str


class ReceiptReader(Protocol):
    """The receipts of one organization."""

    def receipt(self, receipt_id: str) -> StoredReceipt | None:
        """The receipt of that id, or None."""
        ...

    def receipts(
        self,
        user_id: str | None,
        limit: int,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        after: tuple[datetime, str] | None = None,
    ) -> list[StoredReceipt]:
        """The receipts of a user, or of everybody, newest first, at most `limit`.

        Those of one moment are ordered by id. Only those from `since` on and before `until`, and
        only those that come after the one with the time and id `after`.
        """
        ...


class ReceiptWriter(ReceiptReader, Protocol):
    """Keeps and removes receipts."""

    def put_receipt(self, receipt: StoredReceipt) -> None:
        """Keep a receipt, replacing the one of the same id."""
        ...

    def drop_receipts(self, *, user_id: str | None = None, receipt_id: str | None = None) -> int:
        """Remove the receipts that match every given condition; returns how many."""
        ...


class UsageReader(Protocol):
    """The usage of models by one organization, in numbers."""

    def usage(self, since: date | None = None) -> list[Usage]:
        """The usage from that day on, or all of it, ordered by day and model."""
        ...


class UsageWriter(UsageReader, Protocol):
    """Counts the usage of models."""

    def count_usage(self, usage: Usage) -> None:
        """Add to the usage of a day and model; a negative number takes away."""
        ...
