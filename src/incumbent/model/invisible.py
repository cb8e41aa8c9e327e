"""Characters that show nothing, or only a gap: they must neither hide a word nor part one.

Unicode lists the characters that a reader never sees (Default_Ignorable_Code_Point). Beside those
stand letters and symbols without ink, the controls, and the marks that are set over, through or
around letters. Somebody who hides a value writes them into it, or instead of a space: both readings
of a text are therefore compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# Default_Ignorable_Code_Point of Unicode 16, as ranges.
_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# No ink, though Unicode does not say so: blank Braille, a note without a head, the anchors of
# annotations, what sets hieroglyphs; and the controls that are no white space to anybody.
_BLANK = "\u2800\U0001d159\ufff9-\ufffb\U00013430-\U0001345f\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
# Accents and whatever else is drawn over, through or around a letter.
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"

# Of these some take up room, so that they look like a space.
_GAPS = frozenset("\u115f\u1160\u3164\uffa0\u2800")

_RUN = re.compile(f"[{_IGNORABLE}{_BLANK}]+")
_ODD = re.compile(f"[{_IGNORABLE}{_BLANK}{_MARKS}\uff01-\uff5e]")
_DROPPED = re.compile(f"[{_IGNORABLE}{_BLANK}{_MARKS}]")
# Full-width signs are the plain ones set wide; said plainly, a comma within a number is one.
_NARROW = {0xFF01 + step: 0x21 + step for step in range(0x5E)}
LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
"""Ignorable characters that count as letters."""


class Reading(NamedTuple):
    """A text as it can be read, with the place of each character in the original."""

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place of a part of the reading in the original text."""
        return self.places[start], self.places[end - 1] + 1


def is_shown_whole(text: str) -> bool:
    """Whether nothing in a text is hidden or marked, so that it reads as it is written."""
    if text.isascii() and text.isprintable():  # seen at once
        return True
    return _ODD.search(text) is None


def without(text: str) -> Reading:
    """A text without the characters that show nothing."""
    if is_shown_whole(text):
        return Reading(text, range(len(text)))
    places = [place for place, sign in enumerate(text) if not _DROPPED.match(sign)]
    kept = "".join(text[place] for place in places).translate(_NARROW)
    return Reading(kept, places)


def readings(text: str) -> tuple[Reading, ...]:
    """The readings of a text: without the characters that show nothing, with a gap in place of
    each, and with a gap only where one is seen or where two words meet."""
    if is_shown_whole(text):
        return (Reading(text, range(len(text))),)
    ways = (text, parted(text), _RUN.sub(_as_it_looks, text))
    found = {reading.text: reading for reading in map(without, ways)}
    return tuple(found.values())


def parted(text: str) -> str:
    """A text with a gap in place of each character that shows nothing."""
    return _RUN.sub(lambda run: " " * len(run.group()), text)


def _as_it_looks(run: re.Match[str]) -> str:
    hidden, text = run.group(), run.string
    before, after = text[max(0, run.start() - 1) : run.start()], text[run.end() : run.end() + 1]
    meets = before.isdigit() != after.isdigit() or (before.islower() and after.isupper())
    return " " * len(hidden) if meets or not _GAPS.isdisjoint(hidden) else hidden
