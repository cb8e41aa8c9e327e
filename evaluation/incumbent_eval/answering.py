"""Questions with known answers: the common part of the evaluations of scope and of the past.

Both draw episodes from a seed, play each into a fresh system and ask a few questions about it. An
answer is right, or it is a mistake that can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from incumbent_eval.figures import Share, records
from incumbent_eval.running import each
from incumbent_eval.spoken import SpokenText
from incumbent_eval.systems import Ability, Maker, Progress

AT_ONCE = 20
"""Questions that are asked about one episode."""
_KEPT = 10
"""The most mistakes that a record has."""


class Drawn(NamedTuple):
    """The source of one episode, and the number of questions about it."""

    seed: int
    number: int
    questions: int

    @property
    def source(self) -> str:
        """The seed for a random generator."""
        return f"{self.seed}/{self.number}"


class WrongAnswer(NamedTuple):
    """A wrong answer: the question, and everything that led to it."""

    asked: str
    told: str


Answers = Sequence[tuple[str, WrongAnswer | None]]
"""The kind of each question, and the mistake in its answer, if any."""


@dataclass(frozen=True)
class AnswersReport:
    """The share of a system's right answers, by the kind of question."""

    system: str
    right: dict[str, Share] = field(default_factory=dict)
    mistakes: tuple[WrongAnswer, ...] = ()
    cannot: tuple[str, ...] = ()
    """The abilities it was not tried on, because it does not claim them."""

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
    """The name of a system, and its abilities."""
    system = maker()
    try:
        return system.name, system.can
    finally:
        system.close()


def lacking(needed: Iterable[Ability], can: Collection[Ability]) -> tuple[str, ...]:
    """The names of the abilities that a system lacks."""
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
