"""The wire: every public value as JSON and back, and the arguments of every operation checked.

Values look in JSON as they do in Python: an object with the names of their fields. The types of the
methods say what is expected, so that there is nothing here to keep in step with them by hand.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

try:
    from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, create_model
    from pydantic_core import core_schema
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise ImportError(f"{error}; install it with: pip install 'tenure[client]'") from error

import tenure
from tenure.language.statements import Statement
from tenure.model.fact import Basis, Cause, Part, Said
from tenure.model.ids import ALIAS
from tenure.model.records import Spot
from tenure.observing import observation
from tenure.observing.opinions import Opinion, Proposed
from tenure.operations import Operation, hints_of, parameters_of

_MOST_ITEMS = 10_000
"""Turns or writes of one request."""
_STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


# values that pydantic would write otherwise


def _by_name(kind: Any) -> None:
    """Have a named tuple written as an object with its names, not as a list."""

    def schema(cls: Any, source: Any, handler: Any) -> Any:
        hints = hints_of_tuple(cls)
        known = core_schema.typed_dict_schema(
            {
                name: core_schema.typed_dict_field(
                    handler.generate_schema(hint), required=name not in cls._field_defaults
                )
                for name, hint in hints.items()
            }
        )
        return core_schema.no_info_after_validator_function(
            lambda given: cls(**given),
            known,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: value._asdict(), return_schema=known
            ),
        )

    kind.__get_pydantic_core_schema__ = classmethod(schema)


def hints_of_tuple(kind: Any) -> dict[str, Any]:
    """The types of the fields of a named tuple, as objects."""
    import sys
    from typing import get_type_hints

    return get_type_hints(kind, globalns=vars(sys.modules[kind.__module__]))


for _kind in (Basis, Cause, Part, Said, Spot):
    _by_name(_kind)
# The one value that requests hold: what it does not have is a slip.
tenure.Source.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]


class OpinionForm(BaseModel):
    """An opinion as far as it has come."""

    model: str
    status: Literal["pending", "given", "failed"]
    reason: str = ""
    proposals: tuple[Proposed, ...] = ()
    verdicts: tuple[tenure.Verdict, ...] = ()

    model_config = ConfigDict(from_attributes=True)

    def opinion(self) -> Opinion:
        """The same as a value. One that was pending stays so: it was told by another process."""
        made = Opinion(self.model)
        if self.status == "given":
            made.give(self.proposals, self.verdicts)
        elif self.status == "failed":
            made.fail(self.reason)
        return made


def _opinion_schema(cls: Any, source: Any, handler: Any) -> Any:
    form = handler.generate_schema(OpinionForm)
    return core_schema.no_info_after_validator_function(
        lambda given: given.opinion(),
        form,
        serialization=core_schema.plain_serializer_function_ser_schema(
            OpinionForm.model_validate, return_schema=form
        ),
    )


Opinion.__get_pydantic_core_schema__ = classmethod(_opinion_schema)  # type: ignore[attr-defined]
observation.Statement = Statement  # type: ignore[attr-defined]  # named there for checkers only


def _context_schema(cls: Any, source: Any, handler: Any) -> Any:
    """A context with the id of its receipt, by which it can be had again where it was kept."""
    known = handler(source)
    known["serialization"] = core_schema.wrap_serializer_function_ser_schema(
        lambda value, dump: {**dump(value), "receipt_id": value.receipt.id}, schema=known.copy()
    )
    return known


def _context_json(cls: Any, schema: Any, handler: Any) -> Any:
    told = handler(schema)
    fields = handler.resolve_ref_schema(told)
    fields["properties"]["receipt_id"] = {"type": "string", "title": "Receipt Id"}
    return told


tenure.Context.__get_pydantic_core_schema__ = classmethod(_context_schema)  # type: ignore[attr-defined]
tenure.Context.__get_pydantic_json_schema__ = classmethod(_context_json)  # type: ignore[attr-defined]


# what operations give


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """What turns values of a type into JSON and back."""
    return TypeAdapter(kind)


def returns(operation: Operation) -> Any:
    """The type of what an operation gives."""
    return hints_of(operation.function)["return"]


_ALIASES = re.compile(f"{ALIAS}[0-9a-f]{{16}}".encode())


def dumped(kind: Any, value: Any) -> bytes:
    """A value of that type as JSON, with ids as whoever wrote the facts chose them."""
    return _ALIASES.sub(b"", adapter(kind).dump_json(value))


def loaded(kind: Any, text: bytes) -> Any:
    """The value that JSON stands for."""
    return adapter(kind).validate_json(text)


# what operations take


def _wire_type(hint: Any) -> Any:
    """How a parameter comes in: iterables as lists, moments with a zone, values by their ids."""
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


_BY_ID = (tenure.Verdict, tenure.Receipt)


@cache
def arguments_of(operation: Operation) -> type[BaseModel]:
    """The form in which an operation's arguments come in."""
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
    title = "".join(part.capitalize() for part in operation.name.split("_"))
    return create_model(f"{title}Arguments", __config__=_STRICT, **fields)


def _default(value: Any) -> Any:
    """A default as JSON has it; what stands for "not given" is left out of the call."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, tuple):
        return Field(default_factory=list)
    return None


def _turn_form() -> type[BaseModel]:
    """A turn, under any of the names that transcripts have for its parts."""
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
    from tenure.operations import BY_NAME

    return arguments_of(BY_NAME["write"])


_ITEMS: Mapping[str, tuple[str, Callable[[], type[BaseModel]]]] = {
    "observe_many": ("turns", _turn_form),
    "write_many": ("writes", _write_form),
}


def given(form: BaseModel) -> dict[str, Any]:
    """What a checked form says, as arguments of the method: only what was said."""
    told = {name: getattr(form, name) for name in form.model_fields_set}
    return {name: _plain(value) for name, value in told.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return given(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value


def encoded(value: Any) -> Any:
    """An argument as it goes out: values by their ids, iterables as lists."""
    if isinstance(value, _BY_ID):
        return value.id
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, date):  # a moment is one too
        return value.isoformat()
    if isinstance(value, tenure.Source):
        return adapter(tenure.Source).dump_python(value, mode="json")
    if isinstance(value, Mapping):
        return {name: encoded(one) for name, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [encoded(one) for one in value]
    return value
