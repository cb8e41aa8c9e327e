"""The ledger: what models are asked is paid from an organization's budget, and counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from incumbent.model.records import Usage
from incumbent.reading.asked.asking import Ask, Trouble
from incumbent.reading.asked.config import LLM
from incumbent.stores.port import Store
from incumbent.telemetry.port import Telemetry

_BYTES_PER_TOKEN = 3
"""Fewer than any tokenizer needs for prose, so that what is set aside is rarely too little."""


@dataclass
class OrganizationLedger:
    """The budget of one organization for one day, shared by every process on the store.

    What a request may take is set aside before it is made, in a transaction of its own, and
    replaced by what it took afterwards: however many ask at once, the budget holds.
    """

    _store: Store
    _organization: str
    _llm: LLM
    _now: Callable[[], datetime]
    _model: str
    _turns: int
    _telemetry: Telemetry | None
    _reserved: Usage | None = None

    def reserve(self, ask: Ask) -> None:
        day = self._now().date()
        size = len(ask.instructions.encode()) + len(ask.data.encode())
        into, out = size // _BYTES_PER_TOKEN + 1, ask.max_output_tokens
        micros = self._llm.cost(into, out)
        taking = Usage(
            day, self._model, calls=1, input_tokens=into, output_tokens=out, micros=micros
        )
        with self._store.write(self._organization) as transaction:
            used = transaction.usage(day)
            calls, tokens = sum(one.calls for one in used), sum(one.tokens for one in used)
            _check(calls, 1, self._llm.calls_per_day, "calls")
            _check(tokens, taking.tokens, self._llm.tokens_per_day, "tokens")
            cost = sum(one.cost for one in used)
            _check(cost, taking.cost, self._llm.cost_per_day, "in money")
            transaction.count_usage(taking)
        self._reserved = taking

    def settle(self, *, tokens: tuple[int, int] | None, failed: bool) -> None:
        reserved, self._reserved = self._reserved, None
        if reserved is None:
            return
        # Nobody knows what a request took that got no answer: it may have been read, and paid for.
        used_in, used_out = tokens if tokens is not None else (reserved.input_tokens, 0)
        done = replace(
            reserved,
            calls=0,
            failed=int(failed),
            turns=0 if failed else self._turns,
            input_tokens=used_in - reserved.input_tokens,
            output_tokens=used_out - reserved.output_tokens,
            micros=self._llm.cost(used_in, used_out) - reserved.micros,
        )
        with self._store.write(self._organization) as transaction:
            transaction.count_usage(done)
        if self._telemetry is not None:
            used = (used_in, used_out)
            self._telemetry.asked(self._model, self._organization, used, failed)


def _check(used: float, wanted: float, limit: float | None, what: str) -> None:
    if limit is not None and used + wanted > limit:
        raise Trouble(
            "budget", f"the budget of {limit:,} {what} a day is exhausted ({used:,} used)"
        )
