"""LangChain and LangGraph: the contract of adapters, with `GenericFakeChatModel`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
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
    Reply,
    Script,
    empty_memory,
    turns,
    was_read,
)

pytest.importorskip("langchain", reason="LangChain is not installed: make integrations")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from incumbent.integrations.langchain import IncumbentMiddleware

PICTURE = {"type": "image", "url": "data:image/png;base64,MTIz"}


@dataclass
class Caller:
    user_id: str
    organization: str


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
        piece = tool_call_chunk(name=call["name"], args=args, id=call["id"], index=number)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))
    for word in message.text.splitlines(keepends=True):
        yield ChatGenerationChunk(message=AIMessageChunk(content=word))


class LangChain(Framework):
    modes = ("invoke", "ainvoke", "stream", "astream")
    awaited = frozenset({"ainvoke", "astream"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.agent = create_agent(
            Model(messages=iter(()), script=script),
            [stock],
            system_prompt=INSTRUCTIONS,
            middleware=[IncumbentMiddleware(memory, **options)],
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


class TestLangChain(AdapterContract):
    framework = LangChain
    page = "langchain.md"


memory = pytest.fixture(empty_memory)


def agent_of(memory: incumbent.Memory, *replies: Reply, **more: Any) -> tuple[Any, Script]:
    """An agent that gives these replies, and its script."""
    script = Script(list(replies))
    model = Model(messages=iter(()), script=script)
    made = create_agent(
        model, more.pop("tools", []), middleware=[IncumbentMiddleware(memory)], **more
    )
    return made, script


def test_the_person_is_named_in_the_context_of_a_run(memory: incumbent.Memory) -> None:
    """As LangGraph has it: `context_schema`. The thread is the session."""
    agent, _ = agent_of(memory, "Noted.", context_schema=Caller)
    said = {"messages": [{"role": "user", "content": "I live in Oslo."}]}
    agent.invoke(said, {"configurable": {"thread_id": "t1"}}, context=Caller("alice", "acme"))
    assert turns(memory) == [("user", "I live in Oslo."), ("assistant", "Noted.")]


def test_every_kind_of_message_is_guarded(memory: incumbent.Memory) -> None:
    """In blocks, in calls of tools, and where a provider keeps them once more. What the
    application says itself stays as it is."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    call = {"name": "quote", "args": {"to": OLD}, "id": "c1"}
    history = [
        HumanMessage([{"type": "text", "text": f"Two lamps to {OLD}, please."}, PICTURE]),
        AIMessage(
            [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_call", **call}],
            tool_calls=[call],
            invalid_tool_calls=[{"name": "quote", "args": f"{{to {OLD}", "id": "c2", "error": ""}],
            additional_kwargs={"tool_calls": [{"function": {"arguments": OLD}}], "kept": 1},
        ),
        ToolMessage(f"To {OLD} it is $40.", tool_call_id="c1"),
        ToolMessage("No.", tool_call_id="c2"),
        AIMessage(f"To {OLD}."),
        HumanMessage("Is it dear?"),
    ]
    system = SystemMessage([{"type": "text", "text": "Be brief.", "cache_control": {"type": "e"}}])
    agent, script = agent_of(memory, "No.", system_prompt=system)
    out = agent.invoke({"messages": history}, _config(ALICE))
    (sent,) = script.sent
    assert OLD not in sent
    assert [one["type"] for one in json.loads(sent)] == [
        *("system", "human", "ai", "tool", "tool", "human"),
    ]
    for kept in ("Two lamps to [", '"cache_control"', PICTURE["url"], '"Hm."', '"kept": 1', NEW):
        assert kept in sent
    assert out["messages"][:-1] == history


def test_a_tool_that_changes_the_state_tells_something_too(memory: incumbent.Memory) -> None:
    """And one that failed tells nothing."""

    @tool
    def stock(ship_to: str, runtime: ToolRuntime) -> Command[Any]:
        """How many are in stock."""
        if ship_to != "us":
            raise ToolException("no such place")
        told = ToolMessage(IN_STOCK, tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [told]})

    stock.handle_tool_error = True
    agent, _ = agent_of(memory, Calls("mars"), Calls("us"), "Yes.", tools=[stock])
    asyncio.run(agent.ainvoke({"messages": [HumanMessage("Desks?")]}, _config(ALICE)))
    assert turns(memory)[1:] == [("tool", IN_STOCK), ("assistant", "Yes.")]


def test_a_summary_is_not_what_the_person_said(memory: incumbent.Memory) -> None:
    """LangChain puts it where people speak; it is guarded, and not observed."""
    source = {"lc_source": "summarization"}
    history = [HumanMessage("So far: all is well.", additional_kwargs=source), HumanMessage("Hi.")]
    agent, _ = agent_of(memory, "Hello.")
    agent.invoke({"messages": history}, _config(ALICE))
    assert turns(memory) == [("user", "Hi."), ("assistant", "Hello.")]


@pytest.mark.parametrize("is_awaited", [False, True])
def test_what_one_agent_says_to_another_is_nobodys_word(
    memory: incumbent.Memory, is_awaited: bool
) -> None:
    """A tool that asks another agent: that reads what holds, and observes nothing."""
    memory.session(**ALICE).write("shipping_address", NEW)
    inner, script = agent_of(memory, "It fits.")
    asked = {"messages": [HumanMessage(f"The address is {OLD}, and the budget is $5.")]}

    def stock(ship_to: str) -> str:
        """Whether it fits."""
        return str(inner.invoke(asked)["messages"][-1].text)

    async def astock(ship_to: str) -> str:
        return str((await inner.ainvoke(asked))["messages"][-1].text)

    fit = StructuredTool.from_function(stock, astock)
    outer, _ = agent_of(memory, Calls("us"), "Yes.", tools=[fit])
    said = ({"messages": [HumanMessage("Does it fit?")]}, _config(ALICE))
    if is_awaited:
        asyncio.run(outer.ainvoke(*said))
    else:
        outer.invoke(*said)
    assert NEW in script.sent[0]
    assert turns(memory) == [("user", "Does it fit?"), ("tool", "It fits."), ("assistant", "Yes.")]
    assert memory.session(**ALICE).current("budget") is None


@pytest.mark.parametrize("is_awaited", [False, True])
def test_a_model_of_the_framework_reads(memory: incumbent.Memory, is_awaited: bool) -> None:
    """The reader is a chat model like any other, and nothing of it gets into the run."""
    reader = GenericFakeChatModel(messages=iter([AIMessage(READ)]))
    script = Script(["Noted."])
    model = Model(messages=iter(()), script=script)
    agent = create_agent(model, middleware=[IncumbentMiddleware(memory, reader=reader)])
    said: Any = ({"messages": [HumanMessage(ILL)]}, _config(ALICE))
    result = asyncio.run(agent.ainvoke(*said)) if is_awaited else agent.invoke(*said)
    assert [one.text for one in result["messages"]] == [ILL, "Noted."]
    assert was_read(memory)
