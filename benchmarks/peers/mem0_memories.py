"""mem0: `add(..., infer=False)` and `search(...)`, with our embedder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="unused")

from mem0 import Memory  # type: ignore[import-not-found]
from mem0.embeddings.base import EmbeddingBase  # type: ignore[import-not-found]

from benchmarks.corpus import Fact
from benchmarks.peers.port import TOP, Embedder

USER = "bench"


class _Ours(EmbeddingBase):  # type: ignore[misc]
    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector: list[float] = self._embedder.embed([text])[0].tolist()
        return vector


class _Mem0:
    provider: str

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        os.environ["MEM0_DIR"] = str(folder)
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {
                    "provider": self.provider,
                    "config": {
                        "collection_name": "bench",
                        "path": str(folder / self.provider),
                        "embedding_model_dims": embedder.dimensions,
                        **self._more(),
                    },
                },
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Ours(embedder)

    def _more(self) -> dict[str, Any]:
        return {}

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

    def _more(self) -> dict[str, Any]:
        return {"on_disk": True}  # otherwise it empties the folder when it opens


class OnFaiss(_Mem0):
    provider = "faiss"

    def _more(self) -> dict[str, Any]:
        return {"distance_strategy": "cosine"}
