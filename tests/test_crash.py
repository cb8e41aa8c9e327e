"""A writer killed at any moment: what it acknowledged is there, and nothing is there by half.

The writer tells over a pipe what it is about to do, and acknowledges it right after the call
returned. One thing no test can tell apart from outside: a commit whose acknowledgement was cut
off by the kill. So at most the one operation in flight may be there besides what was
acknowledged, and then it must be there whole.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import incumbent
from tests.conftest import SOAK, examples
from tests.patience import PATIENCE
from tests.stores.invariants import findings
from tests.stores.processes import CONTEXT

FILES = examples(10, soak=60, least=2)
KILLS_PER_FILE = 50 if SOAK else 25
KINDS = ("single", "supersession", "supersession", "batch", "batch", "undo", "forget", "note")
BATCH = 8
BIG = 120
PADDING = "." * 3000  # so that a batch is many pages, and a kill falls into the writing of them


class Operation(NamedTuple):
    """Something the writer does, in words that the test can check afterwards."""

    kind: str
    values: tuple[str, ...] = ()
    target: str = ""
    """The verdict to undo, or the fact to forget."""


class Writer:
    """Runs in the child: does one random operation after another until it is killed."""

    def __init__(self, session: incumbent.Session, memory: incumbent.Memory, seed: int) -> None:
        self.session = session
        self.memory = memory
        self.chance = random.Random(seed)
        self.name = f"w{seed}"
        self.count = 0
        self.written: list[incumbent.Verdict] = []

    def plan(self) -> Operation:
        kind = self.chance.choice(KINDS)
        if kind in ("undo", "forget") and not self.written:
            kind = "single"
        self.count += 1
        if kind == "undo":
            return Operation(kind, (), self.written.pop(0).id)
        if kind == "forget":
            return Operation(kind, (), self.written.pop(0).fact_id)
        size = BATCH if kind == "batch" else 1
        return Operation(kind, tuple(f"{self.name}-{self.count}-{i}" for i in range(size)))

    def carry_out(self, operation: Operation) -> dict[str, str]:
        """Returns the fact id of every value written."""
        if operation.kind == "undo":
            self.session.undo(operation.target)
            return {}
        if operation.kind == "forget":
            self.memory.forget(organization="acme", fact_id=operation.target)
            return {}
        if operation.kind == "note":
            self.session.note("scratch", operation.values[0])
            return {}
        if operation.kind == "batch":
            verdicts = self.session.write_many(
                [{"key": f"part {i}", "value": v + PADDING} for i, v in enumerate(operation.values)]
            )
        else:
            key = "status" if operation.kind == "supersession" else operation.values[0]
            verdicts = [self.session.write(key, operation.values[0] + PADDING)]
        self.written.extend(verdicts)
        return dict(zip(operation.values, (v.fact_id for v in verdicts), strict=True))


def write_until_killed(path: Path, pipe: Connection, seed: int, durability: Any) -> None:
    """The child. Says what it will do, does it, and acknowledges it."""
    settings = incumbent.Settings(durability=durability, embedder="static")
    with incumbent.open(path, settings=settings) as memory:
        session = memory.session(
            user_id="alice", authority="manager", organization="acme", session_id="s1"
        )
        writer = Writer(session, memory, seed)
        pipe.send("open")
        while True:
            operation = writer.plan()
            pipe.send(operation)
            pipe.send(writer.carry_out(operation))


@dataclass
class Expected:
    """What must be in the file, by what was acknowledged so far."""

    entries: int = 0
    values: dict[str, str] = field(default_factory=dict)
    withdrawn: set[str] = field(default_factory=set)
    forgotten: set[str] = field(default_factory=set)
    note: str | None = None

    def add(self, operation: Operation, written: dict[str, str]) -> None:
        self.entries += entries_of(operation)
        self.values |= {fact_id: value for value, fact_id in written.items()}
        if operation.kind == "undo":
            self.withdrawn.add(operation.target)
        elif operation.kind == "forget":
            self.forgotten.add(operation.target)
        elif operation.kind == "note":
            self.note = operation.values[0]


def entries_of(operation: Operation) -> int:
    """How many entries of the log an operation makes."""
    return 0 if operation.kind == "note" else max(1, len(operation.values))


def kill_a_writer(
    path: Path, expected: Expected, chance: random.Random, seed: int, durability: str
) -> Operation | None:
    """Start a writer, kill it somewhere, take in what it said. Returns what was in flight."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(
        target=write_until_killed, args=(path, theirs, seed, durability), daemon=True
    )
    child.start()
    theirs.close()
    said: list[Any] = []
    took = 0.01
    for _ in range(chance.randrange(0, 24)):
        began = time.monotonic()
        assert ours.poll(60), "the writer hangs"
        try:
            said.append(ours.recv())
        except EOFError:
            break
        took = max(took / 2, time.monotonic() - began)
    # Anywhere within an operation as long as the last ones, its commit included.
    time.sleep(chance.uniform(0, 1.2 * took))
    child.kill()
    child.join()
    killed = child.exitcode
    child.close()
    while True:
        try:
            said.append(ours.recv())
        except EOFError:
            break
    ours.close()
    assert killed == -9, f"the writer died by itself (status {killed}); it last said {said[-1:]}"
    return take_in(said[1:], expected)


