"""The two searches that a context is made of, with nothing around them."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Fact
from benchmarks.peers.port import TOP, Embedder, Vectors

RAREST = 3
FREQUENT = 0.1


class Bare:
    """An FTS5 table over the very texts, and their vectors in one matrix."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self._embedder = embedder
        self._connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE VIRTUAL TABLE texts USING fts5(text);"
            "CREATE VIRTUAL TABLE words USING fts5vocab(texts, row);"
        )
        self._matrix: Vectors = np.empty((0, embedder.dimensions), dtype=np.float32)
        self._numbers: list[int] = []
        self.parts: dict[str, float] = {}
        """Seconds that the parts of the last question took."""

    def load(self, facts: Sequence[Fact]) -> None:
        vectors = self._embedder.embed([fact.text for fact in facts])
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO texts(rowid, text) VALUES (?, ?)",
            [(fact.number + 1, fact.text) for fact in facts],
        )
        self._connection.execute("COMMIT")
        self._append(vectors)
        self._numbers += [fact.number for fact in facts]

    def _append(self, vectors: Vectors) -> None:
        have, needed = len(self._numbers), len(self._numbers) + len(vectors)
        if needed > len(self._matrix):
            grown = np.empty((max(needed, 2 * len(self._matrix)), vectors.shape[1]), np.float32)
            grown[:have] = self._matrix[:have]
            self._matrix = grown
        self._matrix[have:needed] = vectors

    def rarest(self, question: str) -> str:
        """The question's rarest words that occur at all, as a MATCH expression.

        Words of more than a tenth of all facts are pruned, unless there are no others.
        """
        found = []
        for word in set(re.findall(r"\w+", question.lower())):
            row = self._connection.execute(
                "SELECT doc FROM words WHERE term = ?", (word,)
            ).fetchone()
            if row is not None:
                found.append((row[0], word))
        telling = [one for one in found if one[0] <= FREQUENT * len(self._numbers)]
        return " OR ".join(f'"{word}"' for _, word in sorted(telling or found)[:RAREST])

    def ask(self, question: str) -> tuple[list[int], list[int]]:
        begin = time.perf_counter()
        expression = self.rarest(question)
        chosen = time.perf_counter()
        by_text = self._match(expression)
        matched = time.perf_counter()
        vector = self._embedder.embed([question])[0]
        embedded = time.perf_counter()
        by_vector = self._nearest(vector)
        done = time.perf_counter()
        # Choosing words is not the bare query; it is left out of the figure that we answer to.
        self.parts = {
            "choosing": chosen - begin,
            "text": matched - chosen,
            "embedding": embedded - matched,
            "vectors": done - embedded,
        }
        return by_text, by_vector

    def _match(self, expression: str) -> list[int]:
        if not expression:
            return []
        rows = self._connection.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (expression, TOP)
        )
        return [row[0] - 1 for row in rows]

    def _nearest(self, vector: Vectors) -> list[int]:
        scores: NDArray[np.float32] = self._matrix[: len(self._numbers)] @ vector
        if len(scores) > TOP:
            best = np.argpartition(scores, -TOP)[-TOP:]
        else:
            best = np.arange(len(scores))
        return [self._numbers[row] for row in best[np.argsort(-scores[best])]]

    def holds(self, answer: tuple[list[int], list[int]], fact: Fact) -> bool:
        return fact.number in answer[0] or fact.number in answer[1]

    def tokens(self, answer: object) -> int | None:
        return None

    def close(self) -> None:
        self._connection.close()
