"""CrewAI: Incumbent around the LLM of an agent. `incumbent[crewai]`

    llm = with_incumbent(LLM("openai/gpt-5-mini"), memory, user_id="alice", session_id="7")
    Agent(llm=llm, ...).kickoff(messages)

It stands around the LLM's own calls, and is no hook: those of CrewAI are for every agent of the
process, and change the messages for good. What CrewAI writes around a person's words is taken off
before they are observed, and put back where they are sent.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, Unpack

from incumbent.aio import AsyncMemory
from incumbent.integrations.agent_memory import (
    AgentMemory,
    Options,
    Plain,
    Sent,
    as_text,
    on_thread,
)
from incumbent.integrations.model_at_hand import AtHand, Question, Said
from incumbent.memory import Memory
from incumbent.session import Session

try:
    from crewai.agents.parser import AgentFinish, OutputParserError, parse
    from crewai.llms.base_llm import BaseLLM
    from crewai.utilities.i18n import I18N_DEFAULT
except ImportError as error:
    raise ImportError(f"{error}; install it with: pip install 'incumbent[crewai]'") from error

L = TypeVar("L", bound=BaseLLM)

# What CrewAI writes before and behind a request, in its own words and language.
_FRAMES = [
    tuple(I18N_DEFAULT.slice(name).split("{input}"))
    for name in ("task", "task_no_tools", "native_task")
]
_OBSERVATION = I18N_DEFAULT.slice("observation")


class _Messages(list[Any]):
    """Messages as they are sent."""


def _ask(llm: BaseLLM, asked: Question) -> Said:
    told = ("system", asked.instructions), ("user", asked.data)
    return Said(str(llm.call([{"role": role, "content": text} for role, text in told])))


_AT_HAND = AtHand(BaseLLM, _ask)


def with_incumbent(llm: L, memory: Memory | AsyncMemory, **options: Unpack[Options]) -> L:
    """The same LLM, for a conversation of one person: it is sent what holds, and what is said to
    an agent that has it is observed. The LLM that is given stays as it was."""
    agent = AgentMemory(memory, options, _AT_HAND)
    # Of a class: CrewAI copies its LLMs, and there is but one memory.
    told = {"__slots__": (), "_agent": agent, "_session": agent.session()}
    known = type("_Known", (_IncumbentLLM,), told)
    made, kind = copy.copy(llm), type(llm)
    made.__class__ = type(kind.__name__, (known, kind), {"__module__": kind.__module__})
    return made


class _IncumbentLLM:
    """What stands before the class of an LLM: `super()` is that class."""

    __slots__ = ()
    _agent: AgentMemory
    _session: Session

    def call(self, messages: Any, *given: Any, **named: Any) -> Any:
        inner: Any = super()
        if _is_no_run(messages, named):
            return inner.call(messages, *given, **named)
        response = inner.call(self._heard(messages, named), *given, **named)
        self._answered(response, named)
        return response

    async def acall(self, messages: Any, *given: Any, **named: Any) -> Any:
        inner: Any = super()
        if _is_no_run(messages, named):
            return await inner.acall(messages, *given, **named)
        sent = await on_thread(self._heard, messages, named)
        response = await inner.acall(sent, *given, **named)
        await on_thread(self._answered, response, named)
        return response

    def _heard(self, messages: Any, named: Mapping[str, Any]) -> _Messages:
        """Observe what is new in a run, and give what the LLM is asked with."""
        given = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        asked = max((n for n, one in enumerate(given) if _frame(one)), default=-1)
        plain = [_plain(one, 0 <= asked < n) for n, one in enumerate(given)]
        if _is_of_the_person(named):
            self._agent.hear(self._session, plain[: asked + 1])
            for value, call_id in _returned(given[asked + 1 :]):
                self._agent.result(self._session, value, call_id)
        return _with(self._agent.sent(self._session, plain), given)

    def _answered(self, response: Any, named: Mapping[str, Any]) -> None:
        # What a model says while it calls tools is no answer yet.
        if _is_of_the_person(named) and not isinstance(response, list):
            self._agent.answer(self._session, _answer(as_text(response)))


def _is_no_run(messages: Any, named: Mapping[str, Any]) -> bool:
    """Whether CrewAI asks for itself, such as for another form of an answer; or an LLM makes one
    of its calls by another."""
    return named.get("from_agent") is None or isinstance(messages, _Messages)


def _is_of_the_person(named: Mapping[str, Any]) -> bool:
    """Whether a person speaks. What the task of a crew says is its developer's word."""
    return named.get("from_task") is None


def _frame(message: Plain) -> tuple[str, str] | None:
    """What CrewAI wrote around a request, if the message is one."""
    said = message.get("content")
    if message.get("role") == "user" and isinstance(said, str):
        for head, tail in _FRAMES:
            if said.startswith(head) and said.endswith(tail):
                return head, tail
    return None


def _plain(message: Plain, is_after: bool) -> Plain:
    """A message as `session.guard` takes it. What stands under a person's name behind their
    request are CrewAI's own words to the model."""
    if frame := _frame(message):
        head, tail = frame
        return {**message, "content": message["content"].removeprefix(head).removesuffix(tail)}
    if is_after and message.get("role") == "user":
        return {**message, "role": "system"}
    return message


def _rebuilt(message: Plain, made: dict[str, Any]) -> Plain:
    """A message with the texts of a plain one."""
    head, tail = _frame(message) or ("", "")
    said = made["content"]
    return {**made, "content": f"{head}{said}{tail}" if isinstance(said, str) else said}


def _returned(messages: Sequence[Plain]) -> list[tuple[Any, str | None]]:
    """What the tools gave back that the model called last: as messages of their own, or written
    behind the model's words."""
    found: list[tuple[Any, str | None]] = []
    for message in reversed(messages):
        if message["role"] == "tool":
            found.insert(0, (message.get("content"), message.get("tool_call_id")))
        elif message["role"] == "assistant":
            said, _, observed = as_text(message.get("content")).rpartition(_OBSERVATION)
            return [(observed.strip(), None)] if said else found
    return found


def _answer(text: str) -> str:
    """What a run came to, without the form that CrewAI asks for; nothing where it goes on."""
    try:
        step = parse(text)
    except OutputParserError:
        return text
    return as_text(step.output) if isinstance(step, AgentFinish) else ""


def _with(sent: Sent, messages: Sequence[Plain]) -> _Messages:
    """The messages with the context behind the application's own words to the model."""
    made = sent.messages(messages, _rebuilt)
    if not sent.context:
        return _Messages(made)
    if made and made[0].get("role") == "system":
        return _Messages([{**made[0], "content": sent.after(made[0]["content"])}, *made[1:]])
    return _Messages([{"role": "system", "content": sent.context}, *made])
