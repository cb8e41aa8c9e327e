"""Questions whose answers are known: what the evaluations of scope and of the past have in common.

Both draw episodes from a seed, play each into a fresh system and ask a few questions about it. An
answer is right, or it is a mistake that can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tenure.testing.spoken import SpokenText
from tenure.testing.systems import Ability, Maker, Progress
from tenure_eval.figures import Share, records
from tenure_eval.running import each

AT_ONCE = 20
"""Questions that are asked about one episode."""
_KEPT = 10
"""Mistakes that a record has."""


class Drawn(NamedTuple):
    """What one episode is drawn from, and how many questions it is asked."""

    seed: int
    number: int
    questions: int

    @property
    def source(self) -> str:
        """What to make a random generator from."""
        return f"{self.seed}/{self.number}"


class WrongAnswer(NamedTuple):
    """An answer that was not right: what was asked, and all that led to it."""

    asked: str
    told: str


Answers = Sequence[tuple[str, WrongAnswer | None]]
"""What was asked, by its kind, and what was wrong with the answer, if anything."""


@dataclass(frozen=True)
class AnswersReport:
    """How many answers of a system were right, by the kind of question."""

    system: str
    right: dict[str, Share] = field(default_factory=dict)
    mistakes: tuple[WrongAnswer, ...] = ()
    cannot: tuple[str, ...] = ()
    """What it was not tried on, because it does not claim to do it."""

    @property
    def all(self) -> Share:
        return sum(self.right.values(), Share())

    def record(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "right": self.all.record(),
            "by_question": records(self.right),
            "mistakes": [mistake.told for mistake in self.mistakes[:_KEPT]],
            "cannot": list(self.cannot),
        }


def abilities(maker: Maker) -> tuple[str, frozenset[Ability]]:
    """What a system is called, and what it can do."""
    system = maker()
    try:
        return system.name, system.can
    finally:
        system.close()


def lacking(needed: Iterable[Ability], can: Collection[Ability]) -> tuple[str, ...]:
    """What a system would have to be able to do besides, by name."""
    return tuple(sorted({ability.value for ability in needed if ability not in can}))


def ask(
    report: AnswersReport,
    answered: Callable[[Drawn], Answers],
    *,
    what: str,
    questions: int,
    seed: int,
    workers: int,
    progress: Progress | None,
) -> AnswersReport:
    """The report of a system with its answers: so many questions, spread over episodes."""
    sizes = [AT_ONCE] * (questions // AT_ONCE) + [questions % AT_ONCE]
    episodes = [Drawn(seed, number, size) for number, size in enumerate(sizes) if size]
    right: dict[str, Share] = {}
    mistakes: list[WrongAnswer] = []
    name = f"{what} of {report.system}"
    for answers in each(answered, episodes, what=name, workers=workers, progress=progress):
        for kind, mistake in answers:
            right[kind] = right.get(kind, Share()) + Share.one(mistake is None)
            mistakes += [mistake] if mistake is not None else []
    return AnswersReport(report.system, right, tuple(mistakes), report.cannot)


def is_right(context: str, values: Iterable[str], wanted: str | None) -> bool:
    """Whether a context says the value that is wanted, if any, and none of the others."""
    said = SpokenText(context)
    return {value for value in values if said.says(value)} == ({wanted} - {None})
