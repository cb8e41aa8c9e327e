"""The model at hand: a framework's own model reads what is said, beside what it is there for.

An adapter knows two things about it: which class such models have, and how one is asked. A model
that is awaited is asked on the event loop of the run, since that is where its connections are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.reading.asked import LLM, Answer, Ask
from incumbent.reading.asked.asking import Said, Trouble, answered, instructed

__all__ = ["AtHand", "Question", "Said", "counted", "reading_with"]

_NAMED = ("model_name", "model_id", "model", "id", "name")

running: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("incumbent_loop", default=None)
"""The event loop of a run, where a thread works for one."""


class Question(NamedTuple):
    """What a framework's model is sent."""

    instructions: str
    data: str
    most: int
    """Tokens of the answer."""


class AtHand(NamedTuple):
    """What an adapter knows about its framework's models."""

    kind: type | tuple[type, ...]
    ask: Callable[[Any, Question], Said | Coroutine[Any, Any, Said]]


class ModelAtHand:
    """A framework's model, as what reads."""

    def __init__(self, model: Any, at_hand: AtHand) -> None:
        self._model = model
        self._ask = at_hand.ask
        named = (getattr(model, name, None) for name in _NAMED)
        told = model if isinstance(model, str) else next((n for n in named if _is_name(n)), None)
        self.name = str(told or type(model).__name__)
        self._loop: asyncio.AbstractEventLoop | None = None

    def note_loop(self) -> None:
        """Note the event loop of the run, if it has one."""
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = running.get() or self._loop

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        asked = Question(instructed(ask), ask.data, ask.max_output_tokens)
        said = self._ask(self._model, asked)
        return answered(said if isinstance(said, Said) else self._awaited(said, timeout))

    def _awaited(self, said: Coroutine[Any, Any, Said], timeout: float) -> Said:
        try:
            if self._loop is None or not self._loop.is_running():
                return asyncio.run(asyncio.wait_for(said, timeout))
            on_loop = asyncio.run_coroutine_threadsafe(asyncio.wait_for(said, timeout), self._loop)
            return on_loop.result()
        except TimeoutError:
            raise Trouble("timeout", "the model did not answer in time", may_pass=True) from None


def reading_with(
    memory: Memory, reader: Any, at_hand: AtHand | None
) -> tuple[Any, ModelAtHand | None]:
    """What has a reader read turns: a framework's model, "provider:name", or an LLM of either."""
    llm = reader if isinstance(reader, LLM) else None
    model = reader if llm is None else llm.model
    own = None
    if at_hand is not None and isinstance(model, at_hand.kind):
        own = ModelAtHand(model, at_hand)
        llm = LLM(own) if llm is None else replace(llm, model=own)
    try:
        resources = memory.resources
    except AttributeError:
        raise InvalidInput(
            "reader= takes a memory of this process; a service has models of its own: "
            "incumbent serve --readers FILE"
        ) from None
    return resources.rereading(LLM(model) if llm is None else llm), own


def counted(usage: Any, into: str, out: str) -> tuple[int, int]:
    """The tokens in and out that a framework tells, as far as it does."""
    told = (
        usage.get(name) if isinstance(usage, dict) else getattr(usage, name, None)
        for name in (into, out)
    )
    first, second = (one if type(one) is int and one >= 0 else 0 for one in told)
    return first, second


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)
