"""LangChain and LangGraph: Incumbent as middleware of `create_agent`. `incumbent[langchain]`

    agent = create_agent(model, tools, middleware=[IncumbentMiddleware(memory)], checkpointer=...)
    agent.invoke({"messages": [...]}, {"configurable": {"thread_id": "7", "user_id": "alice"}})

The checkpointer keeps the whole transcript; only what the model reads is changed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import AgentMemory, Options, Plain, at_work, on_thread
from incumbent.integrations.model_at_hand import AtHand, Question, Said, counted
from incumbent.memory import Memory
from incumbent.session import Session

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
    from langchain.agents.middleware.types import ModelCallResult, ToolCallRequest
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )
    from langgraph.config import get_config
    from langgraph.runtime import Runtime
    from langgraph.types import Command
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[langchain]'") from error

_ROLES = {"human": "user", "ai": "assistant"}
_CALLS = ("tool_calls", "invalid_tool_calls")

Result: TypeAlias = ToolMessage | Command[Any]


def _ask(model: BaseChatModel, asked: Question) -> Said:
    reply = model.invoke([SystemMessage(asked.instructions), HumanMessage(asked.data)])
    return Said(reply.text, *counted(reply.usage_metadata, "input_tokens", "output_tokens"))


_AT_HAND = AtHand(BaseChatModel, _ask)


class IncumbentMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Observes what is said, and sends the model what holds.

    The person and the session are those that the run's context or its `configurable` name
    (`thread_id` is the session), and otherwise those that the middleware is made with.
    """

    def __init__(self, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> None:
        super().__init__()
        self._agent = AgentMemory(memory, options, _AT_HAND)

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        self._agent.hear(self._session(runtime.context), [plain(one) for one in state["messages"]])

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelCallResult[Any]],
    ) -> ModelCallResult[Any]:
        return handler(self._guarded(request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]
    ) -> Result:
        with at_work(self._session(request.runtime.context)):
            result = handler(request)
        self._note(request, result)
        return result

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        for last in state["messages"][-1:]:
            if isinstance(last, AIMessage | ToolMessage):
                self._agent.answer(self._session(runtime.context), last.text, last.id)

    # The same, awaited.

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        await on_thread(self.before_agent, state, runtime)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelCallResult[Any]]],
    ) -> ModelCallResult[Any]:
        return await handler(await on_thread(self._guarded, request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        with at_work(self._session(request.runtime.context)):
            result = await handler(request)
        await on_thread(self._note, request, result)
        return result

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        await on_thread(self.after_agent, state, runtime)

    # What both do.

    def _session(self, context: Any) -> Session:
        named = get_config().get("configurable", {})
        return self._agent.session(context, named, {"session_id": named.get("thread_id")})

    def _guarded(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        session = self._session(request.runtime.context)
        sent = self._agent.sent(session, [plain(one) for one in request.messages])
        return request.override(
            system_message=_with(request.system_message, sent.context),
            messages=sent.messages(request.messages, rebuilt),
        )

    def _note(self, request: ToolCallRequest, result: Result) -> None:
        told = [result] if isinstance(result, ToolMessage) else _told_by(result)
        for one in told:
            if one.status != "error":
                self._agent.result(
                    self._session(request.runtime.context), one.text, one.tool_call_id
                )


def plain(message: AnyMessage) -> Plain:
    """A message as `session.guard` takes it."""
    role = getattr(message, "role", None) or _ROLES.get(message.type, message.type)
    if message.additional_kwargs.get("lc_source") == "summarization":
        role = "assistant"  # a model wrote it, although it stands where people speak
    made = {"role": role, "content": message.content, "id": message.id}
    calls = [call for name in _CALLS for call in getattr(message, name, ())]
    if calls:
        made["tool_calls"] = [{"function": {"arguments": _written(call)}} for call in calls]
    return made


def rebuilt(message: AnyMessage, made: dict[str, Any]) -> AnyMessage:
    """A message with the texts of a plain one."""
    changes = {"content": made["content"]}
    if isinstance(message, AIMessage):
        args = iter([call["function"]["arguments"] for call in made.get("tool_calls", ())])
        changes["tool_calls"] = [{**c, "args": json.loads(next(args))} for c in message.tool_calls]
        changes["invalid_tool_calls"] = [
            {**call, "args": next(args)} for call in message.invalid_tool_calls
        ]
        # The same calls once more, as the provider wrote them.
        changes["additional_kwargs"] = {
            name: value
            for name, value in message.additional_kwargs.items()
            if name not in ("tool_calls", "function_call")
        }
    return message.model_copy(update=changes)


def _written(call: Any) -> str:
    args = call["args"]
    return args if isinstance(args, str) else json.dumps(args, ensure_ascii=False, default=str)


def _told_by(command: Command[Any]) -> list[ToolMessage]:
    update = command.update if isinstance(command.update, dict) else {}
    return [one for one in update.get("messages", ()) if isinstance(one, ToolMessage)]


def _with(system: SystemMessage | None, context: str) -> SystemMessage | None:
    """The application's own message to the model, with the context behind it."""
    if not context:
        return system
    if system is None:
        return SystemMessage(context)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{context}"})
    parts = [*system.content, {"type": "text", "text": context}]
    return system.model_copy(update={"content": parts})
