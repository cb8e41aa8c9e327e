"""smolagents: the agent on the page, held to the contract of adapters, with a model of its kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    IN_STOCK,
    INSTRUCTIONS,
    Calls,
    ConversationContract,
    Framework,
    NoAnswer,
    Script,
    conversation_of,
    example,
)

pytest.importorskip("smolagents", reason="smolagents is not installed: make integrations")

from smolagents import ChatMessage, MessageRole, Model, tool
from smolagents.memory import ActionStep, TaskStep
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.utils import AgentGenerationError

PAGE = "smolagents.md"


@tool
def stock(ship_to: str) -> str:
    """How many are in stock.

    Args:
        ship_to: where they go
    """
    return IN_STOCK


class Scripted(Model):
    """A model that follows a script, and answers with the tool for answers."""

    def __init__(self, script: Script) -> None:
        super().__init__(model_id="scripted")
        self.script = script

    def generate(self, messages: Any, *given: Any, **more: Any) -> ChatMessage:
        reply = self.script.next("\n".join(str(one.content) for one in messages))
        if isinstance(reply, Calls):
            function = ChatMessageToolCallFunction({"ship_to": reply.ship_to}, "stock")
        else:
            function = ChatMessageToolCallFunction({"answer": str(reply)}, "final_answer")
        call = ChatMessageToolCall(function, "c1", "function")
        return ChatMessage(MessageRole.ASSISTANT, "", [call])


class Smolagents(Framework):
    modes = ("run", "stream")
    awaited = frozenset()

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.memory, self.options = memory, options
        self.agents: dict[str, Any] = {}

    def agent(self, caller: Mapping[str, str]) -> Any:
        """The agent of a conversation: whose it is, the application sees to."""
        who = conversation_of(caller)
        if who not in self.agents:
            self.agents[who] = example(PAGE)["IncumbentAgent"](
                self.memory,
                {**self.options, **caller},
                tools=[stock],
                model=Scripted(self.script),
                instructions=INSTRUCTIONS,
                verbosity_level=0,
            )
        return self.agents[who]

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        agent = self.agent(caller)
        try:
            if mode == "stream":
                assert list(agent.run(text, reset=False, stream=True))
            else:
                agent.run(text, reset=False)
        except AgentGenerationError as error:
            raise NoAnswer from error

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        raise NotImplementedError

    async def history(self, caller: Mapping[str, str]) -> str:
        return "\n".join(_said(self.agent(caller).memory.steps))


def _said(steps: list[Any]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, TaskStep):
            yield step.task
        elif isinstance(step, ActionStep):
            # The answer is called for with a tool, and then observed.
            yield f"{'' if step.is_final_answer else step.tool_calls} {step.observations}"


class TestSmolagents(ConversationContract):
    framework = Smolagents
    page = PAGE
