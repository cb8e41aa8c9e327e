"""A hostile organization on a service: by how much it delays another one.

A service of its own (`incumbent serve`) on a SQLite file with two organizations, each with a key.
One works: a client that asks for contexts and observes turns, one after the other. The other does
its worst with many clients at once: contexts over notes of a megabyte, facts of half a megabyte and
thousands of dead values, with small budgets and the largest, calls with as many turns as one takes,
and large writes. The calls of the one that works are timed alone and beside it, by turns in the
same run, because machines are noisy.

Then the same with guests who send turns of 4 kB of every text that may cost more than its length.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

from rich.table import Table

import incumbent
from benchmarks import corpus
from benchmarks.figures import Target
from benchmarks.service import Connection, Tell, served
from incumbent.keys import make_key
from tests.trust.texts import NUMBERED, REPEATED, numbered, repeated

FACTS = 1_000
CLIENTS = 24
SECONDS = 5.0
ROUNDS = 4
BUDGET = 1_000
KINDS = ("context", "observe", "write")
_TURN = 4_096
_WARMING = 2.0
_STARTING = 120.0
_NOTES = (20, 990_000)
_LARGE = (40, 490_000)
_DEAD = (5, 500)
_HIGHEST = 32_000


@dataclass
class Report:
    """What the calls of the organization that works took, in seconds, by kind."""

    facts: int
    processes: int
    most: float = 2.0
    """How many times as long a call may take."""
    alone: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    beside: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    hostile: dict[int, int] = field(default_factory=dict)
    """How many calls of the other were answered with which status."""

    def ratio(self, kind: str) -> float:
        """How many times as long a call takes beside it, at the median."""
        return statistics.median(self.beside[kind]) / statistics.median(self.alone[kind])

    def slowdown(self, kind: str) -> float:
        """The same of the mean, in which few long waits count, too."""
        return statistics.fmean(self.beside[kind]) / statistics.fmean(self.alone[kind])

    def plain(self) -> dict[str, Any]:
        sides = {"alone": self.alone, "beside": self.beside}
        return {
            "facts": self.facts,
            "processes": self.processes,
            "ms": {
                name: {
                    kind: [at(times, share) for share in (0.5, 0.95)]
                    for kind, times in side.items()
                }
                for name, side in sides.items()
            },
            "ratio": {kind: self.ratio(kind) for kind in KINDS},
            "slowdown": {kind: self.slowdown(kind) for kind in KINDS},
            "hostile": self.hostile,
        }


def at(times: list[float], share: float) -> float:
    """Milliseconds that this share of the calls stayed under."""
    return 1e3 * sorted(times)[min(len(times) - 1, int(share * len(times)))]


def fill(path: Path, facts: int) -> dict[str, str]:
    """Both organizations, and a key for each."""
    choose = random.Random(1)
    words = [f"{fact.key} {fact.value}" for fact in corpus.facts(0, 2_000)]

    def text(length: int) -> str:
        return " ".join(choose.choices(words, k=length // 20))[:length]

    keys = {}
    with incumbent.open(path, settings=incumbent.Settings(embedder="static")) as memory:
        for name, rung in (("calm", "manager"), ("hostile", "manager"), ("guests", "guest")):
            made, keys[name] = make_key(
                organization=name,
                name=name,
                scopes=("read", "write"),
                max_authority=rung,
                now=datetime.now(UTC),
            )
            memory.store.add_key(made)
        calm = memory.session(user_id="ann", organization="calm", session_id="s")
        calm.write_many(
            {"key": fact.key, "value": fact.value, "subject": fact.subject}
            for fact in corpus.facts(0, facts)
        )
        hostile = memory.session(user_id="mallory", organization="hostile", session_id="s")
        for number in range(_DEAD[0]):
            hostile.write("plans", [f"plan {number} {one} b" for one in range(_DEAD[1])])
        hostile.write("plans", ["none"])
        for number in range(_NOTES[0]):
            hostile.note(f"note_{number}", text(_NOTES[1]))
            dead = (f"plan {number % _DEAD[0]} {one} b" for one in range(_DEAD[1]))
            hostile.note(f"quoting_{number}", " ".join(dead))
        for number in range(_LARGE[0]):
            hostile.write(f"fact_{number}", text(_LARGE[1]))
    return keys


def calls(facts: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the organization that works asks for, without end."""
    session = {"user_id": "ann", "session_id": "s"}
    for number, asked in enumerate(cycle(corpus.questions(facts))):
        yield "context", {"session": session, "query": asked.question, "budget": BUDGET}
        if number % 4 == 0:
            said = f"My budget for project {number} is ${100 + number}."
            # A session of its own, so that the turns of the run do not add up in the contexts.
            yield "observe", {"session": {"user_id": "ann", "session_id": "t"}, "text": said}
            yield "write", {"session": session, "key": f"project {number}", "value": number}


