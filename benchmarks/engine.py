"""Tenure's side of the measurements, interleaved with the bare ones so that noise hits both."""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tenure
from benchmarks import bare

BATCH = 250
SINGLE_WRITES = 500
ROUNDS = 25
READS_PER_ROUND = 400


# The engine by itself: what an index costs on top of it is measured with the contexts.
ENGINE = tenure.Settings(indexing=False)


def key_of(index: int) -> str:
    return f"customer.{index}.city"


def session_on(path: Path) -> tuple[tenure.Memory, tenure.Session]:
    memory = tenure.open(path, settings=ENGINE)
    return memory, memory.session(user_id="bench", authority="manager", organization="acme")


def loads(ours: Path, theirs: Path, lean: Path, size: int) -> tuple[float, float, float]:
    """Load facts in batches of one transaction each, ours, bare and lean in turn. Medians."""
    memory, session = session_on(ours)
    tenure.open(theirs).close()  # the same schema
    connection = bare.connect(theirs)
    order = list(range(size))
    random.Random(7).shuffle(order)
    plain = bare.make_lean(lean)
    mine, bares, leans = [], [], []
    for start in range(0, size, BATCH):
        batch = order[start : start + BATCH]
        writes = [{"key": key_of(index), "value": f"City number {index}"} for index in batch]
        mine.append(timed(lambda writes=writes: session.write_many(writes)) / len(batch))  # type: ignore[misc]
        facts, verdicts = bare.rows_of(ours, start, len(batch))
        bares.append(
            timed(lambda f=facts, v=verdicts: bare.write_batch(connection, f, v)) / len(batch)  # type: ignore[misc]
        )
        rows = [(f"{row}-{i}", key_of(i), f"City number {i}") for i in batch for row in "fv"]
        leans.append(timed(lambda rows=rows: bare.write_lean(plain, rows)) / len(batch))  # type: ignore[misc]
    plain.close()
    connection.close()
    memory.close()
    return statistics.median(mine), statistics.median(bares), statistics.median(leans)


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
import resource, sys, tenure
session = tenure.open(sys.argv[1]).session(user_id="bench", organization="acme")
assert session.current(sys.argv[2]) is not None
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
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
