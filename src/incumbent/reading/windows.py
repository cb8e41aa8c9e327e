"""Windows: what of a turn is read at once, and beside which of the things that are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from incumbent.reading import thresholds
from incumbent.reading.form import Known, Statement
from incumbent.reading.segments import Segment

LONGEST: Final = 420
"""So many characters of a turn are read at once."""
_WORDS = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Window:
    """Statements that are read together."""

    text: str
    start: int
    statements: tuple[int, ...]


def windows(
    text: str, found: Sequence[Segment | Statement], chosen: Sequence[int] | None = None
) -> list[Window]:
    """Neighbours that fit into one reading."""
    numbers = range(len(found)) if chosen is None else chosen
    made: list[Window] = []
    here: list[int] = []
    for number in numbers:
        # What lies between, a quotation perhaps, is not read as said.
        is_apart = bool(here) and number != here[-1] + 1
        if here and (is_apart or found[number].end - found[here[0]].start > LONGEST):
            made.append(_window(text, found, here))
            here = []
        here.append(number)
    if here:
        made.append(_window(text, found, here))
    return made


def _window(text: str, found: Sequence[Segment | Statement], here: Sequence[int]) -> Window:
    start, end = found[here[0]].start, found[here[-1]].end
    return Window(text[start:end], start, tuple(here))


def _stems(text: str) -> set[str]:
    return {word.lower()[:5] for word in _WORDS.findall(text)}


def likest(known: Known, here: Sequence[Statement]) -> int:
    """Which of the statements has the most in common with something known; the last of equals."""
    words = _stems(known.text)
    kinds = {part.kind for part in known.parts}

    def score(number: int) -> tuple[float, int]:
        one = here[number]
        shared = len(words & _stems(one.text)) + 0.5 * any(p.kind in kinds for p in one.parts)
        return shared, number

    return max(range(len(here)), key=score)


def nearest(known: Sequence[Known], here: Sequence[Statement]) -> list[Known]:
    """What the statements are likeliest about, few enough to be read."""
    words = set().union(*(_stems(one.text) for one in here))
    keys = {(one.claim.attribute, one.claim.subject) for one in here if one.claim is not None}
    corrects = any("correction" in one.cues for one in here)

    def score(one: Known) -> float:
        own = _stems(one.text)
        shared = len(own & words) / max(1, min(len(own), len(words)))
        named = 0.6 if one.key and (one.key, one.subject) in keys else 0.0
        last = 0.2 / (1 + one.age) if one.is_here else 0.0
        return one.likeness + 0.5 * shared + named + last * (2 if corrects else 1)

    ranked = sorted(known, key=score, reverse=True)
    kinds = {part.kind for one in here for part in one.parts} - {"term"}
    # What was just talked about is changed value by value, in whatever words.
    talked = [one for one in known if one.is_here and any(p.kind in kinds for p in one.parts)]
    latest = sorted(talked, key=lambda one: one.age)[: thresholds.AT_HAND]
    first = ranked[: thresholds.READ]
    return [*first, *(one for one in latest if one not in first)]
