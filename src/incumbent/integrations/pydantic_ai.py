"""Pydantic AI: Incumbent as a capability of an agent. `incumbent[pydantic-ai]`

    agent = Agent(model, deps_type=Caller, capabilities=[IncumbentMemory(memory)])
    await agent.run(text, deps=Caller(user_id="alice"), message_history=history)

`result.all_messages()` is the whole history: only what is on the wire is changed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import (
    AgentMemory,
    Options,
    Plain,
    Sent,
    at_work,
    on_thread,
)
from incumbent.integrations.model_at_hand import AtHand, Question, Said
from incumbent.memory import Memory
from incumbent.session import Session

try:
    from pydantic_ai import messages as said
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.direct import model_request
    from pydantic_ai.models import Model, ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import DeferredToolRequests, RunContext, ToolDefinition
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[pydantic-ai]'") from error

Part: TypeAlias = said.ModelRequestPart | said.ModelResponsePart


async def _ask(model: Model, asked: Question) -> Said:
    data = [said.UserPromptPart(asked.data)]
    request = said.ModelRequest(parts=data, instructions=asked.instructions)
    response = await model_request(model, [request], model_settings={"max_tokens": asked.most})
    return Said(response.text or "", response.usage.input_tokens, response.usage.output_tokens)


_AT_HAND = AtHand(Model, _ask)


class IncumbentMemory(AbstractCapability[Any]):
    """Observes what is said, and sends the model what holds.

    The person and the session are those that the run's `deps` name (a mapping or an object with
    `user_id` and, if you like, `session_id`), and otherwise those that the capability is made
    with. A run whose session nobody names belongs to that of its `conversation_id`.
    """

    def __init__(self, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> None:
        self._agent = AgentMemory(memory, options, _AT_HAND)

    async def before_run(self, ctx: RunContext[Any]) -> None:
        asked = [] if ctx.prompt is None else [said.UserPromptPart(ctx.prompt)]
        heard = [plain(part) for part in [*_parts(ctx.messages), *asked]]
        await on_thread(self._agent.hear, self._session(ctx), heard)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        given = [plain(part) for part in _parts(request_context.messages)]
        sent = await on_thread(self._agent.sent, self._session(ctx), given)
        asked = request_context.model_request_parameters
        context = [said.InstructionPart(sent.context, dynamic=True)] if sent.context else []
        instructions = [*(asked.instruction_parts or ()), *context]
        return replace(
            request_context,
            messages=_guarded(request_context.messages, sent),
            model_request_parameters=replace(asked, instruction_parts=instructions),
        )

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: said.ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        session = self._session(ctx)
        with at_work(session):
            result = await handler(args)
        told = result.return_value if isinstance(result, said.ToolReturn) else result
        await on_thread(self._agent.result, session, told, call.tool_call_id)
        return result

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        # A run that waits for somebody's consent has come to nothing yet.
        if not isinstance(result.output, DeferredToolRequests):
            await on_thread(self._agent.answer, self._session(ctx), result.output)
        return result

    def _session(self, ctx: RunContext[Any]) -> Session:
        return self._agent.session(ctx.deps, session_id=ctx.conversation_id)


def _parts(messages: Iterable[said.ModelMessage]) -> Iterator[Part]:
    for message in messages:
        yield from message.parts


def _guarded(messages: Iterable[said.ModelMessage], sent: Sent) -> list[said.ModelMessage]:
    """Messages without what is not sent; those of whose parts none is left are gone."""
    made: list[said.ModelMessage] = []
    first = 0
    for message in messages:
        parts: Sequence[Part] = message.parts
        left = sent.messages(parts, rebuilt, first)
        first += len(parts)
        if any(number in sent.changed for number in range(first - len(parts), first)):
            changed: Any = message
            made.extend([replace(changed, parts=left)] if left else [])
        else:
            made.append(message)
    return made


def plain(part: Part) -> Plain:
    """A part of a message as `session.guard` takes it; what is not known is passed on."""
    match part:
        case said.SystemPromptPart():
            return {"role": "system", "content": part.content}
        case said.UserPromptPart():
            return {"role": "user", "content": _texts(part.content)}
        case said.TextPart():
            return {"role": "assistant", "content": part.content}
        case said.ToolCallPart(tool_kind=None):
            function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            return {"role": "assistant", "tool_calls": [{"function": function}]}
        case said.ToolReturnPart(tool_kind=None):
            return {"role": "tool", "content": part.model_response_str(wrap_if_error=False)}
        case said.RetryFeedbackPart():
            return {"role": "tool", "content": part.model_response()}
        case said.ThinkingPart():
            return {"type": "reasoning"}
    return {"role": "other"}


def rebuilt(part: Any, made: dict[str, Any]) -> Any:
    """A part with the texts of a plain one."""
    if isinstance(part, said.ToolCallPart):
        return replace(part, args=json.loads(made["tool_calls"][0]["function"]["arguments"]))
    content = made["content"]
    if isinstance(part, said.UserPromptPart):
        content = _retold(part.content, content)
    elif isinstance(part, said.ToolReturnPart) and part.files:
        content = [content, *part.files]
    # A model is sent the JSON of whatever a tool returned, so its text says the same.
    return replace(part, content=content)


def _texts(content: str | Sequence[said.UserContent]) -> str | list[Any]:
    """What a person said; pictures and files keep their places."""
    if isinstance(content, str):
        return content
    told = (one.content if isinstance(one, said.TextContent) else one for one in content)
    return [one if isinstance(one, str) else {"type": "file"} for one in told]


def _retold(
    content: str | Sequence[said.UserContent], made: str | list[Any]
) -> str | list[said.UserContent]:
    if isinstance(content, str) or isinstance(made, str):
        return str(made)
    return [new if isinstance(new, str) else old for old, new in zip(content, made, strict=True)]
