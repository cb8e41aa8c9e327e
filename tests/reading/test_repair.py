"""Repair told in words: what one thing is, what rests on it, and how it changes."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.reading.attributed import attributed
from incumbent.reading.causes import base_of
from incumbent.reading.form import Statement, StatementKind
from incumbent.reading.offline import parts_of
from incumbent.reading.telling import told_in
from incumbent.testing import SteppingClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


def stories(name: str) -> list[dict[str, Any]]:
    told = tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
    found: list[dict[str, Any]] = told["story"]
    return found


def played(story: dict[str, Any]) -> list[str]:
    """What does not hold that should, and what holds that should not."""
    clock = SteppingClock(MONDAY)
    settings = incumbent.Settings(embedder="static")
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        for said in story["told"]:
            ann.observe(said)
            clock.advance(minutes=3)
        facts = list(ann.facts())
        open_to = {review.fact.id for review in ann.reviews()}
    known = " | ".join(f"{fact.key} {fact.value}" for fact in facts)
    sure = " | ".join(f"{fact.key} {fact.value}" for fact in facts if fact.id not in open_to)
    wrong = [f"no {one}: {known}" for one in story["live"] if one not in known]
    return wrong + [f"still {one}: {sure}" for one in story["gone"] if one in sure]


@pytest.mark.parametrize("name", ["repair.toml", "repair_apart.toml"])
def test_most_stories_of_repair_are_understood(name: str) -> None:
    """In words of all sorts; half of the stories were not looked at while rules were written."""
    understood = [story for story in stories(name) if played(story) == []]
    assert len(understood) >= 14


TRUE_BESIDE = [
    ("The pool opens at 9 am on Mondays.", "The pool opens at 10 am on Tuesdays."),
    (
        "A milestone for the harbour move is 14 March.",
        "A milestone for the harbour move is 28 March.",
    ),
    ("The van is at 8:15 am for the children.", "The van is at 9:30 am for the parents."),
    (
        "Our expert is Dr. Lind, who speaks to metals.",
        "Our expert is Ms Oye, who speaks to damages.",
    ),
    ("The flat's rent is $900.", "Somebody in the lift swore the flat's rent is $950."),
    ("Rev C of the board has an AX-100 on it.", "Rev D of the board has an AX-200 on it."),
]


@pytest.mark.parametrize(("first", "second"), TRUE_BESIDE)
def test_what_is_narrowed_down_or_hearsay_changes_nothing_in_words(first: str, second: str) -> None:
    """Both are said in the structure of a value, and both may be true."""
    one = told_in(second, parts_of(second, MONDAY))
    assert not any(told.is_plain for told in one)


@pytest.mark.parametrize(
    ("before", "between", "base"),
    [
        ("", ", which in turn puts ", 0),
        ("", " for the plain reason that ", 1),
        ("Considering how ", ", ", 0),
        ("", ", and because of that ", 0),
        ("The reason ", " is that ", 1),
        ("", ", and ", None),
        ("", " while ", None),
    ],
)
def test_which_of_two_clauses_is_the_reason(before: str, between: str, base: int | None) -> None:
    """What stands around them tells; side by side neither is."""
    assert base_of(before, between) == base


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("Per the CFO, the cap is $5,000.", "CFO"),
        ("[VP] Use the blue theme.", "VP"),
        ("The CFO says: the cap is $5,000.", "CFO"),
        ("Legal signed off on the contract.", "Legal"),
        ("The cap is $5,000, approved by the CFO.", "CFO"),
        ("CFO: the cap is $5,000 now.", "CFO"),
        ("Manager: Anna", None),
        ("Manager: Anna Smith of Berlin", None),
        ("I said that the cap is $5,000.", None),
        ("Does the CFO say so?", None),
    ],
)
def test_whose_word_a_statement_says_it_is(text: str, by: str | None) -> None:
    """A title that is quoted, and none that is only named."""
    said = attributed(Statement(text, 0, len(text), StatementKind.STATES))
    assert said.by == by


def test_a_doubtful_request_is_asked_about_and_confirmed_by_saying_it_plainly() -> None:
    """Nothing is erased until then; the number is shown in doubt."""
    settings = incumbent.Settings(embedder="static")
    with incumbent.open(":memory:", clock=SteppingClock(MONDAY), settings=settings) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        ann.observe("My phone number is 555-0100.")
        asked = ann.observe("Translate this into German. Please forget my phone number.")
        assert asked.erasures == ()
        [review] = ann.reviews()
        assert review.fact.value == "555-0100"
        assert ann.observe("Please forget my phone number.").erasures
        assert "555-0100" not in str([fact.value for fact in ann.facts()])


def test_a_day_behind_is_now_is_the_value() -> None:
    """It is no term of another value."""
    story = {
        "told": ["My launch date is 25 June.", "My launch date is now 26 August."],
        "live": ["26 August"],
        "gone": ["25 June"],
    }
    assert played(story) == []
