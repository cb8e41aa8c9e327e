"""Pages of a list, and the places where they go on."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from incumbent.model.errors import InvalidInput
from incumbent.model.listings import Listing
from incumbent.model.times import from_micros, moment, to_micros
from incumbent.model.values import check_text

T = TypeVar("T")
Place = tuple[Any, ...]
"""Where a line stands in its list: texts, numbers and moments, never more than the line shows."""

_MOST = 1_000
_LONGEST = 5_000
_HIGHEST = 2**62


def check_limit(limit: object) -> int:
    """Refuse a number of lines that no page has."""
    if type(limit) is not int or not 0 < limit <= _MOST:
        raise InvalidInput(f"limit must be from 1 to {_MOST:,}, not {limit!r:.80}")
    return limit


def check_prefix(prefix: object) -> str:
    """Refuse a beginning that no name can have."""
    if not isinstance(prefix, str):
        raise InvalidInput(f"prefix must be a string, not {type(prefix).__name__} ({prefix!r:.80})")
    return check_text(prefix, "prefix")


def check_span(
    since: datetime | None, until: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Two moments in UTC, of which each may be left out."""
    return (
        None if since is None else moment(since, "since"),
        None if until is None else moment(until, "until"),
    )


def page_of(kind: str, lines: Iterable[tuple[Place, T]], limit: int) -> Listing[T]:
    """The first lines of those that are left. One more is looked for, to know whether it ends."""
    found = list(islice(lines, limit + 1))
    further = _cursor(kind, found[limit - 1][0]) if len(found) > limit else None
    return Listing(tuple(line for _, line in found[:limit]), further)


def _cursor(kind: str, place: Place) -> str:
    told = [to_micros(one) if isinstance(one, datetime) else one for one in place]
    text = json.dumps([kind, *told], ensure_ascii=False, separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(kind: str, cursor: str | None, *types: type) -> Place | None:
    """The place that a cursor of this list stands for; None for its beginning."""
    if cursor is None:
        return None
    try:
        found = _read(cursor)
        if found[0] != kind or len(found) != len(types) + 1:
            raise ValueError
        return tuple(_told(one, wanted) for one, wanted in zip(found[1:], types, strict=True))
    except (ValueError, TypeError, OverflowError, RecursionError, InvalidInput):
        raise InvalidInput(
            f"cursor {cursor!r:.80} is none that this list gave; give back what `next` of a page "
            f"was, or leave it out to begin with the first page"
        ) from None


def _read(cursor: object) -> list[Any]:
    if not isinstance(cursor, str) or len(cursor) > _LONGEST:
        raise ValueError
    text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
    found = json.loads(text)
    if not isinstance(found, list) or not found:
        raise ValueError
    return found


def _told(given: Any, wanted: type) -> Any:
    if wanted is str and isinstance(given, str):
        return check_text(given, "cursor")
    if wanted in (int, datetime) and type(given) is int and abs(given) < _HIGHEST:
        return from_micros(given) if wanted is datetime else given
    raise ValueError
