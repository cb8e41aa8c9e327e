"""Where a line of prose ends something, and where it was only wrapped.

In a chat a new line begins a new statement. Mail programs and editors wrap text at one width, and
their new lines mean nothing. A single line does not tell the two apart, so all lines of a block
are looked at together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, word_set

MARKER: Final = re.compile(
    r"\s*(?:(?:[-*+•‣▪–]|\(?\d{1,3}[.)]|\(?[A-Za-z]\)|#{1,6}|\[[ xX]\])\s+)+(?=\S)"
)
"""What an item of a list or a heading begins with."""
_RULED = re.compile(r"[\s|:\-=*_+~]+$")
_WORD = re.compile(r"\S+")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_ENDING = ".!?:;|。！？"
_PAUSING = ",…)"
_NARROWEST, _WIDEST = 50, 120
"""The widths that text is wrapped at."""
_ENOUGH = 2
"""So many full lines are no accident; one is."""


class TextLine(NamedTuple):
    """A line without its end, and where it stands in the text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


Paragraph = Sequence[TextLine]


def lines_of(text: str) -> list[TextLine]:
    start = 0
    found = []
    for line in text.splitlines(keepends=True):
        found.append(TextLine(line.rstrip("\r\n"), start))
        start += len(line)
    return found


def stretches(text: str) -> list[tuple[int, int]]:
    """Lines that stand by themselves, and lines that were only wrapped put together again."""
    if "\n" not in text and "\r" not in text:
        return [_stretch(TextLine(text, 0))]
    found: list[tuple[int, int]] = []
    paragraphs = list(_paragraphs(lines_of(text)))
    width = _width(paragraphs)
    for paragraph in paragraphs:
        wrapped = bool(width) and _is_full(paragraph, width)
        before: TextLine | None = None
        for line in paragraph:
            if before is not None and _goes_on(before.text, line.text, wrapped=wrapped):
                found[-1] = (found[-1][0], line.end)
            else:
                found.append(_stretch(line))
            before = line
    return found


def _stretch(line: TextLine) -> tuple[int, int]:
    marker = MARKER.match(line.text)
    return line.start + (marker.end() if marker else 0), line.end


def _paragraphs(lines: Iterable[TextLine]) -> Iterator[Paragraph]:
    """Lines between blank or ruled ones; an item of a list opens a paragraph of its own."""
    paragraph: list[TextLine] = []
    for line in lines:
        blank = not line.text.strip() or _RULED.match(line.text) is not None
        if paragraph and (blank or MARKER.match(line.text)):
            yield paragraph
            paragraph = []
        if not blank:
            paragraph.append(line)
    if paragraph:
        yield paragraph


def _width(paragraphs: Sequence[Paragraph]) -> int:
    """The width that a block is wrapped at; 0 for a block whose lines end where they want to."""
    lengths = [len(line.text.rstrip()) for lines in paragraphs for line in lines[:-1]]
    width = max(lengths, default=0)
    if not _NARROWEST <= width <= _WIDEST:
        return 0
    full = sum(len(lines) - 1 for lines in paragraphs if _is_full(lines, width))
    return width if full >= _ENOUGH else 0


def _is_full(paragraph: Paragraph, width: int) -> bool:
    """Whether no line had room for the first word of the next one.

    A line may end early where a sentence or a greeting does.
    """
    for line, following in pairwise(paragraph):
        said = line.text.rstrip()
        word = _WORD.search(following.text)
        room = width - len(said) - 1
        if word and len(word.group()) <= room and said[-1] not in _ENDING + _PAUSING:
            return False
    return True


def _goes_on(before: str, line: str, *, wrapped: bool) -> bool:
    """Whether a line goes on where the one before it stopped."""
    said = before.rstrip()
    first = line.lstrip()[0]
    if said[-1] in _ENDING or first == "|":
        return False
    if wrapped:
        return len(said) >= _NARROWEST
    last = _LAST_WORD.search(said[-20:])
    return last is not None and last.group().lower() in _unfinished()


@lru_cache(maxsize=8)
def _unfinished(language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    return word_set(data("statements", language)["reading"]["unfinished"])
