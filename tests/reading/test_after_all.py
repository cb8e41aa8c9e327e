"""What is corrected, cancelled or kept after all, in plain words: what stands in the end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import incumbent
from incumbent.testing import SteppingClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def ann() -> Iterator[incumbent.Session]:
    settings = incumbent.Settings(embedder="static")
    with incumbent.open(":memory:", clock=SteppingClock(MONDAY), settings=settings) as memory:
        yield memory.session(user_id="ann", organization="acme")


@pytest.mark.parametrize(
    ("told", "stands"),
    [
        # old and new in words
        (
            ["Rita wants the room painted green with white trim.", "Not green, blue."],
            {"Rita wants the room painted [blue] with white trim.", "Not green, blue."},
        ),
        (
            ["I run 5 km on Tuesdays and 10 km on Sundays.", "it's 12 km on Sundays, not 10"],
            {
                "I run 5 km on Tuesdays and [12 km] on Sundays.",
                "it's 12 km on Sundays, not 10",
            },
        ),
        (
            ["The jacket is blue, the scarf is blue.", "Not blue, green."],
            {"The jacket is blue, the scarf is blue.", "Not blue, green."},
        ),
        (
            ["The wall is green.", "I'll have tea.", "The bread is here.", "Not green, blue."],
            {"The wall is green.", "I'll have tea.", "The bread is here.", "Not green, blue."},
        ),
        # one thing by two names
        (
            ["The code for the garage is 4471.", "They changed the garage code to 9082."],
            {"9082"},
        ),
        # cancelled, and kept after all
        (
            ["Order 6 yoga mats for the studio.", "cancel the mats", "actually keep them"],
            {"Order 6 yoga mats for the studio."},
        ),
        (
            ["I like tea.", "I'd like to cancel my gym membership."],
            {"I like tea.", "I'd like to cancel my gym membership."},
        ),
        (
            ["Cancel my gym membership.", "changed my mind, I'll keep the membership"],
            {"changed my mind, I'll keep the membership"},
        ),
        (
            ["Keep the window open at night.", "The cat is in."],
            {"Keep the window open at night.", "The cat is in."},
        ),
        # an item of a list lasts as long as the others
        (
            ["1. unplug the pump\n2. close valve B\n3. wait ten minutes"],
            {"unplug the pump", "close valve B", "wait ten minutes"},
        ),
    ],
    ids=lambda one: one[-1] if isinstance(one, list) else "",
)
def test_what_stands_in_the_end(ann: incumbent.Session, told: list[str], stands: set[str]) -> None:
    """Each change reaches what it is about and nothing else."""
    for text in told:
        ann.observe(text)
    assert {str(fact.value) for fact in ann.facts()} == stands


def test_a_stretch_that_was_no_value_is_not_repeated_once_it_has_changed(
    ann: incumbent.Session,
) -> None:
    """Nor by the turn that said it."""
    ann.observe("Rita wants the room painted green with white trim.")
    ann.observe("Not green, blue.")
    assert "painted green" not in ann.context("How does Rita want the room?").text
