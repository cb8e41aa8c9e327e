"""The line: turns that wait to be read again, and which of them are due."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TypeAlias

from incumbent.model.identity import Identity
from incumbent.model.scope import Place
from incumbent.reading.asked.config import LLM
from incumbent.turns.rereading.waiting import Waiting

Name: TypeAlias = tuple[Identity, str, str | None, Place | None]


class Line:
    """Turns in the order in which they came, by conversation. Guarded by whoever has it.

    A conversation is due at once, after a pause, with so many turns, or once it was called, as the
    settings of the model say.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._turns: dict[Name, list[Waiting]] = {}
        self._last: dict[Name, float] = {}
        """When the last turn of each came."""
        self._called: set[Name] = set()

    def __len__(self) -> int:
        return sum(map(len, self._turns.values()))

    def __iter__(self) -> Iterator[Waiting]:
        return (one for some in self._turns.values() for one in some)

    def add(self, waiting: Waiting, now: float) -> None:
        name = waiting.conversation.name
        self._turns.setdefault(name, []).append(waiting)
        self._last[name] = now

    def call(self, name: Name) -> None:
        """Have what waits of a conversation read now."""
        if name in self._turns:
            self._called.add(name)

    def call_all(self) -> None:
        self._called |= self._turns.keys()

    def due(self, now: float, busy: Container[Name]) -> list[Name]:
        """The conversations to read now, but for those that are being read."""
        return [name for name in self._turns if name not in busy and self._is_due(name, now)]

    def _is_due(self, name: Name, now: float) -> bool:
        pause, enough = self._llm.pause, self._llm.after_turns
        if name in self._called or (enough is not None and len(self._turns[name]) >= enough):
            return True
        return pause is not None and now - self._last[name] >= pause

    def next_due(self, busy: Container[Name]) -> float | None:
        """When the next conversation is due by its pause."""
        if (pause := self._llm.pause) is None:
            return None
        return min(
            (at + pause for name, at in self._last.items() if name not in busy), default=None
        )

    def take(self, name: Name) -> list[Waiting]:
        """The first turns of a conversation, as many as fit into a request; others are first then.

        So a conversation with many turns keeps nobody waiting.
        """
        turns = self._turns.pop(name)
        chosen, rest = turns[: self._llm.batch_turns], turns[self._llm.batch_turns :]
        if rest:
            self._turns[name] = rest
        else:
            self._called.discard(name)
            del self._last[name]
        return chosen

    def clear(self) -> None:
        self._turns.clear()
        self._last.clear()
        self._called.clear()
