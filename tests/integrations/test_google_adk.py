"""Google's Agent Development Kit: the contract of adapters. It has no fake model; here is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    CHANGE,
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
    Script,
    empty_memory,
    turns,
    was_read,
)

pytest.importorskip("google.adk", reason="Google ADK is not installed: make integrations")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

from incumbent.integrations.google_adk import IncumbentMemoryService, IncumbentPlugin


class Model(BaseLlm):
    """Follows a script."""

    script: Any = None

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        written = "".join(one.model_dump_json(exclude_none=True) for one in llm_request.contents)
        reply = self.script.next(f"{llm_request.config.system_instruction}\n{written}")
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if isinstance(reply, Calls):
            call = types.FunctionCall(name="stock", args={"ship_to": reply.ship_to}, id="c1")
            yield LlmResponse(content=types.ModelContent(types.Part(function_call=call)))
            return
        if stream:
            for word in str(reply).split():
                yield LlmResponse(content=types.ModelContent(word), partial=True)
        yield LlmResponse(content=types.ModelContent(str(reply)))


def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class GoogleADK(Framework):
    modes = ("run", "run_async", "streamed")
    awaited = frozenset({"run_async", "streamed"})
    knows_who = True

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        model = Model(model="fake", script=script)
        agent = LlmAgent(name="clerk", model=model, instruction=INSTRUCTIONS, tools=[stock])
        self.made: dict[str, Any] = {
            "root_agent": agent,
            "plugins": [IncumbentPlugin(memory, **options)],
        }
        self.kept = InMemorySessionService()

    def runner(self, caller: Mapping[str, str]) -> Runner:
        """ADK keeps sessions by application, user and id: an organization has its own."""
        app = App(name=caller.get("organization", "shop"), **self.made)
        return Runner(app=app, session_service=self.kept, auto_create_session=True)

    def given(self, mode: str, text: str, caller: Mapping[str, str]) -> dict[str, Any]:
        rest = {name: value for name, value in caller.items() if name == "organization"}
        return {
            "user_id": caller["user_id"],
            "session_id": caller["session_id"],
            "new_message": types.UserContent(text),
            "run_config": RunConfig.model_validate(
                {"custom_metadata": rest, "streaming_mode": "sse" if mode == "streamed" else None}
            ),
        }

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        assert list(self.runner(caller).run(**self.given(mode, text, caller)))

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        run = self.runner(caller).run_async(**self.given(mode, text, caller))
        events = [event async for event in run]
        assert any(event.partial for event in events) == (mode == "streamed")

    async def history(self, caller: Mapping[str, str]) -> str:
        kept = await self.kept.get_session(
            app_name=caller["organization"],
            user_id=caller["user_id"],
            session_id=caller["session_id"],
        )
        assert kept is not None
        contents = [event.content for event in kept.events if event.content is not None]
        return "".join(one.model_dump_json(exclude_none=True) for one in contents)


class TestGoogleADK(AdapterContract):
    framework = GoogleADK
    page = "google-adk.md"


memory = pytest.fixture(empty_memory)


async def said(app: App, kept: InMemorySessionService, *talk: str, **more: Any) -> None:
    """Let Alice say something to an application."""
    runner = Runner(app=app, session_service=kept, auto_create_session=True, **more)
    for text in talk:
        run = runner.run_async(
            user_id="alice",
            session_id="t1",
            new_message=types.UserContent(text),
            run_config=RunConfig(custom_metadata={"organization": "acme"}),
        )
        assert [event async for event in run]


@pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")  # ADK's own
def test_what_one_agent_says_to_another_is_nobodys_word(memory: incumbent.Memory) -> None:
    """ADK runs an agent that is a tool with the plugins of its caller: it reads what holds, and
    nothing of it is observed, nor of the tools that it uses."""
    memory.session(**ALICE).write("shipping_address", NEW)
    inner = Script([Calls(OLD), "It fits."])
    helper = LlmAgent(
        name="helper", description="Fits.", model=Model(model="f", script=inner), tools=[stock]
    )
    asked = {"request": f"The shipping address is {OLD}, and the budget is $5."}
    outer = LlmAgent(name="clerk", model=Asks(model="f", args=asked), tools=[AgentTool(helper)])
    app = App(name="acme", root_agent=outer, plugins=[IncumbentPlugin(memory)])
    asyncio.run(said(app, InMemorySessionService(), "Does it fit?"))
    assert all(NEW in prompt for prompt in inner.sent)
    assert turns(memory) == [("user", "Does it fit?"), ("tool", "It fits."), ("assistant", "Yes.")]
    assert memory.session(**ALICE).current("budget") is None


class Asks(BaseLlm):
    """Asks the helper, and then says yes."""

    args: dict[str, Any]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for one in llm_request.contents for part in one.parts or ()]
        call = types.FunctionCall(name="helper", args=self.args, id="c1")
        is_answered = any(part.function_response for part in parts)
        part = types.Part(text="Yes.") if is_answered else types.Part(function_call=call)
        yield LlmResponse(content=types.ModelContent(part))


def test_a_tool_that_fails_ends_nothing(memory: incumbent.Memory) -> None:
    """The next run is observed as ever."""

    def stock(ship_to: str) -> str:
        raise OSError("no such place")

    script = Script([Calls("us"), "Noted."])
    model = Model(model="f", script=script)
    agent = LlmAgent(name="clerk", model=model, tools=[stock])
    app = App(name="acme", root_agent=agent, plugins=[IncumbentPlugin(memory)])
    kept = InMemorySessionService()
    with pytest.raises(OSError, match="no such place"):
        asyncio.run(said(app, kept, "Do we have desks?"))
    asyncio.run(said(app, kept, "Never mind."))
    assert turns(memory)[1:] == [("user", "Never mind."), ("assistant", "Noted.")]


def test_sessions_can_be_searched(memory: incumbent.Memory) -> None:
    """With ADK's own memory service, added any number of times; only what holds is found."""
    kept = InMemorySessionService()
    model = Model(model="f", script=Script(["Noted.", "Noted, too."]))
    app = App(name="acme", root_agent=LlmAgent(name="clerk", model=model))
    asyncio.run(said(app, kept, ORDER, CHANGE))
    service = IncumbentMemoryService(memory, organization="acme")

    async def found() -> str:
        session = await kept.get_session(app_name="acme", user_id="alice", session_id="t1")
        assert session is not None
        await service.add_session_to_memory(session)
        await service.add_session_to_memory(session)
        asked = "Where do we ship?"
        return str(await service.search_memory(app_name="a", user_id="alice", query=asked))

    told = asyncio.run(found())
    assert NEW in told
    assert OLD not in told
    assert [who for who, _ in turns(memory)] == ["user", "assistant"] * 2
    other = asyncio.run(service.search_memory(app_name="a", user_id="bob", query="Where?"))
    assert other.memories == []


def test_the_plugin_and_the_service_count_a_turn_once(memory: incumbent.Memory) -> None:
    """Whoever has both has nothing twice."""
    kept = InMemorySessionService()
    model = Model(model="f", script=Script(["Noted."]))
    agent = LlmAgent(name="clerk", model=model)
    app = App(name="acme", root_agent=agent, plugins=[IncumbentPlugin(memory)])
    asyncio.run(said(app, kept, ORDER))
    session = asyncio.run(kept.get_session(app_name="acme", user_id="alice", session_id="t1"))
    assert session is not None
    asyncio.run(IncumbentMemoryService(memory, organization="acme").add_session_to_memory(session))
    assert turns(memory) == [("user", ORDER), ("assistant", "Noted.")]


def test_a_model_of_the_framework_reads(memory: incumbent.Memory) -> None:
    """The reader is a model like any other."""
    plugin = IncumbentPlugin(memory, reader=Model(model="r", script=Script([READ])))
    agent = LlmAgent(name="clerk", model=Model(model="f", script=Script(["Noted."])))
    app = App(name="acme", root_agent=agent, plugins=[plugin])
    asyncio.run(said(app, InMemorySessionService(), ILL))
    assert was_read(memory)
