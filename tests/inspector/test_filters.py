"""Filters: what an address asks of the list of facts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import incumbent
from incumbent.inspector.filters import AGES, STATES, Filters, page_of
from incumbent.inspector.watching import head_of
from incumbent.testing import SteppingClock

NOW = datetime(2026, 3, 1, tzinfo=UTC)
WHO = {"user_id": "alice", "organization": "acme"}


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_one_that_a_session_lists(state: str, memory: incumbent.Memory) -> None:
    """So is every age."""
    for age in ("", *AGES):
        filters = Filters.of({"state": state, "age": age})
        assert list(memory.session(**WHO).list_facts(**filters.query(NOW))) == []


def test_an_age_is_a_span_of_time() -> None:
    """Newer than so long, or older."""
    assert Filters(age="day").query(NOW)["since"] == NOW - timedelta(days=1)
    assert Filters(age="old").query(NOW)["until"] == NOW - timedelta(days=365)


@pytest.mark.parametrize("asked", [{"state": "asleep"}, {"age": "yesterday"}])
def test_a_filter_that_nobody_knows_is_refused(asked: dict[str, str]) -> None:
    """With those that there are."""
    with pytest.raises(incumbent.InvalidInput, match="is not one of"):
        Filters.of(asked)


def test_constraints_are_found_between_other_facts(memory: incumbent.Memory) -> None:
    """Every one, by pages, and a page that found none yet tells where to go on."""
    session = memory.session(**WHO, authority="manager")
    session.write("q1_budget", 1)
    session.write_many([{"key": f"key_{number}", "value": number} for number in range(120)])
    session.write("q2_budget", 2)
    found = page_of(session, Filters().query(NOW), limit=1, cursor=None, constraints=True)
    assert [fact.key for fact in found] == ["q2_budget"]
    rest = page_of(session, Filters().query(NOW), limit=50, cursor=found.next, constraints=True)
    assert [fact.key for fact in rest] == ["q1_budget"]
    assert rest.next is None


def test_a_mark_of_the_log_changes_with_it(memory: incumbent.Memory, clock: SteppingClock) -> None:
    """And once a minute by itself, because facts expire with no decision."""
    session = memory.session(**WHO)
    first = head_of(memory, "acme", NOW)
    assert head_of(memory, "acme", NOW + timedelta(seconds=59)) == first
    assert head_of(memory, "acme", NOW + timedelta(seconds=60)) != first
    session.write("seat", "window")
    assert head_of(memory, "acme", NOW) != first
    assert head_of(memory, "globex", NOW) != head_of(memory, "acme", NOW)
