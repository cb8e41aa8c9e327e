"""Episodes: steps to play, and questions with their right answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from incumbent_eval.systems import Ability, Entry


class Task(StrEnum):
    """The subject of an episode."""

    RECALL = "exact recall"
    AGGREGATION = "aggregation"
    TRACKING = "tracking"
    DELETION = "deletion"
    CASCADE = "cascade"
    """An earlier statement tells what the dependent becomes when its base changes."""
    ABSENCE = "absence"
    """Nothing tells, so the dependent is not known since its base changed."""
    DEPTH = "depth"
    """The same along a chain of two to eight."""
    FAN_OUT = "fan-out"
    DIAMOND = "diamond"
    UNDO = "undo"
    PARTIAL = "partial repair"


PUBLISHED = (
    Task.RECALL,
    Task.AGGREGATION,
    Task.TRACKING,
    Task.DELETION,
    Task.CASCADE,
    Task.ABSENCE,
)
"""The six tasks of the published evaluation."""


class EpisodeForm(StrEnum):
    """The form of an episode."""

    STRUCTURED = "structured"
    PLAIN = "plain"


class Half(StrEnum):
    """The half of the phrasings for an episode in plain language."""

    KNOWN = "worked with"
    HELD_OUT = "held out"


@dataclass(frozen=True)
class Write:
    """A value is written. It refers to others by their names in this episode."""

    name: str
    entry: Entry

    @property
    def told(self) -> str:
        """The step as one line."""
        bases = "".join(f", from {base}" for base in self.entry.depends_on)
        waits = self.entry.when_superseded
        awaited = f", once {waits} becomes {self.entry.becomes}" if waits else ""
        return f"write    {self.name}{bases}{awaited}"


@dataclass(frozen=True)
class Retract:
    """A written value is retracted."""

    name: str

    @property
    def told(self) -> str:
        """The step as one line."""
        return f"retract  {self.name}"


@dataclass(frozen=True)
class Undo:
    """A write is undone."""

    name: str

    @property
    def told(self) -> str:
        """The step as one line."""
        return f"undo     {self.name}"


@dataclass(frozen=True)
class Say:
    """A turn of the conversation."""

    text: str
    speaker: str = "user"

    @property
    def told(self) -> str:
        """The step as one line."""
        return f"{self.speaker}: {self.text}"


Step = Write | Retract | Undo | Say


@dataclass(frozen=True)
class EpisodeQuestion:
    """A question at the end, and the words that a right context has and does not have."""

    text: str
    must: tuple[str, ...]
    must_not: tuple[str, ...] = ()
    history: bool = False


@dataclass(frozen=True)
class RepairEpisode:
    """A story that is played into an empty system."""

    id: str
    task: Task
    form: EpisodeForm
    half: Half
    steps: tuple[Step, ...]
    questions: tuple[EpisodeQuestion, ...]
    needs: frozenset[Ability]
    size: int = 1
    """Its depth, width or length."""
