"""A text with its words, as the finders look at it."""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import datetime
from functools import cached_property, partial
from typing import NamedTuple

from incumbent.language.values.vocabulary import FIGURE, Vocabulary

_WORD = re.compile(
    r"[^\W\d_]+(?:['’][^\W\d_]+)*"  # letters, with the apostrophes inside
    r"|[0-9]+(?:[.,:/-][0-9]+)*"  # figures that belong together: 5,200 or 5:30 or 2026-03-02
    r"|[$€£¥₹½¼¾]"
)
_ASCII_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*|[0-9]+(?:[.,:/-][0-9]+)*|\$")
"""The same of plain text, found in half the time."""
_NEXT = re.compile(r"[\s-]{0,3}([^\W_]+(?:['’][^\W\d_]+)*)")
# Read from the back, where it begins at once.
_PREVIOUS = re.compile(r"\n?[\s-]{0,3}([^\W_]+(?:['’][^\W_]+)*)")
_BREAKS = frozenset('.!?:;"“”«»•*(#>-–—')
_STOPS = (". ", "! ", "? ", "; ", "\n")
_DIGITS = frozenset("0123456789")
_MOSTLY = 0.6
_LOOK_BACK = 40
_FARTHEST_NOUN = 3


class Word(NamedTuple):
    """A word, a number in figures or the sign of a currency."""

    start: int
    end: int
    text: str
    low: str
    """As it is looked up: in lower case, and the same for all numbers in figures."""


_word = partial(tuple.__new__, Word)  # in half the time


class Sentence:
    """What is searched for values: a text, when it was said, and in which language."""

    def __init__(self, text: str, at: datetime | None, vocabulary: Vocabulary) -> None:
        self.text = text
        self.at = at
        self.vocabulary = vocabulary
        pattern = _ASCII_WORD if text.isascii() else _WORD
        self.words = [
            _word((*found.span(), said, FIGURE if said[0] in _DIGITS else said.lower()))
            for found in pattern.finditer(text.replace("’", "'"))
            if (said := found.group())
        ]

    @cached_property
    def is_shouted(self) -> bool:
        """Whether most words are in capitals, so that capitals tell nothing."""
        words = [word.text for word in self.words if word.text.isalpha()]
        loud = sum(word.isupper() and len(word) > 1 for word in words)
        return len(words) > 1 and loud > len(words) * _MOSTLY

    def word_before(self, position: int) -> str:
        """The word right before a position, in lower case; "" where none or a mark is."""
        found = _PREVIOUS.match(self.text[max(0, position - _LOOK_BACK) : position][::-1])
        return found.group(1)[::-1].lower() if found else ""

    def word_after(self, position: int) -> str:
        """The word that follows a position, in lower case; "" where a mark or nothing follows."""
        found = _NEXT.match(self.text, position)
        return found.group(1).lower() if found else ""

    def begins_at(self, position: int) -> bool:
        """Whether a sentence begins here, so that a capital letter says nothing."""
        before = self.text[max(0, position - _LOOK_BACK) : position]
        kept = before.rstrip()
        if not kept:
            return True
        if kept[-1] in "-–—#>" and len(kept) == len(before):
            return False  # inside a word, or a tag
        return kept[-1] in _BREAKS or "\n" in before[len(kept) :]

    def is_followed_by_noun(self, position: int) -> bool:
        """Whether the word after a position could be what is counted or named there."""
        word = self.word_after(position)
        return bool(word) and word not in self.vocabulary.closed

    def has_before(self, name: str, position: int) -> bool:
        """Whether a word of a class stands before a position in its sentence, not far off."""
        said = self.vocabulary.words(name)
        begin = max(0, position - 2 * _LOOK_BACK)
        begin = max(begin, *(self.text.rfind(mark, begin, position) for mark in _STOPS))
        first = bisect_left(self.words, (begin,))
        last = bisect_left(self.words, (position,))
        return any(word.low in said for word in self.words[first:last])

    def counted(self, position: int, is_one: bool) -> str:
        """The singular of the noun that a number counts, which ends at a position; "" if none."""
        end = position
        for step in range(_FARTHEST_NOUN):
            found = _NEXT.match(self.text, end)
            if found is None:
                return ""
            word = found.group(1).lower()
            if word in self.vocabulary.closed and not (step == 0 and word == "more"):
                return ""
            if step == 0 and (is_one or word in self.vocabulary.words("measures")):
                return self.singular(word)
            if step == 0 and self.text[end : end + 1] == "-":
                return self.singular(word)
            if self._is_plural(word):
                return self.singular(word)
            end = found.end()
        return ""

    def _is_plural(self, word: str) -> bool:
        if word in self.vocabulary.irregular:
            return True
        return len(word) > 3 and word[-1] == "s" and word[-2] not in "sui" and word.isalpha()

    def singular(self, word: str) -> str:
        """The singular of a noun, by the rules of spelling."""
        known = self.vocabulary.irregular.get(word)
        if known is not None:
            return known
        if not self._is_plural(word):
            return word
        if word.endswith("ies") and len(word) > 4:
            return word[:-3] + "y"
        if word.endswith(("sses", "shes", "ches", "xes", "zes")):
            return word[:-2]
        return word[:-1]
