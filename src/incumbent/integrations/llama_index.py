"""LlamaIndex: Incumbent as the memory of a conversation. `incumbent[llama-index]`

    talk = IncumbentChatMemory(memory, user_id="alice", session_id="7")
    await agent.run(text, memory=talk)

Another memory of the framework keeps the whole transcript beneath it. A memory block would be the
wrong place: what a block says is added to the transcript, and the transcript stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import AgentMemory, Options, Plain, on_thread
from incumbent.integrations.model_at_hand import AtHand, Question, Said
from incumbent.memory import Memory
from incumbent.session import Session

try:
    from llama_index.core.base.llms.base import BaseLLM
    from llama_index.core.base.llms.types import (
        ChatMessage,
        MessageRole,
        TextBlock,
        ToolCallBlock,
    )
    from llama_index.core.memory import BaseMemory
    from llama_index.core.memory.types import BaseChatStoreMemory
    from pydantic import PrivateAttr
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[llama-index]'") from error

_CALLS = "tool_calls"


def _ask(model: BaseLLM, asked: Question) -> Said:
    told = (MessageRole.SYSTEM, asked.instructions), (MessageRole.USER, asked.data)
    reply = model.chat([ChatMessage(role=role, content=text) for role, text in told])
    return Said(reply.message.content or "")


_AT_HAND = AtHand(BaseLLM, _ask)


class WholeTranscript(BaseChatStoreMemory):
    """Every message of a conversation, in a chat store of the framework."""

    @classmethod
    def from_defaults(
        cls, chat_history: list[ChatMessage] | None = None, llm: Any = None, **more: Any
    ) -> WholeTranscript:
        made = cls(**more)
        made.set(chat_history or [])
        return made

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        return [*self.get_all()]

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        return [*await self.aget_all()]


class IncumbentChatMemory(BaseMemory):
    """Observes what is said in a conversation, and gives what holds of it.

    It is made for one person and one session. `kept` is the memory that keeps the transcript: one
    in this process unless said.
    """

    kept: BaseMemory
    _agent: AgentMemory = PrivateAttr()
    _session: Session = PrivateAttr()

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        kept: BaseMemory | None = None,
        **options: Unpack[Options],
    ) -> None:
        agent = AgentMemory(memory, options, _AT_HAND)
        session = agent.session()
        given: dict[str, Any] = {"kept": kept or WholeTranscript.from_defaults()}
        super().__init__(**given)
        self._agent, self._session = agent, session

    @classmethod
    def class_name(cls) -> str:
        return "IncumbentChatMemory"

    @classmethod
    def from_defaults(cls, **given: Any) -> IncumbentChatMemory:
        """The same as the class itself, as chat engines make their memories."""
        return cls(**given)

    def put(self, message: ChatMessage) -> None:
        self._hear([message])
        self.kept.put(message)

    def put_messages(self, messages: list[ChatMessage]) -> None:
        self._note(messages)
        self.kept.put_messages(messages)

    def set(self, messages: list[ChatMessage]) -> None:
        self._hear(messages)
        self.kept.set(messages)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        return self._guarded(self.kept.get(input=input, **kwargs), input)

    def get_all(self) -> list[ChatMessage]:
        return [*self.kept.get_all()]

    def reset(self) -> None:
        self.kept.reset()

    # The same, awaited.

    async def aput(self, message: ChatMessage) -> None:
        await on_thread(self._hear, [message])
        await self.kept.aput(message)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        await on_thread(self._note, messages)
        await self.kept.aput_messages(messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        await on_thread(self._hear, messages)
        await self.kept.aset(messages)

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        return await on_thread(self._guarded, await self.kept.aget(input=input, **kwargs), input)

    async def aget_all(self) -> list[ChatMessage]:
        return [*await self.kept.aget_all()]

    async def areset(self) -> None:
        await self.kept.areset()

    # What both do.

    def _hear(self, messages: Sequence[ChatMessage]) -> None:
        """A message, or a conversation as the application has it, with new words at its end."""
        self._agent.hear(self._session, [plain(one) for one in messages])
        if len(messages) == 1:
            self._note(messages)

    def _note(self, messages: Sequence[ChatMessage]) -> None:
        """What an agent has done in a run: the results of its tools, and its answer.

        What stands under a person's name in there are results as well, or the framework's own
        words to the model.
        """
        for message in messages:
            if message.role in (MessageRole.TOOL, MessageRole.FUNCTION):
                call = message.additional_kwargs.get("tool_call_id")
                self._agent.result(self._session, message.content, call)
        for last in messages[-1:]:
            if last.role == MessageRole.ASSISTANT and not _calls(last):
                self._agent.answer(self._session, last.content)

    def _guarded(self, messages: list[ChatMessage], said: str | None) -> list[ChatMessage]:
        if said:
            # Some chat engines ask for the conversation before they put the person's words into it.
            self._agent.hear(self._session, [{"role": "user", "content": said}])
        given = [plain(one) for one in messages]
        sent = self._agent.sent(self._session, given)
        guarded = sent.messages(messages, rebuilt)
        if not sent.context:
            return guarded
        if guarded and guarded[0].role == MessageRole.SYSTEM:
            first = guarded[0].model_copy()
            first.blocks = [*first.blocks, TextBlock(text=sent.context)]
            return [first, *guarded[1:]]
        return [ChatMessage(role=MessageRole.SYSTEM, content=sent.context), *guarded]


def plain(message: ChatMessage) -> Plain:
    """A message as `session.guard` takes it."""
    made: dict[str, Any] = {
        "role": message.role.value,
        "content": [_plain(block) for block in message.blocks],
    }
    if calls := _called(message):
        made[_CALLS] = calls
    return made


def rebuilt(message: ChatMessage, made: dict[str, Any]) -> ChatMessage:
    """A message with the texts of a plain one."""
    blocks = [
        _rebuilt(block, part) for block, part in zip(message.blocks, made["content"], strict=True)
    ]
    more = message.additional_kwargs
    if _CALLS in made:
        more = {**more, _CALLS: made[_CALLS]}
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": more})


def _plain(block: Any) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    if isinstance(block, ToolCallBlock):
        return {"type": "function_call", "arguments": _written(block.tool_kwargs)}
    return {"type": "other"}


def _rebuilt(block: Any, made: dict[str, Any]) -> Any:
    if made == _plain(block):
        return block
    if isinstance(block, TextBlock):
        return block.model_copy(update={"text": made["text"]})
    written = made["arguments"]
    given = written if isinstance(block.tool_kwargs, str) else json.loads(written)
    return block.model_copy(update={"tool_kwargs": given})


def _calls(message: ChatMessage) -> bool:
    has_block = any(isinstance(block, ToolCallBlock) for block in message.blocks)
    return has_block or bool(message.additional_kwargs.get(_CALLS))


def _called(message: ChatMessage) -> list[Any]:
    """The calls of tools that some models keep beside the blocks, as their provider wrote them."""
    calls = message.additional_kwargs.get(_CALLS) or ()
    return [call.model_dump() if hasattr(call, "model_dump") else call for call in calls]


def _written(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
