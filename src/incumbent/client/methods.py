"""Methods of the client: each operation in the list, with the signature of its method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

from incumbent.client import encoding
from incumbent.model.verdict import Verdict
from incumbent.operations import OPERATIONS, Operation, Owner
from incumbent.session.corrections import UNSET
from incumbent.session.rehearsable import is_rehearsable, rehearsable

T = TypeVar("T", bound=type)


def sending(owner: Owner) -> Callable[[T], T]:
    """Make a class send every operation that it does not define itself to the service.

    The class has `_send(operation, given)`, which takes the arguments by their names.
    """

    def completed(kind: T) -> T:
        for operation in OPERATIONS:
            defined = operation.name in vars(kind)
            if operation.owner == owner and not operation.rehearsed and not defined:
                setattr(kind, operation.name, _sent(operation))
        return kind

    return completed


def _sent(operation: Operation) -> Callable[..., Any]:
    """A method that sends its operation to the service."""
    signature = inspect.signature(operation.function)

    @wraps(operation.function)
    def called(self: Any, /, *args: Any, **named: Any) -> Any:
        given = signature.bind(self, *args, **named)
        if operation.owner == "memory":
            given.apply_defaults()  # the organization may be one of them
        return self._send(operation, given.arguments)

    return rehearsable(called) if is_rehearsable(operation.function) else called


def body_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call as a request has them."""
    told = {
        name: encoding.encoded(value)
        for name, value in given.items()
        if name not in ("self", "progress", "states") and value is not UNSET
    }
    if "states" in given:  # a verdict stands for its fact there
        stated = (s.fact_id if isinstance(s, Verdict) else s for s in given["states"])
        told["states"] = list(stated)
    return told
