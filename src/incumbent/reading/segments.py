"""Segments: the whole sentences and lines of a turn.

A statement is at least the sentence or the line as it was typed. Only where somebody types on and
on without a mark does the model say where one stretch ends and the next begins, and only where both
can be understood alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from incumbent.language.reading import BlockKind, blocks, sentences

Begins = Callable[[str, Sequence[tuple[int, int]]], Sequence[float]]
"""How likely a statement begins with each of these words of a text."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_MARK = re.compile(r"[.!?;:,\n]")
_RUN_ON: Final = 14
"""So many words in a row without a mark may be several statements."""
_SURE: Final = 0.75
_SHORTEST: Final = 4
"""No stretch of a run-on turn has fewer words."""
_AT_ONCE: Final = 60


@dataclass(frozen=True)
class Segment:
    """A stretch of a turn, and whether it is code, a log or a quotation."""

    text: str
    start: int
    end: int
    block: BlockKind


def segments(text: str, begins: Begins | None = None) -> list[Segment]:
    """The stretches of a turn in order. What lies between them is space."""
    found: list[Segment] = []
    for block in blocks(text):
        if block.kind is not BlockKind.PROSE:
            found.append(Segment(block.text, block.start, block.end, block.kind))
            continue
        for one in sentences(block):
            spans = _stretches(one.text, begins) if begins is not None else [(0, len(one.text))]
            found += [
                Segment(one.text[a:b], one.start + a, one.start + b, block.kind) for a, b in spans
            ]
    return found


def _stretches(text: str, begins: Begins) -> list[tuple[int, int]]:
    """A sentence, or the stretches of one that runs on."""
    words = list(_WORD.finditer(text))
    if len(words) < _RUN_ON or _longest_run(text, words) < _RUN_ON:
        return [(0, len(text))]
    starts = [0]
    last = 0
    for first in range(0, len(words), _AT_ONCE):
        here = words[first : first + _AT_ONCE]
        base = here[0].start()
        spans = [(word.start() - base, word.end() - base) for word in here]
        chances = begins(text[base : here[-1].end()], spans)
        for place, chance in enumerate(chances, first):
            far = place - last >= _SHORTEST and len(words) - place >= _SHORTEST
            if chance >= _SURE and far and text[words[place].start() - 1] == " ":
                starts.append(words[place].start())
                last = place
    ends = [*starts[1:], len(text)]
    return [(a, a + len(text[a:b].rstrip(" ,;"))) for a, b in zip(starts, ends, strict=True)]


def _longest_run(text: str, words: Sequence[re.Match[str]]) -> int:
    """How many words follow on each other without a mark between them, at most."""
    longest = run = 0
    end = 0
    for word in words:
        run = 1 if _MARK.search(text, end, word.start()) else run + 1
        longest, end = max(longest, run), word.end()
    return longest
