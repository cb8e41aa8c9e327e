"""Conversations that several take part in, or that are cut off: nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.model.records import Turn
from incumbent.model.values import text_of
from incumbent.reading.form import Heard, Reading
from incumbent.reading.offline import OfflineReader
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, SOAK, OpenMemory
from tests.patience import PATIENCE
from tests.stores.invariants import findings
from tests.stores.processes import CONTEXT, run_together

pytestmark = pytest.mark.on_every_store

ORGANIZATION = "acme"
BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)


def alice(memory: incumbent.Memory, session_id: str = "talk") -> incumbent.Session:
    return memory.session(
        user_id="alice", authority="manager", organization=ORGANIZATION, session_id=session_id
    )


def turns_of(memory: incumbent.Memory, session_id: str = "talk") -> list[Turn]:
    with memory.store.read(ORGANIZATION) as reader:
        return list(reader.turns("alice", session_id, 10_000))


def transcript(rounds: int) -> list[dict[str, Any]]:
    """A conversation in which things are said, said again, corrected and erased, with refs."""
    said: list[dict[str, Any]] = []

    def add(role: str, content: str) -> None:
        at = BEGIN + timedelta(minutes=len(said))
        said.append({"role": role, "content": content, "ref": f"m{len(said)}", "at": at})

    for number in range(rounds):
        add("user", f"My budget is ${1_000 + number}. The item {number} code is QX-{number:04}.")
        add("assistant", "Anything else?")
        add("user", f"I need a table for {2 + number % 7} at {1 + number % 11}:45pm.")
        add("user", f"No, only {9 + number % 3} people.")
        add("user", f"My budget is ${1_000 + number}.")
        add("user", f"My phone number is 555-01{number:02}.")
        add("user", "Please delete my phone number from your memory.")
    return said


def outcome(memory: incumbent.Memory) -> list[Any]:
    """What came of a conversation, but for ids and the times at which it was stored."""
    records = [
        (fact["key"], fact["subject"], text_of(fact["value"]), fact["status"])
        for fact in memory.store.dump(ORGANIZATION)
        if fact["kind"] == "fact"
    ]
    turns = [
        (turn.turn_index, turn.speaker, turn.ref, len(turn.fact_ids)) for turn in turns_of(memory)
    ]
    desk = [(item.key, item.value) for item in alice(memory).working_set()]
    return [sorted(records, key=repr), turns, desk]


# several at once


def test_two_threads_talk_in_one_session(open_memory: OpenMemory) -> None:
    """Each turn gets a place of its own, and what either says is there."""
    memory = open_memory(clock=None)
    session = alice(memory)
    rounds = 150 if SOAK else 25
    start = threading.Barrier(2)

    def talk(name: str) -> list[incumbent.Observation]:
        start.wait(PATIENCE)
        return [
            session.observe(
                f"The {name} code {number} is QX-{name}{number:04}.", ref=f"{name}{number}"
            )
            for number in range(rounds)
        ]

    with ThreadPoolExecutor(2) as pool:
        left, right = pool.map(talk, ("ant", "bee"))
    indexes = [found.turn_index for found in (*left, *right)]
    assert sorted(indexes) == list(range(1, 2 * rounds + 1))
    assert all(a.turn_index < b.turn_index for a, b in pairwise(left))
    assert [turn.turn_index for turn in turns_of(memory)] == sorted(indexes)
    said = " ".join(text_of(fact.value) for fact in session.facts())
    for name in ("ant", "bee"):
        assert all(f"QX-{name}{number:04}" in said for number in range(rounds))
    assert findings(memory, ORGANIZATION) == []


def test_threads_that_say_the_same_under_one_ref(open_memory: OpenMemory) -> None:
    """Of several that bring the same turn at the same time, one is taken and all learn of it."""
    memory = open_memory(clock=None)
    session = alice(memory)
    threads = 4
    start = threading.Barrier(threads)

    def say(_: int) -> list[incumbent.Observation]:
        start.wait(PATIENCE)
        return [session.observe(f"The code is QX-{n:04}.", ref=f"m{n}") for n in range(10)]

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(say, range(threads)))
    for number, same in enumerate(zip(*found, strict=True)):
        assert Counter(one.repeated for one in same) == {False: 1, True: threads - 1}
        assert len({one.turn_index for one in same}) == 1
        assert len({tuple(fact.id for fact in one.facts) for one in same}) == 1, number
    assert len(turns_of(memory)) == 10
    assert findings(memory, ORGANIZATION) == []


def observe_all(start: Barrier, path: Path, turns: list[dict[str, Any]]) -> list[int]:
    """Take in a transcript together with others, in a process of its own."""
    with incumbent.open(path, settings=QUICK) as memory:
        session = alice(memory)
        start.wait(PATIENCE)
        return [found.turn_index for found in session.observe_many(turns) if not found.repeated]


@pytest.mark.timeout(3600)
def test_processes_that_take_in_the_same_transcript(store_path: Path) -> None:
    """Two processes on one file, with the same turns at the same time: each is stored once."""
    turns = transcript(40 if SOAK else 8)
    taken = run_together(observe_all, 2, store_path, turns)
    assert sorted(index for indexes in taken for index in indexes) == list(range(1, len(turns) + 1))
    with incumbent.open(store_path, settings=QUICK) as memory:
        assert findings(memory, ORGANIZATION) == []
        assert sorted(turn.ref or "" for turn in turns_of(memory)) == sorted(
            turn["ref"] for turn in turns
        )


def observe_own(start: Barrier, path: Path, rounds: int) -> str:
    """Talk in a session that another process talks in too, about something of one's own."""
    name = str(os.getpid())
    with incumbent.open(path, settings=QUICK) as memory:
        session = alice(memory)
        start.wait(PATIENCE)
        for number in range(rounds):
            session.observe(f"The desk {name} code {number} is QX-{name}-{number:04}.")
            session.context("Which code?", budget=200)
    return name


