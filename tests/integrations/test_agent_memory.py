"""The core of the adapters: what it takes for the same turn, and what it makes of messages."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import incumbent
import incumbent.aio
from incumbent.integrations.agent_memory import AgentMemory, Options, on_thread
from incumbent.integrations.model_at_hand import AtHand, Question, Said
from incumbent.testing import SteppingClock
from tests.integrations.contract import ALICE, NEW, OLD, turns
from tests.patience import PATIENCE
from tests.service.running import Running

CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    settings = incumbent.Settings(max_turn_bytes=100)
    with incumbent.open(":memory:", clock=SteppingClock(), settings=settings) as opened:
        yield opened


@pytest.fixture
def agent(memory: incumbent.Memory) -> AgentMemory:
    return AgentMemory(memory, {})


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def test_what_was_said_since_the_last_answer_is_heard(
    agent: AgentMemory, memory: incumbent.Memory
) -> None:
    """Earlier messages were heard when they came; what the application itself says is not."""
    told = [user("Hello."), assistant("Hi."), user("I live in Oslo."), {"role": "system"}]
    agent.hear(agent.session(ALICE), [*told, user("My name is Ann.")])
    assert turns(memory) == [("user", "I live in Oslo."), ("user", "My name is Ann.")]


@pytest.mark.parametrize("said", ["made with", "named by the run", "settings"])
def test_what_is_only_observed_is_sent_as_it_is(memory: incumbent.Memory, said: str) -> None:
    """The mode is the settings', the adapter's or the run's, the last of them counting most."""
    if said == "settings":
        settings = incumbent.Settings(mode="observe")
        memory = incumbent.open(":memory:", clock=SteppingClock(), settings=settings)
    agent = AgentMemory(
        memory, {"memory_mode": "observe"} if said == "made with" else {"budget": 500}
    )
    told: dict[str, Any] = {
        **ALICE,
        **({"memory_mode": "observe"} if said == "named by the run" else {}),
    }
    session = agent.session(told)
    talk = [user(f"The shipping address is {OLD}."), assistant("Noted.")]
    talk.append(user(f"No, the shipping address is {NEW} now."))
    for upto in (1, 3):
        agent.hear(session, talk[:upto])
    assert agent.sent(session, talk).messages(talk, lambda _, made: made) == talk
    assert agent.sent(session, talk).after("Be brief.") == "Be brief."
    assert session.current("shipping_address") == NEW


def test_what_waits_for_approval_is_heard_once(memory: incumbent.Memory) -> None:
    """A loop that comes again before the answer brings nothing new, and the model gets none of
    it from the memory."""
    agent = AgentMemory(memory, {"ask_before_keeping": True})
    session = agent.session(ALICE)
    for _ in range(2):
        agent.hear(session, [user(f"The shipping address is {OLD}.")])
    assert len(session.reviews()) == 1
    assert turns(memory) == [("user", f"The shipping address is {OLD}.")]
    assert OLD not in agent.sent(session, [user("Where to?")]).context


def test_what_is_only_added_to_is_not_observed(memory: incumbent.Memory) -> None:
    """The model gets what holds, and what is said is nobody's word."""
    agent = AgentMemory(memory, {"memory_mode": "add"})
    session = agent.session(ALICE)
    session.write("shipping_address", NEW)
    agent.hear(session, [user(f"The shipping address is {OLD}.")])
    agent.answer(session, "Noted.")
    assert NEW in agent.sent(session, [user("Where to?")]).context
    assert turns(memory) == []


def test_a_mode_that_there_is_not_is_refused(memory: incumbent.Memory) -> None:
    """The error names those there are."""
    with pytest.raises(incumbent.InvalidInput, match="both, observe, add"):
        AgentMemory(memory, {"memory_mode": "watch"}).session(ALICE)  # type: ignore[typeddict-item]
    with pytest.raises(incumbent.InvalidInput, match="both, observe, add"):
        incumbent.Settings(mode="watch")  # type: ignore[arg-type]


def test_words_that_come_again_after_the_answer_are_said_again(
    agent: AgentMemory, memory: incumbent.Memory
) -> None:
    """Whoever says "yes" to two questions has said it twice."""
    session = agent.session(ALICE)
    for _ in range(2):
        agent.hear(session, [user("Yes.")])
        agent.hear(session, [user("Yes.")])
        agent.answer(session, "Good.")
        agent.answer(session, "Good.")
    assert turns(memory) == [("user", "Yes."), ("assistant", "Good.")] * 2


