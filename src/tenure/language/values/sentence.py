"""A text with its words, as the finders look at it."""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import datetime
from typing import NamedTuple

from tenure.language.values.vocabulary import FIGURE, Vocabulary

_WORD = re.compile(
    r"[^\W\d_]+(?:['’][^\W\d_]+)*"  # letters, with the apostrophes inside
    r"|[0-9]+(?:[.,:/-][0-9]+)*"  # figures that belong together: 5,200 or 5:30 or 2026-03-02
    r"|[$€£¥₹½¼¾]"
)
_NEXT = re.compile(r"[\s-]{0,3}([^\W_]+(?:['’][^\W\d_]+)*)")
_PREVIOUS = re.compile(r"([^\W_]+(?:['’][^\W_]+)*)[\s-]{0,3}$")
_BREAK = re.compile(r"[.!?:;\n\"“”«»•*(]")
_LOOK_BACK = 40
_FARTHEST_NOUN = 3


class Word(NamedTuple):
    """A word, a number in figures or the sign of a currency."""

    start: int
    end: int
    text: str
    low: str

    @property
    def trigger(self) -> str:
        """Under which key forms that start with this word are listed."""
        return FIGURE if self.text[0].isdigit() else self.low


class Sentence:
    """What is searched for values: a text, when it was said, and in which language."""

    def __init__(self, text: str, at: datetime | None, vocabulary: Vocabulary) -> None:
        self.text = text
        self.at = at
        self.vocabulary = vocabulary
        self.words = [
            Word(*found.span(), found.group(), found.group().lower().replace("’", "'"))
            for found in _WORD.finditer(text)
        ]

    def word_before(self, position: int) -> str:
        """The word right before a position, in lower case; "" where none or a mark is."""
        found = _PREVIOUS.search(self.text[max(0, position - _LOOK_BACK) : position])
        return found.group(1).lower() if found else ""

    def word_after(self, position: int) -> str:
        """The word that follows a position, in lower case; "" where a mark or nothing follows."""
        found = _NEXT.match(self.text, position)
        return found.group(1).lower() if found else ""

    def begins_at(self, position: int) -> bool:
        """Whether a sentence begins here, so that a capital letter says nothing."""
        before = self.text[max(0, position - _LOOK_BACK) : position].rstrip()
        return (not before and position <= _LOOK_BACK) or bool(_BREAK.match(before[-1:]))

    def is_followed_by_noun(self, position: int) -> bool:
        """Whether the word after a position could be what is counted or named there."""
        word = self.word_after(position)
        return bool(word) and word not in self.vocabulary.closed

    def has_before(self, name: str, position: int) -> bool:
        """Whether a word of a class stands before a position, not far off."""
        said = self.vocabulary.words(name)
        first = bisect_left(self.words, (position - 2 * _LOOK_BACK,))
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
