"""Order: named facts by subject and key, then what was said, oldest first, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import incumbent
from incumbent.context.rendering import HISTORY
from incumbent.testing import SteppingClock
from tests.conftest import QUICK

TURN = "We spent the summer in Bergen. It rained on every day of it."


@pytest.fixture
def clock() -> SteppingClock:
    """A clock that only tests move: a turn has one moment."""
    return SteppingClock()


@pytest.fixture
def ann(clock: SteppingClock) -> Iterator[incumbent.Session]:
    with incumbent.open(":memory:", clock=clock, settings=QUICK) as memory:
        yield memory.session(user_id="ann")


def shown(session: incumbent.Session, query: str = "", budget: int = 4_000) -> list[str]:
    """The lines of facts."""
    lines = session.context(query, budget=budget).lines
    return [line.text for line in lines if line.fact_id and line.section != HISTORY]


def test_named_facts_stand_by_subject_and_key(ann: incumbent.Session) -> None:
    ann.write("shoe_size", "44")
    ann.write("diet", "vegan", subject="Nell")
    ann.write("city", "Bergen")
    ann.write("age", 4, subject="Nell")
    expected = ["- city: Bergen", "- shoe_size: 44", "- age (Nell): 4", "- diet (Nell): vegan"]
    assert shown(ann) == expected
    assert shown(ann, "Which diet, and which shoe size?") == expected


def test_what_was_said_stands_after_named_facts_oldest_first(
    ann: incumbent.Session, clock: SteppingClock
) -> None:
    for sentence in ("We sail on Sundays.", "The boat leaks at the stern."):
        clock.advance(days=1)
        ann.observe(sentence)
    ann.write("boat", "Gull")
    assert shown(ann, "Where does the boat leak?") == [
        "- boat: Gull",
        "- 2026-01-06: We sail on Sundays.",
        "- 2026-01-07: The boat leaks at the stern.",
    ]


def test_sentences_of_a_turn_stand_together_under_its_day(ann: incumbent.Session) -> None:
    """As they were said."""
    ann.observe(TURN)
    assert shown(ann) == [
        "- 2026-01-05: We spent the summer in Bergen.",
        "  It rained on every day of it.",
    ]


def test_turns_of_one_moment_stand_in_their_order(ann: incumbent.Session) -> None:
    """However long the sentences before theirs are."""
    at = ann.context("").at
    ann.observe("Hm, let me think about it for a moment. The mast is new.", at=at)
    ann.observe("The sail is old.", at=at)
    assert [line[-11:-1] for line in shown(ann)][-2:] == ["ast is new", "ail is old"]


def test_a_sentence_whose_turn_is_not_shown_has_its_own_day(
    ann: incumbent.Session, clock: SteppingClock
) -> None:
    """Only a line that stands directly above lends its day."""
    ann.observe(TURN)
    whole = ann.context("Did it rain?")
    lines = [line for line in whole.lines if line.fact_id]
    tight = next(
        found
        for budget in range(40, whole.tokens)
        if len(found := shown(ann, "Did it rain on every day?", budget=budget)) == 1
    )
    assert len(lines) == 2
    assert tight[0].startswith("- 2026-01-05: ")


def test_a_kept_context_with_lines_of_one_turn_is_read_again_byte_for_byte() -> None:
    with incumbent.open(":memory:", clock=SteppingClock(), settings=QUICK) as memory:
        session = memory.session(user_id="ann")
        session.observe(TURN)
        context = session.context("Did it rain?", record=True, conversation=False)
        record = memory.receipt(context.receipt_id).record()
        assert context.text.count("\n  It rained") == 1
        assert "rained" not in str(record)
        assert memory.replay(context.receipt_id).text == context.text
