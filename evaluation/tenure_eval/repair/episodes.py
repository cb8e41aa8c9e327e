"""What an episode is: steps to play, and questions with what is right to say in answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tenure.testing.systems import Ability, Entry


class Task(StrEnum):
    """What an episode is about."""

    RECALL = "exact recall"
    AGGREGATION = "aggregation"
    TRACKING = "tracking"
    DELETION = "deletion"
    CASCADE = "cascade"
    """What was said before tells what the dependent becomes when its base changes."""
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
    """How an episode is told."""

    STRUCTURED = "structured"
    PLAIN = "plain"


class Half(StrEnum):
    """Which half of the phrasings an episode in plain language is told in."""

    KNOWN = "worked with"
    HELD_OUT = "held out"


@dataclass(frozen=True)
class Write:
    """A value is written. The names it refers to others by are those of this episode."""

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
    """A value that was written is taken back."""

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
    """What is asked at the end, and what a right context says and does not say."""

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
    """How deep, how wide or how long it is."""
