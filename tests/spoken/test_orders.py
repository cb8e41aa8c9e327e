"""Orders to the assistant are no facts, and standing wishes are: both as others put them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import incumbent

TOLD = tomllib.loads((Path(__file__).parent / "commands.toml").read_text(encoding="utf-8"))
MOST_ORDERS = 0.07
LEAST_WISHES = 0.9


def share_that_is_remembered(texts: list[str]) -> float:
    """Each is said to an empty memory as it comes, and looked for in another session."""
    left = 0
    for text in texts:
        with incumbent.open(":memory:") as memory:
            memory.session(user_id="ana", session_id="monday").observe(text)
            left += bool(memory.session(user_id="ana", session_id="tuesday").facts())
    return left / len(texts)


@pytest.mark.xfail(strict=True, reason="17 % of them are remembered: what names something is kept")
def test_few_orders_leave_a_fact() -> None:
    """At most one order in fourteen is remembered; the target is one in twenty."""
    assert share_that_is_remembered(TOLD["commands"]) <= MOST_ORDERS


def test_nearly_all_standing_wishes_leave_a_fact() -> None:
    """At least nine in ten of what is wanted for good is remembered."""
    assert share_that_is_remembered(TOLD["standing"]) >= LEAST_WISHES


def test_an_order_that_changes_what_is_in_office_still_does() -> None:
    """An order to change a fact is no mere order."""
    with incumbent.open(":memory:") as memory:
        session = memory.session(user_id="ana")
        session.observe("The dentist is on Tuesday at 9.")
        session.observe("Move it to Thursday.")
        current = " ".join(str(fact.value) for fact in session.facts())
    assert "Thursday" in current
    assert "Tuesday" not in current


def test_an_order_with_the_values_of_a_task_is_kept() -> None:
    """What is asked for in numbers and names is worth knowing while it is seen to."""
    with incumbent.open(":memory:") as memory:
        session = memory.session(user_id="ana")
        session.observe("Book a table for 4 in Salem at 5 pm.")
        assert [fact.value for fact in session.facts()]
