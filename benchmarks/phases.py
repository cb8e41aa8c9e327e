"""Where the time of a context goes: the parts of composing one, timed from outside.

Timers cost something themselves, so phases are measured by themselves, and not in the run that
tells how long a context takes. Read their shares.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tenure.composing.material as composing
import tenure.session.contexts as session
from tenure.composing.dead_values import DeadValueFinder
from tenure.composing.material import MaterialBuilder
from tenure.session.contexts import SessionContexts

_PLACES: tuple[tuple[str, Any, str], ...] = (
    ("opening and closing", SessionContexts, "_compose"),
    ("gathering the rest", MaterialBuilder, "material"),
    ("searching", MaterialBuilder, "_search"),
    ("choosing and loading", MaterialBuilder, "_held"),
    ("doubts and scopes", composing, "doubts_about"),
    ("doubts and scopes", MaterialBuilder, "resolved"),
    ("ranking", MaterialBuilder, "_rank"),
    ("guard", DeadValueFinder, "dead"),
    ("guard", DeadValueFinder, "gone"),
    ("what is not known", composing, "unknown_matters"),
    ("lines within the budget", session, "assemble"),
)
"""A phase, and a function of it. What it calls of another phase is that one's."""


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Time the phases of all contexts meanwhile: seconds of the processor by phase."""
    spent: dict[str, float] = defaultdict(float)
    others: list[float] = []
    before = [(owner, name, _of(owner, name)) for _, owner, name in _PLACES]
    for phase, owner, name in _PLACES:
        setattr(owner, name, _timing(_of(owner, name), phase, spent, others))
    try:
        yield spent
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def _of(owner: Any, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(owner, name)
    return found


def _timing(
    function: Callable[..., Any], phase: str, spent: dict[str, float], others: list[float]
) -> Callable[..., Any]:
    """`others` has, for each phase that is under way, the time of phases within it."""

    def timed(*given: Any, **named: Any) -> Any:
        others.append(0.0)
        begin = time.thread_time()
        try:
            return function(*given, **named)
        finally:
            seconds = time.thread_time() - begin
            spent[phase] += seconds - others.pop()
            if others:
                others[-1] += seconds

    return timed
