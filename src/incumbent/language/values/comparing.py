"""Whether two values are the same, however they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from incumbent.language.values.almanac import RANGE
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.language.values.times import EITHER
from incumbent.language.values.vocabulary import vocabulary
from incumbent.model.fact import Part

_KINDS = frozenset(ValueKind)
_IN_WORDS = frozenset({ValueKind.NAME, ValueKind.QUOTED, ValueKind.ADDRESS, ValueKind.CODE})
_NAMED = frozenset({ValueKind.NAME, ValueKind.QUOTED, ValueKind.ADDRESS})
_NUMBERS = frozenset({ValueKind.NUMBER, ValueKind.MONEY})
_AMOUNT = re.compile(
    r"(?:(?P<code>[A-Z]{3}) )?(?P<amount>-?[0-9.]+)"
    r"(?: (?P<unit>[^/\s][^/]*(?:/h)?))?(?:/(?P<rate>.+))?$"
)
_FULL_DAY = re.compile(r"([0-9X]{4})-([0-9]{2}-[0-9]{2})(?: (\w+))?$")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])|[/.-][0-9]{2}$")
_FEWEST_DIGITS = 7


def same(left: Value, right: Value) -> bool:
    """Whether two values mean the same, as far as they say.

    What only one of them says does not tell them apart: half past five is the same as 5:30 pm, 4
    the same as 4 people, and a bare number the same as money of that amount. So two values can both
    be the same as a third without being the same as each other.
    """
    if left.kind is not right.kind:
        return _across_kinds(left, right)
    if left.normal == right.normal:
        return not (left.unit and right.unit) or left.unit == right.unit
    compare = _COMPARED.get(left.kind)
    return compare is not None and compare(left, right)


def values_of(parts: Iterable[Part]) -> list[Value]:
    """The values among the parts of a fact or a statement, as they are compared."""
    return [
        Value(ValueKind(part.kind), part.text, part.start, part.end, part.normal)
        for part in parts
        if part.kind in _KINDS
    ]


def is_said_by(held: Value, said: Value) -> bool:
    """Whether one value says what another does; a name may be a shorter form of the other."""
    if held.normal == said.normal or same(held, said):
        return True
    words, others = sorted((held.normal.split(), said.normal.split()), key=len)
    are_names = {held.kind, said.kind} <= _NAMED
    return are_names and bool(words) and set(words) <= set(others)


def _across_kinds(left: Value, right: Value) -> bool:
    kinds = {left.kind, right.kind}
    if kinds == _NUMBERS:
        return _same_amounts(left, right)
    if kinds <= _IN_WORDS:
        return _words(left) == _words(right)
    return False


def _words(value: Value) -> str:
    return " ".join(re.findall(r"\w+", value.normal.casefold()))


def _same_names(left: Value, right: Value) -> bool:
    """Whether two names differ at most in an apostrophe and an s."""
    return _owner(left) == _owner(right)


def _owner(value: Value) -> str:
    owned = value.text.endswith(("'s", "’s"))
    return value.normal[:-1] if owned and value.normal.endswith("s") else value.normal


def _same_amounts(left: Value, right: Value) -> bool:
    """Whether amounts are the same, whatever unit of a family and whatever rate is left out."""
    if RANGE in left.normal or RANGE in right.normal:
        return _both_ends(left, right, _same_amounts)
    one, other = _AMOUNT.match(left.normal), _AMOUNT.match(right.normal)
    if one is None or other is None:
        return False
    for name in ("code", "rate"):
        if one[name] and other[name] and one[name] != other[name]:
            return False
    if left.unit and right.unit and left.unit != right.unit:
        return False
    return _in_base(one) == _in_base(other)


def _in_base(amount: re.Match[str]) -> tuple[Decimal, str]:
    number = Decimal(amount["amount"])
    unit = vocabulary().units.get(amount["unit"] or "")
    if unit is None:
        return number, amount["unit"] or ""
    return number * unit.size, unit.family


def _both_ends(left: Value, right: Value, compare: Callable[[Value, Value], bool]) -> bool:
    """Whether two ranges have the same ends."""
    ends, others = left.normal.split(RANGE), right.normal.split(RANGE)
    if len(ends) != len(others):
        return False
    return all(
        compare(_with(left, one), _with(right, other))
        for one, other in zip(ends, others, strict=True)
    )


def _with(value: Value, normal: str) -> Value:
    return Value(value.kind, value.text, value.start, value.end, normal, value.unit)


def _same_times(left: Value, right: Value) -> bool:
    """Whether two times can be the same: any reading of one is a reading of the other."""
    if RANGE in left.normal or RANGE in right.normal:
        return _both_ends(left, right, _same_times)
    one, zone = _readings(left.normal)
    other, other_zone = _readings(right.normal)
    if zone and other_zone and zone != other_zone:
        return False
    return bool(one & other)


def _readings(normal: str) -> tuple[set[str], str]:
    clock, _, zone = normal.partition(" ")
    if not clock[:1].isdigit():
        return {normal}, ""
    return {reading.rpartition("T")[2] for reading in clock.split(EITHER)}, zone


def _same_dates(left: Value, right: Value) -> bool:
    """Whether two days can be the same: a year or a part of the day that only one says is no
    difference."""
    if RANGE in left.normal or RANGE in right.normal:
        return _both_ends(left, right, _same_dates)
    one, other = _FULL_DAY.match(left.normal), _FULL_DAY.match(right.normal)
    if one is None or other is None:
        return _without_year(left, right)
    if one[2] != other[2] or (one[3] and other[3] and one[3] != other[3]):
        return False
    return one[1] == other[1] or not (_YEAR.search(left.text) and _YEAR.search(right.text))


def _without_year(left: Value, right: Value) -> bool:
    """Whether months or quarters without a year are the same."""
    one, other = left.normal, right.normal
    if "XXXX" not in (one[:4], other[:4]):
        return False
    return one[4:] == other[4:] and len(one) > 4


_COMPARED: dict[ValueKind, Callable[[Value, Value], bool]] = {
    ValueKind.NAME: _same_names,
    ValueKind.NUMBER: _same_amounts,
    ValueKind.MONEY: _same_amounts,
    ValueKind.PERCENT: lambda left, right: _same_percent(left, right),
    ValueKind.QUANTITY: _same_amounts,
    ValueKind.TIME: _same_times,
    ValueKind.DATE: _same_dates,
    ValueKind.PHONE: lambda left, right: _same_phones(left, right),
    ValueKind.CODE: lambda left, right: left.normal.lower() == right.normal.lower(),
}


def _same_percent(left: Value, right: Value) -> bool:
    one, _, rate = left.normal.partition("/")
    other, _, other_rate = right.normal.partition("/")
    return one == other and not (rate and other_rate)


def _same_phones(left: Value, right: Value) -> bool:
    """Whether one number is the other without what dials to the country or the town."""
    one, other = left.normal.lstrip("+0"), right.normal.lstrip("+0")
    shorter = min(len(one), len(other))
    return shorter >= _FEWEST_DIGITS and (one.endswith(other) or other.endswith(one))
