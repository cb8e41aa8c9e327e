"""Nobody stalls the rest: work is bounded, matching is linear, and organizations do not wait for
each other.

Work is counted in lines of Python that are run, so that no machine is too slow for a test.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import httpx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import incumbent
from incumbent.context.guard import DeadValue, DeadValueIndex, mentions
from incumbent.context.mention_rules import in_passing
from incumbent.context.reach import ReadOnce
from incumbent.engine.proposal import Proposal
from incumbent.http.problems import Refusal
from incumbent.http.turns import Caller, Turns
from incumbent.model.forms import Form
from incumbent.model.words import said, words_of
from incumbent.reading.form import Heard, Reading
from incumbent.search import analysis
from incumbent.search.embedders import load
from tests.conftest import QUICK, OpenMemory
from tests.patience import PATIENCE
from tests.selection import sampled
from tests.service.running import Running, a_key, problem

FAR = PATIENCE
"""Seconds after which something is taken to hang."""


def work(call: Callable[[], object]) -> int:
    """How many lines a call runs."""
    count = 0

    def tracing(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return tracing

    before = sys.gettrace()
    sys.settrace(tracing)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def prose(length: int) -> str:
    words = " ".join(f"word{number} of a report on {number}," for number in range(length // 20))
    return words[:length]


# what a context looks at


class Overtaking:
    """Reads turns; while it reads the first few times, others write."""

    name = "overtaking"

    def __init__(self, write: Callable[[int], object], times: int) -> None:
        self._write, self._times = write, times
        self.readings = 0

    def read(self, heard: Heard) -> Reading:
        self.readings += 1
        if self.readings <= self._times:
            self._write(self.readings)
        return Reading()


@pytest.mark.on_every_store
def test_a_turn_is_read_while_nobody_is_held_up(open_memory: OpenMemory) -> None:
    """Neither another organization nor the speaker's own other sessions, also when what a turn was
    read against has changed meanwhile and it is read anew."""
    written: list[str] = []

    def write(number: int) -> None:
        for organization in ("acme", "globex"):
            session = memory.session(user_id="ann", organization=organization)
            written.append(session.write("desk", str(number)).outcome)

    reader = Overtaking(write, times=3)
    settings = replace(QUICK, reader=reader, busy_timeout=1.0)
    memory = open_memory(settings=settings)
    ann = memory.session(user_id="ann", organization="acme", session_id="s")
    assert ann.observe("My locker is 4711.").turn_index == 1
    assert (reader.readings, len(written)) == (4, 6)


def test_a_statement_costs_the_same_however_much_was_said_before(tmp_path: Path) -> None:
    """Without a name it meets only what says the same, and goes past everything else."""

    def said(before: int) -> int:
        with incumbent.open(tmp_path / f"{before}.db", settings=QUICK) as memory:
            ann = memory.session(user_id="ann", session_id="s")
            with ann._registrar() as registrar:
                for number in range(before):
                    registrar.propose(plainly(f"We painted door {number}."))
                again = plainly("We painted door 1.")
                assert registrar.propose(again).outcome == "confirmed"
                return work(lambda: registrar.propose(plainly("We painted the fence.")))

    def plainly(words: str) -> Proposal:
        return Proposal(key="", value=words, multi_valued=True, spoken=True)

    said(2)  # what is made once
    assert said(300) <= said(3) + 20


def test_what_is_said_over_and_over_in_a_turn_is_filed_once(tmp_path: Path) -> None:
    """Others wait no longer for it; what was taken back between counts again."""
    with incumbent.open(tmp_path / "one.db", settings=QUICK) as memory:
        ann = memory.session(user_id="ann", session_id="s")
        [verdict] = ann.observe("We painted the fence.\n" * 50).verdicts
        assert verdict.outcome == "established"
        ann.observe("My desk is 4.\nMy desk is 5.\nMy desk is 4.")
        assert ann.current("desk") == "4"


def test_the_words_of_a_turn_are_looked_at_before_the_store_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the index too: within the transaction they are at hand."""
    looked: list[bool] = []
    held: list[str] = []
    plain = analysis._probes

    def probes(*given: Any) -> list[str]:
        looked.append(bool(held))
        return plain(*given)

    with incumbent.open(tmp_path / "one.db", settings=QUICK) as memory:
        write, embedder = memory.store.write, memory._resources.index.embedder
        assert embedder is not None
        embed = embedder.embed

        def meanings(texts: Sequence[str]) -> Any:
            looked.append(bool(held))
            return embed(texts)

        @contextmanager
        def holding(organization: str) -> Iterator[Any]:
            with write(organization) as transaction:
                held.append(organization)
                yield transaction
            held.clear()

        monkeypatch.setattr(analysis, "_probes", probes)
        monkeypatch.setattr(embedder, "embed", meanings)
        monkeypatch.setattr(memory.store, "write", holding)
        memory.session(user_id="ann").observe("We painted 5 doors.\nMy desk is 4.")
    assert looked
    assert not any(looked)


