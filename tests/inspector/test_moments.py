"""Moments: the times of decisions, found with few questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from incumbent.inspector.moments import STEPS, DecisionAxis, Recorded, after, axis_of, before

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
seconds = st.integers(0, 40_000_000)
moments = st.lists(seconds.map(lambda some: BEGIN + timedelta(seconds=some)), max_size=400)


def asked(of: list[datetime], counted: list[int] | None = None) -> Recorded:
    """A list that answers as a session does."""

    def recorded(
        since: datetime | None, until: datetime | None, limit: int
    ) -> tuple[list[datetime], bool]:
        if counted is not None:
            counted.append(limit)
        found = [
            one
            for one in sorted(of, reverse=True)
            if (since is None or one >= since) and (until is None or one < until)
        ]
        return found[:limit], len(found) <= limit

    return recorded


@given(moments)
def test_an_axis_goes_from_the_first_to_the_last_decision(of: list[datetime]) -> None:
    """All of its marks are decisions, in order; all decisions are marks where they are few."""
    axis = axis_of(asked(of))
    if not of:
        assert axis is None
        return
    assert axis is not None
    assert (axis.first, axis.last) == (min(of), max(of))
    assert list(axis.marks) == sorted(set(axis.marks))
    assert set(axis.marks) <= set(of)
    if len(of) <= 100:
        assert axis.is_exact
        assert set(axis.marks) == set(of)


@given(moments, seconds)
def test_the_steps_lead_to_the_nearest_decisions(of: list[datetime], some: int) -> None:
    """The one right before a moment, and the one right after it."""
    when = BEGIN + timedelta(seconds=some)
    assert before(asked(of), when) == max((one for one in of if one < when), default=None)
    last = max(of, default=BEGIN)
    assert after(asked(of), when, last) == min((one for one in of if one > when), default=None)


def test_a_long_list_is_not_read() -> None:
    """Of 50,000 decisions, some hundred lines are asked for."""
    of = [BEGIN + timedelta(minutes=number) for number in range(50_000)]
    counted: list[int] = []
    axis = axis_of(asked(of, counted))
    assert axis is not None
    assert (axis.first, axis.last, axis.is_exact) == (of[0], of[-1], False)
    assert 50 <= len(axis.marks) <= 61
    assert sum(counted) < 1_000


@given(st.integers(0, STEPS), st.integers(1, 10**7))
def test_a_slider_stands_where_it_was_put(position: int, long: int) -> None:
    """The moment of a position has that position."""
    axis = DecisionAxis(BEGIN, BEGIN + timedelta(seconds=long))
    assert axis.position(axis.moment(position)) == position


def test_a_slider_has_its_ends() -> None:
    """A moment outside is at the end that is nearer, and a single decision is at the end."""
    axis = DecisionAxis(BEGIN, BEGIN + timedelta(days=1))
    assert axis.position(BEGIN - timedelta(days=9)) == 0
    assert axis.position(BEGIN + timedelta(days=9)) == STEPS
    assert DecisionAxis(BEGIN, BEGIN).position(BEGIN) == STEPS
