"""Facts that turns put out of office: was that right?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.model.verdict import Outcome, Verdict
from incumbent.turns.observation import Observation
from incumbent_eval.conversations.endings import StatedValue
from incumbent_eval.conversations.fates import Aftermath, ValueFate, turns_of
from incumbent_eval.conversations.format import MarkedTurn, RelationKind
from incumbent_eval.spoken import SpokenText


@dataclass(frozen=True)
class WrongRetirement:
    """A fact that left office although a value of it holds, which no line tells any more."""

    conversation: str
    turn: str
    """The words that put it out of office."""
    retired: str
    lost: tuple[str, ...]
    """The values that hold."""
    successor: str | None
    """What took its place."""
    rule: str


@dataclass(frozen=True)
class RetirementFigures:
    """Facts that left office: with a value that is over, with one that holds, with neither."""

    right: int = 0
    wrong: int = 0
    neither: int = 0

    def __add__(self, other: RetirementFigures) -> RetirementFigures:
        return RetirementFigures(
            self.right + other.right, self.wrong + other.wrong, self.neither + other.neither
        )

    @property
    def all(self) -> int:
        return self.right + self.wrong + self.neither

    def record(self) -> dict[str, Any]:
        return {"right": self.right, "wrong": self.wrong, "neither": self.neither}


def judged_retirements(
    conversation: str,
    heard: Iterable[tuple[MarkedTurn, Observation]],
    values: Sequence[StatedValue],
    after: Aftermath,
) -> tuple[RetirementFigures, tuple[WrongRetirement, ...]]:
    """Every fact that left office, held against what the annotation says of its values.

    A fact whose value another line still tells lost nothing, and neither did one that the turn
    says again in other words.
    """
    figures, wrong = RetirementFigures(), []
    for turn, observation in heard:
        again = {
            relation.to
            for line in turn.lines
            for relation in line.relations
            if relation.kind is RelationKind.CONFIRMS
        }
        for verdict, fact in _retired(observation, after):
            told = _told_by(fact, values)
            lost = [value for value in told if _is_lost(value, again, after)]
            over = any(value.ever_ended for value in told)
            if lost:
                wrong.append(_wrong(conversation, turn, verdict, fact, lost))
            figures += RetirementFigures(
                right=int(over and not lost),
                wrong=int(bool(lost)),
                neither=int(not over and not lost),
            )
    return figures, tuple(wrong)


def _told_by(fact: Fact, values: Sequence[StatedValue]) -> list[StatedValue]:
    """The values that a fact has from the turns it was taken from."""
    said = SpokenText(text_of(fact.value))
    turns = set(turns_of(fact.source))
    return [value for value in values if value.turn in turns and said.says(value.triple.value)]


def _is_lost(value: StatedValue, again: set[int], after: Aftermath) -> bool:
    if not value.holds or value.ever_ended or not again.isdisjoint({value.number, *value.again}):
        return False
    return after.fate_of(value) not in (ValueFate.LIVE, ValueFate.DEMOTED)


def _wrong(
    conversation: str, turn: MarkedTurn, verdict: Verdict, fact: Fact, lost: list[StatedValue]
) -> WrongRetirement:
    takes_over = verdict.fact is not None and verdict.fact.id != fact.id
    successor = text_of(verdict.fact.value) if takes_over and verdict.fact else None
    values = tuple(value.triple.value for value in lost)
    return WrongRetirement(
        conversation, turn.text, text_of(fact.value), values, successor, verdict.rule
    )


def _retired(observation: Observation, after: Aftermath) -> Iterator[tuple[Verdict, Fact]]:
    """The facts that a turn put out of office, each with the verdict that did."""
    for verdict in observation.verdicts:
        gone = list(verdict.superseded)
        if verdict.outcome is Outcome.RETRACTED:
            gone.append(verdict.fact_id)
        for fact_id in dict.fromkeys(gone):
            fact = after.facts.get(fact_id)
            if fact is not None and not fact.is_valid and not _goes_on(fact, verdict):
                yield verdict, fact


def _goes_on(fact: Fact, verdict: Verdict) -> bool:
    """Whether all that a fact says is said by what took its place."""
    successor = verdict.fact if verdict.fact is not None and verdict.superseded else None
    return successor is not None and text_of(fact.value) in text_of(successor.value)
