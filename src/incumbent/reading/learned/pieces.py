"""Pieces: a turn and the few statements that it may be about, as the model reads them at once.

    [CLS] How many people ? [SEP] Five of us . [SEP] (just) Book a table for 4 . (before) …

A sign before each statement says how long ago it was made. No part is longer than its share, so a
run is bounded whatever was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from incumbent.model.text_cache import remembering
from incumbent.search.embedders.words import Words

_CLS, _SEP = 101, 102
MOST_PREVIOUS: Final = 40
MOST_TURN: Final = 128
MOST_KNOWN: Final = 48
MOST: Final = 384
"""So many pieces are read at once; statements that come after that many are left out."""
_ATOM = re.compile(r"\w+|[^\w\s]")
_MOST_CHARACTERS = 4_000
_REMEMBERED = 256
_words = Words(most_characters=200)

Span = tuple[int, int]


class Age(IntEnum):
    """How long ago something was said. The numbers are those of word pieces without a word."""

    JUST = 1
    """Right before the turn."""
    HERE = 2
    """In this conversation."""
    BEFORE = 3
    """On another day."""


class Beside(NamedTuple):
    """A statement that a turn may be about, as the model is shown it."""

    text: str
    age: Age


@dataclass(frozen=True)
class Encoded:
    """Word pieces, and what they stand for."""

    ids: tuple[int, ...]
    previous: tuple[Span, ...]
    """The characters of the turn before that its pieces stand for; they begin at 1."""
    turn: tuple[Span, ...]
    """The same for the turn itself."""
    knowns: tuple[tuple[Span, ...], ...]
    """The same for each statement that there was room for."""
    signs: tuple[int, ...]
    """Where the sign of each of those is."""

    @property
    def turn_first(self) -> int:
        """Where the pieces of the turn begin."""
        return len(self.previous) + 2

    def in_turn(self, span: Span) -> range:
        """The places of the pieces of a stretch of the turn."""
        return _places(self.turn, span, self.turn_first)

    def in_previous(self, span: Span) -> range:
        """The places of the pieces of a stretch of the turn before."""
        return _places(self.previous, span, 1)

    def in_known(self, number: int, span: Span) -> range:
        """The places of the pieces of a stretch of a statement."""
        return _places(self.knowns[number], span, self.signs[number] + 1)


def _places(pieces: Sequence[Span], span: Span, first: int) -> range:
    hits = [n for n, (a, b) in enumerate(pieces) if a < span[1] and span[0] < b]
    return range(first + hits[0], first + hits[-1] + 1) if hits else range(0)


class _Piece(NamedTuple):
    id: int
    start: int
    end: int


def encode(previous: str, turn: str, beside: Sequence[Beside]) -> Encoded:
    """What the model reads."""
    before = _pieces(previous[-_MOST_CHARACTERS:])[-MOST_PREVIOUS:]
    offset = max(0, len(previous) - _MOST_CHARACTERS)
    said = _pieces(turn[:_MOST_CHARACTERS])[:MOST_TURN]
    ids = [_CLS, *(p.id for p in before), _SEP, *(p.id for p in said), _SEP]
    knowns: list[tuple[Span, ...]] = []
    signs: list[int] = []
    for text, age in beside:
        own = _pieces(text[:_MOST_CHARACTERS])[:MOST_KNOWN]
        if len(ids) + len(own) + 1 > MOST:
            break
        signs.append(len(ids))
        ids += [int(age), *(p.id for p in own)]
        knowns.append(tuple((p.start, p.end) for p in own))
    return Encoded(
        tuple(ids),
        tuple((p.start + offset, p.end + offset) for p in before),
        tuple((p.start, p.end) for p in said),
        tuple(knowns),
        tuple(signs),
    )


@remembering(_REMEMBERED)
def _pieces(text: str) -> tuple[_Piece, ...]:
    return tuple(
        _Piece(number, atom.start(), atom.end())
        for atom in _ATOM.finditer(text)
        for number in _words.pieces(atom.group())
    )
