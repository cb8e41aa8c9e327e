"""Filters on metadata, as mem0 has them: operators on fields, and AND, OR, NOT."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from incumbent.compat.mem0.scoping import IDS
from incumbent.model.errors import InvalidInput

Payload = Mapping[str, Any]
Filter = Callable[[Payload], bool]


def split(filters: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ids in a filter, at its top or within its AND, and the conditions besides them."""
    if filters is not None and not isinstance(filters, Mapping):
        raise InvalidInput(
            f"filters must be a mapping such as {{'user_id': 'alice'}}, "
            f"not {type(filters).__name__}"
        )
    ids: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in (filters or {}).items():
        if name in IDS:
            ids[name] = _plain(name, value)
        elif name == "AND":
            several = _listed(name, value)
            ids.update((k, _plain(k, v)) for one in several for k, v in one.items() if k in IDS)
            conditions = [{k: v for k, v in one.items() if k not in IDS} for one in several]
            rest["AND"] = [one for one in conditions if one]
        else:
            rest[name] = value
    return ids, rest


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        if set(value) == {"eq"}:
            return value["eq"]
        raise InvalidInput(f"{name} must name one {name[:-3]}; ask for each of them by itself")
    return value


def compiled(conditions: Mapping[str, Any]) -> Filter:
    """A test of a memory's metadata; unknown operators are refused before anything is read."""
    tests = [_compiled(name, value) for name, value in conditions.items()]
    return lambda payload: all(test(payload) for test in tests)


def _compiled(name: str, value: Any) -> Filter:
    if name == "AND":
        every = [compiled(one) for one in _listed(name, value)]
        return lambda payload: all(test(payload) for test in every)
    if name == "OR":
        any_of = [compiled(one) for one in _listed(name, value, may_be_empty=False)]
        return lambda payload: any(test(payload) for test in any_of)
    if name == "NOT":
        none_of = [compiled(one) for one in _listed(name, value, may_be_empty=False)]
        return lambda payload: not any(test(payload) for test in none_of)
    if not isinstance(value, Mapping):
        return lambda payload: value == "*" or payload.get(name) == value
    unknown = [operator for operator in value if operator not in _OPERATORS]
    if unknown:
        raise InvalidInput(
            f"filter operator {unknown[0]!r} on {name!r} is not one of {', '.join(_OPERATORS)}"
        )
    tests = [(_OPERATORS[operator], wanted) for operator, wanted in value.items()]
    return lambda payload: all(test(payload.get(name), wanted) for test, wanted in tests)


def _listed(name: str, value: Any, *, may_be_empty: bool = True) -> list[Mapping[str, Any]]:
    is_list = isinstance(value, list) and all(isinstance(one, Mapping) for one in value)
    if not is_list or not (value or may_be_empty):
        raise InvalidInput(f"{name} takes a list of conditions, not {value!r:.80}")
    return list(value)


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison that is false between things that cannot be compared."""

    def test(value: Any, wanted: Any) -> bool:
        try:
            return value is not None and bool(compare(value, wanted))
        except TypeError:
            return False

    return test


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, wanted: value == wanted,
    "ne": lambda value, wanted: value != wanted,
    "gt": _compared(lambda value, wanted: value > wanted),
    "gte": _compared(lambda value, wanted: value >= wanted),
    "lt": _compared(lambda value, wanted: value < wanted),
    "lte": _compared(lambda value, wanted: value <= wanted),
    "in": _compared(lambda value, wanted: value in wanted),
    "nin": lambda value, wanted: value not in wanted,
    "contains": _compared(lambda value, wanted: wanted in value),
    "icontains": _compared(lambda value, wanted: str(wanted).lower() in str(value).lower()),
}
