"""The log, the declarations and the proofs of erasures, read from a database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from incumbent.model.records import Declaration, Erasure
from incumbent.model.verdict import Verdict
from incumbent.stores import codec
from incumbent.stores.sql.connection import BoundConnection
from incumbent.stores.sql.rows import verdict_of


class SQLLog(BoundConnection):
    """The verdicts of one organization."""

    _load_declarations: Callable[[], tuple[Declaration, ...]]
    _declared: tuple[Declaration, ...] | None

    def verdict(self, verdict_id: str) -> Verdict | None:
        rows = self.rows("verdict", {"id": verdict_id})
        return verdict_of(rows[0]) if rows else None

    def verdicts(self, fact_ids: Iterable[str]) -> list[Verdict]:
        return [verdict_of(row) for row in self.rows_of("verdicts", fact_ids, by=1)]

    def verdicts_by_id(self, verdict_ids: Iterable[str]) -> list[Verdict]:
        return [verdict_of(row) for row in self.rows_of("verdicts_by_id", verdict_ids, by=1)]

    def log(self, after: int, limit: int) -> list[Verdict]:
        return [verdict_of(row) for row in self.rows("log", {"after": after, "limit": limit})]

    def log_before(self, before: int, limit: int) -> list[Verdict]:
        rows = self.rows("log_before", {"before": before, "limit": limit})
        return [verdict_of(row) for row in rows]

    def naming(self, fact_ids: Iterable[str]) -> list[str]:
        return [row[0] for row in self.rows_of("naming", fact_ids)]

    def declarations(self) -> tuple[Declaration, ...]:
        if self._declared is None:
            self._declared = self._load_declarations()
        return self._declared

    def erasures(self, after: str = "") -> list[Erasure]:
        rows = self.rows("erasures", {"after": after})
        return [codec.erasure_from_record(json.loads(row[0])) for row in rows]