def test_the_id_of_a_message_is_the_ref_of_its_turn(
    agent: AgentMemory, memory: incumbent.Memory
) -> None:
    """So a fact can be followed to the message, and an answer that is made anew says nothing
    twice."""
    session = agent.session(ALICE)
    for _ in range(2):
        agent.hear(session, [user(f"The shipping address is {OLD}.", id="m1")])
        agent.answer(session, "Noted.")
    (fact,) = session.facts()
    assert fact.source.ref == "m1"
    assert [who for who, _ in turns(memory)] == ["user", "assistant"]


def test_an_edited_message_is_another_turn(agent: AgentMemory, memory: incumbent.Memory) -> None:
    """It has the id of what it was before, and counts all the same."""
    session = agent.session(ALICE)
    agent.hear(session, [user("I live in Oslo.", id="m1")])
    agent.hear(session, [user("I live in Bergen.", id="m1")])
    assert turns(memory) == [("user", "I live in Oslo."), ("user", "I live in Bergen.")]


def test_what_is_too_long_for_a_turn_stops_no_run(
    agent: AgentMemory, memory: incumbent.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    """A tool may return a whole page: it is not observed, and the log says so."""
    agent.result(agent.session(ALICE), "é" * 60, "c1")
    assert turns(memory) == []
    assert "more than 100 bytes" in caplog.text


def test_what_is_no_text_stops_no_run(
    agent: AgentMemory, memory: incumbent.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a tool it is not observed, and the log says why; of a person it is refused."""
    session = agent.session(ALICE)
    agent.result(session, "\ud800 bytes", "c1")
    agent.result(session, None, "c2")
    assert turns(memory) == []
    assert "was not observed: text" in caplog.text
    with pytest.raises(incumbent.InvalidInput, match="text"):
        agent.hear(session, [user("\ud800 bytes")])


def test_pictures_and_silence_are_no_turns(agent: AgentMemory, memory: incumbent.Memory) -> None:
    """Of a message in parts its texts are heard."""
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    session = agent.session(ALICE)
    agent.hear(session, [user(""), {"role": "user", "content": [picture]}])
    assert turns(memory) == []
    parts = [{"type": "text", "text": "I live in Oslo."}, picture]
    agent.hear(session, [{"role": "user", "content": parts}])
    assert turns(memory) == [("user", "I live in Oslo.")]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ({"stock": 60, "city": "Zürich"}, '{"stock": 60, "city": "Zürich"}'),
        ({1, 2}, '"{1, 2}"'),
        (CIRCLE, "[[...]]"),
    ],
)
def test_whatever_a_tool_returns_is_a_text(
    agent: AgentMemory, memory: incumbent.Memory, value: Any, text: str
) -> None:
    """Data as JSON, and what is neither as Python writes it."""
    agent.result(agent.session(ALICE), value, None)
    assert turns(memory) == [("tool", text)]


def test_an_unknown_option_is_refused(memory: incumbent.Memory) -> None:
    """With those that there are."""
    options: Any = {"bugdet": 3}
    with pytest.raises(incumbent.InvalidInput, match="no option 'bugdet'; there are budget"):
        AgentMemory(memory, options)


def test_the_context_of_a_run_may_be_an_object(memory: incumbent.Memory) -> None:
    """Its attributes have the names that `memory.session` has; the first to say one counts."""

    class Caller:
        user_id = "bob"
        permissions = ("hr",)
        greeting = "hello"

    options: Options = {"organization": "acme", "permissions": ["all"]}
    session = AgentMemory(memory, options).session(Caller(), {"user_id": "x", "session_id": "7"})
    assert session.identity.user_id == "bob"
    assert session.identity.organization == "acme"
    assert session.identity.permissions == frozenset({"hr"})
    assert session.session_id == "7"


def test_a_memory_may_be_one_whose_calls_are_awaited() -> None:
    """Adapters take either; they see to threads themselves."""

    async def told() -> object:
        async with incumbent.aio.open(":memory:") as memory:
            agent = AgentMemory(memory, {})
            session = agent.session(ALICE)
            await on_thread(agent.hear, session, [user("I live in Oslo.")])
            return await memory.session(**ALICE).facts()

    assert "Oslo" in str(asyncio.run(told()))


def test_a_memory_may_be_elsewhere(tmp_path: Path) -> None:
    """Behind a service the same calls do the same."""
    with incumbent.open(tmp_path / "served.db") as served, Running(served) as service:
        with incumbent.open(service.address) as memory:
            agent = AgentMemory(memory, {})
            session = agent.session(ALICE)
            talk = [user(f"The shipping address is {OLD}."), assistant("Noted.")]
            agent.hear(session, talk[:1])
            agent.hear(session, talk[:1])
            agent.answer(session, "Noted.")
            talk.append(user(f"The shipping address is {NEW} now."))
            agent.hear(session, talk)
            sent = agent.sent(session, talk)
        assert NEW in sent.context
        assert OLD not in str((sent.context, sent.changed))
        assert sent.changed[0] is None
        assert [who for who, _ in turns(served)] == ["user", "assistant", "user"]


def test_a_cancelled_call_ends_when_it_is_done() -> None:
    """Whoever tries again at once finds what it wrote."""
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        assert go_on.wait(PATIENCE)
        done.set()

    async def cancelled() -> None:
        call = asyncio.create_task(on_thread(write))
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        call.cancel()
        await asyncio.sleep(0)
        assert not call.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert done.is_set()

    asyncio.run(cancelled())


# a model of the framework as the reader

READ = '{"statements": [{"s": "s1", "attribute": "allergy", "value": "Peanuts", "does": []}]}'
ILL = "Peanuts make me ill."


class Model:
    """A model of some framework, which says one thing, on whatever loop it is asked."""

    model_name = "clerk-1"

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.loops: list[object] = []


def spoken(model: Model, asked: Question) -> Said:
    model.asked.append(asked)
    return Said(f"Here: {READ}", 100, 20)


async def awaited(model: Model, asked: Question) -> Said:
    model.loops.append(asyncio.get_running_loop())
    return spoken(model, asked)


@pytest.mark.parametrize("ask", [spoken, awaited])
def test_a_model_of_the_framework_reads(memory: incumbent.Memory, ask: Any) -> None:
    """What it says of a turn takes the place of the offline reading, and is counted."""
    model = Model()
    agent = AgentMemory(memory, {"reader": model}, AtHand(Model, ask))
    session = agent.session(ALICE)
    agent.hear(session, [user(ILL)])
    assert memory.flush(timeout=PATIENCE)
    assert session.current("allergy") == "Peanuts"
    assert ILL in model.asked[0].data
    (used,) = memory.usage("acme")
    assert (used.model, used.input_tokens, used.output_tokens) == ("clerk-1", 100, 20)


def test_a_model_that_is_awaited_is_asked_on_the_loop_of_its_run(memory: incumbent.Memory) -> None:
    """Its connections belong there."""
    model = Model()
    agent = AgentMemory(memory, {"reader": model}, AtHand(Model, awaited))

    async def run() -> object:
        await on_thread(lambda: agent.hear(agent.session(ALICE), [user(ILL)]))
        assert await asyncio.to_thread(memory.flush, timeout=PATIENCE)
        return asyncio.get_running_loop()

    assert model.loops == [asyncio.run(run())]


def test_a_model_can_have_settings(memory: incumbent.Memory) -> None:
    """An LLM around it says when it reads, and what it may cost."""
    model = Model()
    llm = incumbent.LLM(model, pause=None, calls_per_day=1)
    agent = AgentMemory(memory, {"reader": llm}, AtHand(Model, spoken))
    session = agent.session(ALICE)
    for said in (ILL, "My desk is green."):
        agent.hear(session, [user(said)])
    assert model.asked == []
    assert memory.flush(timeout=PATIENCE)
    assert len(model.asked) == 1


def test_what_is_no_model_is_refused(memory: incumbent.Memory) -> None:
    """And a memory behind a service says where its models are."""
    with pytest.raises(incumbent.InvalidInput, match="is no model"):
        AgentMemory(memory, {"reader": 7}, AtHand(Model, spoken))
    with pytest.raises(incumbent.InvalidInput, match="is no model"):
        AgentMemory(memory, {"reader": object()})
    with (
        Running(memory) as service,
        incumbent.open(service.address) as elsewhere,
        pytest.raises(incumbent.InvalidInput, match="serve --readers"),
    ):
        AgentMemory(elsewhere, {"reader": Model()}, AtHand(Model, spoken))
