"""Contexts alone over HTTP: how many a service gives for each core that it keeps busy.

200 clients ask a service with a process for each core, each question once. What counts is the
processor's time of the service: the clients are on the same machine, and others may be.

Its memory is looked at twelve times or more, at least once a minute: with `--seconds 600` for ten
minutes. What it keeps is bounded, so it has to become level.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from rich.table import Table

from benchmarks import corpus
from benchmarks.figures import Target
from benchmarks.service import (
    BUDGET,
    CLIENTS,
    FACTS,
    ORGANIZATIONS,
    Connection,
    Load,
    Tell,
    fill,
    memory_of,
    name_of,
    served,
)

_WARMING = 10.0
_LOOKS = 12
_MINUTE = 60.0


@dataclass
class Answers:
    """What a service with a process for each core gave."""

    load: Load
    processor: float
    """Seconds of the processor that all its processes took meanwhile."""

    @property
    def per_core(self) -> float:
        """Contexts for each second of a core that it kept busy."""
        return len(self.load.times["context"]) / self.processor

    @property
    def spread(self) -> float:
        """p99 as a multiple of p50."""
        return self.load.at("context", 0.99) / self.load.at("context", 0.5)

    def plain(self) -> dict[str, Any]:
        return {"per_core": self.per_core, "spread": self.spread, **self.load.plain()}


def _questions(client: int, facts: int) -> Iterator[str]:
    """What one client asks, without end and never twice."""
    asked = [one.question for one in corpus.questions(facts)]
    for number in range(1_000_000_000):
        yield corpus.anew(asked[(client + number) % len(asked)], f"{client}-{number}")


async def _client(client: int, port: int, facts: int, begin: float, end: float, load: Load) -> None:
    connection = Connection(port)
    who = f"client-{client}"
    session = {"user_id": who, "organization": name_of(client % ORGANIZATIONS), "session_id": who}
    for question in _questions(client, facts):
        started = time.monotonic()
        if started >= end:
            break
        body = {"session": session, "query": question, "budget": BUDGET}
        try:
            status = await connection.post("/v1/context", body)
        except (OSError, asyncio.IncompleteReadError):
            status, connection = 0, Connection(port)
        ended = time.monotonic()
        if started >= begin and ended <= end:
            if status == 200:
                load.times["context"].append(ended - started)
            else:
                load.errors += 1
    connection.close()


def _clients(port: int, count: int, facts: int, seconds: float, warming: float) -> Load:
    load = Load("contexts")
    load.seconds = seconds

    async def together() -> None:
        begin = time.monotonic() + warming
        given = (begin, begin + seconds, load)
        await asyncio.gather(*(_client(number, port, facts, *given) for number in range(count)))

    asyncio.run(together())
    return load


def _spent(process: psutil.Process) -> float:
    told = [one.cpu_times() for one in (process, *process.children())]
    return float(sum(one.user + one.system for one in told))


def answers(
    path: Path,
    *,
    clients: int,
    facts: int,
    seconds: float,
    embedder: str,
    processes: int,
    tell: Tell,
) -> Answers:
    """The clients in a process of their own, and what the service took meanwhile."""
    context = multiprocessing.get_context("spawn")
    with served(path, embedder, processes) as (port, process), context.Pool(1) as pool:
        given = (port, clients, facts, seconds, _WARMING)
        running = pool.apply_async(_clients, given)
        time.sleep(_WARMING)
        before, began, memory = _spent(process), time.monotonic(), []
        while (left := seconds - (time.monotonic() - began)) > 0:
            memory.append(memory_of(process))
            tell(f"contexts over HTTP: {memory[-1]:.0f} MB ...")
            running.wait(min(left, seconds / _LOOKS, _MINUTE))
        memory.append(memory_of(process))
        spent = _spent(process) - before
        load = running.get()
    load.memory_mb = memory
    return Answers(load, spent)


def measure(
    tell: Tell, *, clients: int = CLIENTS, facts: int = FACTS, seconds: float, embedder: str
) -> list[Answers]:
    """What a service gives over a file that is filled first."""
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder:
        path = Path(folder) / "filled.db"
        fill(path, facts, embedder, tell)
        asked: dict[str, Any] = {"clients": clients, "facts": facts, "seconds": seconds}
        asked |= {"embedder": embedder, "tell": tell}
        return [answers(path, processes=os.cpu_count() or 1, **asked)]


def table(found: list[Answers]) -> Table:
    made = Table(title=f"contexts over HTTP, {os.cpu_count()} processes")
    for heading in ("", "for each core", "a second", "errors", "p50/p95/p99 ms", "MB by time"):
        made.add_column(heading, justify="right")
    for one in found:
        load = one.load
        waits = " / ".join(f"{load.at('context', share):.0f}" for share in (0.5, 0.95, 0.99))
        start, middle, end = sampled(load.memory_mb)
        memory = f"{start:.0f}, {middle:.0f}, {end:.0f}"
        made.add_row(
            *(load.name, f"{one.per_core:.0f}", f"{load.per_second:.0f}", str(load.errors)),
            *(waits, memory),
        )
    return made


def sampled(memory: list[float]) -> tuple[float, float, float]:
    """At the start, in the middle and at the end."""
    return memory[0], memory[len(memory) // 2], memory[-1]


def remarks(found: list[Answers]) -> Iterator[str]:
    """All looks at the memory."""
    for one in found:
        told = ", ".join(f"{megabytes:.0f}" for megabytes in one.load.memory_mb)
        yield (
            f"{one.load.name}: MB of all processes of the service, at equal times over "
            f"{one.load.seconds:.0f} s: {told}"
        )


def targets_of(found: list[Answers]) -> list[Target]:
    """At least 400 for each core, p99 within three times p50, and memory that does not grow."""
    return [
        target
        for one in found
        for target in (
            Target(f"{one.load.name}: 400 a core / measured", 400 / one.per_core, 1),
            Target(f"{one.load.name}: p99 / p50", one.spread, 3),
            Target(
                f"{one.load.name}: memory at the end / at half-time",
                sampled(one.load.memory_mb)[2] / sampled(one.load.memory_mb)[1],
                1.1,
            ),
        )
    ]
