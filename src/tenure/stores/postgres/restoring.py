"""Rows as they are inserted, and many of them at once: an organization that arrives whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from tenure.model.fact import Fact
from tenure.model.verdict import Verdict
from tenure.stores.codec import KeptFact, KeptTenure
from tenure.stores.columns import FACT_COLUMNS, TENURE, VERDICT
from tenure.stores.rows import content_values, index_values, tenure_values, verdict_values

Given = dict[str, Any]

_BATCH = 1000


def fact_row(fact: Fact, born: int, since: int, now: datetime) -> Given:
    """What a fact takes in its table; `now` is when its present tenure was recorded."""
    values = (*content_values(fact), *tenure_values(fact), born, since)
    return dict(zip(FACT_COLUMNS, (*values, *index_values(fact, now)), strict=True))


def verdict_row(verdict: Verdict) -> Given:
    """What an entry of the log takes in its table."""
    return dict(zip(VERDICT, verdict_values(verdict), strict=True))


def legs(fact: Fact) -> Iterator[Given]:
    """What a derived fact rests on."""
    for base, stands_on in fact.basis:
        leg = {"fact_id": fact.id, "base_id": base, "stands_on": stands_on}
        yield {**leg, "owner": fact.owner}


class Batches:
    """Rows of an organization that arrives, held back until there are enough for one go.

    Nothing in these tables refers to a row of another that would have to be there before.
    """

    def __init__(self, run_many: Callable[[str, Sequence[Given]], None]) -> None:
        self._run_many = run_many
        self._waiting: dict[str, list[Given]] = defaultdict(list)
        self.last: Verdict | None = None
        """The last entry of the log that came by."""

    def add(self, kept: KeptFact | KeptTenure | Verdict) -> None:
        """Take in one of them."""
        if isinstance(kept, KeptFact):
            self._put("restore_fact", fact_row(kept.fact, kept.born, kept.since, kept.changed_at))
            for leg in legs(kept.fact):
                self._put("insert_dependency", leg)
        elif isinstance(kept, KeptTenure):
            named = dict(zip(TENURE, tenure_values(kept.fact), strict=True))
            span = {"id": kept.fact.id, "since": kept.since, "until": kept.until}
            self._put("insert_tenure", {**named, **span, "owner": kept.fact.owner})
        else:
            # The log comes before the facts: whose each entry is shows at the end.
            self._put("insert_verdict", {**verdict_row(kept), "owner": ""})
            for target in kept.targets:
                self._put("insert_target", {"target_id": target, "fact_id": kept.fact_id})
            self.last = kept

    def finish(self) -> None:
        """Write what is still held back."""
        for name in list(self._waiting):
            self._write(name)

    def _put(self, name: str, given: Given) -> None:
        rows = self._waiting[name]
        rows.append(given)
        if len(rows) >= _BATCH:
            self._write(name)

    def _write(self, name: str) -> None:
        rows = self._waiting.pop(name)
        self._run_many(name, rows)
