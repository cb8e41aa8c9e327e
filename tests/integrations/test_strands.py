"""Strands: the plugin on the page, held to the contract of adapters, with a model of its kind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    IN_STOCK,
    INSTRUCTIONS,
    AdapterContract,
    Calls,
    Framework,
    Hangs,
    Script,
    conversation_of,
    example,
)

pytest.importorskip("strands", reason="Strands is not installed: make integrations")

from strands import Agent, tool
from strands.models import Model
from strands.types.exceptions import EventLoopException

PAGE = "strands.md"


@tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class Scripted(Model):
    """A model that follows a script."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def update_config(self, **more: Any) -> None:
        raise NotImplementedError

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *given: Any, **more: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **more: Any
    ) -> AsyncIterator[Any]:
        reply = self.script.next(f"{system_prompt}\n{_written(messages)}")
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        start: dict[str, Any] = {}
        delta: dict[str, Any] = {"text": str(reply)}
        if isinstance(reply, Calls):
            start = {"toolUse": {"toolUseId": "c1", "name": "stock"}}
            delta = {"toolUse": {"input": json.dumps({"ship_to": reply.ship_to})}}
        reason = "tool_use" if isinstance(reply, Calls) else "end_turn"
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


class Strands(Framework):
    modes = ("call", "invoke_async", "stream_async")
    awaited = frozenset({"invoke_async", "stream_async"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.plugin = example(PAGE)["IncumbentPlugin"](memory, **options)
        self.agents: dict[str, Agent] = {}

    def agent(self, caller: Mapping[str, str]) -> Agent:
        """The agent of a conversation: whose it is, the application sees to."""
        who = conversation_of(caller)
        if who not in self.agents:
            self.agents[who] = Agent(
                Scripted(self.script),
                tools=[stock],
                system_prompt=INSTRUCTIONS,
                plugins=[self.plugin],
                state=dict(caller),
                callback_handler=None,
                retry_strategy=None,
            )
        return self.agents[who]

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        with _unwrapped():
            self.agent(caller)(text)

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        with _unwrapped():
            if mode == "stream_async":
                assert [event async for event in self.agent(caller).stream_async(text)]
            else:
                await self.agent(caller).invoke_async(text)

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(self.agent(caller).messages)


@contextmanager
def _unwrapped() -> Iterator[None]:
    """What went wrong in a later step of a run is told inside of an error of the framework."""
    try:
        yield
    except EventLoopException as error:
        raise error.original_exception from error


def _written(messages: Any) -> str:
    return json.dumps(messages, ensure_ascii=False)


class TestStrands(AdapterContract):
    framework = Strands
    page = PAGE
