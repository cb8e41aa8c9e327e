"""Deferred: turns of an exchange that are read once it is over, by whom it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from incumbent.model.identity import Identity
from incumbent.reading.asked.asking import Completion
from incumbent.reading.asked.config import LLM
from incumbent.turns.observation import Observation
from incumbent.turns.rereading.line import Name
from incumbent.turns.rereading.rereader import Rereader, Taken
from incumbent.turns.rereading.waiting import Conversation


class Deferred:
    """A rereader as one session has it: nothing is asked before `release()`."""

    def __init__(self, rereader: Rereader, asks: Completion) -> None:
        self._rereader = rereader
        self._asks = asks
        self._held: list[Taken] = []

    @property
    def llm(self) -> LLM:
        return self._rereader.llm

    def taken(self, conversation: Conversation, *of_turn: Any) -> Taken:
        """A turn with its opinion to come."""
        return self._rereader.taken(replace(conversation, asks=self._asks), *of_turn)

    def follow(self, taken: Sequence[Taken]) -> list[Observation]:
        """Hold turns until the exchange is over."""
        self._held += taken
        return [observation for observation, _ in taken]

    def release(self) -> None:
        """Have them read."""
        held, self._held = self._held, []
        self._rereader.follow(held)

    def drop(self, reason: str) -> None:
        """Let their offline reading stand."""
        held, self._held = self._held, []
        for _, waiting in held:
            if waiting is not None:
                waiting.opinion.fail(reason)

    def end(self, conversation: Name) -> None:
        self._rereader.end(conversation)

    def wait_for(self, identity: Identity) -> None:
        self._rereader.wait_for(identity)
