"""Incumbent, through the calls its users make."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import incumbent
from benchmarks.corpus import Fact
from benchmarks.peers.handover import HandedOver
from benchmarks.peers.port import BUDGET


class _Incumbent:
    budget = BUDGET

    def __init__(self, folder: Path, embedder: HandedOver | None) -> None:
        self._memory = incumbent.open(
            folder / "incumbent.db", settings=incumbent.Settings(embedder=embedder)
        )
        self._session = self._memory.session(
            user_id="bench", authority="manager", organization="acme"
        )

    def load(self, facts: Sequence[Fact]) -> None:
        self._session.write_many(
            [{"key": fact.key, "value": fact.value, "subject": fact.subject} for fact in facts]
        )

    def ask(self, question: str) -> object:
        return self._session.context(question, budget=self.budget)

    def holds(self, answer: Any, fact: Fact) -> bool:
        shown = {line.fact_id for line in answer.lines}
        return any(
            found.id in shown for found in self._session.facts(fact.key, subject=fact.subject)
        )

    def phases(self, questions: Sequence[str]) -> dict[str, float]:
        """Seconds of the processor that the phases of these questions' contexts take.

        None of them may have been asked before, or there are no phases.
        """
        from benchmarks import phases

        with phases.timed() as spent:
            for question in questions:
                self.ask(question)
        if questions and "ranking" not in spent:
            raise ValueError("these contexts were kept from before, and have no phases")
        return dict(spent)

    def tokens(self, answer: Any) -> int | None:
        return int(answer.tokens)

    def close(self) -> None:
        self._memory.close()


class Ranked(_Incumbent):
    """With vectors. They are always computed live: that is part of what a write costs."""

    def __init__(self, folder: Path, embedder: HandedOver) -> None:
        super().__init__(folder, embedder)


class Short(Ranked):
    """With a smaller budget."""

    budget = 1_000


class TextOnly(_Incumbent):
    """Without an embedder."""

    def __init__(self, folder: Path, embedder: HandedOver) -> None:
        super().__init__(folder, None)
