"""OpenAI Agents SDK: the contract of adapters, with `ScriptedModel`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
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

pytest.importorskip("agents", reason="the OpenAI Agents SDK is not installed: make integrations")

from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.run_config import CallModelData, ModelInputData
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from agents.testing.model import ModelCall
from pydantic import BaseModel

from incumbent.integrations.openai_agents import IncumbentHooks

set_tracing_disabled(True)


@function_tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class Desks(BaseModel):
    desks: int


class OpenAIAgents(Framework):
    modes = ("run", "run_sync", "run_streamed")
    awaited = frozenset({"run", "run_streamed"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.model = ScriptedModel()
        self.agent = Agent("clerk", instructions=INSTRUCTIONS, model=self.model, tools=[stock])
        self.hooks = IncumbentHooks(memory, **options)
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


class TestOpenAIAgents(AdapterContract):
    framework = OpenAIAgents
    page = "openai-agents.md"


memory = pytest.fixture(empty_memory)


def ran(
    agent: Agent[Any], text: str, hooks: IncumbentHooks, config: RunConfig | None = None
) -> Any:
    """Let Alice say something to an agent."""
    config = hooks.run_config(config)
    run = Runner.run(agent, text, hooks=hooks, run_config=config, context=ALICE)
    return asyncio.run(run).final_output


def test_what_one_agent_says_to_another_is_nobodys_word(memory: incumbent.Memory) -> None:
    """An agent that is a tool of another reads what holds, and observes nothing."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    inner = ScriptedModel([[assistant_message("It fits.")]])
    asked = {"input": f"The shipping address is {OLD}, and the budget is $5."}
    outer = ScriptedModel([[function_call("fit", asked, call_id="c1")], [assistant_message("Yes")]])
    helper = Agent("helper", model=inner).as_tool("fit", "Whether it fits.")
    ran(Agent("clerk", model=outer, tools=[helper]), "Does it fit?", IncumbentHooks(memory))
    assert NEW in str(inner.calls[0].system_instructions)
    assert turns(memory) == [("user", "Does it fit?"), ("tool", "It fits."), ("assistant", "Yes")]
    assert alice.current("budget") is None


def test_a_handoff_says_nothing_twice(memory: incumbent.Memory) -> None:
    """The agent that takes over answers what the person has said once."""
    other = Agent("other", model=ScriptedModel([[assistant_message("To Oslo it is.")]]))
    handed = function_call("transfer_to_other", {}, call_id="c1")
    first = Agent("first", model=ScriptedModel([[handed]]), handoffs=[other])
    ran(first, "I live in Oslo.", IncumbentHooks(memory))
    assert turns(memory) == [("user", "I live in Oslo."), ("assistant", "To Oslo it is.")]


def test_a_filter_of_ones_own_is_asked_first(memory: incumbent.Memory) -> None:
    """And the rest of a configuration stays as it is."""

    def shout(data: CallModelData[Any]) -> ModelInputData:
        return ModelInputData(data.model_data.input, "SHOUT.")

    model = ScriptedModel([[assistant_message("YES")]])
    config = RunConfig(call_model_input_filter=shout, workflow_name="mine")
    hooks = IncumbentHooks(memory)
    ran(Agent("clerk", model=model), "I live in Oslo.", hooks, config)
    assert str(model.calls[0].system_instructions).startswith("SHOUT.\n\n# Identity")
    assert hooks.run_config(config).workflow_name == "mine"


def test_an_answer_need_not_be_a_text(memory: incumbent.Memory) -> None:
    """What a run came to is on record as data."""
    model = ScriptedModel([[assistant_message('{"desks": 45}')]])
    ran(Agent("clerk", model=model, output_type=Desks), "How many?", IncumbentHooks(memory))
    assert turns(memory)[1:] == [("assistant", '{"desks": 45}')]


def test_a_model_of_the_framework_reads(memory: incumbent.Memory) -> None:
    """The reader is a model like any other."""
    reader = ScriptedModel([[assistant_message(READ)]])
    hooks = IncumbentHooks(memory, reader=reader)
    ran(Agent("clerk", model=ScriptedModel([[assistant_message("Noted.")]])), ILL, hooks)
    assert was_read(memory)
    assert ILL in str(reader.calls[0].input)
