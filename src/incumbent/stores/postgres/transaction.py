"""Reading and writing one organization of a PostgreSQL database, inside a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from psycopg import errors as pg

from incumbent.model.fact import Address, Fact
from incumbent.model.records import Declaration
from incumbent.model.times import from_micros, to_micros
from incumbent.model.verdict import Verdict
from incumbent.stores.port import FactFilter, Matter, Name, NameColumn, Selection, TenureChange
from incumbent.stores.postgres.connections import Connection
from incumbent.stores.postgres.kept import RevisionReads
from incumbent.stores.postgres.passages import PostgresPassages
from incumbent.stores.postgres.reading import KeptReading
from incumbent.stores.postgres.sql import array_of
from incumbent.stores.postgres.standing import Standing
from incumbent.stores.sql.rows import address_values, fact_of, verdict_values
from incumbent.stores.sql.transaction import SQLTransaction


class PostgresTransaction(KeptReading, PostgresPassages, SQLTransaction):
    """One connection inside BEGIN ... COMMIT, bound to an organization."""

    conflict = pg.UniqueViolation

    def __init__(
        self,
        connection: Connection,
        organization: str,
        standing: Standing,
        declarations: Callable[[], tuple[Declaration, ...]],
        kept: RevisionReads | None = None,
    ) -> None:
        """`kept` is what was read of this revision before; None where this transaction writes."""
        super().__init__(organization, declarations)
        self._connection = connection
        self._standing = standing
        self._kept = kept

    # reading

    @contextmanager
    def _planned_without(self, step: str) -> Iterator[None]:
        """Run a step without some plans. Until the planner has counted, it takes an organization
        that has just arrived for a small one, and sorts or compares all of it for a few rows."""
        self.rows("advise", {"setting": f"enable_{step}", "value": "off"})
        yield
        self.rows("advise", {"setting": f"enable_{step}", "value": "on"})

    def head(self) -> tuple[int, datetime | None]:
        recorded = self._standing.recorded_at
        return self._standing.seq, None if recorded is None else from_micros(recorded)

    def seq_at(self, moment: datetime) -> int:
        return int(self.rows("entry_at", {"moment": to_micros(moment)})[0][0])

    def live_at(self, addresses: Iterable[Address]) -> list[Fact]:
        wanted = list(map(address_values, dict.fromkeys(addresses)))
        names = ("owners", "subjects", "keys", "scopes", "scope_ids")
        columns = map(array_of, zip(*wanted, strict=True))
        rows = self.rows("live_at", dict(zip(names, columns, strict=True))) if wanted else ()
        return [fact_of(row) for row in rows]

    def met(self, owners: tuple[str, ...], matters: Iterable[Matter]) -> set[Matter]:
        wanted = list(dict.fromkeys(matters))
        if not wanted or not owners:
            return set()
        keys, subjects = map(array_of, zip(*wanted, strict=True))
        given = {"owners": array_of(owners), "keys": keys, "subjects": subjects}
        return {(key, subject) for key, subject in self.rows("met", given)}

    def retracted(self, owners: tuple[str, ...], limit: int) -> list[Fact]:
        return self._select("retracted", Selection(owners), limit=limit)

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        with self._planned_without("sort"):
            return super().unindexed(limit, after)

    def users(self, after: str, prefix: str, limit: int) -> list[str]:
        with self._planned_without("sort"):
            return super().users(after, prefix, limit)

    def names(
        self,
        column: NameColumn,
        owners: tuple[str, ...] | None,
        after: Name | None,
        prefix: str,
        limit: int,
    ) -> list[Name]:
        with self._planned_without("sort"):
            return super().names(column, owners, after, prefix, limit)

    def recorded(
        self, wanted: FactFilter, before: tuple[datetime, str] | None, limit: int
    ) -> list[Fact]:
        if wanted.key is not None or wanted.subject:
            return super().recorded(wanted, before, limit)
        with self._planned_without("sort"):
            return super().recorded(wanted, before, limit)

    # writing

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        known = dict(vars(self._standing))
        with super().taken_back():
            yield
        vars(self._standing).update(known)

    def _append(
        self, verdict: Verdict, new: Sequence[Fact], changed: Sequence[TenureChange]
    ) -> None:
        near = (*new, *(after for _, after in changed))
        owner = next((fact.owner for fact in near if fact.id == verdict.fact_id), None)
        if owner is None:
            found = self.rows("owner", {"id": verdict.fact_id})
            owner = found[0][0] if found else ""
        self.insert("insert_verdict", (*verdict_values(verdict), owner))
        self._stand_at(verdict)

    def _append_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        rows = [(*verdict_values(verdict), fact.owner) for verdict, fact in entries]
        self.run_many("insert_verdict", rows)
        self._stand_at(entries[-1][0])

    def _stand_at(self, verdict: Verdict) -> None:
        """Note that the log ends with this verdict now."""
        self._standing.seq = verdict.seq
        self._standing.recorded_at = to_micros(verdict.recorded_at)

    def declare(self, declaration: Declaration) -> None:
        self.run("new_declaration_version", {})
        super().declare(declaration)

    def drop_keys(self, user_id: str) -> int:
        if not self.rows("has_keys", {})[0][0]:
            return 0  # an older schema, on which nobody has made one
        return super().drop_keys(user_id)

    def _note_erasure(self) -> None:
        # Late in the transaction: whoever erases elsewhere waits for this row until the commit.
        self.run("new_erasure_version", {})

    def told(self, error: Exception) -> str:
        assert isinstance(error, pg.UniqueViolation)
        return error.diag.message_detail or str(error.diag.message_primary)

    def _settle(self, last: Verdict | None) -> None:
        with self._planned_without("nestloop"):
            self.run("own_verdicts", {})
        if last is not None:
            self._stand_at(last)
