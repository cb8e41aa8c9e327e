"""AutoGen: the context on the page, held to the contract of adapters, with its replaying client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    IN_STOCK,
    INSTRUCTIONS,
    NEW,
    OLD,
    Calls,
    ConversationContract,
    Framework,
    Hangs,
    Script,
    conversation_of,
    example,
    turns,
)

pytest.importorskip("autogen_agentchat", reason="AutoGen is not installed: make integrations")

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall, Image
from autogen_core.models import CreateResult, ModelFamily, RequestUsage, UserMessage
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL import Image as Picture

PAGE = "autogen.md"
INFO: Any = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": ModelFamily.UNKNOWN,
}


async def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class Client(ReplayChatCompletionClient):
    """The framework's fake, which follows a script."""

    def __init__(self, script: Script) -> None:
        super().__init__([], model_info=INFO)
        self.script = script

    async def create(self, messages: Any, **more: Any) -> CreateResult:
        reply = self.script.next(_written(messages))
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        used = RequestUsage(prompt_tokens=1, completion_tokens=1)
        if isinstance(reply, Calls):
            call = FunctionCall("c1", json.dumps({"ship_to": reply.ship_to}), "stock")
            return CreateResult(
                finish_reason="function_calls", content=[call], usage=used, cached=False
            )
        return CreateResult(finish_reason="stop", content=str(reply), usage=used, cached=False)

    async def create_stream(
        self, messages: Any, *given: Any, **more: Any
    ) -> AsyncGenerator[str | CreateResult, None]:
        whole = await self.create(messages)
        if isinstance(whole.content, str):
            yield whole.content
        yield whole


class AutoGen(Framework):
    modes = ("run", "run_stream")
    awaited = frozenset(modes)

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.memory, self.options = memory, options
        self.made = example(PAGE)["IncumbentContext"]
        self.agents: dict[str, AssistantAgent] = {}

    def agent(self, mode: str, caller: Mapping[str, str]) -> AssistantAgent:
        """The agent of a conversation: whose it is, the application sees to."""
        who = conversation_of(caller)
        if who not in self.agents:
            context = self.made(self.memory, **{**self.options, **caller})
            self.agents[who] = AssistantAgent(
                "clerk",
                Client(self.script),
                tools=[stock],
                system_message=INSTRUCTIONS,
                model_context=context,
                model_client_stream=mode == "run_stream",
                max_tool_iterations=5,
            )
        return self.agents[who]

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        raise NotImplementedError

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        agent = self.agent(mode, caller)
        if mode == "run_stream":
            assert [event async for event in agent.run_stream(task=text)]
        else:
            await agent.run(task=text)

    async def history(self, caller: Mapping[str, str]) -> str:
        state = await self.agent("run", caller).save_state()
        return json.dumps(state, ensure_ascii=False)


def _written(messages: Any) -> str:
    return "\n".join(str(message.model_dump()) for message in messages)


class TestAutoGen(ConversationContract):
    framework = AutoGen
    page = PAGE


def test_what_another_agent_says_is_nobodys_word() -> None:
    """It is guarded, pictures and all, and not observed."""
    picture = Image(Picture.new("RGB", (1, 1)))
    with incumbent.open(":memory:") as memory:
        alice = memory.session(**ALICE)
        alice.write("shipping_address", OLD)
        alice.write("shipping_address", NEW)
        context = example(PAGE)["IncumbentContext"](memory, **ALICE)

        async def talk() -> Any:
            said: list[str | Image] = [f"Two lamps to {OLD}, by Friday.", picture]
            await context.add_message(UserMessage(content=said, source="buyer"))
            await context.add_message(UserMessage(content="Is it dear?", source="user"))
            return await context.get_messages()

        _, told, asked = asyncio.run(talk())
        assert OLD not in told.content[0]
        assert told.content[1] is picture
        assert asked.content == "Is it dear?"
        assert turns(memory) == [("user", "Is it dear?")]
