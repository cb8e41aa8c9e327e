"""Incumbent's side of the measurements, interleaved with the bare ones so that noise hits both."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import incumbent
from benchmarks import bare, corpus, phases

BATCH = 250
SINGLE_WRITES = 500
ROUNDS = 25
READS_PER_ROUND = 400


ENGINE = incumbent.Settings(indexing=False)
"""The engine by itself."""
INDEXED = incumbent.Settings(embedder="static")
PHASED = 40  # batches


class Taken(NamedTuple):
    """Medians for one fact of a batch, in microseconds: by the clock, and of the processor."""

    clock: float
    processor: float


def key_of(index: int) -> str:
    return f"customer.{index}.city"


def session_on(
    path: Path, settings: incumbent.Settings = ENGINE
) -> tuple[incumbent.Memory, incumbent.Session]:
    memory = incumbent.open(path, settings=settings)
    return memory, memory.session(user_id="bench", authority="manager", organization="acme")


def loads(ours: Path, theirs: Path, lean: Path, size: int) -> tuple[Taken, Taken, Taken]:
    """Load facts in batches of one transaction each, ours, bare and lean in turn. Medians."""
    memory, session = session_on(ours)
    incumbent.open(theirs).close()  # the same schema
    connection = bare.connect(theirs)
    order = list(range(size))
    random.Random(7).shuffle(order)
    plain = bare.make_lean(lean)
    mine, bares, leans = [], [], []
    for start in range(0, size, BATCH):
        batch = order[start : start + BATCH]
        writes = [{"key": key_of(index), "value": f"City number {index}"} for index in batch]
        mine.append(taken(len(batch), session.write_many, writes))
        facts, verdicts = bare.rows_of(ours, start, len(batch))
        bares.append(taken(len(batch), bare.write_batch, connection, facts, verdicts))
        rows = [(f"{row}-{i}", key_of(i), f"City number {i}") for i in batch for row in "fv"]
        leans.append(taken(len(batch), bare.write_lean, plain, rows))
    plain.close()
    connection.close()
    memory.close()
    return medians(mine), medians(bares), medians(leans)


def indexed_loads(ours: Path, theirs: Path, size: int) -> tuple[Taken, Taken]:
    """The same with the index and the `static` embedder, on the texts that contexts are measured
    on, ours and bare in turn. Medians.

    Bare are the very rows of facts, verdicts, entries and postings, as Incumbent made them: nobody
    embeds, or takes a text apart, for them.
    """
    memory, session = session_on(ours, INDEXED)
    session.write("warm", "up")  # loads the embedder
    incumbent.open(theirs).close()
    connection = bare.connect(theirs)
    mine, bares = [], []
    for start in range(0, size, BATCH):
        count = min(BATCH, size - start)
        mine.append(taken(count, session.write_many, corpus_writes(start, count)))
        rows = (*bare.rows_of(ours, start + 1, count), *bare.index_rows_of(ours, start + 1, count))
        bares.append(taken(count, bare.write_indexed_batch, connection, *rows))
    connection.close()
    memory.close()
    return medians(mine), medians(bares)


def corpus_writes(start: int, count: int) -> list[dict[str, Any]]:
    """Writes of facts of the corpus: keys, subjects and texts as people have them."""
    found = corpus.facts(start, start + count)
    return [{"key": fact.key, "value": fact.value, "subject": fact.subject} for fact in found]


def phases_of_writing(path: Path, size: int) -> dict[str, float]:
    """Where the time goes of the next batches into an indexed file: microseconds a fact, of the
    processor, by phase. Timing takes time itself, so read the shares."""
    memory, session = session_on(path, INDEXED)
    batches = min(PHASED, max(1, size // BATCH))
    session.write_many(corpus_writes(size, BATCH))  # what is loaded at first use is loaded
    given = [corpus_writes(size + (1 + n) * BATCH, BATCH) for n in range(batches)]
    with phases.timed(phases.WRITING) as spent:
        for writes in given:
            session.write_many(writes)
    memory.close()
    return {phase: seconds * 1e6 / BATCH / batches for phase, seconds in spent.items()}


def taken(count: int, operation: Callable[..., object], *given: Any) -> Taken:
    """What an operation on so many facts takes for each."""
    clock, processor = time.perf_counter(), time.process_time()
    operation(*given)
    processor, clock = time.process_time() - processor, time.perf_counter() - clock
    return Taken(clock * 1e6 / count, processor * 1e6 / count)


def medians(times: list[Taken]) -> Taken:
    return Taken(*map(statistics.median, zip(*times, strict=True)))


def timed(operation: Callable[[], object]) -> float:
    """Microseconds."""
    begin = time.perf_counter()
    operation()
    return (time.perf_counter() - begin) * 1e6


def single_writes(ours: Path, theirs: Path, scratch: Path) -> tuple[float, float]:
    """Durable writes one by one into files of the same size; ours and bare in turn. Medians."""
    count = SINGLE_WRITES
    memory, session = session_on(scratch)
    for index in range(count):
        session.write(f"single.{index}", f"Value {index}")
    memory.close()
    facts, verdicts = bare.rows_of(scratch, 0, count)
    memory, session = session_on(ours)
    connection = bare.connect(theirs)
    offset = connection.execute("SELECT max(seq) FROM verdicts").fetchone()[0]
    # The same rows, renumbered to follow what the file holds.
    verdicts = [(row[0], row[1] + offset, *row[2:]) for row in verdicts]
    mine, bares = [], []
    for index in range(count):
        key, value = f"single.{index}", f"Value {index}"
        mine.append(timed(lambda key=key, value=value: session.write(key, value)))  # type: ignore[misc]
        fact, verdict = facts[index : index + 1], verdicts[index : index + 1]
        bares.append(timed(lambda f=fact, v=verdict: bare.write_batch(connection, f, v)))  # type: ignore[misc]
    connection.close()
    memory.close()
    return statistics.median(mine), statistics.median(bares)


def reads(path: Path, size: int) -> tuple[float, float]:
    """`current()` of random keys against one SELECT by the full address, on the same file."""
    memory, session = session_on(path)
    connection = bare.connect(path)
    choose = random.Random(11)
    mine, bares = [], []
    for _ in range(ROUNDS):
        keys = [key_of(choose.randrange(size)) for _ in range(READS_PER_ROUND)]
        begin = time.perf_counter()
        for key in keys:
            session.current(key)
        mine.append((time.perf_counter() - begin) / len(keys) * 1e6)
        begin = time.perf_counter()
        for key in keys:
            address = ("acme", "bench", key, "", "global", "")
            connection.execute(bare.SELECT, address).fetchone()
        bares.append((time.perf_counter() - begin) / len(keys) * 1e6)
    connection.close()
    memory.close()
    return statistics.median(mine), statistics.median(bares)


PROBE = """
import re, resource, sys, incumbent
from pathlib import Path
session = incumbent.open(sys.argv[1]).session(user_id="bench", organization="acme")
assert session.current(sys.argv[2]) is not None
status = Path("/proc/self/status")  # elsewhere it may be the figure of whoever started this
own = re.search(r"VmHWM:\\s+(\\d+)", status.read_text()) if status.exists() else None
print(own[1] if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_memory(path: Path, size: int) -> float:
    """Megabytes at most resident in a fresh process that opens the file and reads one address."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(path), key_of(size // 2)],
        check=True,
        capture_output=True,
        text=True,
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return int(done.stdout) * unit / 1e6
