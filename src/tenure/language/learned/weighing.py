"""Weighing: how likely a statement is out of date, by all that the model says of a turn.

Pair by pair the model cannot know that a turn mostly puts one statement out of date. Here each of
the statements that a turn may be about is weighed beside the others: by what the model says of the
whole and of its values, by whether another is likelier, and by how much they have in common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tenure.language.tokens import stems

FEATURES: Final = 8
_FARTHEST = 4.0
_TELLING = 3
"""Words of fewer letters tell little of what a statement is about."""


class Read(NamedTuple):
    """A statement that a turn may put out of date, and what the model says of the two."""

    statement: str
    of_whole: float
    of_parts: float
    """How likely all of it, and the likeliest of its values, no longer hold."""


@dataclass(frozen=True)
class Weights:
    """What each feature counts."""

    values: tuple[float, ...]

    def chances(self, turn: str, reads: Sequence[Read]) -> list[float]:
        """How likely each statement is out of date."""
        return [
            1 / (1 + math.exp(-sum(w * x for w, x in zip(self.values, row, strict=True))))
            for row in features(turn, reads)
        ]


def features(turn: str, reads: Sequence[Read]) -> list[tuple[float, ...]]:
    """The statements that one turn may be about, as numbers."""
    scores = [_odds(read.of_whole) + _odds(read.of_parts) for read in reads]
    said, length = stems(turn, shortest=_TELLING), math.log(1 + len(turn.split()))
    found: list[tuple[float, ...]] = []
    for place, read in enumerate(reads):
        others = [score for other, score in enumerate(scores) if other != place]
        ahead = scores[place] - max(others) if others else 0.0
        words = stems(read.statement, shortest=_TELLING)
        found.append(
            (
                _odds(read.of_whole),
                _odds(read.of_parts),
                float(ahead >= 0),
                max(-_FARTHEST, min(_FARTHEST, ahead)),
                len(words & said) / max(1, len(words)),
                length,
                math.log(1 + len(read.statement.split())),
                1.0,
            )
        )
    return found


def _odds(chance: float) -> float:
    chance = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(chance / (1 - chance))
