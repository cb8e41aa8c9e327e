"""The figures of a file of conversations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import incumbent
from incumbent_eval.conversations.composed import ComposedLine
from incumbent_eval.conversations.fates import FateFigures
from incumbent_eval.conversations.format import read_conversations, thinned
from incumbent_eval.conversations.kept import KeptLine
from incumbent_eval.conversations.play import (
    BUDGET,
    AwaitingAnswer,
    ConversationScore,
    QuestionScore,
    StrayValue,
    play,
    play_by_requests,
)
from incumbent_eval.conversations.requests import Opinions
from incumbent_eval.conversations.retirements import RetirementFigures, WrongRetirement
from incumbent_eval.figures import Joint, Share, records
from incumbent_eval.running import each
from incumbent_eval.systems import Progress

TOTAL = "all"


@dataclass
class ConversationsReport:
    """What came of the conversations of a file, or of several, added up."""

    name: str
    scores: list[ConversationScore] = field(default_factory=list)
    awaiting: list[AwaitingAnswer] = field(default_factory=list)
    """Conversations that wait for a model's answer."""

    @property
    def questions(self) -> Iterator[QuestionScore]:
        for score in self.scores:
            yield from score.questions

    @property
    def joint(self) -> Joint:
        return _summed(one.joint for one in self.questions)

    @property
    def changed(self) -> Joint:
        """Of questions about something that changed."""
        return _summed(one.joint for one in self.questions if one.question.is_about_change)

    @property
    def plain(self) -> Joint:
        """Of the other questions: is it known at all?"""
        return _summed(one.joint for one in self.questions if not one.question.is_about_change)

    @property
    def beside(self) -> dict[str, Joint]:
        """The joint figure of the transcript, the last turns and other systems."""
        names = dict.fromkeys(name for one in self.questions for name in one.beside)
        return {name: _summed(one.beside[name] for one in self.questions) for name in names}

    @property
    def holding(self) -> FateFigures:
        """What became of the values that hold."""
        return sum((score.holding for score in self.scores), FateFigures())

    @property
    def over(self) -> FateFigures:
        """What became of the values that are over."""
        return sum((score.over for score in self.scores), FateFigures())

    @property
    def retirements(self) -> RetirementFigures:
        return sum((score.retirements for score in self.scores), RetirementFigures())

    @property
    def kinds(self) -> dict[str, Share]:
        """The share of the lines that became facts, by what they are."""
        found: dict[str, Share] = {}
        for score in self.scores:
            for kind, share in score.kinds.items():
                found[kind] = found.get(kind, Share()) + share
        return found

    @property
    def lines(self) -> int:
        """How many different lines of contexts tell facts."""
        return sum(score.lines for score in self.scores)

    @property
    def tokens(self) -> float | None:
        """Of a context, on average."""
        asked = self.joint.of
        return sum(score.tokens for score in self.scores) / asked if asked else None

    @property
    def median_ms(self) -> float | None:
        """The median of what a turn took, in milliseconds."""
        seconds = [second for score in self.scores for second in score.seconds]
        return 1_000 * median(seconds) if seconds else None

    @property
    def refused(self) -> list[str]:
        return [one for score in self.scores for one in score.refused]

    @property
    def opinions(self) -> Opinions | None:
        """What came of a model's answers, where one read along."""
        found = [score.opinions for score in self.scores]
        told = [
            one for one in (*found, *(one.opinions for one in self.awaiting)) if one is not None
        ]
        return sum(told, Opinions()) if told else None

    @property
    def failures(self) -> list[QuestionScore]:
        return [one for one in self.questions if not one.joint.both]

    @property
    def stray(self) -> list[StrayValue]:
        """Values that hold, and that no live line says."""
        return [one for score in self.scores for one in score.stray]

    @property
    def wrong_retirements(self) -> list[WrongRetirement]:
        return [one for score in self.scores for one in score.wrong_retirements]

    @property
    def composed(self) -> list[ComposedLine]:
        return [one for score in self.scores for one in score.composed]

    @property
    def kept(self) -> list[KeptLine]:
        """Lines that commit to nothing and became facts."""
        return [one for score in self.scores for one in score.kept]

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "conversations": len(self.scores),
            "questions": self.joint.record(),
            "changed": self.changed.record(),
            "plain": self.plain.record(),
            "beside": {name: joint.record() for name, joint in self.beside.items()},
            "values_that_hold": self.holding.record(),
            "values_that_are_over": self.over.record(),
            "retirements": self.retirements.record(),
            "composed": Share(len(self.composed), self.lines).record(),
            "composed_and_marked": sum(one.is_marked for one in self.composed),
            "became_facts": records(self.kinds),
            "tokens": None if self.tokens is None else round(self.tokens, 1),
            "median_turn_ms": None if self.median_ms is None else round(self.median_ms, 3),
            "refused_turns": self.refused,
            **({"opinions": self.opinions.record()} if self.opinions is not None else {}),
        }

    def lists(self) -> dict[str, Any]:
        """What went wrong, one by one."""
        return {
            "failed": [
                {
                    "conversation": one.conversation,
                    "question": one.question.text,
                    "missing": one.missing,
                    "dead": one.stale,
                    "context": one.context,
                }
                for one in self.failures
            ],
            **_listed(
                wrong_retirements=self.wrong_retirements,
                composed=self.composed,
                stray=self.stray,
                kept=self.kept,
            ),
        }


def _summed(joints: Iterable[Joint]) -> Joint:
    return sum(joints, Joint())


def _listed(**named: Sequence[Any]) -> dict[str, Any]:
    return {name: [vars(one) for one in found] for name, found in named.items()}


def total(reports: Iterable[ConversationsReport]) -> ConversationsReport:
    """Several files as one."""
    made = ConversationsReport(TOTAL)
    for report in reports:
        made.scores += report.scores
        made.awaiting += report.awaiting
    return made


def run(
    path: Path,
    *,
    settings: incumbent.Settings | None = None,
    budget: int = BUDGET,
    systems: Sequence[str] = (),
    limit: int | None = None,
    every: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
    requests: Path | None = None,
) -> ConversationsReport:
    """Play the conversations of a file and give their figures.

    With `requests`, a model that reads along is asked by files in that folder.
    """
    chosen = thinned(read_conversations(path), limit=limit, every=every)
    given: dict[str, Any] = {"settings": settings, "budget": budget, "systems": tuple(systems)}
    score: Callable[..., ConversationScore | AwaitingAnswer] = (
        partial(play, **given)
        if requests is None
        else partial(play_by_requests, folder=requests, **given)
    )
    report = ConversationsReport(path.stem)
    for made in each(score, chosen, what=path.stem, workers=workers, progress=progress):
        if isinstance(made, AwaitingAnswer):
            report.awaiting.append(made)
        else:
            report.scores.append(made)
    return report
