"""Background mode: observe returns at once, and the model's reading arrives later."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import incumbent
from incumbent.model.authority import Ladder
from incumbent.model.identity import Identity
from incumbent.reading.asked import Ask
from incumbent.testing import SteppingClock
from incumbent.turns.rereading.background import Line
from tests.conftest import OpenMemory
from tests.llm.scripted import (
    Gate,
    Scripted,
    answer,
    does,
    entry,
    opinion,
    reading,
    reasons,
    said,
    sentences,
    settings,
    values,
)
from tests.patience import PATIENCE

pytestmark = pytest.mark.on_every_store

ILL = "Peanuts make me ill."
ALLERGY = reading(said(ILL, attribute="allergy", value="Peanuts"))


def background(open_memory: OpenMemory, *answers: Any, **options: Any) -> tuple[Any, Any, Any]:
    """A model, a memory that asks it in the background, and a session."""
    model = Scripted(*answers)
    memory = open_memory(settings=settings(model, mode="background", **options))
    return model, memory, memory.session(user_id="ann", organization="acme")


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A gate that is open at the end, whatever the test did."""
    made = Gate(ALLERGY)
    yield made
    made.open.set()


def test_background_is_the_default() -> None:
    """Whoever only names a model is not made to wait for it."""
    assert incumbent.LLM("openai:x").mode == "background"


def test_observe_returns_before_the_model_answers(open_memory: OpenMemory, gate: Gate) -> None:
    """The offline verdicts are there at once; the opinion is pending, and then given."""
    _, memory, ann = background(open_memory, gate)
    made = ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    assert opinion(made).status == "pending"
    assert str(opinion(made)) == "the opinion of scripted:model is awaited"
    assert not memory.flush(timeout=0.05)
    assert ann.current("allergy") is None
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert opinion(made).status == "given"
    assert str(opinion(made)) == "opinion of scripted:model: 1 accepted"
    assert ann.current("allergy") == "Peanuts"


def test_a_second_opinion_can_be_undone(open_memory: OpenMemory) -> None:
    """It is an ordinary verdict, in explain and for undo."""
    _, memory, ann = background(open_memory, ALLERGY)
    made = ann.observe(ILL)
    assert memory.flush(timeout=PATIENCE)
    assert ann.explain("allergy").verdicts[-1].evidence["reader"] == "scripted:model"
    for verdict in reversed(opinion(made).verdicts):
        ann.undo(verdict)
    assert ann.current("allergy") is None
    assert values(ann) == [ILL]


def test_what_a_model_reads_waits_for_approval_as_well(open_memory: OpenMemory) -> None:
    """Its reading takes the place of the offline one in what the person is asked."""
    _, memory, ann = background(open_memory, ALLERGY)
    ann.ask_before_keeping = True
    ann.observe(ILL)
    assert memory.flush(timeout=PATIENCE)
    assert ann.facts() == []
    (review,) = ann.reviews()
    assert (review.kind, review.fact.key, review.fact.value) == (
        "unapproved",
        "allergy",
        "Peanuts",
    )
    ann.resolve(review.fact.id, still_right=True)
    assert ann.current("allergy") == "Peanuts"


def test_what_was_approved_is_not_read_again(open_memory: OpenMemory, gate: Gate) -> None:
    """A decision of the person stands."""
    _, memory, ann = background(open_memory, gate)
    ann.ask_before_keeping = True
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    for review in ann.reviews():
        ann.resolve(review.fact.id, still_right=True)
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert values(ann) == [ILL]
    assert ann.reviews() == []


def test_turns_that_wait_go_together_and_in_order(open_memory: OpenMemory, gate: Gate) -> None:
    """While one request is out, those that follow line up, and fill the next ones."""
    model, memory, ann = background(open_memory, gate, batch_turns=3)
    other = memory.session(user_id="bob", organization="acme")
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    for number in range(2, 7):
        ann.observe(f"Shelf {number} is full.")
        other.observe(f"Shelf {number} is empty.")
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    read = [[text.removesuffix(".") for text in sentences(ask)] for ask in model.asked]
    assert read[0] == [ILL.removesuffix(".")]
    assert [[one[6:] for one in some] for some in read[1:]] == [
        ["2 is full", "3 is full", "4 is full"],
        ["2 is empty", "3 is empty", "4 is empty"],
        ["5 is full", "6 is full"],
        ["5 is empty", "6 is empty"],
    ]


