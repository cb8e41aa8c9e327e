"""Moments: always aware, always UTC inside; stored as whole microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from incumbent.model.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
LAST_YEAR = 9000
"""The last year of a clock: what is recorded later leaves no room in the calendar for terms and
for the entries after it."""
_last: tuple[datetime, int] = (_EPOCH, 0)


def moment(value: datetime, what: str) -> datetime:
    """The same instant in UTC. A naive datetime is refused: it does not say which instant it is."""
    if not isinstance(value, datetime):
        raise InvalidInput(f"{what} must be a datetime, not {type(value).__name__} ({value!r})")
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(
            f"{what} is a naive datetime ({value.isoformat()}); give it a time zone, "
            f"for example {value.isoformat()}+00:00 or datetime(..., tzinfo=timezone.utc)"
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(f"{what} ({value.isoformat()}) is outside the calendar") from None


def to_micros(value: datetime) -> int:
    global _last
    # One moment comes by many times in a row: a fact is said, recorded and true from the same one.
    known, micros = _last
    if value is known:
        return micros
    micros = (value - _EPOCH) // _MICROSECOND
    _last = (value, micros)
    return micros


def from_micros(value: int) -> datetime:
    return _EPOCH + timedelta(microseconds=value)
