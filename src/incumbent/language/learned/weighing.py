"""Weighing: how likely a statement is out of date, by all that the model says of a turn.

Pair by pair the model cannot know that a turn mostly puts one statement out of date. Here each of
the statements that a turn may be about is weighed beside the others: by what the model says of the
whole and of its values, by whether another is likelier, by how much they have in common in words
and in meaning, and by how long ago it was said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from incumbent.language.tokens import stems

FEATURES: Final = 11
_IS_AHEAD, _BY_HOW_MUCH, _IS_LIKEST = 2, 3, 7
"""The places of the features that hang on the other statements."""
_ROUNDED = 1e-9
"""More than what sums of a few numbers lose by rounding."""
_FARTHEST = 4.0
_TELLING = 3
"""Words of fewer letters tell little of what a statement is about."""
_USUAL = 0.22
"""How alike in meaning a statement and a turn are, where nobody has looked."""


class Read(NamedTuple):
    """A statement that a turn may put out of date, and what the model says of the two."""

    statement: str
    of_whole: float
    of_parts: float
    """How likely all of it, and the likeliest of its values, no longer hold."""
    meaning: float | None = None
    """The cosine between its meaning and that of the turn; None where it was not looked up."""
    age: int = 0
    """How many of the others were said after it."""


@dataclass(frozen=True)
class Weights:
    """What each feature counts."""

    values: tuple[float, ...]

    def chances(self, turn: str, reads: Sequence[Read], *, follows: bool) -> list[float]:
        """How likely each statement is out of date; `follows` where something was said before."""
        return [
            1 / (1 + math.exp(-sum(w * x for w, x in zip(self.values, row, strict=True))))
            for row in features(turn, reads, follows=follows)
        ]

    def at_most(
        self, turn: str, reads: Sequence[Read], unread: Sequence[float | None], *, follows: bool
    ) -> list[float]:
        """The most that each statement can come to beside others that were not read; `unread` are
        their likenesses in meaning to the turn."""
        likest = max((one for one in unread if one is not None), default=-math.inf)
        weights, found = self.values, []
        for read, row in zip(reads, features(turn, reads, follows=follows), strict=True):
            is_likest = row[_IS_LIKEST] * float(read.meaning is not None and read.meaning >= likest)
            most = [weight * value for weight, value in zip(weights, row, strict=True)]
            most[_IS_AHEAD] = max(0.0, weights[_IS_AHEAD])
            most[_BY_HOW_MUCH] = abs(weights[_BY_HOW_MUCH]) * _FARTHEST
            # Nothing may come of what was not read, and then it is not the likest either.
            most[_IS_LIKEST] = max(most[_IS_LIKEST], weights[_IS_LIKEST] * is_likest)
            found.append(1 / (1 + math.exp(-sum(most))) + _ROUNDED)
        return found


def features(turn: str, reads: Sequence[Read], *, follows: bool) -> list[tuple[float, ...]]:
    """The statements that one turn may be about, as numbers."""
    scores = [_odds(read.of_whole) + _odds(read.of_parts) for read in reads]
    likest = max((read.meaning for read in reads if read.meaning is not None), default=None)
    said = stems(turn, shortest=_TELLING)
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
                math.log(1 + len(read.statement.split())),
                _USUAL if read.meaning is None else read.meaning,
                float(read.meaning is not None and read.meaning == likest),
                float(follows),
                math.log(1 + read.age),
                1.0,
            )
        )
    return found


def _odds(chance: float) -> float:
    chance = min(max(chance, 1e-4), 1 - 1e-4)
    return math.log(chance / (1 - chance))
