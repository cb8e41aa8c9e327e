"""OpenAI Agents SDK: the contract of adapters, with `ScriptedModel`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
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

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed: make integrations")

from agents import Agent, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.testing.model import ModelCall

from tenure.integrations.openai_agents import TenureHooks

set_tracing_disabled(True)


@function_tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class OpenAIAgents(Framework):
    modes = ("run", "run_sync", "run_streamed")
    awaited = frozenset({"run", "run_streamed"})

    def __init__(self, script: Script, memory: tenure.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.model = ScriptedModel()
        self.agent = Agent("clerk", instructions=INSTRUCTIONS, model=self.model, tools=[stock])
        self.hooks = TenureHooks(memory, **options)
        self.kept: dict[tuple[str, ...], SQLiteSession] = {}

    async def reply(self, call: ModelCall) -> ModelStep:
        reply = self.script.next(f"{call.system_instructions}\n{_written(call.input)}")
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if isinstance(reply, Calls):
            made = function_call("stock", {"ship_to": reply.ship_to}, call_id="c1")
        else:
            made = assistant_message(str(reply))
        return ModelStep(output=[made])

    def given(self, caller: Mapping[str, str]) -> dict[str, Any]:
        while self.model.remaining_steps < 9:
            self.model.enqueue(ModelStep.respond(self.reply))
        return {
            "session": self.kept.setdefault(tuple(caller.values()), SQLiteSession("kept")),
            "hooks": self.hooks,
            "run_config": self.hooks.run_config(),
            "context": dict(caller),
        }

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        Runner.run_sync(self.agent, text, **self.given(caller))

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        if mode == "run_streamed":
            streamed = Runner.run_streamed(self.agent, text, **self.given(caller))
            try:
                assert [event async for event in streamed.stream_events()]
            finally:
                streamed.cancel()
        else:
            await Runner.run(self.agent, text, **self.given(caller))

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(await self.kept[tuple(caller.values())].get_items())


def _written(items: Any) -> str:
    return json.dumps(items, ensure_ascii=False)


@pytest.fixture(params=OpenAIAgents.modes)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestOpenAIAgents(AdapterContract):
    framework = OpenAIAgents
