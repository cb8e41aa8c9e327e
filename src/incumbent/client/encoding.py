"""Every public value as JSON and back, and the arguments of every operation checked.

Values look in JSON as they do in Python: an object with the names of their fields. The types of the
methods say what is expected, so that there is nothing here to keep in step with them by hand. A
class that pydantic would write otherwise says so itself (`model/schemas.py`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

try:
    from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, create_model
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'incumbent[client]'") from error

from incumbent.context.receipt import Receipt
from incumbent.model.fact import Source
from incumbent.model.ids import ALIAS
from incumbent.model.verdict import Verdict
from incumbent.operations import BY_PATH, Operation, hints_of, parameters_of

_MOST_ITEMS = 10_000
"""The most turns or writes of one request."""
_STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


# what operations give


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """The adapter that turns values of a type into JSON and back."""
    return TypeAdapter(kind)


_ALIASES = re.compile(f"{ALIAS}[0-9a-f]{{16}}".encode())


def dumped(kind: Any, value: Any) -> bytes:
    """A value of that type as JSON. Its facts have the ids that their writers chose."""
    return _ALIASES.sub(b"", adapter(kind).dump_json(value))


def loaded(kind: Any, text: bytes) -> Any:
    """The value of a JSON text."""
    return adapter(kind).validate_json(text)


# what operations take


def _wire_type(hint: Any) -> Any:
    """The type of a parameter in a request: iterables as lists, moments with a zone, facts by their
    ids."""
    if hint is datetime:
        return AwareDatetime
    if hint is timedelta or hint is NoneType:
        return None if hint is NoneType else float
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        kinds = {_wire_type(one): None for one in inside if one not in _BY_ID}
        return Union[tuple(kinds)]  # noqa: UP007 - made of what is found
    if (
        isinstance(origin, type)
        and issubclass(origin, Iterable)
        and not issubclass(origin, Mapping)
    ):
        return list[_wire_type(inside[0])]  # type: ignore[misc]
    return hint


_BY_ID = (Verdict, Receipt)


@cache
def arguments_of(operation: Operation) -> type[BaseModel]:
    """The form for the arguments of an operation."""
    items = _ITEMS.get(operation.name)
    hints = hints_of(operation.function)
    fields: dict[str, Any] = {}
    for parameter in parameters_of(operation.function):
        name, default = parameter.name, parameter.default
        if items is not None and name == items[0]:
            kind: Any = items[1]()
            fields[name] = (list[kind], Field(max_length=_MOST_ITEMS))
        elif default is inspect.Parameter.empty:
            fields[name] = (_wire_type(hints[name]), ...)
        else:
            fields[name] = (_wire_type(hints[name]), _default(default))
    title = "".join(part.capitalize() for part in re.split("[/_]", operation.path))
    return create_model(f"{title}Arguments", __config__=_STRICT, **fields)


def _default(value: Any) -> Any:
    """A default as JSON; one that stands for "not given" is left out of the call."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        return Field(default_factory=partial(list, value))
    return None


def _turn_form() -> type[BaseModel]:
    """The form of a turn, with any of the names that transcripts use for its parts."""
    return create_model(
        "TurnArguments",
        __config__=ConfigDict(extra="allow", strict=True),
        text=(str | None, None),
        content=(str | list[Any] | None, None),
        speaker=(str | None, None),
        role=(str | None, None),
        at=(AwareDatetime | None, None),
        ref=(str | None, None),
        authority=(str | None, None),
    )


def _write_form() -> type[BaseModel]:
    return arguments_of(BY_PATH["write"])


_ITEMS: Mapping[str, tuple[str, Callable[[], type[BaseModel]]]] = {
    "observe_many": ("turns", _turn_form),
    "write_many": ("writes", _write_form),
}


def given(form: BaseModel) -> dict[str, Any]:
    """A checked form as arguments of the method: only those that were given."""
    told = {name: getattr(form, name) for name in form.model_fields_set}
    return {name: _plain(value) for name, value in told.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return given(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def encoded(value: Any) -> Any:
    """An argument as it is sent: facts by their ids, iterables as lists."""
    if isinstance(value, _BY_ID):
        return value.id
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, date):  # a moment is one too
        return value.isoformat()
    if isinstance(value, Source):
        return adapter(Source).dump_python(value, mode="json")
    if isinstance(value, Mapping):
        return {name: encoded(one) for name, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [encoded(one) for one in value]
    return value