@pytest.mark.parametrize("shape", sampled(["note", "fact", "list", "rule"]))
def test_what_cannot_be_shown_costs_a_context_no_work(shape: str, tmp_path: Path) -> None:
    """Texts ten times as long, none of which fits, are as quickly left out."""

    def asked(length: int) -> int:
        with incumbent.open(tmp_path / f"{length}.db", settings=QUICK) as memory:
            session = memory.session(user_id="mallory", session_id="s")
            session.write("plan", "the blue harbour")
            session.write("plan", "the red harbour")
            text = prose(length)
            for number in range(6):
                if shape == "note":
                    session.note(f"n{number}", f"{number} {text}")
                elif shape == "list":
                    session.write(f"f{number}", [str(number), *text.split(",")])
                else:
                    session.write(f"f{number}", f"{number} {text}", is_constraint=shape == "rule")
            context = session.context("What is the plan?", budget=1_000)  # everything is loaded
            assert "the red harbour" in context.text
            left_out = [one for one in context.omissions if one.reason == "over budget"]
            assert len(left_out) == 6
            return work(lambda: session.context("What is the plan?", budget=1_000))

    assert asked(400_000) < 1.5 * asked(40_000)


@pytest.mark.slow
def test_many_notes_that_cannot_all_be_shown_are_not_all_looked_at() -> None:
    """Of notes that would each fit, those that could ever stand together are looked at."""

    def asked(count: int) -> int:
        with incumbent.open(":memory:", settings=QUICK) as memory:
            session = memory.session(user_id="mallory", session_id="s")
            session.write("plan", "the blue harbour")
            session.write("plan", "the red harbour")
            for number in range(count):
                session.note(f"n{number}", f"{number} {prose(9_000)}")
            session.context("What is the plan?", budget=3_000)
            return work(lambda: session.context("What is the plan?", budget=3_000))

    assert asked(200) < 2 * asked(20)


def test_a_text_is_shown_whole_or_not_at_all_whatever_its_length() -> None:
    """What is left out for its length is accounted for, and the newest notes are the ones kept."""
    with incumbent.open(":memory:", settings=QUICK) as memory:
        session = memory.session(user_id="ann", session_id="s")
        session.note("old", f"old {prose(9_000)}")
        for number in range(20):
            session.note(f"n{number}", f"{number} {prose(9_000)}")
        session.note("new", "the shop opens at noon")
        context = session.context("When does the shop open?", budget=3_000, profile="comprehensive")
        assert "the shop opens at noon" in context.text
        assert "old" in {one.item for one in context.omissions if one.reason == "over budget"}
        for line in context.lines:
            assert line.text.endswith((prose(9_000), "noon")) or line.section != "Working set"


