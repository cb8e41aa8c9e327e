"""Questions: whether a sentence only asks, or tells something on the way."""

from __future__ import annotations

from functools import lru_cache

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, word_set

_TELLING = 9
"""A question of so many words that does not begin as one tells something first."""


@lru_cache(maxsize=8)
def _openings(name: str, language: str) -> frozenset[str]:
    return word_set(data("desk", language)[name])


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?'\"()").lower() for word in text.split()]


def is_telling(text: str, language: str = DEFAULT_LANGUAGE) -> bool:
    """Whether a sentence that asks tells something first: "my lease ends in May, can I stay?"."""
    words = _words(text)
    asks = _openings("asking", language)
    return len(words) >= _TELLING and not any(word in asks for word in words[:2])
