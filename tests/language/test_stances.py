"""Whether what is said affirms or denies, and in which state it says that a thing is."""

from __future__ import annotations

import pytest

from incumbent.language.stances import Opposition, opposition


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We ship to Norway.", "We don't ship to Norway."),
        ("The bike isn't insured.", "The bike is insured."),
        ("I smoke.", "I don't smoke any more."),
        ("The request is approved.", "The request was cancelled."),
        ("The pool is closed.", "They have reopened the pool."),
        ("My boat is for sale.", "My boat is sold!"),
    ],
)
def test_what_is_denied_or_in_another_state_is_surely_over(old: str, new: str) -> None:
    """Both say something of the same thing that cannot both be so."""
    assert opposition(new, old) is Opposition.SURE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The board has approved the west wing.", "The west wing has been cancelled."),
        ("The museum in the old mill is open.", "The museum is closed."),
        ("the garden wall, the council approved it", "the garden wall got cancelled"),
    ],
)
def test_what_names_more_or_less_of_a_thing_is_only_likely_the_same(old: str, new: str) -> None:
    """A state of what is told in other words puts the older one in doubt."""
    assert opposition(new, old) is Opposition.LIKELY


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I smoke.", "He doesn't smoke."),
        ("Ticket 12 is open.", "Ticket 13 is closed."),
        ("The order is approved.", "The order is not cancelled."),
        ("We ship to Norway.", "We don't ship to Chile."),
        ("The meeting is at 11.", "The meeting has not been moved to 1pm."),
        ("The request is approved.", "The coffee machine is broken."),
    ],
)
def test_what_is_about_something_else_opposes_nothing(old: str, new: str) -> None:
    """Another person, another number, another thing."""
    assert opposition(new, old) is Opposition.NONE
