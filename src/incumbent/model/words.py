"""Words in the form in which values are compared, and the words that a value holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_lowercase
from typing import Any, NamedTuple

from incumbent.model.fact import Part
from incumbent.model.invisible import Reading, is_shown_whole, readings, without
from incumbent.model.text_cache import remembered, remembering
from incumbent.model.values import bare, leaves, telling_parts

Words = tuple[str, ...]

_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_ASCII_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)+|[a-z0-9]+")
"""The same of plain text in lower case, found in half the time."""
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
_NOTHING_AFTER = re.compile(r"\.0+$")
LONGEST_VALUE = 8
"""The most words of a value. A longer text is a sentence that mentions values."""
LONGEST_SAYING = 4_000
"""A text of more characters is compared by its beginning."""


_SPACED = bytes(sign if chr(sign) in ascii_lowercase else ord(" ") for sign in range(256))
_FIGURES = b"0123456789"


def letters(text: str) -> list[str]:
    """Every run of plain letters in a text, in lower case: a pattern takes three times as long."""
    signs = text.lower().encode("ascii", "replace")
    return signs.translate(_SPACED).decode("ascii").split()


def plain_words(text: str) -> list[str] | None:
    """The words of a text in lower case, if it is plain and has no figures; None for another, whose
    words only a pattern finds."""
    if not text.isascii():
        return None
    signs = text.lower().encode()
    if len(signs.translate(None, _FIGURES)) < len(signs):
        return None
    return signs.translate(_SPACED).decode().split()


class Word(NamedTuple):
    """A word of a text in the form that is compared, and its place."""

    said: str
    start: int
    end: int


@remembering(32_768)
def said_word(word: str) -> str:
    """A word in the form that is compared."""
    folded = bare(word)
    if not folded[:1].isdigit():
        return folded
    return _NOTHING_AFTER.sub("", _THOUSANDS.sub("", folded))


@remembered
def said(text: str) -> Words:
    """The words of a value in the form that is compared."""
    if text.isascii() and is_shown_whole(text):
        words = plain_words(text)
        if words is not None:
            return tuple(words)
        found = _ASCII_WORD.findall(text.lower())
        return tuple([word if word.isalpha() else said_word(word) for word in found])
    return tuple(map(said_word, _WORD.findall(without(text).text)))


@remembered
def ways_said(text: str) -> tuple[Words, ...]:
    """The words of a text, by every reading of the characters that show nothing."""
    if is_shown_whole(text):
        return (said(text),)
    ways = (tuple(map(said_word, _WORD.findall(way.text))) for way in readings(text))
    return tuple(dict.fromkeys(ways))


def words_of(text: str) -> list[Word]:
    """The words of a text in the form that is compared, with their places."""
    return _words_in(without(text))


def ways_of(text: str) -> list[list[Word]]:
    """The words of a text with their places, by every reading of the characters that show
    nothing."""
    return [_words_in(way) for way in readings(text)]


def _words_in(way: Reading) -> list[Word]:
    return [
        Word(said_word(found.group()), *way.span(*found.span()))
        for found in _WORD.finditer(way.text)
    ]


def is_long(text: str) -> bool:
    """Whether a text is compared by its beginning."""
    return len(text) > LONGEST_SAYING


def beginning(text: str) -> str:
    """A text; a long one is cut to the part that is compared, at the end of a word."""
    if not is_long(text):
        return text
    end = 0
    for found in _WORD.finditer(text):
        if found.start() >= LONGEST_SAYING:
            break
        end = found.end()
    return text[:end]


def holdings(value: Any, parts: Iterable[Part] = ()) -> set[Words]:
    """Everything that a fact with this value and these parts holds while it is in office.

    Long texts are left out: those are compared character by character.
    """
    if type(value) is str and not parts:
        leaf = value.strip()
        return set(_all_said(leaf)) if leaf and not is_long(leaf) else set()
    held = {way for part in parts if not is_long(part.text) for way in ways_said(part.text)}
    return held.union(*map(_all_said, (leaf for leaf in leaves(value) if not is_long(leaf))))


@remembered
def _all_said(leaf: str) -> frozenset[Words]:
    """The sayings of one text of a value, with the parts that are recognizable alone."""
    if is_shown_whole(leaf):
        is_sentence = len(said(leaf)) > LONGEST_VALUE
        return frozenset(map(said, (leaf, *(() if is_sentence else telling_parts(leaf)))))
    if len(said(leaf)) > LONGEST_VALUE:
        return frozenset(ways_said(leaf))  # a sentence only speaks of what it mentions
    texts = (leaf, *telling_parts(leaf))
    return frozenset(way for text in texts for way in ways_said(text))
