"""LangGraph's PostgresStore: items under keys in namespaces, searched by similarity."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.store.postgres import PostgresStore

from benchmarks.corpus import Fact
from benchmarks.crowds.port import EMBEDDER, PROBE, TOP, Plain, check_alike
from incumbent.search.embedders import load
from incumbent_eval.adapters.langgraph_store import index_with


class LangGraph(Plain):
    def __init__(self, url: str, folder: Path) -> None:
        self._embedder = load(EMBEDDER)
        self._opened = PostgresStore.from_conn_string(url, index=index_with(self._embedder))
        self._store: Any = self._opened.__enter__()

    def prepare(self) -> None:
        self._store.setup()
        self.load("copied", [PROBE])
        self._store.put(("written",), str(PROBE.number), {"text": PROBE.text})
        rows = self._store.conn.execute(
            "SELECT to_jsonb(store) - '{prefix,created_at,updated_at}'::text[] AS item, "
            "to_jsonb(store_vectors) - '{prefix,created_at,updated_at}'::text[] AS vector "
            "FROM store JOIN store_vectors USING (prefix, key)"
        ).fetchall()
        check_alike(rows)
        self._store.conn.execute("DELETE FROM store")

    def load(self, organization: str, facts: Sequence[Fact]) -> None:
        vectors = self._embedder.embed([fact.text for fact in facts])
        with self._store.conn.transaction(), self._store.conn.cursor() as cursor:
            with cursor.copy("COPY store (prefix, key, value) FROM STDIN") as copy:
                for fact in facts:
                    told = json.dumps({"text": fact.text})
                    copy.write_row((organization, str(fact.number), told))
            to = "COPY store_vectors (prefix, key, field_name, embedding) FROM STDIN"
            with cursor.copy(to) as copy:
                for fact, vector in zip(facts, vectors, strict=True):
                    told = str(vector.tolist())
                    copy.write_row((organization, str(fact.number), "text", told))

    def write(self, organization: str, fact: Fact) -> None:
        self._store.put((organization,), fact.key, {"text": fact.text})

    def ask(self, organization: str, question: str) -> Any:
        return self._store.search((organization,), query=question, limit=TOP)

    def holds(self, organization: str, answer: Any, fact: Fact) -> bool:
        return any(found.key == str(fact.number) for found in answer)

    def count(self, answer: Any) -> int:
        return len(answer)

    def close(self) -> None:
        self._opened.__exit__(None, None, None)
