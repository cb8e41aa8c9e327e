"""The log of verdicts: written by the engine, read by the engine and the audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from incumbent.model.fact import Fact
from incumbent.model.verdict import Verdict


class TenureChange(NamedTuple):
    """A new tenure for a fact that the store already has."""

    before: Fact
    after: Fact


class LogReader(Protocol):
    """The verdicts of one organization."""

    def head(self) -> tuple[int, datetime | None]:
        """The last sequence number of the organization's log and its time; (0, None) if empty."""
        ...

    def seq_at(self, moment: datetime) -> int:
        """The last entry recorded at or before that moment; 0 if there is none."""
        ...

    def log(self, after: int, limit: int) -> list[Verdict]:
        """Verdicts with a sequence number above `after`, in log order, at most `limit`."""
        ...

    def log_before(self, before: int, limit: int) -> list[Verdict]:
        """Verdicts with a sequence number below `before`, the last first, at most `limit`."""
        ...

    def verdict(self, verdict_id: str) -> Verdict | None:
        """The verdict of that id, without its fact, or None."""
        ...

    def verdicts_by_id(self, verdict_ids: Iterable[str]) -> list[Verdict]:
        """The verdicts of these ids, in log order, without facts."""
        ...

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        """Every verdict on these facts, undone ones included, in log order, without facts."""
        ...

    def naming(self, fact_ids: Iterable[str]) -> list[str]:
        """Ids of the facts whose verdicts have one of these among their `targets`, in order."""
        ...


class LogWriter(LogReader, Protocol):
    """Appends to the log, and carries out the decision of a verdict."""

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[TenureChange] = ()
    ) -> None:
        """Append a verdict, with the facts it brought and the tenures it changed.

        Raises DuplicateId if a new fact's id is taken, before anything is written. The replaced
        tenure of a change is kept for `known`. The store itself refuses a second valid fact at a
        single-valued address with the same audience (`Fact.audience`) with StoreError, whatever the
        caller believed.
        """
        ...

    def record_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        """Append verdicts in their order, each of which brought one fact and changed nothing else.

        For many at once. Raises what `record` does, of which nothing may be kept then: whoever
        catches it has to leave the transaction.
        """
        ...

    def mark_undone(self, verdict_id: str, undone_by: str | None) -> None:
        """Set or clear the verdict that undid another."""
        ...