def take_in(said: list[Any], expected: Expected) -> Operation | None:
    """Add every operation that was acknowledged; give back the one that was not."""
    for operation, written in zip(said[::2], said[1::2], strict=False):
        expected.add(operation, written)
    return said[-1] if len(said) % 2 else None


def check(path: Path, expected: Expected, in_flight: Operation | None) -> None:
    """The file opens, is sound, and holds what was acknowledged, and at most one thing more."""
    with incumbent.open(path) as memory:
        assert findings(memory, "acme") == []
        session = memory.session(
            user_id="alice", authority="manager", organization="acme", session_id="s1"
        )
        settle_in_flight(memory, session, expected, in_flight)
        with memory.store.read("acme") as reader:
            assert reader.head()[0] == expected.entries
            found = {fact_id: reader.fact(fact_id) for fact_id in expected.values}
            for verdict_id in expected.withdrawn:
                verdict = reader.verdict(verdict_id)
                assert verdict is not None
                assert verdict.undone_by is not None
        for fact_id, fact in found.items():
            assert fact is not None
            if fact_id in expected.forgotten:
                assert fact.status is incumbent.Status.ERASED
                assert session.get(fact_id) is None
            else:
                assert fact.value == expected.values[fact_id] + PADDING
        assert [item.value for item in session.working_set()] == (
            [expected.note] if expected.note else []
        )
        assert session.write("still", "works").fact is not None
        expected.entries += 1


def settle_in_flight(
    memory: incumbent.Memory,
    session: incumbent.Session,
    expected: Expected,
    in_flight: Operation | None,
) -> None:
    """If the operation in flight made it, it is there whole; then it counts from now on."""
    with memory.store.read("acme") as reader:
        extra = reader.head()[0] - expected.entries
        last = reader.log(expected.entries, 100)
        values = {}
        for verdict in last:
            fact = reader.fact(verdict.fact_id)
            assert fact is not None
            values[str(fact.value).removesuffix(PADDING)] = fact.id
    if in_flight is None:
        assert extra == 0
        return
    if in_flight.kind == "note":
        assert extra == 0
        notes = [item.value for item in session.working_set()]
        if notes == list(in_flight.values):
            expected.note = in_flight.values[0]
        return
    assert extra in (0, entries_of(in_flight)), f"{in_flight} is there by half"
    if extra:
        if in_flight.values:
            assert set(values) == set(in_flight.values)
        expected.add(in_flight, values if in_flight.values else {})


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(FILES))
def test_a_killed_writer_leaves_what_it_acknowledged(store_path: Path, seed: int) -> None:
    """After every SIGKILL the file opens, holds all that was acknowledged, and nothing by half."""
    chance = random.Random(seed)
    durability = ("process", "full")[seed % 2]
    expected = Expected()
    for kill in range(KILLS_PER_FILE):
        in_flight = kill_a_writer(store_path, expected, chance, seed * 1000 + kill, durability)
        check(store_path, expected, in_flight)
    assert expected.entries > KILLS_PER_FILE


