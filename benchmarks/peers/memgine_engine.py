"""memgine, as the statebench package carries it: facts in as events, a context out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.corpus import Fact
from benchmarks.peers.port import BUDGET, Embedder
from incumbent_eval import peers
from incumbent_eval.adapters.base import tokenizer

_timeline: Any = peers.module("schema.timeline")
_ENCODING = tokenizer("cl100k_base")
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Memgine:
    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._engine: Any = peers.baseline("memgine", BUDGET)

    def load(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            key = f"{fact.subject}.{fact.key}" if fact.subject else fact.key
            write = _timeline.Write(
                id=f"F-{fact.number}", layer="persistent_facts", key=key, value=fact.value
            )
            at = _BEGIN + timedelta(seconds=fact.number)
            self._engine.process_event(_timeline.StateWrite(ts=at, writes=[write]))

    def ask(self, question: str) -> object:
        return self._engine.build_context(question)

    def holds(self, answer: Any, fact: Fact) -> bool:
        return f"F-{fact.number}" in answer.get_included_fact_ids()

    def tokens(self, answer: Any) -> int | None:
        return len(_ENCODING.encode(answer.context))

    def close(self) -> None:
        pass
