"""Many writers on one store: nothing lost, one incumbent, and no error reaches any of them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK, OpenMemory, examples
from tests.patience import PATIENCE
from tests.stores.invariants import findings
from tests.stores.processes import CONTEXT

WRITERS = 8

Acknowledged = list[str]


@contextmanager
def working_on(
    path: Path, start: Barrier, settings: incumbent.Settings
) -> Iterator[incumbent.Session]:
    """A session in a process of its own, begun together with all the others."""
    with incumbent.open(path, settings=settings) as memory:
        start.wait(PATIENCE)
        yield memory.session(user_id="writer", authority="manager", organization="acme")


def write_one_address(
    path: Path, start: Barrier, settings: incumbent.Settings, name: int, rounds: int
) -> Acknowledged:
    """Supersede the same fact of the organization over and over."""
    with working_on(path, start, settings) as session:
        return [
            session.write("status", f"{name}/{i}", memory_type="organizational").fact_id
            for i in range(rounds)
        ]


def write_and_take_back(
    path: Path, start: Barrier, settings: incumbent.Settings, name: int, rounds: int
) -> Acknowledged:
    """Write, undo and retract on a few shared addresses, at random."""
    chance = random.Random(name)
    written: list[incumbent.Verdict] = []
    with working_on(path, start, settings) as session:
        for i in range(rounds):
            key = f"status {chance.randrange(3)}"
            action = chance.choice(("write", "write", "write", "undo", "retract"))
            if action == "write" or not written:
                written.append(session.write(key, f"{name}/{i}", memory_type="organizational"))
            elif action == "undo":
                with suppress(incumbent.NothingToUndo):  # our own earlier undo of it
                    session.undo(chance.choice(written))
            else:
                with suppress(incumbent.UnknownFact):  # another process has retracted it
                    session.retract(key)
    return [verdict.fact_id for verdict in written]


def report(task: Callable[..., Any], answer: Any, *given: Any) -> None:
    """Run a task in a child and send back what it returned, or the error it met."""
    try:
        answer.send((task(*given), None))
    except BaseException as error:
        answer.send((None, f"{type(error).__name__}: {error}"))


def run_processes(
    path: Path, task: Callable[..., Acknowledged], settings: incumbent.Settings, rounds: int
) -> list[Acknowledged]:
    """Run a task in eight processes at once; an error in any of them fails the test."""
    start = CONTEXT.Barrier(WRITERS)
    answers, children = [], []
    for name in range(WRITERS):
        ours, theirs = CONTEXT.Pipe(duplex=False)
        given = (task, theirs, path, start, settings, name, rounds)
        child = CONTEXT.Process(target=report, args=given, daemon=True)
        child.start()
        theirs.close()
        answers.append(ours)
        children.append(child)
    found = []
    for answer in answers:
        assert answer.poll(PATIENCE), "a writer hangs"
        found.append(answer.recv())
        answer.close()
    for child in children:
        child.join(PATIENCE)
        child.close()
    assert [error for _, error in found if error] == []
    return [result for result, _ in found]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("durability", "rounds"),
    [("process", examples(400, soak=3000)), ("full", examples(40, soak=500))],
    ids=["process", "full"],
)
def test_eight_processes_write_one_address(store_path: Path, durability: Any, rounds: int) -> None:
    """Eight processes superseding one fact leave one incumbent and a chain that has every write."""
    settings = incumbent.Settings(durability=durability, embedder="static")
    acknowledged = run_processes(store_path, write_one_address, settings, rounds)
    total = WRITERS * rounds
    with incumbent.open(store_path) as memory:
        assert findings(memory, "acme") == []
        session = memory.session(user_id="reader", authority="guest", organization="acme")
        chain = session.history("status")
        assert len(chain) == total
        assert {fact.id for fact in chain} == {i for ids in acknowledged for i in ids}
        assert [fact.is_valid for fact in chain] == [False] * (total - 1) + [True]
        # Unbroken: from the first fact every link leads to the next, up to the incumbent.
        for fact, successor in pairwise(chain):
            assert fact.superseded_by == successor.id
            assert successor.predecessors == (fact.id,)
        assert session.current("status") == chain[-1].value
        with memory.store.read("acme") as reader:
            assert reader.head()[0] == total
        places = {fact.id: place for place, fact in enumerate(chain)}
        for ids in acknowledged:  # each writer's own order is kept
            assert [places[i] for i in ids] == sorted(places[i] for i in ids)


@pytest.mark.timeout(3600)
def test_processes_write_undo_and_retract(store_path: Path) -> None:
    """Writes, undos and retractions from eight processes leave chains sound and nothing lost."""
    rounds = examples(25, soak=200, least=10)
    acknowledged = run_processes(store_path, write_and_take_back, QUICK, rounds)
    with incumbent.open(store_path) as memory:
        assert findings(memory, "acme") == []
        session = memory.session(user_id="reader", authority="guest", organization="acme")
        for ids in acknowledged:
            assert all(session.get(i) is not None for i in ids)
        for key in ("status 0", "status 1", "status 2"):
            assert len(session.facts(key)) <= 1


@pytest.mark.timeout(3600)
@pytest.mark.on_every_store
def test_threads_share_one_memory(open_memory: OpenMemory) -> None:
    """Threads that write, read and undo through one memory meet no error and lose nothing."""
    memory = open_memory(clock=None)
    rounds = examples(25, soak=200, least=10)
    threads = 8
    start = threading.Barrier(threads)

    def work(name: int) -> list[tuple[str, bool]]:
        session = memory.session(user_id="writer", authority="manager", organization="acme")
        chance = random.Random(name)
        outcome = []
        start.wait(PATIENCE)
        for i in range(rounds):
            verdict = session.write("status", f"{name}/{i}", memory_type="organizational")
            kept = chance.random() < 0.8
            if not kept:
                session.undo(verdict)
            assert session.get(verdict.fact_id) is not None
            session.current("status")
            session.note("last", i)
            assert len(session.facts("status")) <= 1
            session.context("what is the status?", budget=200)
            outcome.append((verdict.fact_id, kept))
        return outcome

    with ThreadPoolExecutor(threads) as pool:
        outcomes = [pair for pairs in pool.map(work, range(threads)) for pair in pairs]
    assert findings(memory, "acme") == []
    session = memory.session(user_id="writer", authority="manager", organization="acme")
    served = {fact.id for fact in session.history("status")}
    assert served == {fact_id for fact_id, kept in outcomes if kept}
    live = session.history("status").live
    assert live is not None
    assert session.current("status") == live.value
