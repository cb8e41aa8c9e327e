"""Running the statements of the SQLite store for one organization."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from incumbent.stores.sql.connection import BoundConnection, Given
from incumbent.stores.sql.rows import Row
from incumbent.stores.sqlite.sql import DIALECT, inserting, statement

_CHUNK = 500  # below every build's limit on bound parameters
_MANY = 16
"""Rows from which on it is worth a statement of their own to write down what they all have."""


class SQLiteConnection(BoundConnection):
    """One connection to a file, bound to an organization."""

    dialect = DIALECT
    _connection: sqlite3.Connection

    def rows(self, name: str, given: Given, where: str = "") -> list[Row]:
        given["organization"] = self._organization
        return self._connection.execute(statement(name, where), given).fetchall()

    def each(self, name: str, given: Given) -> Iterator[Row]:
        given["organization"] = self._organization
        return self._connection.execute(statement(name), given)

    def rows_of(self, name: str, ids: Iterable[str | int], by: int = 0) -> list[Row]:
        found: dict[Any, Row] = {}
        for chunk in _chunks(ids):
            chunk["organization"] = self._organization
            text = statement(name, ids=len(chunk) - 1)
            for row in self._connection.execute(text, chunk):
                found[row[by]] = row
        return [found[key] for key in sorted(found)]

    def run(self, name: str, given: Given, where: str = "") -> int:
        given["organization"] = self._organization
        return self._connection.execute(statement(name, where), given).rowcount

    def insert(self, name: str, values: Row) -> int:
        return self._connection.execute(statement(name), values).rowcount

    def run_many(self, name: str, rows: Sequence[Row] | Sequence[Given]) -> int:
        if len(rows) >= _MANY and isinstance(rows[0], tuple):
            text, given = _written_down(name, rows)
            return self._connection.executemany(text, given).rowcount
        for row in rows:
            if isinstance(row, dict):
                row["organization"] = self._organization
        return self._connection.executemany(statement(name), rows).rowcount

    def packed(self, items: Iterable[str | int]) -> str:
        return json.dumps(list(items))


def _written_down(name: str, rows: Sequence[Any]) -> tuple[str, Iterable[Row]]:
    """An INSERT of many rows, with the columns in it in which all of them have the same nothing, or
    the same truth; and the rows without these.

    Python's `sqlite3` looks for an adapter of every value that is no plain number or text, and
    takes longer for it than for everything else about a column. Most columns of most facts are
    empty.
    """
    literals: list[str | None] = []
    bound: list[Sequence[Any]] = []
    for column in zip(*rows, strict=True):
        first = column[0]
        literal = _LITERALS.get(first) if first is None or type(first) is bool else None
        if literal is not None and column.count(first) < len(column):
            literal = None
        literals.append(literal)
        if literal is None:
            bound.append(list(map(_unadapted, column)) if type(first) is bytes else column)
    return inserting(name, tuple(literals)), zip(*bound, strict=True)


_LITERALS = {None: "NULL", False: "0", True: "1"}


def _unadapted(value: Any) -> Any:
    """A value of a column of bytes, of the one type of bytes that no adapter is looked for."""
    return bytearray(value) if type(value) is bytes else value


def _chunks(ids: Iterable[Any]) -> Iterator[Given]:
    """Ids as named parameters, in portions that every build of SQLite takes."""
    wanted = sorted(set(ids))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        yield {f"id{index}": one for index, one in enumerate(chunk)}
