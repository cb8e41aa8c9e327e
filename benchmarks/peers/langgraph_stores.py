"""LangGraph's two local stores, filled in batches and searched by similarity."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.store.base import PutOp

from benchmarks.corpus import Fact
from benchmarks.peers.port import TOP, Embedder
from incumbent_eval.adapters.langgraph_store import index_with

NAMESPACE = ("bench", "facts")


class _Store:
    _store: Any

    def load(self, facts: Sequence[Fact]) -> None:
        self._store.batch(
            [PutOp(NAMESPACE, str(fact.number), {"text": fact.text}) for fact in facts]
        )

    def ask(self, question: str) -> object:
        return self._store.search(NAMESPACE, query=question, limit=TOP)

    def holds(self, answer: Any, fact: Fact) -> bool:
        return any(found.key == str(fact.number) for found in answer)

    def tokens(self, answer: object) -> int | None:
        return None

    def close(self) -> None:
        pass


class InMemory(_Store):
    def __init__(self, folder: Path, embedder: Embedder) -> None:
        store = importlib.import_module("langgraph.store.memory")
        self._store = store.InMemoryStore(index=index_with(embedder))


class OnSqlite(_Store):
    def __init__(self, folder: Path, embedder: Embedder) -> None:
        # Many builds of Python have an sqlite3 that loads no extensions, and this store needs one.
        sys.modules["sqlite3"] = importlib.import_module("pysqlite3")
        store = importlib.import_module("langgraph.store.sqlite")
        self._opened = store.SqliteStore.from_conn_string(
            str(folder / "store.db"), index=index_with(embedder)
        )
        self._store = self._opened.__enter__()
        self._store.setup()

    def close(self) -> None:
        self._opened.__exit__(None, None, None)
