"""Incumbent on PostgreSQL, and every statement that it sends."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

import incumbent
from benchmarks.corpus import Fact
from benchmarks.crowds.port import BUDGET, CONNECTIONS, EMBEDDER

SETTINGS = incumbent.Settings(embedder=EMBEDDER, pool_size=CONNECTIONS)

Sent = tuple[str, Any, bool]
"""A statement, its parameters, and whether they are put in before it is sent."""
OPENED, CLOSED = "-- a pipeline begins", "-- a pipeline ends"
"""What stands between these two is sent without waiting in between."""


class Incumbent:
    def __init__(self, url: str, folder: Path) -> None:
        self._sent = overheard()
        self._calls: list[list[Sent]] = []
        self._memory = incumbent.open(url, settings=SETTINGS)
        self._session = cache(
            lambda organization: self._memory.session(user_id="alice", organization=organization)
        )

    def prepare(self) -> None:
        """Opening it made the tables."""

    def load(self, organization: str, facts: Sequence[Fact]) -> None:
        self._session(organization).write_many(
            {"key": fact.key, "value": fact.value, "subject": fact.subject} for fact in facts
        )

    def write(self, organization: str, fact: Fact) -> None:
        self._session(organization).write(fact.key, fact.value)

    def ask(self, organization: str, question: str) -> incumbent.Context:
        return self._session(organization).context(question, budget=BUDGET)

    def holds(self, organization: str, answer: incumbent.Context, fact: Fact) -> bool:
        shown = {line.fact_id for line in answer.lines}
        found = self._session(organization).facts(fact.key, subject=fact.subject)
        return any(one.id in shown for one in found)

    def count(self, answer: incumbent.Context) -> int:
        return len({line.fact_id for line in answer.lines if line.fact_id is not None})

    def begin_anew(self) -> None:
        """Drop what is kept of facts and lists. What searches go through stays in memory."""
        self._memory.store._kept.forget()  # type: ignore[attr-defined]

    def begin(self) -> None:
        self._sent.clear()
        self._calls.clear()

    def called(self) -> None:
        self._calls.append(list(self._sent))
        self._sent.clear()

    def keep(self, log: Path) -> None:
        log.write_bytes(pickle.dumps(self._calls))
        self._calls.clear()

    def close(self) -> None:
        self._memory.close()


def overheard() -> list[Sent]:
    """Every statement that this process sends from here on, in order."""
    sent: list[Sent] = []
    plain, filled_in = psycopg.Connection.execute, psycopg.ClientCursor.execute
    piped = psycopg.Connection.pipeline

    def execute(self: Any, query: Any, given: Any = None, **options: Any) -> Any:
        sent.append((query, given, False))
        return plain(self, query, given, **options)

    def execute_filled(self: Any, query: Any, given: Any = None, **options: Any) -> Any:
        sent.append((query, given, True))
        return filled_in(self, query, given, **options)

    @contextmanager
    def pipeline(self: Any) -> Iterator[psycopg.Pipeline]:
        sent.append((OPENED, None, False))
        with piped(self) as opened:
            yield opened
        sent.append((CLOSED, None, False))

    psycopg.Connection.pipeline = pipeline  # type: ignore[method-assign]
    psycopg.Connection.execute = execute  # type: ignore[method-assign, assignment]
    psycopg.ClientCursor.execute = execute_filled  # type: ignore[method-assign, assignment]
    return sent
