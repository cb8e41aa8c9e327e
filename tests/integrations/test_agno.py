"""Agno: the contract of adapters, with a model of its kind."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    ILL,
    IN_STOCK,
    INSTRUCTIONS,
    NEW,
    OLD,
    ORDER,
    READ,
    AdapterContract,
    Calls,
    Framework,
    Hangs,
    NoAnswer,
    Script,
    conversation_of,
    empty_memory,
    turns,
    was_read,
)

os.environ.setdefault("AGNO_TELEMETRY", "false")
pytest.importorskip("agno", reason="Agno is not installed: make integrations")

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.run.agent import RunErrorEvent
from agno.run.base import RunStatus
from agno.tools.function import Function

from incumbent.integrations.agent_memory import AgentMemory
from incumbent.integrations.agno import plain, rebuilt, with_incumbent

ALICE_OPTIONS: Any = ALICE


def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


@dataclass
class Scripted(Model):
    """A model that follows a script."""

    id: str = "scripted"
    script: Script = field(default_factory=Script)

    def invoke(self, *given: Any, messages: Any, **named: Any) -> ModelResponse:
        return _response(self.script.next(_written(messages)))

    async def ainvoke(self, *given: Any, messages: Any, **named: Any) -> ModelResponse:
        reply = self.script.next(_written(messages))
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        return _response(reply)

    def invoke_stream(self, *given: Any, **named: Any) -> Iterator[ModelResponse]:
        yield from _pieces(self.invoke(**named))

    async def ainvoke_stream(self, *given: Any, **named: Any) -> AsyncIterator[ModelResponse]:
        for piece in _pieces(await self.ainvoke(**named)):
            yield piece

    def _parse_provider_response(self, response: Any, **named: Any) -> ModelResponse:
        raise NotImplementedError

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        raise NotImplementedError


def _response(reply: Any) -> ModelResponse:
    if isinstance(reply, Calls):
        function = {"name": "stock", "arguments": json.dumps({"ship_to": reply.ship_to})}
        call = {"id": "c1", "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call])
    return ModelResponse(role="assistant", content=str(reply))


def _pieces(response: ModelResponse) -> Iterator[ModelResponse]:
    said = str(response.content or "")
    for piece in (said[:5], said[5:]):
        yield ModelResponse(role="assistant", content=piece)
    if response.tool_calls:
        yield ModelResponse(role="assistant", tool_calls=response.tool_calls)


kept_here: Any = InMemoryDb  # its constructor has no types


class Agno(Framework):
    modes = ("run", "arun", "stream", "astream")
    awaited = frozenset({"arun", "astream"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.model = with_incumbent(Scripted(script=script), memory, **options)
        self.agents: dict[str, Agent] = {}

    def agent(self, caller: Mapping[str, str]) -> Agent:
        """The agent of a person's conversations: Agno knows of no organizations."""
        who = conversation_of(caller)
        if who not in self.agents:
            self.agents[who] = Agent(
                model=self.model,
                tools=[stock],
                instructions=INSTRUCTIONS,
                db=kept_here(),
                add_history_to_context=True,
                telemetry=False,
            )
        return self.agents[who]

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        agent = self.agent(caller)
        if mode == "stream":
            _told(list(agent.run(text, stream=True, stream_events=True, **_named(caller))))
        else:
            _told([agent.run(text, **_named(caller))])

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        agent = self.agent(caller)
        if mode == "astream":
            events = agent.arun(text, stream=True, stream_events=True, **_named(caller))
            _told([event async for event in events])
        else:
            _told([await agent.arun(text, **_named(caller))])

    async def history(self, caller: Mapping[str, str]) -> str:
        session = self.agent(caller).get_session(session_id=caller["session_id"])
        assert session is not None
        runs: Any = session.runs
        kept = [one for run in runs for one in run.messages]
        return _written([one for one in kept if not one.from_history and one.role != "system"])


def _named(caller: Mapping[str, str]) -> dict[str, Any]:
    rest = dict(caller)
    here = {name: rest.pop(name, None) for name in ("user_id", "session_id")}
    return {**here, "metadata": rest}


def _told(events: list[Any]) -> None:
    """Agno tells of what went wrong in what a run gives, and raises nothing."""
    assert events
    for event in events:
        if isinstance(event, RunErrorEvent) or getattr(event, "status", None) == RunStatus.error:
            raise incumbent.InvalidInput(event.content) if event.content else NoAnswer


def _written(messages: Any) -> str:
    return json.dumps([[one.content, one.tool_calls] for one in messages], ensure_ascii=False)