@pytest.mark.parametrize("text", [prose(9_000), "東京都港区" * 1_000], ids=["spaced", "unspaced"])
def test_a_very_long_dead_value_is_not_repeated(text: str) -> None:
    """Compared by its beginning, it goes with everything after it; held elsewhere, it stays."""
    with incumbent.open(":memory:", settings=QUICK) as memory:
        session = memory.session(user_id="ann", session_id="s")
        session.write("terms", text)
        session.write("terms", "none")
        session.note("memo", f"We once agreed on these terms here: {text} and so on")
        context = session.context("Which terms?", budget=100_000)
        assert text[-200:] not in context.text
        assert "quotes a dead value" in {one.reason for one in context.omissions}
        session.write("conditions", text)
        assert text in session.context("Which terms?", budget=100_000).text


def test_texts_that_only_begin_alike_are_not_taken_for_each_other() -> None:
    """A long text in office that begins as a dead one does brings nothing of that one back."""
    common = prose(9_000)
    with incumbent.open(":memory:", settings=QUICK) as memory:
        session = memory.session(user_id="ann", session_id="s")
        session.write("terms", f"{common} and the rate is 17 percent")
        session.write("terms", f"{common} and the rate is 23 percent")
        session.note("memo", f"As agreed on paper: {common} and the rate is 17 percent")
        assert "17 percent" not in session.context("Which terms?", budget=100_000).text


# dead values in a text


def a_roll(values: Sequence[str]) -> DeadValueIndex:
    with incumbent.open(":memory:", settings=QUICK) as memory:
        fact = memory.session(user_id="ann").write("plan", "x").fact
    assert fact is not None
    return DeadValueIndex(DeadValue(said(value), value, fact) for value in values)


def test_a_text_is_gone_through_once_however_many_values_are_dead() -> None:
    """Sixteen times as many dead values that begin with the same word cost a text no more."""
    text = " ".join(f"harbour {number} east" for number in range(3_000, 3_400))
    few, many = (a_roll([f"harbour {n} west wing" for n in range(c)]) for c in (100, 1_600))
    assert work(lambda: mentions(text, "", many, in_passing)) < 1.2 * work(
        lambda: mentions(text, "", few, in_passing)
    )


@pytest.mark.parametrize(
    "values",
    [
        [" ".join(["harbour"] * width) for width in range(1, 200)],
        [" ".join([*["harbour"] * width, "west"]) for width in range(1, 200)],
        [" ".join([*["harbour"] * 300, f"x{number}"]) for number in range(200)],
    ],
    ids=["nested", "never whole", "alike to the end"],
)
def test_values_made_to_be_slow_to_find_are_found_in_linear_work(values: list[str]) -> None:
    """Twice the text is at most about twice the work."""
    roll = a_roll(values)
    once, twice = (" ".join(["harbour"] * count) for count in (600, 1_200))
    spent = work(lambda: mentions(once, "", roll, in_passing))
    assert work(lambda: mentions(twice, "", roll, in_passing)) < 2.5 * spent
    assert spent < 1_000 * 600


def one_by_one(text: str, values: Sequence[str]) -> list[tuple[int, int]]:
    """Where values are in a text, looked for in the plainest way: from left to right, and at each
    word the longest."""
    words = words_of(text)
    spoken = [word.said for word in words]
    found, place = [], 0
    while place < len(words):
        widths = [
            len(said(value))
            for value in values
            if said(value) == tuple(spoken[place : place + len(said(value))])
        ]
        if widths:
            found.append((words[place].start, words[place + max(widths) - 1].end))
        place += max(widths, default=1)
    return found


PHRASES = st.lists(st.sampled_from(["aaaa", "bbbb", "cccc"]), min_size=1, max_size=5).map(" ".join)


@given(text=st.lists(PHRASES).map(" ".join), values=st.lists(PHRASES, max_size=8))
def test_one_walk_finds_what_looking_one_by_one_finds(text: str, values: list[str]) -> None:
    """The same places, for values that overlap, contain and repeat each other."""
    found = mentions(text, "", a_roll(values), lambda *_: True)
    assert [(one.start, one.end) for one in found] == one_by_one(text, values)


