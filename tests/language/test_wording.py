"""What is kept of a statement: the words that it was said in, but for what no longer holds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import incumbent
from incumbent.testing import SteppingClock


@pytest.fixture
def session() -> Iterator[incumbent.Session]:
    settings = incumbent.Settings(embedder=None)
    clock = SteppingClock(datetime(2026, 3, 2, 9, tzinfo=UTC))
    with incumbent.open(":memory:", settings=settings, clock=clock) as memory:
        yield memory.session(user_id="mara", authority="employee")


def lines(session: incumbent.Session, *turns: str, asked: str) -> list[str]:
    """The lines of facts that a question gets after some turns."""
    for turn in turns:
        session.observe(turn)
    facts = session.context(asked, budget=2_000, conversation=False).text.partition("# Facts\n")[2]
    return [line for line in facts.partition("\n\n")[0].split("\n") if line]


def test_a_value_that_was_never_on_record_is_not_cut(session: incumbent.Session) -> None:
    """Of two values that nothing is known of, either may be the one that holds."""
    told = lines(
        session,
        "We had Gdansk for the summer school; since Monday it's Ghent.",
        asked="Where is the summer school?",
    )
    assert any("Ghent" in line and "Gdansk" in line for line in told)


def test_a_thing_goes_with_what_is_told_of_it(session: incumbent.Session) -> None:
    """A question that only names a thing, and the sentence after it, are one statement."""
    told = lines(
        session,
        "The loud printer? That one is from the sale, according to my aunt.",
        asked="Which is the loud printer?",
    )
    assert any("The loud printer? That one is from the sale" in line for line in told)


def test_taking_note_is_nothing_to_answer(session: incumbent.Session) -> None:
    """What is said after "Anything else?" stands by itself."""
    session.observe("My locker is number 12.")
    session.observe("Noted, anything else?", speaker="assistant")
    told = lines(session, "also Lena's deposit, $680", asked="What is Lena's deposit?")
    assert any("Lena's deposit, $680" in line and "anything else" not in line for line in told)


def test_a_what_if_of_courtesy_is_meant(session: incumbent.Session) -> None:
    """Who would be glad if something were removed wants it removed."""
    told = lines(
        session,
        "The door code is QF-318.",
        "I'd be glad if you removed the door code from your notes.",
        asked="What is the door code?",
    )
    assert not any("QF-318" in line for line in told)
    assert session.current("door_code") is None


def test_what_is_told_beside_a_value_is_kept(session: incumbent.Session) -> None:
    """A thing and its value do not stand for a sentence that goes on to tell more."""
    told = lines(
        session,
        "The caretaker? That one is Ines, she has the keys.",
        asked="Who has the keys?",
    )
    assert any("she has the keys" in line for line in told)
