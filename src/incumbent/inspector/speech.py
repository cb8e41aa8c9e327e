"""Facts in the words of a page: where they come from, and how long ago."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from incumbent.context.quotes import name
from incumbent.context.rendering import name_of
from incumbent.model.fact import Fact, Source
from incumbent.words import shown

_STEPS = (
    (timedelta(minutes=1), timedelta(seconds=1), "second"),
    (timedelta(hours=1), timedelta(minutes=1), "minute"),
    (timedelta(days=1), timedelta(hours=1), "hour"),
    (timedelta(days=60), timedelta(days=1), "day"),
    (timedelta(days=730), timedelta(days=30), "month"),
)
_YEAR = timedelta(days=365)
_KINDS = {
    "state_write": "written",
    "system": "recorded by the system",
    "policy": "set as policy",
}


def moment(when: datetime) -> str:
    """A moment to the minute: `3 March 2026, 09:14 UTC`."""
    there = when.astimezone(UTC)
    return f"{there.day} {there:%B %Y, %H:%M} UTC"


def second(when: datetime) -> str:
    """A moment to the second: `3 March 2026, 09:14:05 UTC`."""
    there = when.astimezone(UTC)
    return f"{there.day} {there:%B %Y, %H:%M:%S} UTC"


def day(when: datetime) -> str:
    """The day of a moment: `3 March 2026`."""
    there = when.astimezone(UTC)
    return f"{there.day} {there:%B %Y}"


def ago(when: datetime, now: datetime) -> str:
    """How long ago a moment is, or how far ahead: `3 days ago`, `in 2 hours`."""
    away = abs(now - when)
    if away < timedelta(seconds=5):
        return "just now"
    unit, name = next(
        ((unit, name) for below, unit, name in _STEPS if away < below), (_YEAR, "year")
    )
    count = away // unit
    many = f"{count} {name}{'' if count == 1 else 's'}"
    return f"in {many}" if when > now else f"{many} ago"


def named(fact: Fact) -> str:
    """The name of a fact; of one without a name, whom or what it is about: its text is beside."""
    if fact.is_unnamed:
        return name(fact.subject or fact.owner or fact.organization)
    return name_of(fact)


def source_of(fact: Fact) -> str:
    """Where a fact comes from, in plain words: `said by alice on 3 March 2026, turn 12`."""
    source = fact.source
    by = f" by {who}" if (who := _speaker(fact)) else ""
    on = f" on {day(fact.timestamp)}"
    if source.turn_index is not None:
        how = "put together from what was said" if source.composed else "said"
        return f"{how}{by}{on}, turn {source.turn_index}"
    return f"{_KINDS.get(source.type, 'said')}{by}{on}"


def origin(source: Source) -> str:
    """Where a line of a context comes from, as far as its source tells: `said by dana, turn 12`."""
    who = source.name or source.speaker or ""
    named = f"the {who}" if who in ("user", "assistant", "tool", "system") else shown(who)
    by = f" by {named}" if who else ""
    turn = f", turn {source.turn_index}" if source.turn_index is not None else ""
    how = "put together from what was said" if source.composed else "said"
    quote = f": “{shown(source.quote)}”" if source.quote else ""
    return f"{_KINDS.get(source.type, how)}{by}{turn}{quote}"


def _speaker(fact: Fact) -> str:
    """Who said or wrote it. The user of a conversation is the person whose fact it is."""
    said = fact.source.name or fact.source.speaker or ""
    if said in ("", "user"):
        return shown(fact.owner) if fact.owner else ""
    return f"the {said}" if said in ("assistant", "tool", "system") else shown(said)
