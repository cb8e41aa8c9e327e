"""Encoding: a statement with marked values and the turn that follows, as the model reads them.

    [CLS] Book a table for « 4 » at « 7 pm » . [SEP] How many people ? [SEP] Five of us . [SEP]

Marks and all, no part is longer than its share, so a run costs about the same whatever was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from incumbent.model.text_cache import remembering
from incumbent.search.embedders.words import Words

_CLS, _SEP = 101, 102
_OPEN, _CLOSE = 1077, 1090
MOST_STATEMENT: Final = 72
MOST_PREVIOUS: Final = 40
MOST_TURN: Final = 96
_ATOM = re.compile(r"\w+|[^\w\s]")
_MOST_CHARACTERS = 4_000
_REMEMBERED = 64
"""So many texts: a turn is read beside a dozen statements, each time with the turn before it."""
_words = Words(most_characters=200)

Span = tuple[int, int]


@dataclass(frozen=True)
class Encoded:
    """Word pieces, where the marks are, and what the pieces behind the statement stand for."""

    ids: tuple[int, ...]
    marks: tuple[int, ...]
    """The place of each mark, in the order they were given; -1 for one that was cut off."""
    first: int
    """Where the pieces of the reply begin."""
    previous: tuple[Span, ...]
    """The characters of the previous turn that its pieces stand for."""
    turn: tuple[Span, ...]
    """The same for the turn itself."""

    @property
    def turn_first(self) -> int:
        """Where the pieces of the turn begin."""
        return self.first + len(self.previous) + 1


class _Piece(NamedTuple):
    id: int
    start: int
    end: int


def encode(statement: str, marked: Sequence[Span], previous: str, turn: str) -> Encoded:
    """What the model reads. `marked` are the values in question, as places in the statement."""
    ids, places = _statement(statement, marked)
    before = _pieces(previous[-_MOST_CHARACTERS:])[-MOST_PREVIOUS:]
    offset = max(0, len(previous) - _MOST_CHARACTERS)
    said = _pieces(turn[:_MOST_CHARACTERS])[:MOST_TURN]
    whole = [_CLS, *ids, _SEP, *(p.id for p in before), _SEP, *(p.id for p in said), _SEP]
    return Encoded(
        tuple(whole),
        tuple(place + 1 if place >= 0 else -1 for place in places),
        len(ids) + 2,
        tuple((p.start + offset, p.end + offset) for p in before),
        tuple((p.start, p.end) for p in said),
    )


def encode_pair(statement: str, asked: Sequence[Span], previous: str, turn: str) -> Encoded:
    """A statement and the turn that follows, with a place for each stretch that is asked about: its
    first piece, or the beginning of all for an empty stretch, which asks about the whole."""
    own = _pieces(statement[:_MOST_CHARACTERS])[:MOST_STATEMENT]
    before = _pieces(previous[-_MOST_CHARACTERS:])[-MOST_PREVIOUS:]
    offset = max(0, len(previous) - _MOST_CHARACTERS)
    said = _pieces(turn[:_MOST_CHARACTERS])[:MOST_TURN]
    parts = (own, before, said)
    whole = (_CLS, *(id for part in parts for id in (*(p.id for p in part), _SEP)))
    return Encoded(
        whole,
        tuple(_place(own, start, end) for start, end in asked),
        len(own) + 2,
        tuple((p.start + offset, p.end + offset) for p in before),
        tuple((p.start, p.end) for p in said),
    )


def _place(pieces: Sequence[_Piece], start: int, end: int) -> int:
    if start == end:
        return 0
    return next((n for n, p in enumerate(pieces, 1) if p.start < end and start < p.end), -1)


def encode_turn(turn: str, words: Sequence[Span], previous: str = "") -> Encoded:
    """A turn after the one before it, with a mark at each of these words: does a statement begin
    there, and what is it?"""
    said = _pieces(turn[:_MOST_CHARACTERS])[:MOST_TURN]
    before = _pieces(previous[-_MOST_CHARACTERS:])[-MOST_PREVIOUS:]
    offset = max(0, len(previous) - _MOST_CHARACTERS)
    first = len(before) + 3
    places = {piece.start: place + first for place, piece in reversed(list(enumerate(said)))}
    whole = (_CLS, _SEP, *(p.id for p in before), _SEP, *(p.id for p in said), _SEP)
    found = tuple(places.get(start, -1) for start, _ in words)
    spans = tuple((p.start + offset, p.end + offset) for p in before)
    return Encoded(whole, found, 2, spans, tuple((p.start, p.end) for p in said))


@remembering(_REMEMBERED)
def _pieces(text: str) -> tuple[_Piece, ...]:
    return tuple(
        _Piece(number, atom.start(), atom.end())
        for atom in _ATOM.finditer(text)
        for number in _words.pieces(atom.group())
    )


def _statement(text: str, marked: Sequence[Span]) -> tuple[list[int], list[int]]:
    """The pieces of a statement with its marks; of a long one, those around the marks."""
    begin = min((start for start, _ in marked), default=0)
    offset = 0 if begin < _MOST_CHARACTERS // 2 else begin - _MOST_CHARACTERS // 4
    pieces = _pieces(text[offset : offset + _MOST_CHARACTERS])
    ids: list[int] = []
    places = [-1] * len(marked)
    opened: list[int] = []
    for piece in pieces:
        start, end = piece.start + offset, piece.end + offset
        while opened and marked[opened[-1]][1] <= start:
            opened.pop()
            ids.append(_CLOSE)
        for number, (first, last) in enumerate(marked):
            if places[number] < 0 and first < end and start < last and not opened:
                places[number] = len(ids)
                opened.append(number)
                ids.append(_OPEN)
        ids.append(piece.id)
    ids.extend(_CLOSE for _ in opened)
    return _windowed(ids, places)


def _windowed(ids: list[int], places: list[int]) -> tuple[list[int], list[int]]:
    if len(ids) <= MOST_STATEMENT:
        return ids, places
    known = [place for place in places if place >= 0]
    first = max(0, min(min(known, default=0) - MOST_STATEMENT // 3, len(ids) - MOST_STATEMENT))
    last = first + MOST_STATEMENT
    return ids[first:last], [p - first if first <= p < last else -1 for p in places]
