"""Stored values: any JSON value, checked once on the way in and kept as canonical text."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from incumbent.model.errors import InvalidInput
from incumbent.model.invisible import LETTERS
from incumbent.model.text_cache import remembered

type_names = "a string, number, boolean, null, list or object"

_MAX_DEPTH = 64
_encode = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


def check_text(text: str, what: str) -> str:
    """Refuse text that not every store and model can carry: NUL and lone surrogates."""
    if "\x00" in text:
        raise InvalidInput(f"{what} contains a NUL character; remove it")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidInput(
                f"{what} contains a lone surrogate at position {error.start}, which is not valid "
                f"Unicode; decode the text properly before storing it"
            ) from None
    return text


def _check(value: Any, where: str, depth: int) -> None:
    if value is None or isinstance(value, bool):
        return
    kind = type(value)
    if kind is str:
        check_text(value, where)
    elif kind is int:
        return
    elif kind is float:
        if not math.isfinite(value):
            raise InvalidInput(f"{where} is {value}, which JSON cannot carry; use null or a string")
    elif depth >= _MAX_DEPTH:
        raise InvalidInput(f"{where} is nested deeper than {_MAX_DEPTH} levels; flatten it")
    elif kind is list:
        for index, item in enumerate(value):
            _check(item, f"{where}[{index}]", depth + 1)
    elif kind is dict:
        for name, item in value.items():
            if type(name) is not str:
                raise InvalidInput(
                    f"{where} has a key of type {type(name).__name__} ({name!r}); "
                    f"JSON objects have string keys"
                )
            check_text(name, f"a key of {where}")
            _check(item, f"{where}[{name!r}]", depth + 1)
    else:
        raise InvalidInput(
            f"{where} is of type {kind.__name__}, which cannot be stored; use {type_names}"
        )


def canonical(value: Any, *, limit: int) -> str:
    """The canonical JSON text of a value: equal objects give equal text.

    Raises InvalidInput with the type and place of a value that cannot be stored, and for a text
    longer than `limit` bytes.
    """
    _check(value, "value", 0)
    try:
        text = _encode(value)
    except ValueError as error:  # an integer beyond Python's own conversion limit
        raise InvalidInput(f"value cannot be written as JSON: {error}") from None
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > limit:
        raise InvalidInput(
            f"value takes {size:,} bytes and the limit is {limit:,}; store a reference to it, "
            f"or raise Settings.max_value_bytes"
        )
    return text


def same_value(left: Any, right: Any) -> bool:
    """Whether two stored values are the same: 1 equals 1.0, true does not equal 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_value, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same_value(left[name], right[name]) for name in left
        )
    return bool(left == right)


def text_of(value: Any) -> str:
    """A value as text: strings bare, everything else as JSON."""
    return value if isinstance(value, str) else _encode(value)


def leaves(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, each as text."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    elif value is not None and not isinstance(value, bool):
        text = text_of(value).strip()
        if text:
            yield text


_PARTED = re.compile(r"[,;\n]| - ")
_QUANTITY = re.compile(r"\d[\d.,]*\s?[A-Za-z%°]{1,4}\b")
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}\b")
_NAMED = re.compile(r"[A-Z]\w+(?: [A-Z]\w+)+")
_REMARKED = re.compile(r"([^()]*[^()\s])\s*\([^()]+\)")
_MEASURE = re.compile(r"\d.*\s|\s.*\d")


@remembered
def telling_parts(text: str) -> tuple[str, ...]:
    """The parts of a text that are recognizable alone, because people shorten when they repeat.

    For an address the street with its number, for a dose the amount, for a booking its first name
    and the time, for a value with a remark in brackets the value. Other parts without a number are
    left out: a town is in many addresses.
    """
    return parts_alone(text) if len(text) <= 1_000 and _may_have_parts(text) else ()


def parts_alone(text: str) -> tuple[str, ...]:
    """The same of a text that may have such parts."""
    parts = [part.strip() for part in _PARTED.split(text)]
    found = [part for part in parts if part != text.strip() and _MEASURE.search(part)]
    quantity = _QUANTITY.match(text)
    if quantity is not None and quantity.group() != text.strip():
        found.append(quantity.group())
    if parts[0] != text.strip() and _NAMED.fullmatch(parts[0]):
        found.append(parts[0])
    if len(parts) > 1:
        found.extend(_CLOCK.findall(text))
    remarked = _REMARKED.fullmatch(text.strip())
    if remarked is not None:
        found.append(remarked.group(1))
    return tuple(found)


def _may_have_parts(text: str) -> bool:
    """Whether a text could have parts that are recognizable alone: most are one, and are no
    amount."""
    if text[:1].isdecimal() or "," in text or "(" in text or " - " in text:
        return True
    return ";" in text or "\n" in text


def bare(text: str) -> str:
    """A text as it is compared: without accents, marks and characters that show nothing."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text)
    kept = (
        c for c in apart if c not in LETTERS and unicodedata.category(c) not in ("Mn", "Me", "Cf")
    )
    return "".join(kept).casefold()


def is_longer(value: Any, most: int) -> bool:
    """Whether a value, as it is shown, surely has more characters than this. Counting stops
    there."""
    if isinstance(value, str):
        return len(value) > most
    length = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            length += len(one) + 2
        elif isinstance(one, list):
            length += len(one) + 1
            waiting.extend(one)
        elif isinstance(one, dict):
            length += 2 * len(one) + 1
            waiting.extend(one.keys())
            waiting.extend(one.values())
        else:
            length += 1  # a number or a word of JSON has one character at least
        if length > most:
            return True
    return False
