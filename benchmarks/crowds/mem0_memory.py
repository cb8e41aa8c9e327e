"""mem0 on pgvector: `add(..., infer=False)`, `update` and `search`, with our embedder."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mem0.utils.lemmatization import lemmatize_for_bm25  # type: ignore[import-not-found]

from benchmarks.corpus import Fact
from benchmarks.crowds.port import CONNECTIONS, EMBEDDER, PROBE, TOP, Plain, check_alike
from incumbent.search.embedders import load
from incumbent_eval.adapters.mem0_memory import COLLECTION, opened


class Mem0(Plain):
    options = ""

    def __init__(self, url: str, folder: Path) -> None:
        self._embedder = load(EMBEDDER)
        address = f"{url}&options={quote(self.options)}" if self.options else url
        config = {"connection_string": address, "minconn": 1, "maxconn": CONNECTIONS}
        self._memory: Any = opened(folder, "pgvector", self._embedder, config)
        self._pool: Any = self._memory.vector_store.connection_pool
        self._ids: dict[str, str] = {}

    def prepare(self) -> None:
        self._add("written", PROBE)  # its first call makes its table
        self.load("copied", [PROBE])
        with self._pool.connection() as connection:
            rows = connection.execute(
                "SELECT payload - '{user_id,created_at,updated_at}'::text[], vector::text "
                f"FROM {COLLECTION}"
            ).fetchall()
            check_alike(rows)
            connection.execute(f"DELETE FROM {COLLECTION}")

    def load(self, organization: str, facts: Sequence[Fact]) -> None:
        vectors = self._embedder.embed([fact.text for fact in facts])
        with (
            self._pool.connection() as connection,
            connection.cursor() as cursor,
            cursor.copy(f"COPY {COLLECTION} (id, vector, payload) FROM STDIN") as copy,
        ):
            for fact, vector in zip(facts, vectors, strict=True):
                payload = json.dumps(_payload(organization, fact))
                copy.write_row((str(uuid.uuid4()), str(vector.tolist()), payload))

    def write(self, organization: str, fact: Fact) -> None:
        known = self._ids.get(fact.key)
        if known is not None:
            self._memory.update(known, fact.text)
        else:
            self._ids[fact.key] = self._add(organization, fact)

    def _add(self, organization: str, fact: Fact) -> str:
        [made] = self._memory.add(
            fact.text, user_id=organization, metadata={"number": fact.number}, infer=False
        )["results"]
        return str(made["id"])

    def ask(self, organization: str, question: str) -> Any:
        found = self._memory.search(question, filters={"user_id": organization}, top_k=TOP)
        return found["results"]

    def holds(self, organization: str, answer: Any, fact: Fact) -> bool:
        return any(found["metadata"]["number"] == fact.number for found in answer)

    def count(self, answer: Any) -> int:
        return len(answer)

    def close(self) -> None:
        self._pool.close()
        self._memory.close()


class Iterative(Mem0):
    """With an index that goes on looking until the filter has left enough."""

    options = "-c hnsw.iterative_scan=relaxed_order"


def _payload(organization: str, fact: Fact) -> dict[str, Any]:
    """What mem0 keeps with a vector."""
    now = datetime.now(UTC).isoformat()
    return {
        "user_id": organization,
        "number": fact.number,
        "role": "user",
        "data": fact.text,
        "hash": hashlib.md5(fact.text.encode()).hexdigest(),
        "created_at": now,
        "updated_at": now,
        "text_lemmatized": lemmatize_for_bm25(fact.text),
    }
