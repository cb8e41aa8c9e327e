"""The live lines of a context: those that say what holds.

A line is demoted where it stands under `# Possibly outdated` or says of itself that it is possibly
outdated. Who asks, what time it is, and the turns of this session are no facts: they count neither
way. The days on which something was said are no part of a line here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from incumbent.context.document import Context, Line
from incumbent.context.rendering import (
    CUT,
    DOUBTED,
    ENVIRONMENT,
    HISTORY,
    IDENTITY,
    WORKING_SET,
)
from incumbent_eval.conversations.sections import undated

_NO_FACTS = frozenset({IDENTITY, ENVIRONMENT, WORKING_SET, CUT})
_DEMOTED = frozenset({DOUBTED, HISTORY})
_MARK = "possibly outdated"
_NOTES = re.compile(r"\s*\([^()]*\)")
"""What stands in brackets, as the days do that we put after words like "tomorrow"."""
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'"})


def live_lines(context: Context) -> list[Line]:
    """The lines that say what holds."""
    return [line for line in fact_lines(context) if not is_demoted(line)]


def fact_lines(context: Context) -> list[Line]:
    """The lines that tell facts, demoted or not."""
    return [line for line in context.lines if line.section not in _NO_FACTS]


def is_demoted(line: Line) -> bool:
    """Whether a line says that its fact may be over."""
    return line.section in _DEMOTED or _MARK in line.text.casefold()


def plain(text: str) -> str:
    """A text in small letters, with one blank between words."""
    return " ".join(text.translate(_APOSTROPHES).casefold().split())


class LineText:
    """The text of a line, which can be asked for stretches.

    A stretch has to be there word for word, in any case and spacing, and from the beginning of a
    word to the end of one. Our notes within a line do not part the words around them.
    """

    def __init__(self, line: str) -> None:
        shown = undated(line).replace("\\n", " ").replace('\\"', '"')
        self._ways = tuple(dict.fromkeys((plain(shown), plain(_NOTES.sub("", shown)))))

    def has(self, stretch: str) -> bool:
        """Whether the stretch is in the line. One without words is nowhere."""
        wanted = plain(stretch)
        return bool(wanted) and any(_is_within(wanted, way) for way in self._ways)

    def has_any(self, stretches: Iterable[str]) -> bool:
        """Whether one of several stretches is in the line."""
        return any(map(self.has, stretches))


def _is_within(wanted: str, text: str) -> bool:
    place = text.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        if not (_runs_on(text, place) or _runs_on(text, end)):
            return True
        place = text.find(wanted, place + 1)
    return False


def _runs_on(text: str, place: int) -> bool:
    """Whether a word goes on across a place in a text."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()
