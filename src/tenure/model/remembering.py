"""What was worked out from texts, kept for the next time, until something is erased."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Found = TypeVar("Found")

_MOST = 8_192
_LONG = 500  # characters; a longer text is not worth the memory
_forgetting: list[Callable[[], None]] = []


def remembered(function: Callable[[str], Found]) -> Callable[[str], Found]:
    """Keep what a pure function of a text gives: contexts show the same texts again and again."""
    known = lru_cache(maxsize=_MOST)(function)
    _forgetting.append(known.cache_clear)

    @wraps(function)
    def recalled(text: str) -> Found:
        return known(text) if len(text) <= _LONG else function(text)

    return recalled


def forget_texts() -> None:
    """Drop all that is kept: what is erased must not live on in memory."""
    for forget in _forgetting:
        forget()
