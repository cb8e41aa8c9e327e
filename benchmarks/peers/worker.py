"""One system in a process of its own, pinned to one core, told what to do line by line.

Each request and each answer is one line of JSON. Times are taken here, around the system's own
calls, so that neither pipes nor JSON are in them.

    open   {"system", "folder", "embedder", "vectors"}
    load   {"start", "stop"}          -> {"seconds"}
    ask    {"number"}                 -> {"seconds", "processor", "right", "tokens", "parts"}
    phases {"numbers"}                -> {"phases": {...}}, of ours
    weigh  {}                         -> {"memory_mb", "file_mb"}
    pace   {"batch", "batches"}       -> {"embedding": [...], "writing": [...], "texts"}
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import psutil  # type: ignore[import-untyped]

from benchmarks import corpus
from benchmarks.peers import KINDS
from benchmarks.peers.handover import HandedOver, read_rows
from benchmarks.peers.port import Embedder, System


class Worker:
    """Carries out requests on the system it opened."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._system: Any = None

    def open(self, system: str, folder: str, embedder: str, vectors: str) -> dict[str, Any]:
        # Imported here: the names of the embedders are ours, their packages need not be.
        from incumbent.search.embedders import load

        kind = KINDS[system]
        self._live: Embedder = load(embedder)
        self._embedder = HandedOver(self._live)
        self._live.embed(["warm"])
        self._vectors = Path(vectors) if vectors else None
        self._folder = Path(folder)
        module = importlib.import_module(f"benchmarks.peers.{kind.module}")
        system_made: System = getattr(module, kind.maker)(self._folder, self._embedder)
        self._system = system_made
        self._empty = self._memory()
        return {"dimensions": self._live.dimensions}

    def load(self, start: int, stop: int) -> dict[str, Any]:
        facts = list(corpus.facts(start, stop))
        rows = read_rows(self._vectors, start, stop, self._live.dimensions)
        if len(rows) == len(facts):
            self._embedder.know(facts, rows)
        begin = time.perf_counter()
        self._system.load(facts)
        seconds = time.perf_counter() - begin
        self._embedder.know([], rows[:0])
        self._embedder.asked.clear()
        return {"seconds": seconds}

    def ask(self, number: int) -> dict[str, Any]:
        fact = corpus.fact(number)
        begin, worked = time.perf_counter(), time.process_time()
        answer = self._system.ask(fact.question)
        seconds, processor = time.perf_counter() - begin, time.process_time() - worked
        return {
            "seconds": seconds,
            "processor": processor,
            "right": self._system.holds(answer, fact),
            "tokens": self._system.tokens(answer),
            "parts": getattr(self._system, "parts", None),
        }

    def phases(self, numbers: list[int]) -> dict[str, Any]:
        asked = [corpus.fact(number).question for number in numbers]
        return {"phases": self._system.phases(asked)}

    def weigh(self) -> dict[str, Any]:
        gc.collect()
        files = [path for path in self._folder.rglob("*") if path.is_file()]
        return {
            "memory_mb": self._memory(),
            "memory_empty_mb": self._empty,
            "file_mb": sum(path.stat().st_size for path in files) / 1e6,
        }

    def pace(self, batch: int, batches: int) -> dict[str, Any]:
        """Write batches with all their indexing; after each, embed bare what it had embedded.

        The texts are the system's own, since it decides what of a fact is embedded, and the facts
        are chosen so that no two can share one: a text that was remembered would cost nothing.
        """
        facts = corpus.distinct()
        embedding, writing, texts = [], [], 0
        for _ in range(batches):
            chosen = list(islice(facts, batch))
            self._embedder.asked.clear()
            begin = time.perf_counter()
            self._system.load(chosen)
            between = time.perf_counter()
            own = list(self._embedder.asked)
            again = time.perf_counter()
            self._live.embed(own)
            embedding.append(time.perf_counter() - again)
            writing.append(between - begin)
            texts += len(own)
        return {"embedding": embedding, "writing": writing, "texts": texts}

    def close(self) -> None:
        if self._system is not None:
            self._system.close()

    def _memory(self) -> float:
        return float(self._process.memory_info().rss) / 1e6


def serve(worker: Any, requests: TextIO, answers: TextIO) -> None:
    """Have a worker carry out requests, each by the method it names, until there are no more."""
    for line in requests:
        request = json.loads(line)
        do = request.pop("do")
        try:
            answer = getattr(worker, do)(**request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    worker.close()


def answers_apart() -> TextIO:
    """Where answers go. Some peers print notices; they must not end up among the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def main() -> None:
    os.sched_setaffinity(0, {int(sys.argv[1])})
    serve(Worker(), sys.stdin, answers_apart())


if __name__ == "__main__":
    main()