# organizations side by side


class Waiting:
    """An embedder that waits at some texts until it is told to go on."""

    name = "waiting"
    dimensions = 256

    def __init__(self) -> None:
        self._inner = load("static")
        self.entered = threading.Semaphore(0)
        self.go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if any("slowly" in text for text in texts):
            self.entered.release()
            assert self.go_on.wait(2 * FAR)
        return self._inner.embed(texts)


@contextmanager
def calling(embedder: Waiting) -> Iterator[ThreadPoolExecutor]:
    """Threads to call from; whatever happens, nobody is left waiting."""
    with ThreadPoolExecutor(16) as pool:
        try:
            yield pool
        finally:
            embedder.go_on.set()


def test_one_organization_reads_while_another_is_held_up(store_path: Path) -> None:
    """A context that waits in the middle of its search holds up no other: not of another
    organization, not of the same one, and no erasure."""
    embedder = Waiting()
    memory = incumbent.open(store_path, settings=replace(QUICK, embedder=embedder))
    sessions = {
        name: memory.session(user_id=name, organization=organization)
        for name, organization in (("ann", "acme"), ("ben", "acme"), ("eve", "globex"))
    }
    for name, session in sessions.items():
        session.write("desk", f"desk of {name}")
    with calling(embedder) as pool:
        held = pool.submit(sessions["ann"].context, "Where, slowly, is the desk?")
        assert embedder.entered.acquire(timeout=FAR)
        for name in ("eve", "ben"):
            sessions[name].write("room", f"room of {name}")
            found = pool.submit(sessions[name].context, "Which room?").result(FAR)
            assert f"room of {name}" in found.text
        proof = pool.submit(memory.forget, organization="globex", user_id="eve").result(FAR)
        assert proof.fact_ids
        assert not held.done()
        embedder.go_on.set()
        assert "desk of ann" in held.result(FAR).text


def test_the_store_in_memory_keeps_no_organization_waiting_for_another() -> None:
    """Within one organization it works for one at a time; others go on meanwhile."""
    embedder = Waiting()
    with incumbent.open(":memory:", settings=replace(QUICK, embedder=embedder)) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        eve = memory.session(user_id="eve", organization="globex")
        ann.write("desk", "by the window")
        with calling(embedder) as pool:
            held = pool.submit(ann.context, "Where, slowly, is the desk?")
            assert embedder.entered.acquire(timeout=FAR)
            eve.write("room", "upstairs")
            assert "upstairs" in pool.submit(eve.context, "Which room?").result(FAR).text
            assert not held.done()


def test_a_person_who_writes_while_a_context_looks_is_seen_by_the_next(
    store_path: Path,
) -> None:
    """What a held context looks at does not change under it; what comes after sees what is new."""
    embedder = Waiting()
    memory = incumbent.open(store_path, settings=replace(QUICK, embedder=embedder))
    ann = memory.session(user_id="ann")
    ann.write("desk", "the desk by the window")
    with calling(embedder) as pool:
        held = pool.submit(ann.context, "Where, slowly, is the desk?")
        assert embedder.entered.acquire(timeout=FAR)
        ann.write("desk", "the desk by the door")
        later = pool.submit(ann.context, "Where is the desk?")
        embedder.go_on.set()
        assert "by the window" in held.result(FAR).text
        assert "by the door" in later.result(FAR).text


# the service


BOB: dict[str, Any] = {"session": {"user_id": "bob"}}


@contextmanager
def serving(**settings: Any) -> Iterator[tuple[Running, Waiting]]:
    embedder = Waiting()
    with (
        tempfile.TemporaryDirectory() as folder,
        incumbent.open(f"{folder}/t.db", settings=replace(QUICK, embedder=embedder)) as memory,
        Running(memory, credentials=True, **settings) as running,
    ):
        yield running, embedder


