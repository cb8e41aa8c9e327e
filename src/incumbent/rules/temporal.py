"""Time: which fact holds when, which came late, and where a late reading belongs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact, Status

_OFFICE = Status.OFFICE  # looked up once: each write asks for it


def as_seen(fact: Fact, when: datetime) -> Fact:
    """The fact as a reader at that moment sees it.

    Terms begin and end by themselves: a fact past its `valid_until` has expired although nobody
    touched it. A fact whose successor starts next week is still in office, and that successor
    waits.
    """
    held = fact.held_at(when)
    if fact.status is _OFFICE and not held:
        started = fact.started_at is not None and fact.started_at <= when
        return fact.evolve(status=Status.EXPIRED if started else Status.WAITING)
    if held and fact.status is not _OFFICE:
        return fact.evolve(status=_OFFICE)
    return fact


def is_ahead(fact: Fact, when: datetime) -> bool:
    """Whether a fact was said by that moment and takes office later, by its own term."""
    if fact.status is not Status.OFFICE or fact.started_at is None or fact.timestamp > when:
        return False
    until = fact.until
    return fact.started_at > when and (until is None or until > fact.started_at)


def has_lapsed(incumbent: Fact, candidate: Fact) -> bool:
    """Whether the incumbent's own term ends before the candidate's begins: no conflict then."""
    return incumbent.valid_until is not None and incumbent.valid_until <= candidate.valid_from


def tells_of_the_past(candidate: Fact) -> bool:
    """Whether the candidate's term was over when it was said: it contradicts nothing present."""
    return candidate.valid_until is not None and candidate.valid_until <= candidate.recorded_at


def start_of(fact: Fact) -> datetime:
    return fact.started_at or fact.valid_from


def effect_of(candidate: Fact) -> datetime:
    """The moment from which a candidate bears on facts in office: its start, or now if that is
    past."""
    return max(candidate.valid_from, candidate.recorded_at)


def overlaps(seat: Fact, candidate: Fact) -> bool:
    """Whether a fact holds its address at some moment that the candidate wants."""
    ends_before = seat.until is not None and seat.until <= effect_of(candidate)
    starts_after = candidate.valid_until is not None and candidate.valid_until <= start_of(seat)
    return not ends_before and not starts_after


def is_late(incumbent: Fact, candidate: Fact, *, arrived_late: bool = False) -> bool:
    """True if the candidate is older than the incumbent although it arrived after it.

    A candidate that its caller did not date is said now, whatever a skewed clock thinks, unless it
    is known to have `arrived_late`.
    """
    begun = start_of(incumbent)
    # A fact that begins after the candidate was said comes after it, however early it was planned.
    older = candidate.order < max(incumbent.order, begun) and candidate.valid_from <= begun
    return (arrived_late or is_dated(candidate)) and older


def is_dated(candidate: Fact) -> bool:
    """Whether a candidate gives its own date, and so may come late."""
    return candidate.timestamp != candidate.recorded_at or candidate.time_sensitive


_LEFT = (Status.OFFICE, Status.RETRACTED, Status.EXPIRED)


def has_served(fact: Fact, now: datetime) -> bool:
    """Whether a fact held its address for a while and left it with nobody in its place."""
    return (
        fact.status in _LEFT
        and fact.started_at is not None
        and fact.until is not None
        and fact.started_at < fact.until <= now
    )


class Position(NamedTuple):
    """The place of a late candidate in its chain; `overruled_by` if it has none."""

    after: Fact | None
    before: Fact
    overruled_by: Fact | None = None


def place(candidate: Fact, incumbent: Fact, timeline: Iterable[Fact], ladder: Ladder) -> Position:
    """Find a late candidate's place among the facts that held its address.

    It goes before the first that began later and may supersede it. The incumbent, or the last
    holder of the address, may.
    """

    def key(fact: Fact) -> tuple[datetime, datetime]:
        return start_of(fact), fact.order

    rung = candidate.authority
    own = (candidate.valid_from, candidate.order)
    now = candidate.recorded_at
    served = sorted(
        (
            fact
            for fact in timeline
            if (
                fact.status in (Status.OFFICE, Status.SUPERSEDED)
                or fact.id == incumbent.id
                or has_served(fact, now)
            )
            and fact.id != candidate.id
            and start_of(fact) <= start_of(incumbent)  # plans for later are no part of the past
        ),
        key=lambda fact: (*key(fact), fact.recorded_at, fact.id),
    )
    later = [f for f in served if key(f) > own and not ladder.outranks(rung, f.standing)]
    before = later[0] if later else incumbent
    after = None
    for fact in served:
        if fact.id == before.id or key(fact) > own:
            continue
        if fact.superseded_by == before.id or _held_alone(fact, candidate.valid_from, now):
            after = fact
    if after is not None and ladder.outranks(after.standing, rung):
        return Position(None, before, overruled_by=after)
    return Position(after, before)


def _held_alone(fact: Fact, when: datetime, now: datetime) -> bool:
    """Whether a fact that left with no successor still held its address at that time."""
    return has_served(fact, now) and fact.until is not None and when < fact.until
