"""Many rows at once: an organization that arrives whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from incumbent.model.fact import Fact
from incumbent.model.verdict import Verdict
from incumbent.stores.codec import KeptFact, KeptTenure
from incumbent.stores.sql.columns import TENURE
from incumbent.stores.sql.connection import Given
from incumbent.stores.sql.rows import fact_values, tenure_values, verdict_values

_BATCH = 1000


def legs(fact: Fact) -> Iterator[Given]:
    """The facts that a fact rests on, and those that it doubts, as rows: a doubt stands nowhere."""
    for base, stands_on in (*fact.basis, *((doubted, "") for doubted in fact.doubts)):
        leg = {"fact_id": fact.id, "base_id": base, "stands_on": stands_on}
        yield {**leg, "owner": fact.owner}


class Batches:
    """Rows of an arriving organization, held back until there are enough for one go.

    Nothing in these tables refers to a row of another that would have to be there before.
    """

    def __init__(self, run_many: Callable[[str, list[Any]], int]) -> None:
        self._run_many = run_many
        self._waiting: dict[str, list[Any]] = defaultdict(list)
        self.last: Verdict | None = None
        """The last entry of the log so far."""

    def add(self, kept: KeptFact | KeptTenure | Verdict) -> None:
        """Take in one of the records."""
        if isinstance(kept, KeptFact):
            row = fact_values(kept.fact, kept.born, kept.since, kept.changed_at)
            self._put("restore_fact", row)
            for leg in legs(kept.fact):
                self._put("insert_dependency", leg)
        elif isinstance(kept, KeptTenure):
            named = dict(zip(TENURE, tenure_values(kept.fact), strict=True))
            span = {"id": kept.fact.id, "since": kept.since, "until": kept.until}
            self._put("insert_tenure", {**named, **span, "owner": kept.fact.owner})
        else:
            self._put("restore_verdict", verdict_values(kept))
            for target in kept.targets:
                self._put("insert_target", {"target_id": target, "fact_id": kept.fact_id})
            self.last = kept

    def finish(self) -> None:
        """Write the rows that are still held back."""
        for name in list(self._waiting):
            self._write(name)

    def _put(self, name: str, row: Any) -> None:
        rows = self._waiting[name]
        rows.append(row)
        if len(rows) >= _BATCH:
            self._write(name)

    def _write(self, name: str) -> None:
        rows = self._waiting.pop(name)
        self._run_many(name, rows)
