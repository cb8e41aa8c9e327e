"""LlamaIndex: the contract of adapters, with `MockFunctionCallingLLM`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    CHANGE,
    IN_STOCK,
    INSTRUCTIONS,
    NEW,
    OLD,
    ORDER,
    Calls,
    ConversationContract,
    Framework,
    Hangs,
    Script,
    conversation_of,
    empty_memory,
    turns,
)

pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: make integrations")

from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ImageBlock,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLMWithChatMemoryOfLastCall
from llama_index.core.memory import ChatMemoryBuffer
from pydantic import PrivateAttr

from incumbent.integrations.llama_index import IncumbentChatMemory

# Its workflows look at every attribute of an agent, and so at the old ones of Pydantic.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WHO: Any = ALICE


def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class Model(MockFunctionCallingLLM):
    """The framework's fake, which follows a script."""

    _script: Script = PrivateAttr()

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    async def achat(self, messages: Any, **more: Any) -> ChatResponse:
        reply = self._script.next(_written(messages))
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if isinstance(reply, Calls):
            call = ToolCallBlock(
                tool_call_id="c1", tool_name="stock", tool_kwargs={"ship_to": reply.ship_to}
            )
            return ChatResponse(message=ChatMessage(role="assistant", blocks=[call]))
        return ChatResponse(message=ChatMessage(role="assistant", content=str(reply)))

    async def astream_chat(self, messages: Any, **more: Any) -> ChatResponseAsyncGen:
        async def pieces() -> ChatResponseAsyncGen:
            whole = await self.achat(messages)
            if whole.message.content:
                first, _, _ = whole.message.content.partition(" ")
                piece = ChatMessage(role="assistant", content=first)
                yield ChatResponse(message=piece, delta=first)
            yield whole

        return pieces()


class LlamaIndex(Framework):
    modes = ("run", "stream")
    awaited = frozenset(modes)
    tells_of_tools = False

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.memory, self.options = memory, options
        self.talks: dict[str, IncumbentChatMemory] = {}

    def talk(self, caller: Mapping[str, str]) -> IncumbentChatMemory:
        """The memory of a conversation: whose it is, the application sees to."""
        who = conversation_of(caller)
        if who not in self.talks:
            self.talks[who] = IncumbentChatMemory(self.memory, **{**self.options, **caller})
        return self.talks[who]

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        raise NotImplementedError

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        talk = self.talk(caller)
        agent = FunctionAgent(
            tools=[stock],
            llm=Model(self.script),
            system_prompt=INSTRUCTIONS,
            streaming=mode == "stream",
        )
        handler = agent.run(text, memory=talk)
        try:
            if mode == "stream":
                seen = [one async for one in handler.stream_events()]
                assert any(isinstance(one, AgentStream) for one in seen)
            await handler
        except asyncio.CancelledError:
            await handler.cancel_run()
            raise

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(await self.talk(caller).aget_all())


def _written(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(str(message.model_dump()) for message in messages)


class TestLlamaIndex(ConversationContract):
    framework = LlamaIndex
    page = "llama-index.md"


memory = pytest.fixture(empty_memory)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_chat_engine_sends_what_holds(memory: incumbent.Memory, is_streamed: bool) -> None:
    """Its plain calls put the person's words into the memory, and the answer."""
    model, talk = (
        MockLLMWithChatMemoryOfLastCall(max_tokens=None),
        IncumbentChatMemory(memory, **WHO),
    )
    chat = SimpleChatEngine.from_defaults(llm=model, memory=talk)
    for text in (ORDER, CHANGE):
        if is_streamed:
            assert "".join(chat.stream_chat(text).response_gen)
        else:
            chat.chat(text)
    sent = _written(model.last_chat_messages or ())
    assert NEW in sent
    assert OLD not in sent
    assert ORDER in _written(talk.get_all())
    assert [who for who, _ in turns(memory)] == ["user", "assistant", "user", "assistant"]


def test_what_a_chat_engine_asks_for_first_is_heard(memory: incumbent.Memory) -> None:
    """Some ask for the conversation before they put into it what the person said."""
    talk = IncumbentChatMemory(memory, **WHO)
    talk.put(ChatMessage(role="user", content=ORDER))
    talk.put(ChatMessage(role="assistant", content="Noted."))
    sent = _written(talk.get(input=CHANGE))
    assert NEW in sent
    assert OLD not in sent
    talk.put(ChatMessage(role="user", content=CHANGE))
    assert [text for who, text in turns(memory) if who == "user"] == [ORDER, CHANGE]


def test_every_kind_of_message_is_guarded(memory: incumbent.Memory) -> None:
    """In blocks, in calls of tools, and where a provider keeps them once more. What the
    application says itself stays, and the history keeps all of it."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    picture = ImageBlock(url="https://example.test/lamp.png")
    call = ToolCallBlock(tool_call_id="c1", tool_name="quote", tool_kwargs={"to": OLD})
    written = ToolCallBlock(tool_call_id="c2", tool_name="quote", tool_kwargs=f'{{"to": "{OLD}"}}')
    again = {"id": "c1", "function": {"name": "quote", "arguments": f'{{"to": "{OLD}"}}'}}
    history = [
        ChatMessage(role="system", content="Be brief."),
        ChatMessage(role="user", blocks=[TextBlock(text=f"Two lamps to {OLD}."), picture]),
        ChatMessage(
            role="assistant", blocks=[call, written], additional_kwargs={"tool_calls": [again]}
        ),
        ChatMessage(
            role="tool", content=f"To {OLD}: $40.", additional_kwargs={"tool_call_id": "c1"}
        ),
        ChatMessage(role="assistant", content="It is $40."),
        ChatMessage(role="user", content="Is it dear?"),
    ]
    talk = IncumbentChatMemory(memory, **WHO)
    talk.set(history)
    sent = talk.get()
    assert OLD not in _written(sent)
    assert [one.role.value for one in sent] == [one.role.value for one in history]
    assert (sent[0].content or "").startswith("Be brief.\n# Identity")
    assert sent[1].blocks[1] is picture
    assert sent[4] is history[4]
    assert talk.get_all() == history
    assert history[0].content == "Be brief."
    assert turns(memory) == [("user", "Is it dear?")]


def test_what_an_agent_writes_under_the_persons_name_is_not_theirs(
    memory: incumbent.Memory,
) -> None:
    """Agents that run code keep its results so, when they are done."""
    talk = IncumbentChatMemory(memory, **WHO)
    talk.put(ChatMessage(role="user", content="How many?"))
    talk.put_messages(
        [
            ChatMessage(role="assistant", content="<execute>count()</execute>"),
            ChatMessage(role="user", content="Result of executing the code given: 7"),
            ChatMessage(role="assistant", content="Seven."),
        ]
    )
    assert turns(memory) == [("user", "How many?"), ("assistant", "Seven.")]


def test_another_memory_can_keep_the_transcript(memory: incumbent.Memory) -> None:
    """With a limit of its own, if it has one; what holds of the rest is in the context."""
    kept = ChatMemoryBuffer.from_defaults(token_limit=20)
    talk = IncumbentChatMemory(memory, kept, **WHO)
    for text in (ORDER, "Thanks."):
        talk.put(ChatMessage(role="user", content=text))
        talk.put(ChatMessage(role="assistant", content="A word of thanks. " * 2))
    sent = talk.get()
    assert ORDER not in _written(sent)
    assert OLD in (sent[0].content or "")
    assert kept.get_all() == talk.get_all()
    talk.reset()
    assert talk.get_all() == []
    assert len(turns(memory)) == 4
