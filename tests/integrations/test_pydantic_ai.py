"""Pydantic AI: the contract of adapters, with `FunctionModel`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

import tenure
from tests.integrations.contract import (
    IN_STOCK,
    INSTRUCTIONS,
    AdapterContract,
    Calls,
    Framework,
    Hangs,
    Script,
)

pytest.importorskip("pydantic_ai", reason="Pydantic AI is not installed: make integrations")

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from tenure.integrations.pydantic_ai import TenureMemory


class PydanticAI(Framework):
    modes = ("run", "run_sync", "run_stream")
    awaited = frozenset({"run", "run_stream"})

    def __init__(self, script: Script, memory: tenure.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.kept: dict[tuple[str, ...], list[ModelMessage]] = {}
        self.agent = Agent(
            FunctionModel(self.reply, stream_function=self.stream),
            deps_type=dict[str, str],
            instructions=INSTRUCTIONS,
            capabilities=[TenureMemory(memory, **options)],
        )

        @self.agent.tool_plain
        def stock(ship_to: str) -> str:
            return IN_STOCK

    async def reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = self.script.next(f"{info.instructions}\n{_written(messages)}")
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if isinstance(reply, Calls):
            return ModelResponse([ToolCallPart("stock", {"ship_to": reply.ship_to})])
        return ModelResponse([TextPart(str(reply))])

    async def stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        response = await self.reply(messages, info)
        part = response.parts[0]
        if isinstance(part, ToolCallPart):
            yield {0: DeltaToolCall(part.tool_name, part.args_as_json_str())}
        else:
            assert isinstance(part, TextPart)
            for word in part.content.split(" "):
                yield word if part.content.startswith(word) else f" {word}"

    def given(self, caller: Mapping[str, str]) -> dict[str, Any]:
        kept = self.kept.get(tuple(caller.values()))
        return {"deps": dict(caller), "message_history": kept}

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        result = self.agent.run_sync(text, **self.given(caller))
        self.kept[tuple(caller.values())] = result.all_messages()

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        if mode == "run_stream":
            async with self.agent.run_stream(text, **self.given(caller)) as stream:
                assert [piece async for piece in stream.stream_text()]
            self.kept[tuple(caller.values())] = stream.all_messages()
        else:
            result = await self.agent.run(text, **self.given(caller))
            self.kept[tuple(caller.values())] = result.all_messages()

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(self.kept[tuple(caller.values())])


def _written(messages: list[ModelMessage]) -> str:
    return ModelMessagesTypeAdapter.dump_json(messages).decode().replace(INSTRUCTIONS, "")


@pytest.fixture(params=PydanticAI.modes)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestPydanticAI(AdapterContract):
    framework = PydanticAI
