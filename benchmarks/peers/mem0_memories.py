"""mem0: `add(..., infer=False)` and `search(...)`, with our embedder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus import Fact
from benchmarks.peers.port import TOP, Embedder
from incumbent_eval.adapters.mem0_memory import opened

USER = "bench"


class _Mem0:
    provider: str

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._memory: Any = opened(folder, self.provider, embedder)

    def load(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self._memory.add(fact.text, user_id=USER, metadata={"number": fact.number}, infer=False)

    def ask(self, question: str) -> object:
        return self._memory.search(question, filters={"user_id": USER}, top_k=TOP)["results"]

    def holds(self, answer: Any, fact: Fact) -> bool:
        return any(found["metadata"]["number"] == fact.number for found in answer)

    def tokens(self, answer: object) -> int | None:
        return None

    def close(self) -> None:
        self._memory.close()


class OnQdrant(_Mem0):
    provider = "qdrant"


class OnFaiss(_Mem0):
    provider = "faiss"
