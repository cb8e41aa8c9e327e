"""The statements of Incumbent's calls, sent again by a plain loop."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.crowds.ours import CLOSED, OPENED, Sent
from incumbent.stores.postgres import schema
from incumbent.stores.postgres.sql import statement


class Bare:
    def __init__(self, url: str, folder: Path) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute(
            f"SET search_path = {schema.SCHEMA}, pg_temp; "
            f"SET plan_cache_mode = force_generic_plan; SET ROLE {schema.APPLICATION_ROLE}"
        )
        self._connection.execute(statement("prepare_reading"))
        self._calls: list[list[Sent]] = []

    def fetch(self, log: Path) -> None:
        """Read what was put on file."""
        self._calls = pickle.loads(log.read_bytes())

    def replay(self) -> list[float]:
        """Send it again; how long the statements of each call took."""
        times = []
        for statements in self._calls:
            begin = time.perf_counter()
            _send_all(self._connection, statements)
            times.append(time.perf_counter() - begin)
        return times

    def close(self) -> None:
        self._connection.close()


def _send_all(connection: Any, statements: Iterable[Sent]) -> None:
    coming = iter(statements)
    for query, given, is_filled in coming:
        if query != OPENED:
            _send(connection, query, given, is_filled)
            continue
        together = takewhile(lambda sent: sent[0] != CLOSED, coming)
        with connection.pipeline():
            cursors = [connection.execute(query, given) for query, given, _ in together]
        for cursor in cursors:
            cursor.fetchall()


def _send(connection: Any, query: str, given: Any, is_filled: bool) -> None:
    if not is_filled:
        cursor = connection.execute(query, given)
        if cursor.description is not None:
            cursor.fetchall()
        return
    cursor = psycopg.ClientCursor(connection)
    cursor.execute(query, given)
    while True:
        if cursor.description is not None:
            cursor.fetchall()
        if not cursor.nextset():
            return
