"""What was worked out from texts, kept for the next time, until something is erased."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar
from weakref import WeakMethod

Found = TypeVar("Found")

_MOST = 8_192
_LONG = 500  # characters; a longer text is not worth the memory
_functions: list[Callable[[], None]] = []
_others: list[WeakMethod[Callable[[], None]]] = []


def remembered(function: Callable[[str], Found]) -> Callable[[str], Found]:
    """Keep what a pure function of a text gives: contexts show the same texts again and again."""
    known = lru_cache(maxsize=_MOST)(function)
    _functions.append(known.cache_clear)

    @wraps(function)
    def recalled(text: str) -> Found:
        return known(text) if len(text) <= _LONG else function(text)

    return recalled


def also_forget(function: Callable[[], None]) -> Callable[[], None]:
    """Have a function of a module called whenever texts are forgotten."""
    _functions.append(function)
    return function


def when_forgetting(method: Callable[[], None]) -> None:
    """Have a method called whenever texts are forgotten, as long as what it belongs to lives."""
    _others[:] = [reference for reference in _others if reference() is not None]
    _others.append(WeakMethod(method))


def forget_texts() -> None:
    """Drop all that is kept: what is erased must not live on in memory."""
    for forget in _functions:
        forget()
    for reference in _others:
        if (method := reference()) is not None:
            method()
