"""What reading costs: the processor time of observing a turn, beside that of embedding its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import process_time

import incumbent
from incumbent.model.errors import IncumbentError
from incumbent.search import embedders
from incumbent_eval.conversations.format import MarkedConversation, MarkedTurn
from incumbent_eval.running import HeldClock

TURNS = 300
"""So many turns are observed; more tell no more."""
_EMBEDDER = "minilm"
_FIRST = 5
"""Turns that are observed and embedded before, so that no model is loaded while time is taken."""


@dataclass(frozen=True)
class ReadingCost:
    """Seconds of processor time, of all threads together."""

    turns: int
    observing: float
    embedding: float

    @property
    def turn_ms(self) -> float | None:
        """Of observing a turn, in milliseconds."""
        return 1_000 * self.observing / self.turns if self.turns else None

    @property
    def times(self) -> float | None:
        """How many times as long observing took as embedding the same texts."""
        return self.observing / self.embedding if self.embedding else None


def measure(
    conversations: Sequence[MarkedConversation], settings: incumbent.Settings | None = None
) -> ReadingCost:
    """Observe the first turns of some conversations, and embed the same texts one by one."""
    chosen = _first(conversations, TURNS)
    embedder = embedders.load(_EMBEDDER)
    for part in _first(conversations[:1], _FIRST):
        _observe(part, settings)
        embedder.embed([turn.text for turn in part])

    def embed() -> None:
        for part in chosen:
            for turn in part:
                embedder.embed([turn.text])

    def observe() -> None:
        for part in chosen:
            _observe(part, settings)

    return ReadingCost(sum(map(len, chosen)), _taken(observe), _taken(embed))


def _first(conversations: Iterable[MarkedConversation], count: int) -> list[list[MarkedTurn]]:
    """So many turns in all, those of a conversation together."""
    chosen: list[list[MarkedTurn]] = []
    for conversation in conversations:
        left = count - sum(map(len, chosen))
        if left <= 0:
            break
        chosen.append(list(conversation.turns[:left]))
    return chosen


def _observe(turns: Sequence[MarkedTurn], settings: incumbent.Settings | None) -> None:
    """Tell the turns of a conversation to a memory of its own, a session each day."""
    clock = HeldClock(turns[0].at)
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        for turn in turns:
            clock.move_to(turn.at)
            session = memory.session(user_id="user", session_id=turn.at.date().isoformat())
            with suppress(IncumbentError):  # a turn that is refused takes its time, too
                session.observe(turn.text, speaker=turn.speaker, at=turn.at)


def _taken(work: Callable[[], None]) -> float:
    begin = process_time()
    work()
    return process_time() - begin
