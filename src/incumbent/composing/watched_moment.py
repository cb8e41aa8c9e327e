"""A moment that notes how it is used: from which moment to which another would have done the same.

Terms begin and end with no entry in the log, so a context holds for a while, and nobody can tell
from outside for how long. The moment itself can. Whatever it is compared with is noted, and as long
as every comparison comes out the same, so does everything that was made of them. A use that is no
comparison, such as an age or a format, leaves no such stretch of time.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

_STEP = datetime.resolution
_TELLING = (
    *("__add__", "__radd__", "__sub__", "__rsub__", "__eq__", "__ne__", "__hash__"),
    *("__format__", "__repr__", "__str__", "__reduce__", "__reduce_ex__"),
    *("astimezone", "ctime", "date", "isocalendar", "isoformat", "isoweekday", "replace"),
    *("strftime", "time", "timestamp", "timetuple", "timetz", "toordinal", "utctimetuple"),
    *("weekday", "year", "month", "day", "hour", "minute", "second", "microsecond", "fold"),
)
"""The uses that tell more of a moment than whether it comes before another."""


class WatchedMoment(datetime):
    """A moment of UTC that notes what it is compared with. For one thread at a time."""

    since: datetime | None = None
    """The first moment for which all comparisons come out the same; None for any before."""
    until: datetime | None = None
    """The first moment after this one for which they do not; None for any after."""
    was_told: bool = False
    """Whether it was used for more than comparisons."""

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """That moment, not used yet."""
        return cls(*moment.timetuple()[:6], moment.microsecond, moment.tzinfo)

    def covers(self, moment: datetime) -> bool:
        """Whether another moment would have come out the same in everything."""
        return (
            not self.was_told
            and (self.since is None or moment >= self.since)
            and (self.until is None or moment < self.until)
        )

    # Python asks the right side first where that is a subclass, so these see every comparison.

    def __lt__(self, other: datetime) -> bool:  # type: ignore[override]
        found = datetime.__lt__(self, other)
        return found if found is NotImplemented else self._noted(other, found)

    def __ge__(self, other: datetime) -> bool:  # type: ignore[override]
        found = datetime.__lt__(self, other)
        return found if found is NotImplemented else not self._noted(other, found)

    def __le__(self, other: datetime) -> bool:  # type: ignore[override]
        found = datetime.__le__(self, other)
        return found if found is NotImplemented else self._noted_after(other, found)

    def __gt__(self, other: datetime) -> bool:  # type: ignore[override]
        found = datetime.__le__(self, other)
        return found if found is NotImplemented else not self._noted_after(other, found)

    def _noted(self, limit: datetime, is_before: bool) -> bool:
        """Note whether this moment comes before a limit."""
        if is_before:
            if self.until is None or limit < self.until:
                self.until = limit
        elif self.since is None or limit > self.since:
            self.since = limit
        return is_before

    def _noted_after(self, other: datetime, is_before: bool) -> bool:
        """Note whether this moment comes before the one right after another."""
        try:
            return self._noted(other + _STEP, is_before)
        except OverflowError:  # the last moment of all
            self.was_told = True
            return is_before


def _telling(known: Any) -> Any:
    """A part of a moment that tells more of it, noted when it is used."""
    if not callable(known):

        def read(self: WatchedMoment) -> Any:
            self.was_told = True
            return known.__get__(self)

        return property(read)

    def used(self: WatchedMoment, *given: Any, **named: Any) -> Any:
        self.was_told = True
        return known(self, *given, **named)

    return used


for _name in _TELLING:
    setattr(WatchedMoment, _name, _telling(getattr(datetime, _name)))
