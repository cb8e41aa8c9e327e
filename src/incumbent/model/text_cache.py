"""Results computed from texts, kept for the next time, until something is erased.

This is the one place where people's words may be kept in the memory of a process. Every cache of
words is kept through here, or registers a function that is called from here, and `forget_texts`
empties it. A test searches the whole package for other caches (`tests/trust/test_keeping.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakMethod, ref

Given = ParamSpec("Given")
Found = TypeVar("Found")

_MOST = 8_192
_LONG = 500  # characters; a longer text is not worth the memory
_functions: list[Callable[[], None]] = [re.purge]  # patterns are made of what people say, too
_caches: list[ref[Any]] = []
_others: list[WeakMethod[Callable[[], None]]] = []
_lock = Lock()


def remembered(function: Callable[[str], Found]) -> Callable[[str], Found]:
    """Keep the results of a pure function of a text: contexts show the same texts again and
    again."""
    known = remembering(_MOST)(function)

    @wraps(function)
    def recalled(text: str) -> Found:
        return known(text) if len(text) <= _LONG else function(text)

    return recalled


def remembering(most: int) -> Callable[[Callable[Given, Found]], Callable[Given, Found]]:
    """Keep the results of a pure function for `most` arguments: words and other short texts."""

    def keep(function: Callable[Given, Found]) -> Callable[Given, Found]:
        known: Any = lru_cache(maxsize=most)(function)
        # A function of an object goes with it; those of modules stay as long as the process.
        with _lock:
            _caches[:] = [*(cache for cache in _caches if cache() is not None), ref(known)]
        return known  # type: ignore[no-any-return]

    return keep


def also_forget(function: Callable[[], None]) -> Callable[[], None]:
    """Call a function of a module whenever texts are forgotten."""
    _functions.append(function)
    return function


def when_forgetting(method: Callable[[], None]) -> None:
    """Call a method whenever texts are forgotten, as long as its object lives."""
    with _lock:
        _others[:] = [*(other for other in _others if other() is not None), WeakMethod(method)]


def forget_texts() -> None:
    """Drop everything that is kept: erased content must not live on in memory."""
    with _lock:
        caches, others = [cache() for cache in _caches], [method() for method in _others]
    for cache in caches:
        if cache is not None:
            cache.cache_clear()
    for forget in (*_functions, *others):
        if forget is not None:
            forget()
