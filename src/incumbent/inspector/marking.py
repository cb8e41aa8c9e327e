"""Marking: a text in stretches, each with what it was read as. Marks may overlap in any way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

MarkKind = Literal["statement", "fact", "value", "unreal"]

# What could end a line unseen, hide text or turn its direction. Line breaks and tabs are text.
_UNRULY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class TextMark:
    """A place in a text, and what it was read as.

    A statement is what the speaker does there, a fact the words that one was taken from, a value
    the words that give its value; what is unreal is said and not so: a what-if, a wish.
    """

    start: int
    end: int
    kind: MarkKind
    about: str = ""
    """The fact, by id; of a statement, its kind."""
    gone: bool = False
    """Whether that fact no longer holds."""


@dataclass(frozen=True, slots=True)
class MarkedStretch:
    """A stretch of a text under the same marks from end to end, the widest mark first."""

    text: str
    marks: tuple[TextMark, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The sorts of its marks, each once."""
        return tuple(dict.fromkeys(mark.kind for mark in self.marks))

    @property
    def nearest(self) -> TextMark | None:
        """The narrowest mark here that names a fact."""
        named = [mark for mark in self.marks if mark.about and mark.kind != "statement"]
        return named[-1] if named else None

    @property
    def is_gone(self) -> bool:
        """Whether the words here only give what no longer holds.

        A value that one fact lost and another still has is not gone.
        """
        values = [mark for mark in self.marks if mark.kind == "value"]
        said = values or [mark for mark in self.marks if mark.kind == "fact"]
        return bool(said) and all(mark.gone for mark in said)


def marked(text: str, marks: Iterable[TextMark]) -> list[MarkedStretch]:
    """A text cut wherever a mark begins or ends. The stretches, put together, are the text.

    Of a mark that reaches beyond the text, what lies within it counts.
    """
    inside = [one for one in marks if max(0, one.start) < min(one.end, len(text))]
    edges = {0, len(text)}
    for mark in inside:
        edges.update((max(0, mark.start), min(mark.end, len(text))))
    places = sorted(edges)
    widest = sorted(inside, key=lambda one: (one.start - one.end, one.start))
    return [
        MarkedStretch(text[start:end], _covering(widest, start, end))
        for start, end in pairwise(places)
    ]


def _covering(marks: Sequence[TextMark], start: int, end: int) -> tuple[TextMark, ...]:
    return tuple(mark for mark in marks if mark.start <= start and end <= mark.end)


def plainly(text: str) -> str:
    """A text with the characters visible that hide or turn text. Everything else stays, line
    breaks too."""
    return _UNRULY.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def inert_json(text: str) -> str:
    """JSON with the characters escaped that hide or turn text; it says the same."""
    return _UNRULY.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
