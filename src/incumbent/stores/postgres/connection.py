"""Running the statements of the PostgreSQL store for one organization."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from incumbent.stores.postgres.connections import Connection
from incumbent.stores.postgres.sql import DIALECT, array_of, statement
from incumbent.stores.postgres.standing import Standing
from incumbent.stores.sql.connection import BoundConnection, Given
from incumbent.stores.sql.rows import Row


class PostgresConnection(BoundConnection):
    """One connection to a server, bound to an organization."""

    dialect = DIALECT
    _connection: Connection
    _standing: Standing

    def rows(self, name: str, given: Given, where: str = "") -> list[Row]:
        given["organization"] = self._organization
        return self._connection.execute(statement(name, where), given).fetchall()

    def each(self, name: str, given: Given) -> Iterator[Row]:
        return iter(self.rows(name, given))

    def rows_of(self, name: str, ids: Iterable[str | int], by: int = 0) -> list[Row]:
        wanted = list(ids)
        return self.rows(name, {"ids": array_of(wanted)}) if wanted else []

    def run(self, name: str, given: Given, where: str = "") -> int:
        given["organization"] = self._organization
        self._standing.changed = True
        return self._connection.execute(statement(name, where), given).rowcount

    def insert(self, name: str, values: Row) -> int:
        self._standing.changed = True
        return self._connection.execute(statement(name), values).rowcount

    def run_many(self, name: str, rows: Sequence[Row] | Sequence[Given]) -> int:
        """Run the statement for all rows without waiting for each."""
        for row in rows:
            if isinstance(row, dict):
                row["organization"] = self._organization
        self._standing.changed = True
        with self._connection.cursor() as cursor:
            if len(rows) == 1:
                # Not as a pipeline, after which a server does not count how long it is left alone:
                # should the commit get lost, it would hold its locks for ever.
                return cursor.execute(statement(name), rows[0]).rowcount
            cursor.executemany(statement(name), rows)
            return cursor.rowcount

    def packed(self, items: Iterable[str | int]) -> str:
        return array_of(items)
