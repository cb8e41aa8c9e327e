"""Beside: what of a turn is read at once, and beside which of the things that are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from incumbent.language.speakers import as_heard
from incumbent.reading import thresholds
from incumbent.reading.comparing import without_wish
from incumbent.reading.form import Known, Statement
from incumbent.reading.learned.model import Read
from incumbent.reading.learned.pieces import Age, Beside
from incumbent.reading.segments import Segment
from incumbent.search.analysis import STOP_WORDS

LONGEST: Final = 420
"""So many characters of a turn are read at once."""
_WORDS = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Window:
    """Stretches of a turn that are read together, with what the model says of them."""

    text: str
    start: int
    found: tuple[Segment, ...]
    near: tuple[Known, ...] = ()
    """What they are read beside; of the last of these there may have been no room."""
    read: Read | None = None
    shift: int = 0
    """Where the text begins in what is read, behind the name of who says it."""
    previous: str = ""
    """What was read before it."""
    again: Read | None = None
    """What a larger model says of some of them,"""
    asked: tuple[int, ...] = ()
    """and which of them these are."""

    def told(self, number: int) -> tuple[Read, int] | None:
        """What says what becomes of one of them, and which it is there; None where there was no
        room for it."""
        if self.again is not None and number in self.asked:
            return self.again, self.asked.index(number)
        if self.read is None or number >= len(self.read.becomes):
            return None
        return self.read, number


def windows(text: str, found: Sequence[Segment]) -> list[Window]:
    """Neighbours that fit into one reading; what is quoted or code is not read with them."""
    made: list[Window] = []
    here: list[Segment] = []
    for one in found:
        if here and (one.end - here[0].start > LONGEST or one.block is not here[0].block):
            made.append(_window(text, here))
            here = []
        here.append(one)
    if here:
        made.append(_window(text, here))
    return made


def _window(text: str, here: Sequence[Segment]) -> Window:
    start, end = here[0].start, here[-1].end
    return Window(text[start:end], start, tuple(here))


def shown(known: Known) -> Beside:
    """Something known as the model is shown it."""
    age = Age.BEFORE
    if known.is_here:
        age = Age.JUST if known.age < thresholds.JUST else Age.HERE
    return Beside(as_heard(known.text, known.speaker)[0], age)


def nearest(known: Sequence[Known], text: str) -> tuple[Known, ...]:
    """What a stretch of a turn is likeliest about, few enough to be read."""

    def score(one: Known) -> float:
        last = 0.2 / (1 + one.age) if one.is_here else 0.0
        return one.likeness + 0.5 * in_common(one.text, text) + last

    return tuple(sorted(known, key=score, reverse=True)[: thresholds.READ])


def likeliest(read: Read) -> tuple[int, ...]:
    """Which of the statements that were read the turn changes likeliest, few enough to ask a larger
    model about."""
    chances = [1 - one["leaves"] - one["confirms"] - one["adds"] for one in read.becomes]
    order = sorted(range(len(chances)), key=lambda n: -chances[n])
    return tuple(n for n in order[: thresholds.AGAIN] if chances[n] >= thresholds.LIKELY)


def in_common(one: str, other: str) -> float:
    """How many of the words of the shorter text are in both."""
    mine, theirs = _stems(without_wish(one, other)), _stems(without_wish(other, one))
    return len(mine & theirs) / max(1, min(len(mine), len(theirs)))


def likest(known: Known, here: Sequence[Statement]) -> int:
    """Which of the statements has the most in common with something known; the last of equals."""
    words = _stems(known.text)
    kinds = {part.kind for part in known.parts}

    def score(number: int) -> tuple[float, int]:
        one = here[number]
        common = len(words & _stems(one.text)) + 0.5 * any(p.kind in kinds for p in one.parts)
        return common, number

    return max(range(len(here)), key=score)


def _stems(text: str) -> set[str]:
    words = (word.lower() for word in _WORDS.findall(text))
    return {word[:5] for word in words if word not in STOP_WORDS}
