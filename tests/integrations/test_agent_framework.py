"""Microsoft Agent Framework: the contract of adapters. It has no fake client; here is one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
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
    turns,
    was_read,
)

pytest.importorskip(
    "agent_framework", reason="Microsoft Agent Framework is not installed: make integrations"
)

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    Message,
    MiddlewareFailure,
    tool,
)

from incumbent.integrations.agent_framework import IncumbentProvider


class Client(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """Follows a script."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **more: Any,
    ) -> Any:
        sent = f"{options.get('instructions')}\n{_written(messages)}"

        async def answer() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", [await self.reply(sent)])])

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            content = await self.reply(sent)
            words = content.text.split(" ") if content.text else []
            pieces = [
                Content.from_text(word if not n else f" {word}") for n, word in enumerate(words)
            ]
            for piece in pieces or [content]:
                yield ChatResponseUpdate(role="assistant", contents=[piece])

        return self._build_response_stream(updates()) if stream else answer()

    async def reply(self, sent: str) -> Content:
        reply = self.script.next(sent)
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if isinstance(reply, Calls):
            arguments = {"ship_to": reply.ship_to}
            return Content.from_function_call("c1", "stock", arguments=arguments)
        return Content.from_text(str(reply))


@tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class AgentFramework(Framework):
    modes = ("run", "streamed")
    awaited = frozenset(modes)

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        providers = [InMemoryHistoryProvider(), IncumbentProvider(memory, **options)]
        self.agent = Agent(Client(script), INSTRUCTIONS, tools=[stock], context_providers=providers)
        self.kept: dict[tuple[str, ...], AgentSession] = {}

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        raise AssertionError("every call is awaited")

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        session = self.kept.setdefault(tuple(caller.values()), AgentSession())
        session.state["incumbent"] = dict(caller)
        if mode == "streamed":
            assert [update async for update in self.agent.run(text, session=session, stream=True)]
        else:
            await self.agent.run(text, session=session)

    async def history(self, caller: Mapping[str, str]) -> str:
        state = dict(self.kept[tuple(caller.values())].state)
        (kept,) = [value["messages"] for value in state.values() if "messages" in value]
        return _written(kept)


def _written(messages: Sequence[Message]) -> str:
    """What is sent of messages; a result stands in them twice, as a text and in pieces."""
    told = [part for one in messages for part in one.to_dict()["contents"]]
    for part in told:
        if part["type"] == "function_result":
            texts = [item["text"] for item in part["items"] if "text" in item]
            assert part.pop("result") == "\n".join(texts)
    return json.dumps(told, ensure_ascii=False)


class TestAgentFramework(AdapterContract):
    framework = AgentFramework
    page = "agent-framework.md"


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    """One in which the address has moved."""
    with incumbent.open(":memory:") as opened:
        alice = opened.session(**ALICE)
        alice.write("shipping_address", OLD)
        alice.write("shipping_address", NEW)
        yield opened


def agent_of(memory: incumbent.Memory, script: Script, **more: Any) -> Agent[Any]:
    providers = [InMemoryHistoryProvider(), IncumbentProvider(memory)]
    return Agent(Client(script), context_providers=providers, **more)


def session_of_alice() -> AgentSession:
    session = AgentSession(session_id="t1")
    session.state["incumbent"] = {"user_id": "alice", "organization": "acme"}
    return session


def said(agent: Agent[Any], words: str | list[Message]) -> None:
    """Let Alice say something."""

    async def run() -> None:
        await agent.run(words, session=session_of_alice())

    asyncio.run(run())


def test_every_kind_of_content_is_guarded(memory: incumbent.Memory) -> None:
    """What is no text keeps its place, and what is not changed is the same object."""
    picture = Content.from_uri("data:image/png;base64,MTIz", media_type="image/png")
    result = [Content.from_text(f"To {OLD} it is $40, and soon."), picture]
    history = [
        Message("user", [f"Two lamps to {OLD}, please.", picture]),
        Message("assistant", [Content.from_function_call("c1", "q", arguments={"to": OLD})]),
        Message("tool", [Content.from_function_result("c1", result=result)]),
        Message("assistant", [Content.from_function_call("c2", "q", arguments=f'["{OLD}"]')]),
        Message("tool", [Content.from_function_result("c2", result="No.")]),
        Message("assistant", [f"To {OLD}."]),
        Message("user", ["Is it dear?"]),
    ]
    script = Script(["No."])
    said(agent_of(memory, script), history)
    (sent,) = script.sent
    assert OLD not in sent
    assert sent.count("data:image/png;base64,MTIz") == 2
    assert sent.count("no longer current") == 4
    assert turns(memory) == [("user", "Is it dear?"), ("assistant", "No.")]
    assert str([one.to_dict() for one in history]).count(OLD) == 6


def test_what_one_agent_says_to_another_is_nobodys_word(memory: incumbent.Memory) -> None:
    """A tool that asks another agent: that reads what holds, and observes nothing."""
    inner = Script(["It fits."])
    helper = agent_of(memory, inner)

    @tool
    async def stock(ship_to: str) -> str:
        """Whether it fits."""
        asked = f"The address is {OLD}, and the budget is $5."
        return str((await helper.run(asked, session=session_of_alice())).text)

    outer = agent_of(memory, Script([Calls("us"), "Yes."]), tools=[stock])
    said(outer, "Does it fit?")
    assert NEW in inner.sent[0]
    assert turns(memory) == [("user", "Does it fit?"), ("tool", "It fits."), ("assistant", "Yes.")]
    assert memory.session(**ALICE).current("budget") is None


def test_the_failure_of_the_memory_is_no_failure_of_a_tool(memory: incumbent.Memory) -> None:
    """It ends the run, and the model is not told that its tool went wrong."""

    @tool
    def stock(ship_to: str) -> str:
        """How many are in stock."""
        memory.close()
        return IN_STOCK

    script = Script([Calls("us"), "Yes."])
    agent = agent_of(memory, script, tools=[stock])
    with pytest.raises(MiddlewareFailure, match="the memory is closed"):
        said(agent, "Do we have desks?")
    assert len(script.sent) == 1


def test_a_model_of_the_framework_reads(memory: incumbent.Memory) -> None:
    """The reader is a chat client like any other."""
    reader = Script([READ])
    provider = IncumbentProvider(memory, reader=Client(reader))
    agent = Agent(Client(Script(["Noted."])), INSTRUCTIONS, context_providers=[provider])
    said(agent, ILL)
    assert was_read(memory)
    assert ILL in reader.sent[0]
