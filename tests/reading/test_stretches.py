"""A part of a statement that is over: masked where it stands, and the rest is kept."""

from __future__ import annotations

import pytest

import incumbent
from incumbent.testing import SteppingClock

MARK = "[no longer current]"


def told(first: str, second: str, *, days: int = 3) -> str:
    """The context the day after two statements."""
    clock = SteppingClock()
    with incumbent.open(":memory:", clock=clock) as memory:
        memory.session(user_id="ann", session_id="one").observe(first)
        clock.advance(days=days)
        memory.session(user_id="ann", session_id="two").observe(second)
        clock.advance(days=1)
        return memory.session(user_id="ann", session_id="three").context(first).text


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (
            "My flatmates are Yusuf and Hye-jin.",
            "Yusuf moved out, and Bartek has taken his room.",
            f"My flatmates are {MARK} and Hye-jin.",
        ),
        (
            "We have shops in Dublin, Cork and Galway.",
            "Galway is closing its doors, the lease ran out yesterday.",
            f"We have shops in Dublin, Cork and {MARK}.",
        ),
    ],
)
def test_what_is_over_is_masked_on_another_day(first: str, second: str, left: str) -> None:
    """The rest stands in its own words, and what was said last beside it."""
    text = told(first, second)
    assert left in text
    assert second.split(",")[0] in text
    assert first not in text


def test_a_mark_that_somebody_typed_is_quoted() -> None:
    """Only what was amended is shown without quotation marks."""
    typed = f"My flatmates are {MARK} and Hye-jin."
    text = told(typed, "It is raining.")
    assert f'"{typed}"' in text


def test_what_may_follow_from_it_is_not_edited() -> None:
    """Seven days do not end on the ninth: all of it is in doubt."""
    text = told("We stay 5 days, so we return on the 9th.", "We stay 7 days.")
    assert "[7 days], so we return on the 9th" not in text
    assert "in doubt" in text


def test_an_amended_statement_can_be_taken_back_whole() -> None:
    """An undo gives the words back as they were said."""
    clock = SteppingClock()
    with incumbent.open(":memory:", clock=clock) as memory:
        ann = memory.session(user_id="ann", session_id="one")
        first = "We have shops in Dublin, Cork and Galway."
        ann.observe(first)
        clock.advance(days=3)
        made = ann.observe("Galway is closing its doors, the lease ran out yesterday.")
        assert first not in {str(fact.value) for fact in ann.facts()}
        left = first.replace("Galway", MARK)
        changed = next(one for one in made.verdicts if one.fact and one.fact.value == left)
        ann.undo(changed)
        assert first in {str(fact.value) for fact in ann.facts()}