def test_what_was_said_later_stands(open_memory: OpenMemory) -> None:
    """What a later turn built on is left alone, and so is what it brought itself."""
    started, go = threading.Event(), threading.Event()

    def script(ask: Ask) -> dict[str, Any]:
        started.set()
        assert go.wait(PATIENCE)
        return answer(entry("s1", says="I live at 1 Main St."))

    _, memory, ann = background(open_memory, script)
    made = ann.observe("My address is 1 Main St.")
    assert started.wait(PATIENCE)
    ann.observe("My address is 9 Elm Rd.")
    go.set()
    assert memory.flush(timeout=PATIENCE)
    assert ann.current("address") == "9 Elm Rd"
    assert ann.history("address").values == ("1 Main St", "9 Elm Rd")
    assert "has changed since" in reasons(made)[0][1]


def test_a_relation_that_comes_too_late_ends_nothing(open_memory: OpenMemory) -> None:
    """A fact that left office meanwhile is not ended again, and nothing of it comes back."""
    started, go = threading.Event(), threading.Event()
    late = reading(said("garden", does("1 Main St", "replaces")))

    def script(ask: Ask) -> dict[str, Any]:
        started.set()
        assert go.wait(PATIENCE)
        found: dict[str, Any] = late(ask)
        return found

    _, memory, ann = background(open_memory, answer(entry("s1")), script)
    ann.observe("My address is 1 Main St.")
    assert memory.flush(timeout=PATIENCE)
    ann.observe("We looked around, and 9 Elm Rd has a garden")
    assert started.wait(PATIENCE)
    ann.write("address", "4 High St")
    go.set()
    assert memory.flush(timeout=PATIENCE)
    assert ann.current("address") == "4 High St"


def test_a_forgotten_turn_does_not_come_back(open_memory: OpenMemory, gate: Gate) -> None:
    """What was forgotten while the model was asked is not filed from its answer."""
    _, memory, ann = background(open_memory, gate)
    made = ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    memory.forget(organization="acme", user_id="ann")
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert opinion(made).reason == "what the turn said was forgotten in the meantime"
    assert ann.facts() == []


def test_a_forgotten_fact_takes_its_turn_with_it(open_memory: OpenMemory, gate: Gate) -> None:
    """The turn that brought an erased fact gives no other fact either."""
    _, memory, ann = background(open_memory, gate)
    made = ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    memory.forget(organization="acme", fact_id=made.facts[0].id)
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert opinion(made).status == "failed"
    assert ann.facts() == []


def test_a_clock_that_runs_behind_hides_no_erasure(store_path: Path, gate: Gate) -> None:
    """What another process erased counts as erased, whatever its clock said."""
    ahead = SteppingClock()
    ahead.advance(days=1)
    given = settings(Scripted(gate), mode="background")
    with incumbent.open(store_path, clock=ahead, settings=given) as memory:
        made = memory.session(user_id="ann", organization="acme").observe(ILL)
        assert gate.asked.wait(PATIENCE)
        with incumbent.open(store_path, clock=SteppingClock()) as behind:
            behind.forget(organization="acme", fact_id=made.facts[0].id)
        gate.open.set()
        assert memory.flush(timeout=PATIENCE)
        assert opinion(made).status == "failed"


def test_a_forgotten_turn_is_not_sent(open_memory: OpenMemory, gate: Gate) -> None:
    """A turn that waits in line when it is forgotten never reaches the model."""
    model, memory, ann = background(open_memory, gate)
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    bob = memory.session(user_id="bob", organization="acme")
    made = bob.observe("My phone number is 555-0100.")
    memory.forget(organization="acme", user_id="bob")
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert opinion(made).status == "failed"
    assert not any("555-0100" in ask.data for ask in model.asked)


