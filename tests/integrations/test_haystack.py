"""Haystack: the generator on the page, held to the contract of adapters, around one of its kind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
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

pytest.importorskip("haystack", reason="Haystack is not installed: make integrations")

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, StreamingChunk, ToolCall
from haystack.tools import tool

PAGE = "haystack.md"


@tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


@component
class Scripted:
    """A chat generator that follows a script."""

    def __init__(self, script: Script) -> None:
        self.script = script

    @component.output_types(replies=list[ChatMessage])
    def run(
        self,
        messages: list[ChatMessage],
        streaming_callback: Any = None,
        *more: Any,
        tools: Any = None,
    ) -> Any:
        message = _message(self.script.next(_written(messages)))
        if streaming_callback is not None:
            streaming_callback(StreamingChunk(message.text or ""))
        return {"replies": [message]}

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self,
        messages: list[ChatMessage],
        streaming_callback: Any = None,
        *more: Any,
        tools: Any = None,
    ) -> Any:
        reply = self.script.next(_written(messages))
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if streaming_callback is not None:
            await streaming_callback(StreamingChunk(""))
        return {"replies": [_message(reply)]}


def _message(reply: Any) -> ChatMessage:
    if isinstance(reply, Calls):
        call = ToolCall("stock", {"ship_to": reply.ship_to}, id="c1")
        return ChatMessage.from_assistant(tool_calls=[call])
    return ChatMessage.from_assistant(str(reply))


class Haystack(Framework):
    modes = ("run", "run_async", "stream", "astream")
    awaited = frozenset({"run_async", "astream"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        made = example(PAGE)["IncumbentChatGenerator"](memory, Scripted(script), **options)
        self.agent = Agent(chat_generator=made, tools=[stock], system_prompt=INSTRUCTIONS)
        self.talks: dict[str, list[ChatMessage]] = {}

    def given(self, text: str, caller: Mapping[str, str]) -> tuple[list[ChatMessage], Any]:
        """The application's own conversation with a person, and what names them."""
        talk = self.talks.setdefault(conversation_of(caller), [])
        talk.append(ChatMessage.from_user(text))
        return talk, {"generation_kwargs": {"incumbent": dict(caller)}}

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        talk, named = self.given(text, caller)
        if mode == "stream":
            named["streaming_callback"] = lambda piece: None
        talk[:] = _kept(self.agent.run(talk, **named))

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        talk, named = self.given(text, caller)
        if mode == "astream":
            named["streaming_callback"] = _heard
        talk[:] = _kept(await self.agent.run_async(talk, **named))

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(self.talks[conversation_of(caller)])


async def _heard(piece: StreamingChunk) -> None:
    assert piece.content is not None


def _kept(out: dict[str, Any]) -> list[ChatMessage]:
    """The messages of a run without the agent's own to the model."""
    return [one for one in out["messages"] if not one.is_from("system")]


def _written(messages: list[ChatMessage]) -> str:
    # A result has the call that it answers in it once more.
    return "\n".join(str(one.to_openai_dict_format()) for one in messages)


class TestHaystack(AdapterContract):
    framework = Haystack
    page = PAGE