def attacks() -> list[tuple[str, bytes]]:
    """What the other one sends, ready to be sent."""
    session = {"user_id": "mallory", "session_id": "s"}
    turn = {"role": "user", "content": "The plan is plan 3 77 b and the budget is $500. " * 3}
    asked: list[tuple[str, dict[str, Any]]] = [
        ("context", {"query": "What is the plan?", "budget": 1_000}),
        ("context", {"query": "plan budget " * 2_000, "budget": 4_000, "history": True}),
        ("context", {"query": "What is the plan?", "budget": _HIGHEST, "explain": True}),
        ("observe_many", {"turns": [turn] * 100}),
        ("write", {"key": "fact_1", "value": "plan 4 4 b " * 40_000}),
    ]
    return [(name, json.dumps({"session": session, **body}).encode()) for name, body in asked]


def texts() -> list[tuple[str, bytes]]:
    """Turns of guests, each of another person."""
    turns = [*map(repeated, REPEATED), *map(numbered, NUMBERED)]
    bodies = (
        {
            "session": {"user_id": f"guest {number}", "authority": "guest", "session_id": "s"},
            "text": made(_TURN),
        }
        for number, made in enumerate(turns)
    )
    return [("observe", json.dumps(body).encode()) for body in bodies]


ATTACKS = {"hostile": attacks, "guests": texts}


def _attack(port: int, who: str, key: str, clients: int, begun: Any, stop: Any, told: Any) -> None:
    """Many clients of the hostile organization, in a process of their own."""
    statuses: dict[int, int] = {}

    async def client(number: int) -> None:
        connection = Connection(port, key)
        prepared = ATTACKS[who]()
        first = number * len(prepared) // min(clients, len(prepared)) % len(prepared)
        for name, body in cycle(prepared[first:] + prepared[:first]):
            if stop.is_set():
                return
            try:
                status = await connection.post(f"/v1/{name}", body)
            except (OSError, asyncio.IncompleteReadError):
                status, connection = 0, Connection(port, key)
            statuses[status] = statuses.get(status, 0) + 1
            if status == 200:
                begun.set()  # it is being worked for: only from here on is anything timed
            if status == 429:
                await asyncio.sleep(0.05)

    async def together() -> None:
        tasks = [asyncio.ensure_future(client(number)) for number in range(clients)]
        while not stop.is_set():
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(together())
    told.put(statuses)


async def _timed(port: int, key: str, facts: int, seconds: float) -> dict[str, list[float]]:
    """The organization that works, one call after the other."""
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    connection = Connection(port, key)
    begin = time.monotonic() + min(_WARMING, seconds)
    for kind, body in calls(facts):
        started = time.monotonic()
        if started >= begin + seconds:
            break
        status = await connection.post(f"/v1/{kind}", body)
        if status != 200:
            raise RuntimeError(f"the organization that works got status {status}")
        if started >= begin:
            found[kind].append(time.monotonic() - started)
    connection.close()
    return found


def measure(
    tell: Tell,
    *,
    facts: int = FACTS,
    seconds: float = SECONDS,
    rounds: int = ROUNDS,
    processes: int = 1,
    who: str = "hostile",
) -> Report:
    """Alone and beside the other, by turns."""
    report = Report(facts, processes, 1.5 if who == "guests" else 2.0)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder:
        path = Path(folder) / "hostile.db"
        tell("two organizations are filled ...")
        keys = fill(path, facts)
        with served(path, "static", processes) as (port, _):
            for number in range(rounds):
                tell(f"round {number + 1} of {rounds} ...")
                _add(report.alone, asyncio.run(_timed(port, keys["calm"], facts, seconds)))
                begun, stop, told = context.Event(), context.Event(), context.SimpleQueue()
                given = (port, who, keys[who], CLIENTS, begun, stop, told)
                attacker = context.Process(target=_attack, args=given)
                attacker.start()
                try:
                    if not begun.wait(_STARTING):
                        raise RuntimeError("no call of the hostile organization was answered")
                    _add(report.beside, asyncio.run(_timed(port, keys["calm"], facts, seconds)))
                finally:
                    stop.set()
                    statuses = told.get()
                    attacker.join()
                for status, count in statuses.items():
                    report.hostile[status] = report.hostile.get(status, 0) + count
                time.sleep(_WARMING)  # what was begun is finished
    return report


def _add(to: dict[str, list[float]], found: dict[str, list[float]]) -> None:
    for kind, times in found.items():
        to[kind].extend(times)


def table(report: Report) -> Table:
    made = Table(title=f"An organization of {report.facts:,} facts beside a hostile one")
    for heading in ("call", "alone p50/p95 ms", "beside p50/p95 ms", "of p50", "of mean"):
        made.add_column(heading, justify="right")
    for kind in KINDS:
        sides = (report.alone[kind], report.beside[kind])
        shown = (f"{at(times, 0.5):.1f} / {at(times, 0.95):.1f}" for times in sides)
        ratios = (f"{ratio:.2f}×" for ratio in (report.ratio(kind), report.slowdown(kind)))
        made.add_row(kind, *shown, *ratios)
    return made


def remarks(report: Report) -> Iterator[str]:
    answered = ", ".join(f"{count} × {status}" for status, count in sorted(report.hostile.items()))
    yield f"Answers to the hostile organization, {CLIENTS} clients at once: {answered or 'none'}"


def targets_of(report: Report) -> list[Target]:
    """No more than so many times as long."""
    return [Target(f"{kind} beside / alone", report.ratio(kind), report.most) for kind in KINDS]
