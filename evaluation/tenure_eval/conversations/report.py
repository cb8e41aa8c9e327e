"""The figures of a file of conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import tenure
from tenure.testing.systems import Progress
from tenure_eval.conversations.format import read_conversations, thinned
from tenure_eval.conversations.play import (
    BUDGET,
    ConversationScore,
    QuestionScore,
    play,
)
from tenure_eval.figures import Joint
from tenure_eval.running import each


@dataclass
class ConversationsReport:
    """The figures of a file, or of several."""

    name: str
    conversations: int = 0
    joint: Joint = Joint()
    changed: Joint = Joint()
    """Of questions about something that changed."""
    plain: Joint = Joint()
    """Of the others: is it known at all?"""
    beside: dict[str, Joint] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failures: list[QuestionScore] = field(default_factory=list)

    def add(self, score: ConversationScore) -> None:
        """Take in what came of one more conversation."""
        self.conversations += 1
        self.seconds += score.seconds
        self.refused += score.refused
        for one in score.questions:
            self.joint += one.joint
            if one.question.is_about_change:
                self.changed += one.joint
            else:
                self.plain += one.joint
            for name, joint in one.beside.items():
                self.beside[name] = self.beside.get(name, Joint()) + joint
            if not one.joint.both:
                self.failures.append(one)

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "conversations": self.conversations,
            "questions": self.joint.record(),
            "changed": self.changed.record(),
            "plain": self.plain.record(),
            "beside": {name: joint.record() for name, joint in self.beside.items()},
            "refused_turns": self.refused,
        }


def run(
    path: Path,
    *,
    settings: tenure.Settings | None = None,
    budget: int = BUDGET,
    systems: Sequence[str] = (),
    limit: int | None = None,
    every: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
) -> ConversationsReport:
    """Play the conversations of a file and give their figures."""
    chosen = thinned(read_conversations(path), limit=limit, every=every)
    report = ConversationsReport(path.stem)
    score = partial(play, settings=settings, budget=budget, systems=tuple(systems))
    for one in each(score, chosen, what=report.name, workers=workers, progress=progress):
        report.add(one)
    return report