@pytest.mark.timeout(3600)
def test_processes_that_talk_in_one_session(store_path: Path) -> None:
    """Two processes in one session of one file meet no error and lose nothing."""
    rounds = 100 if SOAK else 15
    names = run_together(observe_own, 2, store_path, rounds)
    with incumbent.open(store_path, settings=QUICK) as memory:
        assert findings(memory, ORGANIZATION) == []
        turns = turns_of(memory)
        assert [turn.turn_index for turn in turns] == list(range(1, 2 * rounds + 1))
        said = " ".join(text_of(fact.value) for fact in alice(memory).facts())
        for name in names:
            assert all(f"QX-{name}-{number:04}" in said for number in range(rounds))


# cut off


def observe_until_killed(path: Path, pipe: Connection, turns: list[dict[str, Any]]) -> None:
    with incumbent.open(
        path, settings=incumbent.Settings(durability="full", embedder="static")
    ) as memory:
        alice(memory).observe_many(turns, progress=pipe.send)
    pipe.send("done")


@pytest.mark.timeout(3600)
def test_a_transcript_cut_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Killed at any moment and called again, it ends as if it had never been interrupted."""
    turns = transcript(6)
    with incumbent.open(tmp_path / "whole.db", settings=QUICK) as memory:
        alice(memory).observe_many(turns)
        whole = outcome(memory)
    chance = random.Random(11)
    for attempt in range(30 if SOAK else 1):
        path = tmp_path / f"{attempt}.db"
        kills = 0
        while not observed_to_the_end(path, turns, chance):
            kills += 1
            with incumbent.open(path, settings=QUICK) as memory:
                assert findings(memory, ORGANIZATION) == []
        with incumbent.open(path, settings=QUICK) as memory:
            assert outcome(memory) == whole
            assert findings(memory, ORGANIZATION) == []
            assert "555-01" not in str(list(memory.store.dump(ORGANIZATION)))
        assert kills


def observed_to_the_end(path: Path, turns: list[dict[str, Any]], chance: random.Random) -> bool:
    """Start a process that takes in the turns, and kill it some way on; whether it had ended."""
    before = 0
    if path.exists():
        with incumbent.open(path, settings=QUICK) as memory:
            before = len(turns_of(memory))
    ours, theirs = CONTEXT.Pipe(duplex=False)
    child = CONTEXT.Process(target=observe_until_killed, args=(path, theirs, turns), daemon=True)
    child.start()
    theirs.close()
    last: Any = 0
    until = before + chance.randrange(2, 16)
    try:
        while last != "done" and (last == 0 or last < until):
            assert ours.poll(PATIENCE), "the process hangs"
            last = ours.recv()
        if last != "done":
            time.sleep(chance.uniform(0, 0.02))
    finally:
        child.kill()
        child.join()
        child.close()
        ours.close()
    with incumbent.open(path, settings=QUICK) as memory:
        stored = len(turns_of(memory))
        # What was acknowledged is there; besides, the turns that the kill came too late for.
        assert stored >= (len(turns) if last == "done" else last)
    return bool(last == "done")


class FailingReader:
    """Reads by rules, and breaks where it is told to."""

    name = "failing"

    def __init__(self) -> None:
        self._rules = OfflineReader(None)
        self.breaks = False

    def read(self, heard: Heard) -> Reading:
        if self.breaks:
            raise RuntimeError("the reader broke")
        return self._rules.read(heard)


def test_a_reader_that_breaks_leaves_nothing_of_the_turn(open_memory: OpenMemory) -> None:
    """A turn that could not be read is not stored, and can be said again."""
    reader = FailingReader()
    settings = incumbent.Settings(
        durability=QUICK.durability, embedder=QUICK.embedder, reader=reader
    )
    memory = open_memory(settings=settings)
    session = alice(memory)
    session.observe("I need a table for 4 at 5:45pm.")
    before = outcome(memory)
    reader.breaks = True
    with pytest.raises(RuntimeError):
        session.observe("My budget is $800.", ref="m1")
    assert outcome(memory) == before
    reader.breaks = False
    assert not session.observe("My budget is $800.", ref="m1").repeated
    assert session.current("budget") == "$800"
    assert len(turns_of(memory)) == 2
    assert findings(memory, ORGANIZATION) == []


# coming back


def test_a_conversation_goes_on_in_another_process(tmp_path: Path) -> None:
    """Closed and opened again after every turn, a file holds what it would hold otherwise."""
    turns = transcript(3)
    clocks = [SteppingClock(), SteppingClock()]
    paths = [tmp_path / "once.db", tmp_path / "often.db"]
    with incumbent.open(paths[0], clock=clocks[0], settings=QUICK) as memory:
        for turn in turns:
            clocks[0].advance(minutes=1)
            alice(memory).observe_many([turn])
        once = outcome(memory)
        context = alice(memory).context("What is my budget?").text
    for turn in turns:
        clocks[1].advance(minutes=1)
        with incumbent.open(paths[1], clock=clocks[1], settings=QUICK) as memory:
            alice(memory).observe_many([turn])
    with incumbent.open(paths[1], clock=clocks[1], settings=QUICK) as memory:
        assert outcome(memory) == once
        assert alice(memory).context("What is my budget?").text == context


def test_a_long_conversation_keeps_a_short_desk(open_memory: OpenMemory) -> None:
    """However many turns there were, the desk holds the latest and the facts hold the rest."""
    memory = open_memory()
    session = alice(memory)
    session.observe("My phone number is 555-0199.")
    for number in range(60):
        session.observe(f"The code {number} is QX-{number:04}.")
    desk = session.working_set()
    assert len(desk) < 50
    assert desk[-1].value == "The code 59 is QX-0059."
    assert session.current("phone_number") == "555-0199"
    assert len(turns_of(memory)) == 61


def test_a_session_that_ends_leaves_its_facts(open_memory: OpenMemory) -> None:
    """Closing a session takes its desk and what held for it alone, and nothing else."""
    memory = open_memory()
    first = alice(memory, "first")
    first.observe("My budget is $800.")
    first.close()
    second = alice(memory, "second")
    assert second.current("budget") == "$800"
    assert second.working_set() == []
    found = second.observe("Actually, my budget is $900.")
    assert found.turn_index == 1
    assert [part.text for part in found.retired] == ["$800"]
    assert second.current("budget") == "$900"


def test_a_value_that_was_corrected_stands_in_brackets(open_memory: OpenMemory) -> None:
    """A statement with a corrected value says so in a context; what was said so does not."""
    session = open_memory(settings=QUICK).session(user_id="ann")
    session.observe("We need 40 desks by Friday. The shipping address is 123 Main St.")
    session.observe("No, 45 desks.")
    lines = [line.text for line in session.context("What do we ship, and where?").lines]
    assert any(line.endswith("We need [45] desks by Friday.") for line in lines)
    told = [line for line in lines if "turn 1" not in line]  # the turn itself is shown whole
    assert not any("Main St" in line and "[" in line for line in told)
