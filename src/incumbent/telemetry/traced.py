"""Reporting: one decorator of a class that measures all its public methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from time import perf_counter
from typing import Any, TypeVar

from incumbent.telemetry.port import Call, Telemetry

T = TypeVar("T")


def traced(*, but: tuple[str, ...] = ()) -> Callable[[type[T]], type[T]]:
    """Make the public methods of a class report their calls to `self._telemetry`, except those
    named.

    The class has `_telemetry`, which is None without telemetry: then a call costs one look at it.
    It also has `_caller()`, which names the caller.
    """

    def decorated(kind: type[T]) -> type[T]:
        for name, member in list(vars(kind).items()):
            if inspect.isfunction(member) and not name.startswith("_") and name not in but:
                setattr(kind, name, tells(member))
        return kind

    return decorated


def tells(call: Callable[..., Any]) -> Callable[..., Any]:
    """A method that reports its calls to `self._telemetry`, under its name without underscores."""
    operation = call.__name__.strip("_")
    is_stream = str(call.__annotations__.get("return")).startswith(("Iterator", "Iterable"))
    measured = _measured_stream if is_stream else _measured
    organization_of = _finder(call)
    rehearsable = getattr(call, "rehearsable", False)

    @wraps(call)
    def telling(self: Any, *given: Any, **named: Any) -> Any:
        telemetry = self._telemetry
        if telemetry is None:
            return call(self, *given, **named)
        organization, user_id, session_id = self._caller()
        organization = organization or organization_of(given, named)
        rehearsed = named.get("rehearse") or (rehearsable and self._rehearses)
        told = f"rehearse_{operation}" if rehearsed else operation
        made = Call(told, organization, user_id, session_id, is_stream)
        return measured(telemetry, made, partial(call, self, *given, **named))

    return telling


def _finder(call: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], str | None]:
    """Finds the organization among the arguments of a call, if it takes one."""
    names = list(inspect.signature(call).parameters)
    place = names.index("organization") - 1 if "organization" in names else None

    def find(given: tuple[Any, ...], named: dict[str, Any]) -> str | None:
        found = named.get("organization")
        if found is None and place is not None and place < len(given):
            found = given[place]
        return found if isinstance(found, str) else None

    return find


def _measured(telemetry: Telemetry, made: Call, work: Callable[[], Any]) -> Any:
    token = telemetry.began(made)
    began = perf_counter()
    try:
        result = work()
        if made.operation == "context":
            telemetry.composed(result)
    except BaseException as error:
        telemetry.ended(made, token, perf_counter() - began, error)
        raise
    telemetry.ended(made, token, perf_counter() - began, None)
    return result


def _measured_stream(
    telemetry: Telemetry, made: Call, work: Callable[[], Iterable[Any]]
) -> Iterator[Any]:
    """A stream, reported as a call that lasts as long as somebody reads it."""
    token = telemetry.began(made)
    began = perf_counter()
    try:
        rows = work()
    except BaseException as error:
        telemetry.ended(made, token, perf_counter() - began, error)
        raise

    def reading() -> Iterator[Any]:
        failed: BaseException | None = None
        try:
            yield from rows
        except GeneratorExit:  # whoever reads has read enough
            raise
        except BaseException as error:
            failed = error
            raise
        finally:
            telemetry.ended(made, token, perf_counter() - began, failed)

    return reading()