@pytest.mark.parametrize(
    ("operation", "name", "one"),
    [
        ("observe_many", "turns", {"text": "My desk is 1."}),
        ("write_many", "writes", {"key": "desk", "value": 1}),
    ],
)
def test_a_call_brings_a_limited_number_of_turns_or_writes(
    operation: str, name: str, one: dict[str, Any]
) -> None:
    """More are refused before the first is taken, and the refusal says what to do."""
    with serving(max_turns=3, max_writes=3) as (running, _):
        key = a_key(running.memory)
        told = running.post(operation, {**BOB, name: [one] * 4}, key=key)
        detail = problem(told, 422, "InvalidInput")["detail"]
        assert f"4 {name}" in detail
        assert "split them into several calls" in detail
        assert running.memory.session(user_id="bob", organization="acme").facts() == []
        assert running.post(operation, {**BOB, name: [one] * 3}, key=key).status_code == 200


def test_a_context_over_the_service_has_a_limited_budget() -> None:
    """Nobody has the service work on a context that no model could read."""
    with serving(max_budget=500) as (running, _):
        key = a_key(running.memory)
        asked = {**BOB, "query": "Where is the desk?"}
        told = running.post("context", {**asked, "budget": 501}, key=key)
        assert "--max-budget" in problem(told, 422, "InvalidInput")["detail"]
        assert running.post("context", {**asked, "budget": 500}, key=key).status_code == 200


def slow_context(running: Running, key: str) -> httpx.Response:
    return running.post("context", {**BOB, "query": "Where, slowly, is the desk?"}, key=key)


def indexed_desk(memory: incumbent.Memory) -> None:
    """Write a desk and look for it once: what is new on a shelf is taken in by one reader alone,
    and that one would wait for all who are at the embedder."""
    session = memory.session(user_id="bob", organization="acme")
    session.write("desk", "by the window")
    session.context("Where is the desk?")


def test_a_key_has_a_limit_of_calls_at_once() -> None:
    """One more is told to come back; another key is served, and so is this one afterwards."""
    with serving(at_once=2) as (running, embedder):
        memory = running.memory
        indexed_desk(memory)
        hasty, calm = a_key(memory), a_key(memory)
        body = {**BOB, "key": "desk"}
        assert running.post("current", body, key=hasty).status_code == 200
        with calling(embedder) as pool:
            held = [pool.submit(slow_context, running, hasty) for _ in range(2)]
            for _ in held:
                assert embedder.entered.acquire(timeout=FAR)
            told = running.post("current", body, key=hasty)
            problem(told, 429, "TooManyCalls")
            assert int(told.headers["retry-after"]) >= 1
            assert running.post("current", body, key=calm).status_code == 200
            embedder.go_on.set()
            assert [one.result(FAR).status_code for one in held] == [200, 200]
        assert running.post("current", body, key=hasty).status_code == 200


def test_one_organization_cannot_take_every_thread() -> None:
    """With all it can have under way, by many keys, another organization is served."""
    with serving(threads=4) as (running, embedder):
        memory = running.memory
        indexed_desk(memory)
        other = a_key(memory, organization="globex")
        with calling(embedder) as pool:
            held = [pool.submit(slow_context, running, a_key(memory)) for _ in range(8)]
            for _ in range(3):
                assert embedder.entered.acquire(timeout=FAR)
            answer = pool.submit(running.post, "facts", BOB, key=other).result(FAR)
            assert answer.status_code == 200
            assert not any(one.done() for one in held)
            embedder.go_on.set()
            assert {one.result(FAR).status_code for one in held} == {200}


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


CALM, HOSTILE = Caller("calm-key", "calm"), Caller("hostile-key", "hostile")


async def spend(turns: Turns, caller: Caller, seconds: float) -> None:
    async with turns.turn(caller) as meter:
        meter.spent += seconds


