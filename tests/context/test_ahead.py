"""What lies ahead stands with its day, beside what holds until then; and what stands where."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import incumbent
from incumbent.context.rendering import AHEAD
from incumbent.model.fact import Source
from incumbent.testing import SteppingClock
from tests.conftest import QUICK, OpenMemory
from tests.said import keep_said

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
SAID = Source("conversation", turn_index=0, speaker="user")
_MANY = 450
"""More facts than are all ranked."""


@pytest.fixture
def session(open_memory: OpenMemory, clock: SteppingClock) -> incumbent.Session:
    clock.move_to(NOW)
    return open_memory(settings=QUICK).session(user_id="ann")


def texts(session: incumbent.Session, query: str, section: str, **given: Any) -> list[str]:
    context = session.context(query, **given)
    return [line.text for line in context.lines if line.section == section]


def test_a_future_term_is_shown_with_its_day(session: incumbent.Session) -> None:
    """What holds from June on stands ahead, and what holds until then among the facts."""
    session.write("rent", "850 EUR")
    session.write("rent", "900 EUR", source=SAID, valid_from=JUNE)
    assert texts(session, "What is the rent?", "Facts") == ["- rent: 850 EUR"]
    assert texts(session, "What is the rent?", AHEAD) == [
        "- rent: 900 EUR (from 2026-06-01) (said 2026-03-02)"
    ]


def test_what_was_written_for_later_comes_on_its_day(session: incumbent.Session) -> None:
    """A planned value of a system is in no context before its term; an omission tells of it."""
    session.write("rent", "850 EUR")
    later = session.write("rent", "900 EUR", valid_from=JUNE).fact_id
    context = session.context("What is the rent?")
    assert "900" not in context.text
    assert [one.reason for one in context.omissions if one.fact_id == later] == ["not yet"]


def test_a_future_term_that_was_said_has_both_days(session: incumbent.Session) -> None:
    """From when it holds, and when and by whom it was said."""
    text = "From 1 June the rent is 900"
    told = Source("conversation", turn_index=0, speaker="Priya", quote=text)
    keep_said(session, text, told, valid_from=JUNE)
    assert texts(session, "What is the rent?", AHEAD) == [
        f"- from 2026-06-01 (said 2026-03-02 by Priya): {text}"
    ]


def test_a_value_that_is_to_come_back_is_told(session: incumbent.Session) -> None:
    """What a statement says is to be so is no dead value in it, though it is one elsewhere."""
    session.write("rent", "800 EUR")
    session.write("rent", "850 EUR")
    session.write("rent", "800 EUR", source=SAID, valid_from=JUNE)
    session.note("mail", "the landlord once spoke of 800 EUR, as far as anybody remembers it")
    assert "- rent: 800 EUR (from 2026-06-01)" in texts(session, "rent?", AHEAD)[0]
    assert session.context("What is the rent, by the mail of the landlord?").text.count("800") == 1


def test_a_future_term_becomes_a_fact_on_its_day(
    session: incumbent.Session, clock: SteppingClock
) -> None:
    """On the day it moves among the facts, and what held before is gone."""
    session.write("rent", "850 EUR")
    session.write("rent", "900 EUR", source=SAID, valid_from=JUNE)
    clock.move_to(JUNE)
    assert texts(session, "What is the rent?", AHEAD) == []
    assert texts(session, "What is the rent?", "Facts") == ["- rent: 900 EUR (said 2026-03-02)"]


def test_a_term_that_begins_today_has_its_time(session: incumbent.Session) -> None:
    """A day would not tell that it does not hold yet."""
    session.write("gate", "B12", source=SAID, valid_from=NOW + timedelta(hours=3))
    assert texts(session, "Which gate?", AHEAD) == [
        "- gate: B12 (from 2026-03-02 12:00) (said 2026-03-02)"
    ]


def test_a_rule_that_lies_ahead_does_not_bind_yet(session: incumbent.Session) -> None:
    """It stands ahead, and not among the constraints."""
    session.write("cap", "10 people", constraint_type="capacity", source=SAID, valid_from=JUNE)
    context = session.context("How many people may come?")
    assert [line.section for line in context.lines if line.fact_id] == [AHEAD]


def test_what_was_called_off_lies_ahead_no_longer(session: incumbent.Session) -> None:
    """A term that was taken back before it began is not shown."""
    session.write("rent", "850 EUR")
    later = session.write("rent", "900 EUR", source=SAID, valid_from=JUNE)
    session.retract(later.fact_id)
    assert texts(session, "What is the rent?", AHEAD) == []


def test_what_lies_ahead_is_shown_or_accounted_for_once(session: incumbent.Session) -> None:
    """Either a line or an omission tells of it, never both."""
    session.write("rent", "850 EUR")
    later = session.write("rent", "900 EUR", source=SAID, valid_from=JUNE).fact_id
    for budget in (10, 40, 80, 120, 2_000):
        context = session.context("What is the rent?", budget=budget)
        shown = [line for line in context.lines if line.fact_id == later]
        left = [omission for omission in context.omissions if omission.fact_id == later]
        assert len(shown) + len(left) == 1, budget
        assert context.tokens <= budget


def test_what_lies_ahead_is_found_among_many(session: incumbent.Session) -> None:
    """In a memory of which not everything is looked at, too."""
    session.write_many(
        {"key": f"entry_{number}", "value": f"entry {number} of the plan"}
        for number in range(_MANY)
    )
    session.write("rent", "900 EUR", source=SAID, valid_from=JUNE)
    assert texts(session, "What is the rent?", AHEAD) == [
        "- rent: 900 EUR (from 2026-06-01) (said 2026-03-02)"
    ]


def test_what_was_written_for_later_does_not_crowd_out_what_was_said(
    session: incumbent.Session,
) -> None:
    """Of many planned values that come sooner none is shown, and none takes a place."""
    session.write_many(
        {"key": f"entry_{number}", "value": f"entry {number} of the plan", "valid_from": MAY}
        for number in range(_MANY)
    )
    session.write("rent", "900 EUR", source=SAID, valid_from=JUNE)
    assert texts(session, "What is the rent?", AHEAD) == [
        "- rent: 900 EUR (from 2026-06-01) (said 2026-03-02)"
    ]


def test_what_was_not_said_yet_does_not_lie_ahead_of_the_past(
    session: incumbent.Session, clock: SteppingClock
) -> None:
    """A look at the past shows what was ahead then, not all that came later."""
    session.write("rent", "850 EUR")
    session.write("rent", "900 EUR", source=SAID, valid_from=JUNE)
    clock.advance(days=2)
    session.write("baker", "Jonas")
    then = session.as_of(NOW + timedelta(hours=1))
    assert texts(then, "What is the rent, and who bakes?", AHEAD) == [
        "- rent: 900 EUR (from 2026-06-01) (said 2026-03-02)"
    ]


def test_others_see_nothing_of_what_lies_ahead(session: incumbent.Session) -> None:
    """A future term is seen by whoever may see the fact."""
    session.write("rent", "900 EUR", source=SAID, valid_from=JUNE, requires=["money"])
    context = session.context("What is the rent?")
    assert not any("900" in line.text for line in context.lines)


# order


def test_of_equals_the_newest_is_taken_where_room_is_short(
    session: incumbent.Session, clock: SteppingClock
) -> None:
    """Order is one thing, what fits another."""
    for word in ("one", "two", "three"):
        clock.advance(hours=1)
        session.write(f"{word}_way", f"{word}fold")
    small = next(
        found
        for budget in range(40, 200)
        if len(found := texts(session, "", "Facts", budget=budget)) == 2
    )
    assert sorted(small) == ["- three_way: threefold", "- two_way: twofold"]


# relevance


def test_what_shares_a_word_with_the_query_is_never_irrelevant(session: incumbent.Session) -> None:
    """However low it scores beside the best, while there is room."""
    session.write("harbour_fee", "the harbour fee is 40 EUR, says the harbour office")
    kept = [
        session.write(f"remark_{number}", f"remark {number} at length on boats and a harbour")
        for number in range(60)
    ]
    context = session.context("harbour fee harbour office", profile="high-stakes", budget=4_000)
    shown = {line.fact_id for line in context.lines}
    assert shown.issuperset(verdict.fact_id for verdict in kept)


def test_what_shares_its_subject_comes_along(session: incumbent.Session) -> None:
    """A fact on the subject of one that is asked for is there with it."""
    session.write("berth", "berth 7", subject="Gull")
    crew = session.write("crew", "four", subject="Gull")
    session.write_many(
        {"key": f"entry_{number}", "value": f"berth entry {number}"} for number in range(60)
    )
    context = session.context("Which berth?", profile="high-stakes", budget=4_000)
    assert crew.fact_id in {line.fact_id for line in context.lines}


def test_others_take_a_share_of_what_is_left(session: incumbent.Session) -> None:
    """With room to spare, what the query is not about is there as well, after the rest."""
    session.write("harbour_fee", "40 EUR")
    session.write_many(
        {"key": f"entry_{number}", "value": f"{number} sacks"} for number in range(80)
    )
    context = session.context("What is the harbour fee?", budget=4_000)
    assert not [one for one in context.omissions if one.reason == "irrelevant"]
    best = max(context.lines, key=lambda line: line.score or 0)
    assert best.text == "- harbour_fee: 40 EUR"


def test_facts_take_the_room_that_notes_do_not_need(session: incumbent.Session) -> None:
    """Nothing is over budget while a good part of the budget is free."""
    session.write_many(
        {"key": f"entry_{number}", "value": f"{number} sacks of flour"} for number in range(40)
    )
    whole = session.context("How much flour?", budget=4_000)
    budget = int(whole.tokens * 1.15) + 60
    context = session.context("How much flour?", budget=budget)
    assert not [one for one in context.omissions if one.reason == "over budget"]
