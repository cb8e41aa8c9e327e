"""Watching a store: every committed verdict is reported, whoever brought it about.

Only with telemetry: without it a memory has its store itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from incumbent.model.fact import Fact
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Store, Transaction
from incumbent.telemetry.port import Telemetry


def watched(store: Store, telemetry: Telemetry) -> Store:
    """The same store, with its verdicts reported once they are committed."""
    return cast(Store, _Watched(store, telemetry))


class _Watched:
    def __init__(self, store: Store, telemetry: Telemetry) -> None:
        self._store = store
        self._telemetry = telemetry
        # The commonest question of all; no detour for it.
        self.glance = store.glance

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, organization: str) -> AbstractContextManager[Transaction]:
        return self._writing(organization)

    @contextmanager
    def _writing(self, organization: str) -> Iterator[Transaction]:
        recorded: list[Verdict] = []
        with self._store.write(organization) as transaction:
            yield cast(Transaction, _Recording(transaction, recorded))
        if recorded:
            self._telemetry.decided(recorded)


class _Recording:
    """A transaction that keeps its verdicts until it is committed."""

    def __init__(self, transaction: Transaction, recorded: list[Verdict]) -> None:
        self._transaction = transaction
        self._recorded = recorded

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._transaction, name)
        if callable(found):
            self.__dict__[name] = found  # the next time it is found at once
        return found

    def record(self, verdict: Verdict, *facts: Any, **named: Any) -> None:
        self._transaction.record(verdict, *facts, **named)
        self._recorded.append(verdict)

    def record_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        self._transaction.record_all(entries)
        self._recorded.extend(verdict for verdict, _ in entries)

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        count = len(self._recorded)
        with self._transaction.taken_back():
            yield
        del self._recorded[count:]
