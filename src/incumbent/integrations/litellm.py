"""LiteLLM: Incumbent around `completion` and `acompletion`. `incumbent[litellm]`

    chat = IncumbentCompletions(memory)
    chat.completion(model, messages, metadata={"user_id": "alice", "session_id": "7"})

It stands around the call, and is no callback: LiteLLM's hooks cannot change what its plain call
sends, and learn of an answer only after the application has it. The application's own messages
stay as they are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from typing import Any, Protocol, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import AgentMemory, Options, Plain, on_thread
from incumbent.integrations.model_at_hand import AtHand, Question, Said, counted
from incumbent.memory import Memory
from incumbent.session import Session

try:
    import litellm
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[litellm]'") from error

_FRAME = ("system", "developer")


class Completes(Protocol):
    """What makes the calls: the module `litellm` itself, or a `Router`."""

    def completion(self, *given: Any, **named: Any) -> Any: ...
    def acompletion(self, *given: Any, **named: Any) -> Any: ...


class IncumbentCompletions:
    """Makes the same calls, with what holds, and observes what is said.

    The person and the session are those that the call's `metadata` names (`user` is the person,
    too), and otherwise those that this is made with.
    """

    def __init__(
        self,
        memory: Memory | AsyncMemory,
        calls: Completes | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._calls: Any = calls or litellm
        self._agent = AgentMemory(memory, options, AtHand(str, self._ask))

    def _ask(self, model: str, asked: Question) -> Said:
        told = ("system", asked.instructions), ("user", asked.data)
        messages = [{"role": role, "content": text} for role, text in told]
        reply = self._calls.completion(model=model, messages=messages, max_tokens=asked.most)
        said = reply.choices[0].message.content or ""
        return Said(said, *counted(reply.usage, "prompt_tokens", "completion_tokens"))

    def completion(self, model: str, messages: Sequence[Any], **named: Any) -> Any:
        """`litellm.completion`, with everything that it takes."""
        session = self._session(named)
        sent = self._heard(session, messages)
        response = self._calls.completion(model=model, messages=sent, **named)
        if named.get("stream"):
            return self._streamed(session, response)
        self._answered(session, response)
        return response

    def acompletion(
        self, model: str, messages: Sequence[Any], **named: Any
    ) -> Coroutine[Any, Any, Any]:
        """`litellm.acompletion`, with everything that it takes."""
        # Read now: when it is awaited, a `metadata` that others use too may name somebody else.
        return self._acompletion(self._session(named), model, messages, named)

    async def _acompletion(
        self, session: Session, model: str, messages: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        sent = await on_thread(self._heard, session, messages)
        response = await self._calls.acompletion(model=model, messages=sent, **named)
        if named.get("stream"):
            return self._astreamed(session, response)
        await on_thread(self._answered, session, response)
        return response

    def _session(self, named: Mapping[str, Any]) -> Session:
        return self._agent.session(named.get("metadata"), {"user_id": named.get("user")})

    def _heard(self, session: Session, messages: Sequence[Any]) -> list[Any]:
        """Observe what is new in a conversation, and give what is to be sent of it."""
        given = [plain(one) for one in messages]
        self._agent.hear(session, given)
        for message in _returned(given):
            self._agent.result(session, message.get("content"), message.get("tool_call_id"))
        sent = self._agent.sent(session, given)
        return _with(sent.context, sent.messages(messages, lambda message, made: made))

    def _answered(self, session: Session, response: Any) -> None:
        message = response.choices[0].message
        # What a model says while it calls tools is no answer yet.
        if not message.tool_calls:
            self._agent.answer(session, message.content, response.id)

    def _streamed(self, session: Session, response: Iterator[Any]) -> Iterator[Any]:
        pieces = []
        for piece in response:
            pieces.append(piece)
            yield piece
        self._answered(session, litellm.stream_chunk_builder(pieces))

    async def _astreamed(
        self, session: Session, response: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        pieces = []
        async for piece in response:
            pieces.append(piece)
            yield piece
        whole = litellm.stream_chunk_builder(pieces)
        await on_thread(self._answered, session, whole)


def plain(message: Any) -> Plain:
    """A message as `session.guard` takes it: that of a response may stand in a conversation."""
    made: Plain = message if isinstance(message, Mapping) else message.model_dump()
    return made


def _returned(messages: Sequence[Plain]) -> list[Plain]:
    """What the tools gave back that the model called last."""
    found: list[Plain] = []
    for message in reversed(messages):
        if message.get("role") not in ("tool", "function"):
            break
        found.insert(0, message)
    return found


def _with(context: str, messages: list[Any]) -> list[Any]:
    """The messages with the context behind the application's own words to the model."""
    if not context:
        return messages
    first = plain(messages[0]) if messages else {}
    if first.get("role") not in _FRAME:
        return [{"role": "system", "content": context}, *messages]
    said = first.get("content") or ""
    parts = [{"type": "text", "text": context}]
    made = f"{said}\n\n{context}" if isinstance(said, str) else [*said, *parts]
    return [{**first, "content": made}, *messages[1:]]
