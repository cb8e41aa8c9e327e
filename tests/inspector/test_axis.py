"""A chain on a time axis: bars for when facts held and when they were on record."""

from __future__ import annotations

from datetime import timedelta

import pytest

import incumbent
from incumbent.inspector.axis import axis_of
from incumbent.inspector.story import chain_of
from incumbent.testing import SteppingClock

WHO = {"user_id": "alice", "organization": "acme"}


def test_bars_follow_each_other(memory: incumbent.Memory, clock: SteppingClock) -> None:
    """Where the one value ends the next begins, and the last goes on."""
    alice = memory.session(**WHO)
    alice.write("city", "Bern")
    clock.advance(days=2)
    alice.write("city", "Basel")
    clock.advance(days=2)
    explained = alice.explain("city")
    axis = axis_of(chain_of(explained, most=9), explained.verdicts, memory.now())
    assert axis is not None
    first, second = axis.rows
    assert first.held.x + first.held.width == pytest.approx(second.held.x, abs=0.02)
    assert second.held.until is None
    assert second.held.x + second.held.width == pytest.approx(100)
    assert 2 <= len(axis.ticks) <= 7
    assert [mark.verdict.outcome for mark in second.marks] == ["superseded"]


def test_the_two_times_are_told_apart(memory: incumbent.Memory, clock: SteppingClock) -> None:
    """What is said late held before it was on record."""
    alice = memory.session(**WHO)
    long_ago = memory.now() - timedelta(days=30)
    alice.write("city", "Bern", at=long_ago, valid_from=long_ago)
    clock.advance(days=1)
    explained = alice.explain("city")
    axis = axis_of(chain_of(explained, most=9), explained.verdicts, memory.now())
    assert axis is not None
    row = axis.rows[0]
    assert row.held.x < 5
    assert row.known.x > 90
    assert row.held.since == long_ago


def test_what_was_overruled_never_held(memory: incumbent.Memory) -> None:
    """It is drawn as a wish, and was on record for no time."""
    memory.session(**WHO, authority="manager").write("limit", 500)
    alice = memory.session(**WHO, authority="guest")
    alice.write("limit", 900)
    explained = alice.explain("limit")
    axis = axis_of(chain_of(explained, most=9), explained.verdicts, memory.now())
    assert axis is not None
    assert [(row.fact.value, row.served) for row in axis.rows] == [(500, True), (900, False)]
    assert axis.rows[1].known.until == axis.rows[1].fact.recorded_at


def test_nothing_has_no_axis(memory: incumbent.Memory) -> None:
    """Without a fact there is nothing to draw."""
    assert axis_of([], [], memory.now()) is None
