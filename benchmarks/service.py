"""Many clients on one service: how much gets done over HTTP, against the same calls in a process.

A service of its own (`incumbent serve`) on a SQLite file, and 200 clients on loopback from a second
process: four out of five calls ask for a context, one observes a turn. Beside it, in the same run
and on a copy of the same file, as many threads of one process that make the same calls.
"""

from __future__ import annotations

import asyncio
import json
import math
import multiprocessing
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from rich.table import Table

import incumbent
from benchmarks import corpus
from benchmarks.figures import Target

CLIENTS = 200
SECONDS = 120.0
ORGANIZATIONS = 2
FACTS = 10_000
BUDGET = 1_000
OBSERVED = 0.2
_BATCH = 500
_WARMING = 8.0
_LISTENS = re.compile(r"at (http://127\.0\.0\.1:(\d+))")
Tell = Callable[[str], None]


@dataclass
class Load:
    """What clients got done in some seconds."""

    name: str
    seconds: float = 0.0
    times: dict[str, list[float]] = field(default_factory=lambda: {"context": [], "observe": []})
    errors: int = 0
    memory_mb: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        return sum(map(len, self.times.values())) / self.seconds

    def at(self, kind: str, share: float) -> float:
        """Milliseconds that this share of the calls stayed under; nan if there were too few."""
        if len(self.times[kind]) < 2:
            return math.nan
        return 1e3 * statistics.quantiles(self.times[kind], n=1000)[round(share * 1000) - 1]

    def plain(self) -> dict[str, Any]:
        return {
            "per_second": self.per_second,
            "calls": {kind: len(times) for kind, times in self.times.items()},
            "errors": self.errors,
            "ms": {
                kind: {share: self.at(kind, share) for share in (0.5, 0.95, 0.99)}
                for kind in self.times
            },
            "memory_mb": self.memory_mb,
        }


@dataclass(frozen=True)
class Call:
    """What a client asks for next."""

    kind: str
    organization: str
    user: str
    text: str


def calls(client: int, facts: int) -> Iterator[Call]:
    """What one client asks for, without end; the same for the same client."""
    choose = random.Random(client)
    asked = corpus.questions(facts)
    organization = name_of(client % ORGANIZATIONS)
    for turn in range(client, 1_000_000_000):
        if choose.random() < OBSERVED:
            text = f"My budget for project {choose.randrange(40)} is ${choose.randrange(100, 900)}."
            yield Call("observe", organization, f"client-{client}", text)
        else:
            question = asked[turn % len(asked)].question
            yield Call("context", organization, f"client-{client}", question)


def name_of(number: int) -> str:
    return f"organization-{number}"


def fill(path: Path, facts: int, embedder: str, tell: Tell) -> None:
    """Organizations with facts that everybody in them may read."""
    with incumbent.open(path, settings=incumbent.Settings(embedder=embedder)) as memory:
        for number in range(ORGANIZATIONS):
            session = memory.session(
                user_id="filler", authority="manager", organization=name_of(number)
            )
            told = list(corpus.facts(0, facts))
            for start in range(0, facts, _BATCH):
                session.write_many(
                    {
                        "key": fact.key,
                        "value": fact.value,
                        "subject": fact.subject,
                        "memory_type": "organizational",
                    }
                    for fact in told[start : start + _BATCH]
                )
                tell(f"{name_of(number)}: {start + _BATCH:,} of {facts:,} facts ...")


# over HTTP


@contextmanager
def served(path: Path, embedder: str, processes: int) -> Iterator[tuple[int, psutil.Process]]:
    """A service on that file: its port and its process."""
    command = [sys.executable, "-m", "incumbent.cli", "serve", "--db", str(path)]
    command += ["--port", "0", "--embedder", embedder, "--log", "warning"]
    command += ["--processes", str(processes)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            if not line:
                raise RuntimeError("the service did not start")
            found = _LISTENS.search(line)
        drain = threading.Thread(target=process.stderr.read, daemon=True)
        drain.start()
        try:
            yield int(found[2]), psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait(60)


class Connection:
    """A connection that is kept open: as little of a client as there can be, so that what is
    measured is the service."""

    def __init__(self, port: int, key: str | None = None) -> None:
        self._port = port
        self._shown = "" if key is None else f"Authorization: Bearer {key}\r\n"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: dict[str, Any] | bytes) -> int:
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        assert self._reader is not None
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"{self._shown}Content-Length: {len(content)}\r\n\r\n"
        )
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        status = int(answer.split(b" ", 2)[1])
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        await self._reader.readexactly(int(length[1]) if length else 0)
        return status

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


async def _client(number: int, port: int, facts: int, begin: float, end: float, load: Load) -> None:
    connection = Connection(port)
    for call in calls(number, facts):
        if time.monotonic() >= end:
            break
        session = {"user_id": call.user, "organization": call.organization, "session_id": call.user}
        body: dict[str, Any] = {"session": session}
        if call.kind == "context":
            body |= {"query": call.text, "budget": BUDGET}
        else:
            body |= {"text": call.text}
        started = time.monotonic()
        try:
            status = await connection.post(f"/v1/{call.kind}", body)
        except (OSError, asyncio.IncompleteReadError):
            status, connection = 0, Connection(port)
        ended = time.monotonic()
        if started >= begin and ended <= end:
            if status == 200:
                load.times[call.kind].append(ended - started)
            else:
                load.errors += 1
    connection.close()


