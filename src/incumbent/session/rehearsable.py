"""The mark of a call that can be rehearsed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def rehearsable(call: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method that a rehearsal can call. What an earlier call would have changed is forgotten."""

    @wraps(call)
    def made(self: Any, /, *given: P.args, **named: P.kwargs) -> T:
        self._changes = ()
        return call(self, *given, **named)

    made.rehearsable = True  # type: ignore[attr-defined]
    return made


def is_rehearsable(call: Any) -> bool:
    """Whether a rehearsal can call a method."""
    return getattr(call, "rehearsable", False) is True
