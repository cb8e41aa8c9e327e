"""For whom a statement is meant: its speaker alone, or on purpose all of their organization."""

from __future__ import annotations

import re
from functools import lru_cache

from incumbent.language.lexicon import data, either, word_set

_LOOKED_AT = 400
_WORD = re.compile(r"[\w'’]+")


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("audience", language)
        self.for_all = either(told["for_all"])
        self.of_oneself = word_set(told["of_oneself"])
        self.ruling = re.compile(rf"\b(?:{told['ruling']})", re.IGNORECASE)


@lru_cache(maxsize=8)
def _patterns(language: str) -> _Patterns:
    return _Patterns(language)


def is_for_all(text: str, language: str = "en") -> bool:
    """Whether a statement says that it is for all of an organization, and nothing of its speaker.

    When in doubt it is not: what was meant for all can be said again, what was not cannot be taken
    out of their heads.
    """
    found = _patterns(language).for_all.search(text[:_LOOKED_AT])
    return found is not None and not is_of_oneself(text, language)


def is_of_oneself(text: str, language: str = "en") -> bool:
    """Whether a statement speaks of whoever says it."""
    words = {word.lower().replace("’", "'") for word in _WORD.findall(text)}
    return not words.isdisjoint(_patterns(language).of_oneself)


def is_ruling(text: str, language: str = "en") -> bool:
    """Whether a statement requires, limits or allows something, of whoever may rule on it."""
    return _patterns(language).ruling.search(text[:_LOOKED_AT]) is not None and "?" not in text
