"""History in a large memory: found through the index, as if all had been read."""

from __future__ import annotations

from datetime import timedelta

import pytest

from incumbent import Memory, Session
from incumbent.composing.inquiry import Inquiry
from incumbent.context.rendering import HISTORY
from incumbent.testing import SteppingClock
from tests.conftest import OpenMemory

MANY = 450
CLOCK = timedelta(minutes=1)


def filled(memory: Memory) -> Session:
    """More facts than are all looked at, some of which are over."""
    session = memory.session(user_id="ann", organization="acme")
    session.write_many({"key": f"shelf_{n}", "value": f"box {n}"} for n in range(MANY))
    for city in ("Berlin", "Lagos", "Osaka"):
        session.write("home", city, subject="Ann")
    session.write("office", "the old harbour office")
    session.write("office", "Elm Street 4")
    session.write("gate", "blue", valid_until=memory.now() + timedelta(hours=1))
    bob = memory.session(user_id="bob", organization="acme")
    bob.write("home", "Quito", subject="Ann")
    bob.write("home", "Porto", subject="Ann")
    return session


def told(session: Session, query: str) -> list[str]:
    lines = session.context(query, history=True, budget=4_000).lines
    return [line.text for line in lines if line.section == HISTORY]


@pytest.fixture
def session(open_memory: OpenMemory) -> Session:
    clock = SteppingClock(step=CLOCK)
    return filled(open_memory(clock=clock))


def test_the_past_of_a_matter_is_told(session: Session) -> None:
    """Of the matters that the query is about, each fact that was over, and nobody else's."""
    found = "\n".join(told(session, "What is the home of Ann?"))
    assert "Berlin" in found
    assert "Lagos" in found
    assert "Osaka" not in found
    assert "Quito" not in found


def test_what_is_over_is_found_by_its_words(session: Session) -> None:
    """A word that only a former value has brings it up; what left office since is found too."""
    assert any("old harbour office" in line for line in told(session, "Which harbour?"))
    session.write("office", "Mill Lane 9")
    assert any("Elm Street 4" in line for line in told(session, "elm"))


@pytest.mark.parametrize("query", ["home of Ann", "harbour", "gate", "box 3", "", "Quito"])
def test_nothing_is_missed(session: Session, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what one finds who reads everything."""
    found = told(session, query)
    monkeypatch.setattr(Inquiry, "looks_at_all", lambda *_: True)
    assert told(session, query) == found