def write_a_big_batch(path: Path, pipe: Connection) -> None:
    """The child. More than fits into SQLite's cache, so that pages go out before the commit."""
    with incumbent.open(
        path, settings=incumbent.Settings(durability="process", embedder="static")
    ) as memory:
        session = memory.session(user_id="alice", organization="acme")
        session.write("before", "kept")
        writes = [{"key": f"page {i}", "value": "abcdefgh"[i % 8] * 100_000} for i in range(BIG)]
        pipe.send("ready")
        session.write_many(writes)
        pipe.send("done")
        time.sleep(60)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_writer_killed_within_a_big_batch(tmp_path: Path) -> None:
    """Of a batch that takes a while there is everything after a kill, or nothing."""
    chance = random.Random(11)
    took = writing = 0.5
    for kill in range(200 if SOAK else 20):
        path = tmp_path / f"{kill}.db"
        ours, theirs = CONTEXT.Pipe(duplex=False)
        child = CONTEXT.Process(target=write_a_big_batch, args=(path, theirs), daemon=True)
        child.start()
        theirs.close()
        assert ours.poll(60)
        assert ours.recv() == "ready"
        began = time.monotonic()
        # Every other one is killed once pages go out; the rest, anywhere within the batch.
        if kill % 2 == 0:
            await_growth(path.with_name(f"{path.name}-wal"))
        grew = time.monotonic()
        done = ours.poll(60 if kill == 0 else chance.uniform(0, took if kill % 2 else writing))
        if kill == 0:
            took, writing = time.monotonic() - began, time.monotonic() - grew
        child.kill()
        child.join()
        child.close()
        acknowledged = (done or ours.poll()) and _received(ours)
        ours.close()
        with incumbent.open(path) as memory:
            assert findings(memory, "acme") == []
            session = memory.session(user_id="alice", organization="acme")
            assert session.current("before") == "kept"
            pages = len(session.facts()) - 1
            assert pages == BIG if acknowledged else pages in (0, BIG)
        for file in tmp_path.iterdir():
            file.unlink()


def await_growth(log: Path) -> None:
    """Wait until more is written ahead to a file than a single fact takes."""
    deadline = time.monotonic() + PATIENCE
    while not log.exists() or log.stat().st_size < BIG * 10_000:
        assert time.monotonic() < deadline, "the writer hangs"
        time.sleep(0.001)


def _received(pipe: Connection) -> bool:
    """Whether the end of a pipe that polls as readable is a message, and not just its end."""
    try:
        return bool(pipe.recv())
    except EOFError:
        return False


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_writer_killed_while_making_the_file(tmp_path: Path) -> None:
    """A kill while a new file is being made leaves one that the next writer can use."""
    chance = random.Random(7)
    for kill in range(300 if SOAK else 30):
        path = tmp_path / f"{kill}.db"
        ours, theirs = CONTEXT.Pipe(duplex=False)
        child = CONTEXT.Process(
            target=write_until_killed, args=(path, theirs, kill, "full"), daemon=True
        )
        child.start()
        theirs.close()
        deadline = time.monotonic() + PATIENCE
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.0002)
        time.sleep(chance.uniform(0, 0.01))
        child.kill()
        child.join()
        child.close()
        ours.close()
        with incumbent.open(path) as memory:
            session = memory.session(user_id="alice", organization="acme")
            session.write("city", "Bern")
            assert session.current("city") == "Bern"
            assert findings(memory, "acme") == []
