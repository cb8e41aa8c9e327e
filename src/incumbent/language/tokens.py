"""Words of a statement, with the places where they stand."""

from __future__ import annotations

import re
from typing import NamedTuple

import Stemmer

from incumbent.model.text_cache import remembering

_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"['’][a-z]{1,2}\b|[^\W\d_](?:[\w'’&-]*\w)?|\d(?:[\w.,:/%-]*\w)?|[^\w\s]")
_stemmer = Stemmer.Stemmer("english", 0)


class Token(NamedTuple):
    """A word or a mark."""

    text: str
    low: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        return self.text[-1:].isalnum()


def tokens(text: str) -> list[Token]:
    return [
        Token(found.group(), found.group().lower().replace("’", "'"), *found.span())
        for found in _TOKEN.finditer(text)
    ]


@remembering(32_768)
def stem(word: str) -> str:
    """The stem of a word, without a genitive."""
    low = word.lower().replace("’", "'")
    if low.endswith("'s"):
        low = low[:-2]
    return str(_stemmer.stemWord(low))


def stems(text: str, *, shortest: int = 1) -> frozenset[str]:
    """The stems of the words of a text that have so many letters."""
    return frozenset(stem(word) for word in _WORD.findall(text) if len(word) >= shortest)
