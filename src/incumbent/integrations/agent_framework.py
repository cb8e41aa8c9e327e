"""Microsoft Agent Framework: Incumbent as a context provider. `incumbent[agent-framework]`

    agent = Agent(client, context_providers=[InMemoryHistoryProvider(), IncumbentProvider(memory)])
    session = agent.create_session()
    session.state["incumbent"] = {"user_id": "alice"}
    await agent.run(text, session=session)

A history provider goes on keeping every message as it was.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import Any, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import AgentMemory, Options, Plain, at_work, on_thread
from incumbent.integrations.model_at_hand import AtHand, Question, Said
from incumbent.memory import Memory
from incumbent.model.errors import IncumbentError
from incumbent.session import Session

try:
    from agent_framework import (
        AgentSession,
        ChatContext,
        ChatMiddleware,
        Content,
        ContextProvider,
        FunctionInvocationContext,
        FunctionMiddleware,
        Message,
        MiddlewareFailure,
        SessionContext,
        SupportsAgentRun,
        SupportsChatGetResponse,
    )
except ImportError as error:
    raise ImportError(
        f"{error}; install it with: pip install 'incumbent[agent-framework]'"
    ) from error

Next = Callable[[], Awaitable[None]]


async def _ask(client: Any, asked: Question) -> Said:
    told = ("system", asked.instructions), ("user", asked.data)
    reply = await client.get_response([Message(role, [text]) for role, text in told])
    return Said(reply.text)


_AT_HAND = AtHand(SupportsChatGetResponse, _ask)


class IncumbentProvider(ContextProvider):
    """Observes what is said, and sends the model what holds.

    The person is the one that the session's state names for this provider
    (`session.state["incumbent"] = {"user_id": "alice"}`), and otherwise the one that the provider
    is made with. The session is the framework's own.
    """

    def __init__(
        self, memory: Memory | AsyncMemory, source_id: str = "incumbent", **options: Unpack[Options]
    ) -> None:
        super().__init__(source_id)
        self._agent = AgentMemory(memory, options, _AT_HAND)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        here = self._session(session, state)
        await on_thread(self._agent.hear, here, [plain(one) for one in context.input_messages])
        context.extend_middleware(self.source_id, _ModelCalls(self._agent, here))
        context.extend_middleware(self.source_id, _ToolCalls(self._agent, here))

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        response = context.response
        # A run that waits for somebody's consent has come to nothing yet.
        if response is not None and response.messages and not response.user_input_requests:
            said = response.messages[-1].text
            await on_thread(self._agent.answer, self._session(session, state), said)

    def _session(self, session: AgentSession, state: dict[str, Any]) -> Session:
        return self._agent.session(state, {"session_id": session.session_id})


class _ModelCalls(ChatMiddleware):
    """Stands around every call of the model in a run."""

    def __init__(self, agent: AgentMemory, session: Session) -> None:
        self._agent, self._session = agent, session

    async def process(self, context: ChatContext, call_next: Next) -> None:
        given = [plain(one) for one in context.messages]
        sent = await on_thread(self._agent.sent, self._session, given)
        options = context.options or {}
        # A copy: the options are shared by all calls of a run, and would gather a context of each.
        if instructions := sent.after(options.get("instructions")):
            context.options = {**options, "instructions": instructions}
        context.messages = sent.messages(context.messages, rebuilt)
        await call_next()


class _ToolCalls(FunctionMiddleware):
    """Stands around every call of a tool in a run."""

    def __init__(self, agent: AgentMemory, session: Session) -> None:
        self._agent, self._session = agent, session

    async def process(self, context: FunctionInvocationContext, call_next: Next) -> None:
        with at_work(self._session):
            await call_next()
        try:
            await on_thread(self._agent.result, self._session, _returned(context.result), None)
        except IncumbentError as error:
            # Any other error would be told to the model as the tool's.
            raise MiddlewareFailure(str(error)) from error


def plain(message: Message) -> Plain:
    """A message as `session.guard` takes it."""
    parts = [_plain(content) for content in message.contents]
    return {"role": str(message.role), "content": parts, "id": message.message_id}


def rebuilt(message: Message, made: dict[str, Any]) -> Message:
    """A message with the texts of a plain one."""
    again = copy(message)
    again.contents = [
        _rebuilt(content, part)
        for content, part in zip(message.contents, made["content"], strict=True)
    ]
    return again


def _plain(content: Content) -> dict[str, Any]:
    if content.type == "text":
        return {"type": "text", "text": content.text or ""}
    if content.type == "function_call":
        given = content.arguments
        written = given if isinstance(given, str) else json.dumps(given, default=str)
        return {"type": "function_call", "arguments": written}
    if content.type == "function_result":
        return {"type": "tool_result", "content": [_plain(one) for one in content.items or ()]}
    return {"type": "other"}


def _rebuilt(content: Content, made: dict[str, Any]) -> Content:
    if made == _plain(content):
        return content
    again = copy(content)
    again.raw_representation = None  # which says the same once more
    if content.type == "text":
        again.text = made["text"]
    elif content.type == "function_call":
        is_text = isinstance(content.arguments, str)
        again.arguments = made["arguments"] if is_text else json.loads(made["arguments"])
    else:
        pairs = zip(content.items or (), made["content"], strict=True)
        again.items = [_rebuilt(item, part) for item, part in pairs]
        again.result = _returned(again.items)
    return again


def _returned(result: Any) -> Any:
    """What a tool gave back: the texts of it where it comes in pieces."""
    if isinstance(result, Sequence) and all(isinstance(one, Content) for one in result):
        return "\n".join(one.text or "" for one in result if one.type == "text")
    return result
