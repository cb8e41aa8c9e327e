"""LangChain and LangGraph: the contract of adapters, with `GenericFakeChatModel`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
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

pytest.importorskip("langchain", reason="LangChain is not installed: make integrations")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, messages_to_dict
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from tenure.integrations.langchain import TenureMiddleware


@tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class Model(GenericFakeChatModel):
    """The framework's fake, which follows a script and streams its calls of tools, too."""

    script: Any

    def bind_tools(self, *given: Any, **named: Any) -> Model:
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **named: Any) -> ChatResult:
        return _result(self.script.next(_written(messages)))

    async def _agenerate(
        self, messages: list[BaseMessage], *given: Any, **named: Any
    ) -> ChatResult:
        reply = self.script.next(_written(messages))
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        return _result(reply)

    def _stream(
        self, messages: list[BaseMessage], *given: Any, **named: Any
    ) -> Iterator[ChatGenerationChunk]:
        yield from _chunks(self._generate(messages))

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, **named: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(await self._agenerate(messages)):
            yield chunk


def _result(reply: Any) -> ChatResult:
    if isinstance(reply, Calls):
        call = {"name": "stock", "args": {"ship_to": reply.ship_to}, "id": "c1"}
        message = AIMessage("", tool_calls=[call])
    else:
        message = AIMessage(str(reply))
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunks(result: ChatResult) -> Iterator[ChatGenerationChunk]:
    message = result.generations[0].message
    assert isinstance(message, AIMessage)
    for number, call in enumerate(message.tool_calls):
        args = json.dumps(call["args"])
        piece = {"name": call["name"], "args": args, "id": call["id"], "index": number}
        yield ChatGenerationChunk(message=AIMessageChunk("", tool_call_chunks=[piece]))
    for word in message.text.splitlines(keepends=True):
        yield ChatGenerationChunk(message=AIMessageChunk(word))


class LangChain(Framework):
    modes = ("invoke", "ainvoke", "stream", "astream")
    awaited = frozenset({"ainvoke", "astream"})

    def __init__(self, script: Script, memory: tenure.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.agent = create_agent(
            Model(messages=iter(()), script=script),
            [stock],
            system_prompt=INSTRUCTIONS,
            middleware=[TenureMiddleware(memory, **options)],
            checkpointer=InMemorySaver(),
        )

    def given(self, text: str, caller: Mapping[str, str]) -> tuple[Any, Any]:
        return {"messages": [{"role": "user", "content": text}]}, _config(caller)

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        if mode == "stream":
            assert list(self.agent.stream(*self.given(text, caller), stream_mode="messages"))
        else:
            self.agent.invoke(*self.given(text, caller))

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        if mode == "astream":
            stream = self.agent.astream(*self.given(text, caller), stream_mode="messages")
            assert [piece async for piece in stream]
        else:
            await self.agent.ainvoke(*self.given(text, caller))

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(self.agent.get_state(_config(caller)).values["messages"])


def _config(caller: Mapping[str, str]) -> Any:
    named = {name: value for name, value in caller.items() if name != "session_id"}
    # LangGraph keeps a thread for whoever names it: whose it is, the application sees to.
    thread = "/".join(caller.values())
    return {"configurable": {**named, "thread_id": thread, "session_id": caller["session_id"]}}


def _written(messages: list[BaseMessage]) -> str:
    return json.dumps(messages_to_dict(messages), ensure_ascii=False)


@pytest.fixture(params=LangChain.modes)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestLangChain(AdapterContract):
    framework = LangChain