def test_a_request_to_forget_is_not_sent(open_memory: OpenMemory) -> None:
    """The turn itself names what is to be gone."""
    model, memory, ann = background(open_memory)
    ann.observe("My phone number is 555-0100.")
    assert memory.flush(timeout=PATIENCE)
    made = ann.observe("Please forget my phone number.")
    assert made.erasures
    assert made.opinion is None
    assert memory.flush(timeout=PATIENCE)
    assert len(model.asked) == 1


def test_a_closed_session_still_gets_its_opinion(open_memory: OpenMemory, gate: Gate) -> None:
    """The facts are the person's, and outlive the session that they were said in."""
    _, memory, ann = background(open_memory, gate)
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    ann.close()
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    again = memory.session(user_id="ann", organization="acme")
    assert again.current("allergy") == "Peanuts"


@pytest.mark.parametrize("ending", ["commit", "discard"])
def test_a_branch_that_is_over_takes_no_opinion(
    open_memory: OpenMemory, gate: Gate, ending: str
) -> None:
    """What belonged to the branch goes nowhere once it was committed or discarded."""
    _, memory, ann = background(open_memory, gate)
    trial = ann.hypothetical("trial")
    made = trial.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    getattr(trial, ending)()
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert opinion(made).status == "failed"
    assert "branch was" in opinion(made).reason
    assert ann.current("allergy") is None


def test_a_full_line_turns_away(open_memory: OpenMemory, gate: Gate) -> None:
    """One turn too many is observed offline, and says that there was no room."""
    _, memory, ann = background(open_memory, gate, queue_size=2)
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    made = [ann.observe(f"Shelf {number} is full.") for number in range(3)]
    assert [opinion(one).status for one in made] == ["pending", "pending", "failed"]
    assert opinion(made[2]).reason == "2 turns are waiting already"
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert [opinion(one).status for one in made] == ["given", "given", "failed"]


