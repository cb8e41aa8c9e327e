"""Frozen values that are made as quickly as open ones.

A frozen dataclass sets each of its fields through `object.__setattr__`, which takes several times
as long as an assignment; and every write, and every row that is read, makes values of dozens of
fields. Here a value is open while it is made, and is frozen before anybody else sees it.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")

_MADE = """
def __init__(self, *, {parameters}):
    _put(self, "__class__", _Open)
{assignments}
    self.__class__ = _Kind
"""
_EVOLVED = """
def evolve(self, **changes):
    made = _new(_Open)
{copies}
    for name, value in changes.items():
        setattr(made, name, value)
    made.__class__ = _Kind
    return made
"""


def quickly_made(kind: type[T]) -> type[T]:
    """Give a frozen dataclass a quicker `__init__`, and a quicker `evolve`, which it must have.

    For classes with slots, with nothing but keywords, and without `__post_init__`.
    """
    declared: tuple[Field[Any], ...] = fields(kind)  # type: ignore[arg-type]
    names = [field.name for field in declared]
    # Of the same layout, so that an object can pass from one class to the other.
    opened = type(kind.__name__, (), {"__slots__": tuple(names)})
    known: dict[str, Any] = {"_put": object.__setattr__, "_new": object.__new__}
    known |= {"_Open": opened, "_Kind": kind, "_MISSING": MISSING}
    known |= {f"_default_{field.name}": field.default for field in declared}
    known |= {f"_make_{field.name}": field.default_factory for field in declared}
    text = _MADE.format(
        parameters=", ".join(map(_parameter, declared)),
        assignments="\n".join(f"    self.{field.name} = {_given(field)}" for field in declared),
    )
    exec(text, known)
    exec(_EVOLVED.format(copies="\n".join(f"    made.{n} = self.{n}" for n in names)), known)
    for name in ("__init__", "evolve"):
        setattr(kind, name, wraps(getattr(kind, name))(known[name]))
    return kind


def _parameter(field: Field[Any]) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=_MISSING"
    return field.name if field.default is MISSING else f"{field.name}=_default_{field.name}"


def _given(field: Field[Any]) -> str:
    if field.default_factory is MISSING:
        return field.name
    return f"_make_{field.name}() if {field.name} is _MISSING else {field.name}"
