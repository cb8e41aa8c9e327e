"""The numbers that runs come to: shares, and the quality of detection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Share:
    """The number of hits among so many trials. Shares of the same kind add up."""

    hits: int = 0
    of: int = 0

    @classmethod
    def one(cls, hit: bool) -> Share:
        """A single trial."""
        return cls(int(hit), 1)

    @property
    def value(self) -> float | None:
        """Between 0 and 1, or None if nothing was tried."""
        return self.hits / self.of if self.of else None

    def __add__(self, other: Share) -> Share:
        return Share(self.hits + other.hits, self.of + other.of)

    def record(self) -> dict[str, Any]:
        return {"share": rounded(self.value), "hits": self.hits, "of": self.of}


@dataclass(frozen=True)
class Detection:
    """Counts of a detection: found rightly, found wrongly, and missed."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @classmethod
    def one(cls, *, predicted: bool, gold: bool) -> Detection:
        """A single yes-or-no decision."""
        return cls(predicted and gold, predicted and not gold, gold and not predicted)

    @property
    def precision(self) -> float | None:
        return Share(self.right, self.right + self.wrong).value

    @property
    def recall(self) -> float | None:
        return Share(self.right, self.right + self.missed).value

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two; None if there was nothing to find and nothing found."""
        return Share(2 * self.right, 2 * self.right + self.wrong + self.missed).value

    def __add__(self, other: Detection) -> Detection:
        return Detection(
            self.right + other.right, self.wrong + other.wrong, self.missed + other.missed
        )

    def record(self) -> dict[str, Any]:
        return {
            "precision": rounded(self.precision),
            "recall": rounded(self.recall),
            "f1": rounded(self.f1),
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
        }


@dataclass(frozen=True)
class Joint:
    """Contexts scored both ways: everything required is there, and nothing forbidden is."""

    present: int = 0
    clean: int = 0
    both: int = 0
    of: int = 0

    @classmethod
    def one(cls, *, present: bool, clean: bool) -> Joint:
        """A single context."""
        return cls(int(present), int(clean), int(present and clean), 1)

    def __add__(self, other: Joint) -> Joint:
        return Joint(
            self.present + other.present,
            self.clean + other.clean,
            self.both + other.both,
            self.of + other.of,
        )

    @property
    def joint(self) -> float | None:
        return Share(self.both, self.of).value

    def record(self) -> dict[str, Any]:
        return {
            "joint": rounded(self.joint),
            "present": rounded(Share(self.present, self.of).value),
            "clean": rounded(Share(self.clean, self.of).value),
            "of": self.of,
        }


def rounded(value: float | None) -> float | None:
    """A share as it is written down: four places."""
    return None if value is None else round(value, 4)


def percent(value: float | None, deviation: float | None = None) -> str:
    """A share for people to read, with its deviation from run to run."""
    if value is None:
        return "–"
    moves = "" if deviation is None else f" ± {100 * deviation:.1f}"
    return f"{100 * value:.1f}{moves} %"


def records(parts: Mapping[str, Any]) -> dict[str, Any]:
    """The records of several figures under their names, in the order of the names."""
    return {name: parts[name].record() for name in sorted(parts)}