def test_who_keeps_the_interpreter_busy_is_worked_on_one_at_a_time() -> None:
    """As long as others call, and until it has been quiet for a while; then two at a time, because
    its calls are long. Alone it may have every thread but one; with short calls half of them."""
    clock = Clock()
    turns = Turns(threads=8, at_once=64, share=1.0, clock=clock)

    async def story() -> None:
        await spend(turns, HOSTILE, 10.0)
        assert turns.most("hostile") == 7
        await spend(turns, CALM, 0.01)
        assert turns.most("hostile") == 1
        assert turns.most("calm") == 4
        clock.now += 30
        assert turns.most("hostile") == 2
        clock.now += 90
        assert turns.most("hostile") == 7

    anyio.run(story)


def test_who_keeps_the_interpreter_busy_rests_as_the_share_says() -> None:
    """After a second of work the next call waits for one, at a share of half; others do not."""
    clock = Clock()
    turns = Turns(threads=8, at_once=64, share=0.5, clock=clock)
    begun: list[float] = []

    async def next_of(caller: Caller) -> None:
        async with turns.turn(caller):
            begun.append(clock.now)

    async def story() -> None:
        await spend(turns, CALM, 0.0)
        await spend(turns, HOSTILE, 1.0)
        with anyio.move_on_after(0.05):
            await next_of(HOSTILE)
        assert begun == []
        await next_of(CALM)
        assert begun == [1_000.0]
        clock.now += 1.0
        await next_of(HOSTILE)
        assert begun == [1_000.0, 1_001.0]

    anyio.run(story)


def test_who_makes_one_short_call_after_the_other_never_rests() -> None:
    """However many there are of them; where they queue, the organization rests like any other."""
    clock = Clock()
    turns = Turns(threads=8, at_once=64, share=0.5, clock=clock)
    begun = anyio.Event()

    async def next_of_calm() -> None:
        async with turns.turn(CALM):
            begun.set()

    async def story() -> None:
        await spend(turns, HOSTILE, 0.0)
        for _ in range(100):
            with anyio.fail_after(FAR):
                await spend(turns, CALM, 0.02)
        async with anyio.create_task_group() as together:
            async with turns.turn(CALM) as meter:
                meter.spent += 0.02
                together.start_soon(next_of_calm)
                await anyio.wait_all_tasks_blocked()
            with anyio.move_on_after(0.05):
                await begun.wait()
            together.cancel_scope.cancel()
        assert not begun.is_set()

    anyio.run(story)


def test_values_are_read_once_and_of_a_great_many_the_first() -> None:
    """A page of figures is not read again for every value that it is compared with."""
    asked: list[str] = []

    def read(text: str) -> list[Form]:
        asked.append(text)
        return [Form("amount", str(number)) for number in range(1_000)]

    once = ReadOnce(read)
    pages = [f"page {number} " + "1 " * 1_000 for number in range(6)]
    found = [once(page) for page in (*pages, *pages)]
    assert asked == pages[:3]
    assert [len(forms) for forms in found[:6]] == [1_000] * 3 + [0] * 3
    assert len(once("the 3rd of March")) == 1_000


def test_a_caller_who_leaves_gives_the_place_in_line_back() -> None:
    """Whoever comes next is worked on, whether the one that left waited or rested."""
    turns = Turns(threads=2, at_once=2, share=0.5)

    async def story() -> None:
        await spend(turns, CALM, 0.0)
        async with turns.turn(HOSTILE):
            with anyio.move_on_after(0.01):
                await spend(turns, HOSTILE, 0.0)
        with anyio.fail_after(FAR):
            await spend(turns, HOSTILE, 0.0)
        for _ in range(3):
            async with turns.under_way(HOSTILE), turns.under_way(HOSTILE):
                with pytest.raises(Refusal):
                    async with turns.under_way(HOSTILE):
                        raise AssertionError("one too many")

    anyio.run(story)
