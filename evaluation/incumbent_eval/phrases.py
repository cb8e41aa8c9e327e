"""Mentions: whether a context mentions a phrase, by the rule of StateBench's own judge, version
2.0.0.

Case does not matter. An edge of the phrase that is a letter or a digit must be the edge of a word
in the text; any other edge ("$45", "10%") may be next to anything. "a|b" is mentioned if one of
them is, "regex:" starts a pattern, and "do not", "cannot" and "should not" are also found
contracted, and the other way round. The judge asks a model about paraphrases; we do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

_PATTERN = "regex:"
_FULL_AND_SHORT = (("do not", "don't"), ("cannot", "can't"), ("should not", "shouldn't"))


def mentions(text: str, phrase: str) -> bool:
    """Whether a text mentions a phrase."""
    pattern = _pattern(phrase.lower().strip())
    return pattern is not None and pattern.search(text.lower().strip()) is not None


def phrase_of(requirement: str | Mapping[str, Any]) -> str:
    """The phrase of a requirement: the requirement itself, or one of its fields."""
    return requirement if isinstance(requirement, str) else str(requirement["phrase"])


@lru_cache(maxsize=4_096)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    if phrase.startswith(_PATTERN):
        return re.compile(phrase.removeprefix(_PATTERN))
    ways = phrase.split("|") if "|" in phrase else list(_ways(phrase))
    bounded = [_bounded(way.strip()) for way in ways if way.strip()]
    return re.compile("|".join(bounded)) if bounded else None


def _ways(phrase: str) -> Iterator[str]:
    """A phrase as it is, and with each of its negations in the other form."""
    yield phrase
    for full, short in _FULL_AND_SHORT:
        for one, other in ((full, short), (short, full)):
            yield re.sub(rf"{one}(?= \w)", other, phrase)


def _bounded(phrase: str) -> str:
    before = r"(?<!\w)" if _is_of_a_word(phrase[0]) else ""
    after = r"(?!\w)" if _is_of_a_word(phrase[-1]) else ""
    return f"{before}{re.escape(phrase)}{after}"


def _is_of_a_word(character: str) -> bool:
    return character.isalnum() or character == "_"
