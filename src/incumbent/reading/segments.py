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

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_MARK = re.compile(r"[.!?;:,\n]")
_RUN_ON: Final = 14
"""So many words in a row without a mark may be several statements."""
_SURE: Final = 0.75
_SHORTEST: Final = 4
"""No stretch of a run-on turn has fewer words."""


@dataclass(frozen=True)
class Segment:
    """A stretch of a turn, and whether it is code, a log or a quotation."""

    text: str
    start: int
    end: int
    block: BlockKind


def segments(text: str) -> list[Segment]:
    """The sentences and lines of a turn in order. What lies between them is space."""
    found: list[Segment] = []
    for block in blocks(text):
        if block.kind is not BlockKind.PROSE:
            found.append(Segment(block.text, block.start, block.end, block.kind))
            continue
        found += [Segment(one.text, one.start, one.end, block.kind) for one in sentences(block)]
    return found


Begins = Callable[[Segment, tuple[int, int]], float]
"""How likely a statement begins with a word of a segment."""


def run_on(one: Segment, begins: Begins) -> list[Segment]:
    """A sentence, or the stretches of one that runs on."""
    words = list(_WORD.finditer(one.text))
    if one.block is not BlockKind.PROSE or _longest_run(one.text, words) < _RUN_ON:
        return [one]
    starts = [0]
    last = 0
    for place, word in enumerate(words):
        far = place - last >= _SHORTEST and len(words) - place >= _SHORTEST
        if far and one.text[word.start() - 1] == " " and begins(one, word.span()) >= _SURE:
            starts.append(word.start())
            last = place
    ends = [*starts[1:], len(one.text)]
    return [_stretch(one, a, b) for a, b in zip(starts, ends, strict=True)]


def _stretch(one: Segment, start: int, end: int) -> Segment:
    text = one.text[start:end].rstrip(" ,;")
    return Segment(text, one.start + start, one.start + start + len(text), one.block)


def _longest_run(text: str, words: Sequence[re.Match[str]]) -> int:
    """How many words follow on each other without a mark between them, at most."""
    longest = run = 0
    end = 0
    for word in words:
        run = 1 if _MARK.search(text, end, word.start()) else run + 1
        longest, end = max(longest, run), word.end()
    return longest
