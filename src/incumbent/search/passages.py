"""Passages: turns in paragraphs, with what each is found by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from incumbent.search import analysis
from incumbent.search.index import Index
from incumbent.stores.port import Store

_PORTION: Final = 128
_LONGEST: Final = 600
"""Characters of a paragraph; a longer one is divided after a sentence or a line."""
_ENDS: Final = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#•]|\d+[.)]))")
_BREAKS: Final = ("\n", ". ", "? ", "! ", "; ", " ")


class Paragraph(NamedTuple):
    """A stretch of a turn that is kept as a passage."""

    start: int
    end: int
    terms: str
    vector: bytes | None


def written(text: str, index: Index) -> list[Paragraph]:
    """The paragraphs of a turn that say something, with what each is found by."""
    found = [
        (start, end, terms)
        for start, end in paragraphs(text)
        if (terms := " ".join(analysis.terms(text[start:end])))
    ]
    index.prepare(text[start:end] for start, end, _ in found)
    return [Paragraph(start, end, t, index.vector(text[start:end])) for start, end, t in found]


def paragraphs(text: str) -> list[tuple[int, int]]:
    """Where the paragraphs of a text are. Short ones that follow each other are taken together, up
    to the length of a long one."""
    found: list[tuple[int, int]] = []
    for start, end in _pieces(text):
        if found and end - found[-1][0] <= _LONGEST:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs and items of lists, without the space around them, none longer than the limit."""
    ends = [*(match.start() for match in _ENDS.finditer(text)), len(text)]
    start = 0
    for end in ends:
        while start < end:
            stop = end if end - start <= _LONGEST else _break(text, start)
            piece = text[start:stop]
            if kept := piece.strip():
                first = start + piece.index(kept)
                yield first, first + len(kept)
            start = stop


def _break(text: str, start: int) -> int:
    """Where a paragraph that is too long is divided."""
    least, most = start + _LONGEST // 3, start + _LONGEST
    for sign in _BREAKS:
        place = text.rfind(sign, least, most)
        if place >= 0:
            return place + len(sign)
    return most


def repost(index: Index, store: Store, organization: str) -> None:
    """Make anew what the passages of an organization are found by."""
    after = 0
    while True:
        with store.read(organization) as reader:
            page = reader.passages(None, after, _PORTION)
        if not page:
            return
        after = page[-1].number
        index.prepare(kept.passage.text for kept in page)
        with store.write(organization) as transaction:
            # Those that are still there: one may have been erased meanwhile.
            for _, user_id, one in transaction.passages_numbered([kept.number for kept in page]):
                terms = " ".join(analysis.terms(one.text))
                made = replace(one, terms=terms, vector=index.vector(one.text))
                transaction.put_passages(user_id, [made])
