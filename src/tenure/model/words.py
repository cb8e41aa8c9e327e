"""Words in the form in which values are compared, and what a value holds of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tenure.model.fact import Part
from tenure.model.remembering import remembered
from tenure.model.values import bare, leaves, telling_parts

Words = tuple[str, ...]

# Characters that show nothing must not keep two words from being compared, or hide one.
_UNSEEN = (
    "\u00ad\u0300-\u036f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef"
)
_DIGITS = rf"\d(?:[{_UNSEEN}]*\d)*"
WORD = re.compile(
    rf"{_DIGITS}(?:[{_UNSEEN}]*[.,][{_UNSEEN}]*{_DIGITS})+|[^\W_](?:[{_UNSEEN}]*[^\W_])*"
)
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
_NOTHING_AFTER = re.compile(r"\.0+$")
_LONGEST_VALUE = 8
LONGEST_SAYING = 4_000
"""A text of more characters is compared by its beginning."""


@lru_cache(maxsize=32_768)
def said_word(word: str) -> str:
    """A word as it is compared."""
    folded = bare(word)
    if not folded[:1].isdigit():
        return folded
    return _NOTHING_AFTER.sub("", _THOUSANDS.sub("", folded))


@remembered
def said(text: str) -> Words:
    """What a value says: its words as they are compared."""
    return tuple(map(said_word, WORD.findall(text)))


def is_long(text: str) -> bool:
    """Whether a text is compared by its beginning."""
    return len(text) > LONGEST_SAYING


def beginning(text: str) -> str:
    """A text, of a long one as much as is compared: up to the end of a word."""
    if not is_long(text):
        return text
    end = 0
    for found in WORD.finditer(text):
        if found.start() >= LONGEST_SAYING:
            break
        end = found.end()
    return text[:end]


def holdings(value: Any, parts: Iterable[Part] = ()) -> set[Words]:
    """All that a fact with this value and these parts says while it is in office.

    But for long texts: those are the same only where every character is.
    """
    held = {said(part.text) for part in parts if not is_long(part.text)}
    return held.union(*map(_all_said, (leaf for leaf in leaves(value) if not is_long(leaf))))


@remembered
def _all_said(leaf: str) -> frozenset[Words]:
    """What one text of a value says, with the parts that would be recognised alone."""
    words = said(leaf)
    if len(words) > _LONGEST_VALUE:
        return frozenset((words,))  # a sentence only speaks of what it mentions
    return frozenset((words, *map(said, telling_parts(leaf))))