def _clients(port: int, count: int, facts: int, seconds: float, warming: float) -> Load:
    """All clients, on one loop, for a while; what they do first is not counted."""
    load = Load("over HTTP", seconds)

    async def together() -> None:
        begin = time.monotonic() + warming
        end = begin + seconds
        await asyncio.gather(
            *(_client(number, port, facts, begin, end, load) for number in range(count))
        )

    asyncio.run(together())
    return load


def over_http(
    path: Path,
    *,
    clients: int,
    facts: int,
    seconds: float,
    embedder: str,
    tell: Tell,
    processes: int = 1,
) -> Load:
    """The clients in a process of their own, and what the service's memory did meanwhile."""
    context = multiprocessing.get_context("spawn")
    with served(path, embedder, processes) as (port, process), context.Pool(1) as pool:
        running = pool.apply_async(_clients, (port, clients, facts, seconds, _WARMING))
        time.sleep(_WARMING)
        memory = []
        while not running.ready():
            memory.append(memory_of(process))
            tell(f"over HTTP: {memory[-1]:.0f} MB ...")
            running.wait(seconds / 12)
        load = running.get()
    load.memory_mb = memory[:-1] or memory
    if processes > 1:
        load.name += f", {processes} processes"
    return load


def memory_of(process: psutil.Process) -> float:
    """Of it and those it has started, in MB; what they share is counted for each."""
    rss: int = sum(one.memory_info().rss for one in (process, *process.children()))
    return rss / 1e6


# in one process


def _in_process(path: str, count: int, facts: int, seconds: float, embedder: str) -> Load:
    load = Load("in one process", seconds)
    lock = threading.Lock()
    with incumbent.open(path, settings=incumbent.Settings(embedder=embedder)) as memory:
        begin = time.monotonic() + _WARMING
        end = begin + seconds

        def work(number: int) -> None:
            for call in calls(number, facts):
                started = time.monotonic()
                if started >= end:
                    return
                session = memory.session(
                    user_id=call.user, organization=call.organization, session_id=call.user
                )
                if call.kind == "context":
                    session.context(call.text, budget=BUDGET)
                else:
                    session.observe(call.text)
                ended = time.monotonic()
                if started >= begin and ended <= end:
                    with lock:
                        load.times[call.kind].append(ended - started)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return load


@dataclass
class Report:
    """Both sides of a run."""

    clients: int
    facts: int
    served: Load
    called: Load
    side_by_side: Load
    """The same service, with a process for each core."""

    def plain(self) -> dict[str, Any]:
        return {
            "clients": self.clients,
            "facts": self.facts,
            "over_http": self.served.plain(),
            "in_process": self.called.plain(),
            "side_by_side": self.side_by_side.plain(),
        }


def measure(
    tell: Tell,
    *,
    clients: int = CLIENTS,
    facts: int = FACTS,
    seconds: float = SECONDS,
    embedder: str = "minilm",
) -> Report:
    """Both sides, one after the other, on equal files."""
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder:
        ours, other, third = (Path(folder) / f"{name}.db" for name in ("served", "called", "more"))
        fill(ours, facts, embedder, tell)
        shutil.copyfile(ours, other)
        shutil.copyfile(ours, third)
        tell(f"{clients} threads in one process ...")
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            given = (str(other), clients, facts, min(seconds, SECONDS / 2), embedder)
            called = pool.apply(_in_process, given)
        asked: Any = {"clients": clients, "facts": facts, "embedder": embedder, "tell": tell}
        over = over_http(ours, seconds=seconds, **asked)
        cores = os.cpu_count() or 1
        more = over_http(third, seconds=min(seconds, SECONDS / 2), processes=cores, **asked)
    return Report(clients, facts, over, called, more)


def table(report: Report) -> Table:
    made = Table(title=f"{report.clients} clients, {report.facts:,} facts an organization")
    for heading in ("", "calls a second", "errors", "context p50/p95/p99 ms", "observe ms"):
        made.add_column(heading, justify="right")
    for load in (report.served, report.called, report.side_by_side):
        made.add_row(
            load.name,
            f"{load.per_second:.0f}",
            str(load.errors),
            *(
                " / ".join(f"{load.at(kind, share):.0f}" for share in (0.5, 0.95, 0.99))
                for kind in ("context", "observe")
            ),
        )
    return made


def remarks(report: Report) -> Iterator[str]:
    memory = report.served.memory_mb
    if memory:
        yield (
            f"Memory of the service: {memory[0]:.0f} MB at first, {max(memory):.0f} MB at most, "
            f"{memory[-1]:.0f} MB at the end ({os.cpu_count()} cores)"
        )


def targets_of(report: Report) -> list[Target]:
    """No error, at least 60 % of the calls in one process, and memory that does not grow."""
    memory = report.served.memory_mb
    half = memory[len(memory) // 2 :] or [0.0]
    first = memory[: len(memory) // 2] or half
    return [
        Target("errors over HTTP", report.served.errors, 0, ""),
        Target(
            "in process / over HTTP", report.called.per_second / report.served.per_second, 1 / 0.6
        ),
        Target("memory, second half / first half", max(half) / max(first), 1.1),
    ]
