"""Agno: Incumbent around the model of an agent or a team. `incumbent[agno]`

    agent = Agent(model=with_incumbent(OpenAIChat(), memory), ...)
    agent.run(text, user_id="alice", session_id="7")

It stands around the model's own calls, and is no hook: those of Agno run before the history is
read and after the run is over, and nothing else is called between the steps of a run. What Agno
keeps of a session stays as it is.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import (
    AgentMemory,
    Options,
    Plain,
    as_text,
    at_work,
    caller,
    on_thread,
)
from incumbent.integrations.model_at_hand import AtHand, Question, Said
from incumbent.memory import Memory
from incumbent.session import Session

try:
    from agno.models.base import Model
    from agno.models.message import Message
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[agno]'") from error

M = TypeVar("M", bound=Model)

_FRAME = ("system", "developer")
_DONE = object()


class _Sent(list[Message]):
    """Messages as they are sent."""


def _ask(model: Model, asked: Question) -> Said:
    told = ("system", asked.instructions), ("user", asked.data)
    reply = model.response([Message(role=role, content=text) for role, text in told])
    return Said(str(reply.content or ""))


_AT_HAND = AtHand(Model, _ask)


def with_incumbent(model: M, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> M:
    """The same model, which observes what is said in a run and is sent what holds.

    The person and the session are those of the run. Of whom else it is for (`organization`,
    `authority`, …) its `metadata` tells, and otherwise what this is made with. The model that is
    given stays as it was.
    """
    made, kind = copy.copy(model), type(model)
    # Of the class: Agno copies its models deeply, and there is but one memory. It also knows some
    # of them by the name of their class.
    known = {"_agent": AgentMemory(memory, options, _AT_HAND), "__module__": kind.__module__}
    made.__class__ = type(kind.__name__, (_IncumbentModel, kind), known)
    if hasattr(made, "use_previous_response_id"):
        # A transcript that the provider keeps could not be guarded.
        made.use_previous_response_id = False
    return made


class _IncumbentModel(Model):
    """What stands before the class of a model: `super()` is that class."""

    _agent: ClassVar[AgentMemory]

    def invoke(self, **named: Any) -> Any:
        session = self._asked(named)
        response = super().invoke(**self._heard(session, named))  # type: ignore[safe-super,unused-ignore]
        self._answered(session, named, [response])
        return response

    async def ainvoke(self, **named: Any) -> Any:
        session = self._asked(named)
        response = await super().ainvoke(**await on_thread(self._heard, session, named))  # type: ignore[safe-super,unused-ignore]
        await on_thread(self._answered, session, named, [response])
        return response

    def invoke_stream(self, **named: Any) -> Iterator[Any]:
        session, pieces = self._asked(named), []
        for piece in super().invoke_stream(**self._heard(session, named)):  # type: ignore[safe-super,unused-ignore]
            pieces.append(piece)
            yield piece
        self._answered(session, named, pieces)

    async def ainvoke_stream(self, **named: Any) -> AsyncIterator[Any]:
        session, pieces = self._asked(named), []
        async for piece in super().ainvoke_stream(**await on_thread(self._heard, session, named)):  # type: ignore[safe-super,unused-ignore]
            pieces.append(piece)
            yield piece
        await on_thread(self._answered, session, named, pieces)

    # What is said inside of a tool is nobody's word; what happens between two steps is outside.

    def run_function_call(self, function_call: Any, *given: Any, **named: Any) -> Iterator[Any]:
        steps = super().run_function_call(function_call, *given, **named)
        session = self._session(function_call.function._run_context)
        while True:
            with _inside(session):
                step = next(steps, _DONE)
            if step is _DONE:
                return
            yield step

    async def arun_function_calls(
        self, function_calls: list[Any], *given: Any, **named: Any
    ) -> AsyncIterator[Any]:
        steps = super().arun_function_calls(function_calls, *given, **named)
        told = (call.function._run_context for call in function_calls)
        session = self._session(next(told, None))
        while True:
            with _inside(session):
                step = await anext(steps, _DONE)
            if step is _DONE:
                return
            yield step

    # What they do.

    def _asked(self, named: dict[str, Any]) -> Session | None:
        # A model may make one of its calls by another: what that gets is done.
        is_done = isinstance(named["messages"], _Sent)
        return None if is_done else self._session(named.get("run_response"))

    def _session(self, run: Any) -> Session | None:
        """Whom a run is for; nobody where Agno asks the model for itself, such as for a title."""
        around = caller()
        if run is None or around is not None:
            # An agent inside of a tool has a run of its own, which may not tell whom it is for.
            return around if run is not None else None
        here = {"user_id": run.user_id, "session_id": run.session_id}
        return self._agent.session(here, run.metadata)

    def _heard(self, session: Session | None, named: dict[str, Any]) -> dict[str, Any]:
        """Observe what is new in a run, and give what the model is asked with."""
        if session is None:
            return named
        messages, compressed = named["messages"], bool(named.get("compress_tool_results"))
        self._agent.hear(session, _said(named["run_response"]))
        for message in _returned(messages):
            self._agent.result(session, message.content, message.tool_call_id)
        sent = self._agent.sent(session, [plain(one, compressed) for one in messages])
        made = _Sent(_with(sent.context, sent.messages(messages, rebuilt)))
        return {**named, "messages": made}

    def _answered(
        self, session: Session | None, named: dict[str, Any], pieces: Sequence[Any]
    ) -> None:
        # What a model says while it calls tools is no answer yet.
        if session is not None and not any(piece.tool_calls for piece in pieces):
            said = "".join(as_text(piece.content) for piece in pieces)
            self._agent.answer(session, said, named["assistant_message"].id)


def _inside(session: Session | None) -> AbstractContextManager[None]:
    return at_work(session) if session is not None else nullcontext()


def plain(message: Message, compressed: bool = False) -> Plain:
    """A message as `session.guard` takes it."""
    made: dict[str, Any] = {"role": message.role, "content": message.get_content(compressed)}
    if message.tool_calls:
        made["tool_calls"] = message.tool_calls
    return made


def rebuilt(message: Message, made: dict[str, Any]) -> Message:
    """A message with the texts of a plain one."""
    return message.model_copy(update={"compressed_content": None, **made})


def _said(run: Any) -> list[Plain]:
    """What the person said to a run. The messages have more under their name: what the framework
    looked up for them, and its own words to the model."""
    given: Any = run.input.input_content if run.input else None
    found: list[Any] = given if isinstance(given, list) else [given]
    if found and all(isinstance(one, Message) for one in found):
        return [plain(one) for one in found]
    if found and all(isinstance(one, dict) and "role" in one for one in found):
        return found
    return [{"role": "user", "content": as_text(given)}]


def _returned(messages: Sequence[Message]) -> list[Message]:
    """What the tools gave back that the model called last."""
    found: list[Message] = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        if message.role == "tool" and not message.from_history:
            found.insert(0, message)
    return found


def _with(context: str, messages: list[Message]) -> list[Message]:
    """The messages with the context behind the application's own words to the model."""
    if not context:
        return messages
    first = messages[0] if messages else None
    if first is None or first.role not in _FRAME:
        return [Message(role="system", content=context), *messages]
    said = "\n\n".join(filter(None, (first.get_content_string(), context)))
    return [first.model_copy(update={"content": said}), *messages[1:]]
