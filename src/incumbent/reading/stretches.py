"""Stretches: the words of something known that are over, where the rest of it still holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from incumbent.language.speakers import as_heard
from incumbent.reading import thresholds
from incumbent.reading.comparing import fillers
from incumbent.reading.form import Known, Span
from incumbent.reading.learned.model import Read

_WORD: Final = re.compile(r"[^\W_](?:\S*[^\W_%])?[%]?")
_MOST: Final = 120
"""So many words of a statement are looked at; nobody keeps a longer list in one sentence."""


class _Word(NamedTuple):
    start: int
    end: int
    is_filler: bool
    chance: float
    """How likely it is over."""


def stretch_over(read: Read, number: int, known: Known) -> Span | None:
    """The one stretch of something known that is surely over; None where there is none, or more
    than one, or nothing worth keeping beside it."""
    words = _words(read, number, known)
    runs = [run for run in _runs(words) if not all(one.is_filler for one in run)]
    if len(runs) != 1:
        return None
    (run,) = runs
    while run[-1].is_filler:
        run.pop()
    start, end = run[0].start, run[-1].end
    for part in known.parts:
        if part.start < end and start < part.end:
            start, end = min(start, part.start), max(end, part.end)
    inside = sum(start <= one.start < end for one in words if not one.is_filler)
    outside = sum(not one.is_filler for one in words) - inside
    return (start, end) if outside >= inside else None


def _words(read: Read, number: int, known: Known) -> list[_Word]:
    _, shift = as_heard(known.text, known.speaker)
    found = []
    for one in _WORD.finditer(known.text):
        start, end = one.span()
        chance = read.over(number, (start + shift, end + shift))
        found.append(_Word(start, end, one.group().lower() in fillers(), chance))
        if len(found) == _MOST:
            break
    return found


def _runs(words: list[_Word]) -> Iterator[list[_Word]]:
    """Neighbours that are surely over, with those beside them that probably are; a word that tells
    nothing may stand between two of them."""
    run: list[_Word] = []
    for n, one in enumerate(words):
        is_next_over = n + 1 < len(words) and words[n + 1].chance >= thresholds.OVER
        goes_on = one.chance >= thresholds.OVER_BESIDE or (one.is_filler and is_next_over)
        if goes_on and (run or one.chance >= thresholds.OVER_BESIDE):
            run.append(one)
            continue
        if any(word.chance >= thresholds.OVER for word in run):
            yield run
        run = []
    if any(word.chance >= thresholds.OVER for word in run):
        yield run
