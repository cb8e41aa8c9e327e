"""Requests: what is asked for is changed value by value, as long as it is at hand."""

from __future__ import annotations

import pytest

import incumbent


def facts_after(*turns: str) -> str:
    """The facts of a session after some turns; those of an assistant begin with a dash."""
    with incumbent.open(":memory:") as memory:
        session = memory.session(user_id="ana")
        for turn in turns:
            speaker = "assistant" if turn.startswith("- ") else "user"
            session.observe(turn.removeprefix("- "), speaker=speaker)
        return session.context("everything about it").text.partition("# Working set")[0]


@pytest.mark.parametrize(
    ("turns", "now", "before"),
    [
        (
            (
                "Book me a cab.",
                "- Where are you going?",
                "I'm going to 12 Harbour Street.",
                "Sorry, I need to go to Mill Road Station.",
            ),
            "Mill Road Station",
            "Harbour Street",
        ),
        (
            (
                "Find me a table for Friday.",
                "- Where?",
                "I want to try out Casa Rosa.",
                "- Casa Rosa is full on Friday.",
                "Would you try booking at The Old Mill?",
            ),
            "The Old Mill",
            "to try out Casa Rosa",
        ),
    ],
)
def test_what_is_asked_for_instead_takes_the_place_of_what_was_asked_for(
    turns: tuple[str, ...], now: str, before: str
) -> None:
    found = facts_after(*turns)
    assert now in found
    assert before not in found


def test_the_rest_of_a_request_stands_when_one_of_its_values_changes() -> None:
    found = facts_after(
        "I need to rent a van.",
        "I want to pick it up on 3 June in Ghent.",
        "I'd like to pick it up on 5 June instead.",
    )
    assert "5 June" in found
    assert "Ghent" in found
    assert "3 June" not in found


@pytest.mark.parametrize(
    ("beside", "kept"),
    [
        ("My sister is at The Old Mill for lunch.", "Casa Rosa"),
        ("Then book me a table at The Old Mill for Sunday.", "Casa Rosa"),
    ],
)
def test_what_is_said_beside_a_request_leaves_it_as_it_is(beside: str, kept: str) -> None:
    assert kept in facts_after("Book me a table at Casa Rosa for 4.", beside)