class TestAgno(AdapterContract):
    framework = Agno
    page = "agno.md"

    def test_what_is_said_inside_a_tool_is_nobodys_word(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """A tool that asks an agent says nothing in the person's name, and the agent knows what
        holds for them."""
        memory.session(**ALICE).write("shipping_address", NEW)
        inner = Script(["Noted, too."])
        clerk = Agent(model=with_incumbent(Scripted(script=inner), memory), telemetry=False)

        def stock(ship_to: str) -> Any:
            """How many are in stock."""
            return clerk.run(f"The shipping address is {ship_to}.").content

        async def astock(ship_to: str) -> AsyncIterator[Any]:
            """How many are in stock."""
            async for event in clerk.arun(f"The shipping address is {ship_to}.", stream=True):
                yield event

        agent = self.framework(script, memory)
        asked = Function.from_callable(astock if mode in agent.awaited else stock, name="stock")
        agent.agent(ALICE).tools = [asked]
        self.say(agent, mode, ("Do we have desks?", [Calls(OLD), "Yes."]))
        assert NEW in inner.sent[0]
        said = [("user", "Do we have desks?"), ("tool", "Noted, too."), ("assistant", "Yes.")]
        assert turns(memory) == said
        assert memory.session(**ALICE).current("shipping_address") == NEW

    def test_an_empty_name_is_refused(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """To Agno an empty name is none, and nobody behind it learns of it: the page says so."""
        known = self.framework(script, memory, user_id="carol")
        assert "User: carol" in self.say(known, mode, (ORDER, ["Noted."]), user_id="")[0]


memory = pytest.fixture(empty_memory)


@dataclass
class Chained(Scripted):
    """Would send what is new alone, to a provider that keeps the rest."""

    use_previous_response_id: bool = True


def test_the_model_that_is_given_stays_as_it_was(memory: incumbent.Memory) -> None:
    """The other is of its class, also by name, and leaves no transcript to the provider. A copy of
    it has the same memory."""
    given = Chained()
    made = with_incumbent(given, memory, **ALICE_OPTIONS)
    assert type(given) is Chained
    assert given.use_previous_response_id
    assert isinstance(made, Chained)
    assert (type(made).__name__, type(made).__module__) == ("Chained", Chained.__module__)
    assert not made.use_previous_response_id
    copied = deepcopy(made)
    copied.script = Script(["Noted."])
    Agent(model=copied, telemetry=False).run("I live in Oslo.", session_id="t1")
    assert turns(memory) == [("user", "I live in Oslo."), ("assistant", "Noted.")]


def test_what_is_no_run_passes_untouched(memory: incumbent.Memory) -> None:
    """Such as Agno asking for the title of a chat: nobody speaks there."""
    script = Script(["Desks"])
    model = with_incumbent(Scripted(script=script), memory)
    model.response([Message(role="user", content=f"A title for: {ORDER}")])
    assert script.sent == [_written([Message(role="user", content=f"A title for: {ORDER}")])]


def test_only_the_persons_own_words_are_theirs(memory: incumbent.Memory) -> None:
    """What Agno adds to their message is not, and a conversation that is given to a run has been
    before it, but for its end."""
    script = Script(["Noted.", "In Oslo."])
    model = with_incumbent(Scripted(script=script), memory, **ALICE_OPTIONS)
    agent = Agent(
        model=model,
        dependencies={"weather": "I live in Rome."},
        add_dependencies_to_context=True,
        telemetry=False,
    )
    agent.run("I live in Oslo.", session_id="t1")
    assert "Rome" in script.sent[0]
    talk = [("user", "I live in Bonn."), ("assistant", "Oh?"), ("user", "Where do I live?")]
    agent.run([Message(role=role, content=text) for role, text in talk], session_id="t1")
    heard = ["I live in Oslo.", "Noted.", "Where do I live?", "In Oslo."]
    assert [text for _, text in turns(memory)] == heard


def test_results_that_agno_has_shortened_are_guarded(memory: incumbent.Memory) -> None:
    """What is sent of a tool is then not what it gave back."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    long = Message(role="tool", content=f"Sent to {OLD} in May.", compressed_content=f"To {OLD}")
    made = AgentMemory(memory, {}).sent(alice, [plain(long, compressed=True)])
    (sent,) = made.messages([long], rebuilt)
    assert sent.get_content(use_compressed_content=True) == "[no longer current]"
    assert long.compressed_content == f"To {OLD}"


def test_a_model_of_the_framework_reads(memory: incumbent.Memory) -> None:
    """The reader is a model like any other."""
    model = with_incumbent(
        Scripted(script=Script(["Noted."])), memory, reader=Scripted(script=Script([READ]))
    )
    Agent(model=model).run(ILL, user_id="alice", session_id="t1", metadata={"organization": "acme"})
    assert was_read(memory)