def test_close_gives_up_in_time(
    open_memory: OpenMemory, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not wait for a model that hangs, and says how many turns were left."""
    _, memory, ann = background(open_memory, gate, close_timeout=0.1)
    made = [ann.observe(ILL)]
    assert gate.asked.wait(PATIENCE)
    made += [ann.observe(f"Shelf {number} is full.") for number in range(2)]
    with caplog.at_level(logging.WARNING, "incumbent.llm"):
        memory.close()
    assert "closed with 3 turn(s) left without a second opinion" in caplog.text
    assert [opinion(one).status for one in made] == ["failed"] * 3
    gate.open.set()
    assert opinion(made[0]).wait(0)
    assert opinion(made[0]).reason == "the memory was closed before the model had answered"


def test_close_finishes_what_is_quick(store_path: Path) -> None:
    """What the model answers in time is there when the memory is opened again."""
    model = Scripted(ALLERGY)
    with incumbent.open(store_path, settings=settings(model, mode="background")) as memory:
        memory.session(user_id="ann").observe(ILL)
    with incumbent.open(store_path) as memory:
        assert memory.session(user_id="ann").current("allergy") == "Peanuts"


ENDING = """
import sys, threading, time
import numpy as np
import incumbent
from tests.llm.scripted import Scripted
from tests.llm.test_background import ALLERGY, ILL

effecting = threading.Event()

class Slow:
    name, dimensions = "slow", 8

    def embed(self, texts):
        if threading.current_thread().name == "incumbent-llm":
            effecting.set()
            time.sleep(1)
        return np.ones((len(texts), 8), np.float32) / np.sqrt(8)

llm = incumbent.LLM(Scripted(ALLERGY), mode="background")
memory = incumbent.open(sys.argv[1], settings=incumbent.Settings(embedder=Slow(), llm=llm))
memory.session(user_id="ann", organization="acme").observe(ILL)
assert effecting.wait(30)
"""


def test_a_program_that_ends_lets_an_answer_take_effect(store_path: Path) -> None:
    """One that is being written when the program ends, without a close, is written whole."""
    done = subprocess.run(
        [sys.executable, "-c", ENDING, str(store_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with incumbent.open(store_path) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        assert ann.current("allergy") == "Peanuts"


def test_flush_without_a_model_is_immediate(memory: incumbent.Memory) -> None:
    """There is nothing to wait for."""
    assert memory.flush()
    assert memory.usage("acme") == []


def test_many_threads_lose_nothing(open_memory: OpenMemory) -> None:
    """Turns that several threads observe at once are each looked at, once."""
    model, memory, _ = background(open_memory, batch_turns=4)
    made: list[incumbent.Observation] = []

    def talk(name: str) -> None:
        session = memory.session(user_id=name, organization="acme")
        made.extend(session.observe(f"Shelf {number} is full.") for number in range(8))

    threads = [threading.Thread(target=talk, args=(f"user-{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert memory.flush(timeout=PATIENCE)
    assert [opinion(one).status for one in made] == ["given"] * 32
    read = [text for ask in model.asked for text in sentences(ask)]
    assert len(read) == 32
    assert sum(usage.turns for usage in memory.usage("acme")) == 32


def test_an_opinion_on_an_earlier_turn_keeps_the_order_of_the_desk(
    open_memory: OpenMemory, gate: Gate
) -> None:
    """The turns of a session stay in order, whenever an opinion on one of them arrives."""
    _, memory, ann = background(open_memory, gate)
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    ann.observe("Shelf 2 is full.")
    before = [item.key for item in ann.working_set()]
    gate.open.set()
    assert memory.flush(timeout=PATIENCE)
    assert [item.key for item in ann.working_set()] == before


def test_a_missed_correction_leaves_no_stale_value_in_a_context(open_memory: OpenMemory) -> None:
    """After the model has read it, the old value is gone from contexts."""
    says = "We need 40 desks by Friday."
    change = reading(said("45 fits", does(says, "part", old="40", new="45")))
    _, memory, ann = background(open_memory, answer(entry("s1")), change)
    ann.observe(says)
    assert memory.flush(timeout=PATIENCE)
    made = ann.observe("Turns out 45 fits the plan")
    assert memory.flush(timeout=PATIENCE)
    assert reasons(made) == [("accepted", "")]
    text = ann.context("How many desks do we need?").text
    assert "[45] desks" in text
    assert "40" not in text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_starts_afresh(store_path: Path) -> None:
    """The child neither applies nor waits for what the parent has in line, and works itself."""
    gate = Gate(ALLERGY)
    model = Scripted(gate)
    with incumbent.open(store_path, settings=settings(model, mode="background")) as memory:
        made = memory.session(user_id="ann").observe(ILL)
        assert gate.asked.wait(PATIENCE)
        child = os.fork()
        if child == 0:
            try:
                fine = memory.flush(timeout=5) and opinion(made).status == "failed"
                own = memory.session(user_id="bob").observe("Shelf 2 is full.")
                fine = fine and memory.flush(timeout=PATIENCE) and opinion(own).status == "given"
            except BaseException:
                fine = False
            os._exit(0 if fine else 1)
        _, status = os.waitpid(child, 0)
        gate.open.set()
        assert os.waitstatus_to_exitcode(status) == 0
        assert memory.flush(timeout=PATIENCE)
        assert opinion(made).status == "given"
        assert memory.session(user_id="ann").current("allergy") == "Peanuts"


@pytest.mark.parametrize("ending", ["the session ends", "enough turns", "a flush"])
def test_turns_wait_for_the_end_of_a_sitting(open_memory: OpenMemory, ending: str) -> None:
    """Without a pause they are read together: at the end, with enough of them, or when asked."""
    enough = 3 if ending == "enough turns" else None
    model, memory, ann = background(open_memory, pause=None, after_turns=enough)
    made = [ann.observe("Shelf 1 is full."), ann.observe("Shelf 2 is full.")]
    assert [opinion(one).status for one in made] == ["pending", "pending"]
    if ending == "enough turns":
        made.append(ann.observe("Shelf 3 is full."))
    elif ending == "a flush":
        assert memory.flush(timeout=PATIENCE)
    else:
        ann.close()
    assert all(opinion(one).wait(PATIENCE) for one in made)
    assert [len(sentences(ask)) for ask in model.asked] == [len(made)]


def test_turns_are_read_after_a_pause(open_memory: OpenMemory) -> None:
    """Nobody has to end the conversation, or to ask."""
    _, _, ann = background(open_memory, ALLERGY, pause=0.01)
    assert opinion(ann.observe(ILL)).wait(PATIENCE)
    assert ann.current("allergy") == "Peanuts"


def test_the_pause_begins_with_the_last_turn() -> None:
    """Who goes on talking is not read in the middle of it; others are, and in their turn."""
    line = Line(incumbent.LLM(Scripted(), pause=10.0, batch_turns=2))
    ann, bob = _waiting("ann"), _waiting("bob")
    line.add(ann, 0.0)
    line.add(bob, 5.0)
    line.add(ann, 6.0)
    assert (line.due(14.9, ()), line.next_due(())) == ([], 15.0)
    assert line.due(15.0, ()) == [bob.conversation.name]
    assert line.due(16.0, {bob.conversation.name: ()}) == [ann.conversation.name]
    line.add(ann, 6.0)
    assert line.take(ann.conversation.name) == [ann, ann]
    assert line.due(16.0, ()) == [bob.conversation.name, ann.conversation.name]


def test_a_context_waits_for_a_reading_under_way(open_memory: OpenMemory, gate: Gate) -> None:
    """It has what the model read."""
    _, _, ann = background(open_memory, gate, context_wait=PATIENCE)
    ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    threading.Timer(0.05, gate.open.set).start()
    assert "allergy: Peanuts" in ann.context("What is Ann allergic to?").text


def test_a_reading_that_takes_too_long_is_not_waited_for(
    open_memory: OpenMemory, gate: Gate
) -> None:
    """The context is then made from what there is."""
    _, _, ann = background(open_memory, gate, context_wait=0.01)
    ann.observe(ILL)
    assert "allergy: Peanuts" not in ann.context("What is Ann allergic to?").text


def test_a_context_does_not_wait_for_others_or_for_a_pause(
    open_memory: OpenMemory, gate: Gate
) -> None:
    """What is not under way, or is about somebody else, holds nobody up."""
    _, memory, ann = background(
        open_memory, gate, pause=None, context_wait=PATIENCE, at_once=2, after_turns=2
    )
    ann.observe(ILL)
    ann.observe("Shelf 2 is full.")
    assert gate.asked.wait(PATIENCE)
    bob = memory.session(user_id="bob", organization="acme")
    made = bob.observe("Shelf 3 is full.")
    assert "Shelf 3" in bob.context("Which shelf is full?").text
    assert opinion(made).status == "pending"


def test_conversations_are_read_side_by_side(open_memory: OpenMemory, gate: Gate) -> None:
    """A model that takes its time with one keeps no other waiting."""
    _, memory, ann = background(open_memory, gate, at_once=2)
    slow = ann.observe(ILL)
    assert gate.asked.wait(PATIENCE)
    quick = memory.session(user_id="bob", organization="acme").observe("Shelf 2 is full.")
    assert opinion(quick).wait(PATIENCE)
    assert opinion(slow).status == "pending"


def test_the_output_of_a_tool_is_read_by_itself(open_memory: OpenMemory) -> None:
    """A sitting in which only tools report is read like any other."""
    model, memory, ann = background(open_memory)
    made = ann.observe("Shelf 2 is full.", speaker="tool")
    assert memory.flush(timeout=PATIENCE)
    assert opinion(made).status == "given"
    assert len(model.asked) == 1


def _waiting(user_id: str) -> Any:
    authority = Ladder().resolve("employee")
    who = Identity(user_id=user_id, user_name=None, organization="acme", authority=authority)
    return SimpleNamespace(conversation=SimpleNamespace(name=(who, "talk", None, None)))
