"""Arithmetic of the calendar, and one spelling for every day and period.

A day is "2026-03-02", a week "2026-W12", its weekend "2026-W12-WE", a month "2026-03", a part of
one "2026-03-mid", a quarter "2026-Q3", a year "2026". A part of a day follows it: "2026-03-02
evening". What is said without a year, and not relative to a known day, keeps a blank: "XXXX-03-02".
Both ends of a range stand with ".." between them.
"""

from __future__ import annotations

import calendar
import re
from datetime import date, datetime, time, timedelta

RANGE = ".."
_SPELLING = re.compile(
    r"(?P<year>[0-9]{4})(?:-W(?P<week>[0-9]{2})(?P<weekend>-WE|-end)?|-Q(?P<quarter>[1-4])"
    r"|-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})|-(?P<part>early|start|mid|late))?)?"
    r"(?:T(?P<clock>[0-9]{2}:[0-9]{2})| (?:morning|afternoon|evening|night))?$"
)
_PARTS = {"early": (1, 11), "start": (1, 11), "mid": (11, 21), "late": (21, 32)}
_RECENT = timedelta(days=60)
_DAY = timedelta(days=1)


def with_year(month: int, day: int, today: date) -> date | None:
    """The day of this name that is meant: the first that is not long past."""
    for year in range(today.year - 1, today.year + 9):  # 29 February can be eight years off
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found >= today - _RECENT:
            return found
    return None


def months_on(day: date, months: int) -> date:
    """The same day some months later, or the last of that month where it is shorter."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def business_days_on(day: date, days: int) -> date:
    """Some days on (or back) without counting Saturdays and Sundays."""
    weeks, left = divmod(abs(days), 5)
    step = _DAY if days >= 0 else -_DAY
    day += weeks * 7 * step
    while left:
        day += step
        left -= day.weekday() < 5
    return day


def last_of_month(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def days_of(normal: str) -> tuple[date, date] | None:
    """The first day of what a spelling means, and the day after its last; None if it has a blank.

    A range is from the first day of its first end to the last of its second.
    """
    first, _, last = normal.partition(RANGE)
    start, end = _days_of_one(first), _days_of_one(last or first)
    return (start[0], end[1]) if start and end else None


def _days_of_one(normal: str) -> tuple[date, date] | None:
    found = _SPELLING.match(normal)
    try:
        return None if found is None else _period(found)
    except (ValueError, OverflowError):  # no such day, or past the end of the calendar
        return None


def _period(found: re.Match[str]) -> tuple[date, date]:
    year = int(found["year"])
    if found["week"]:
        monday = date.fromisocalendar(year, int(found["week"]), 1)
        return (monday + 5 * _DAY if found["weekend"] == "-WE" else monday), monday + 7 * _DAY
    if found["quarter"]:
        first = date(year, int(found["quarter"]) * 3 - 2, 1)
        return first, months_on(first, 3)
    if not found["month"]:
        return date(year, 1, 1), date(year + 1, 1, 1)
    first = date(year, int(found["month"]), 1)
    if found["day"]:
        day = first.replace(day=int(found["day"]))
        return day, day + _DAY
    if found["part"]:
        start, end = _PARTS[found["part"]]
        after = months_on(first, 1) if end > 28 else first.replace(day=end)
        return first.replace(day=start), after
    return first, months_on(first, 1)


def begin(day: date, like: datetime) -> datetime:
    """The beginning of a day in the time zone of a moment."""
    return datetime.combine(day, time(), tzinfo=like.tzinfo)
