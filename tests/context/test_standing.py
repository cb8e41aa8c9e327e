"""Standing instructions and preferences: in every context of that person, and no rule."""

from __future__ import annotations

import pytest

import incumbent
from incumbent.context.rendering import CONSTRAINTS, STANDING
from incumbent.model.standing import is_instruction, names_preference
from tests.conftest import QUICK, OpenMemory

INSTRUCTIONS = (
    "Always include the narrator when I ask for audiobooks.",
    "Please never use emojis.",
    "Call me Sam.",
    "From now on, answer in two sentences.",
    "And don't ask me whether I am sure.",
    "When I ask about prices, always give them in euros.",
    "Keep your answers short.",
    "Please keep answers short.",
    "Please don't touch the migrations folder.",
    "pls dont call me, only mail",
    "Use metric units from now on.",
    "Could you always answer in French, please.",
)
PREFERENCES = (
    "I prefer trains to planes.",
    "I'd rather have the meeting in the morning.",
    "My preference is a paper copy.",
)
NEITHER = (
    "I have never been to Bergen.",
    "The boat always leaks.",
    "Call me at 5 pm.",
    "I always take the bus to work.",
    "Do you prefer tea?",
    "Never mind.",
    "If I ask for too much, he says no.",
    "The rent is 900 euros.",
    "It is an old house, you never know what is behind the wall.",
    "You always forget the milk.",
    "So only one night shift from now on.",
)


@pytest.fixture
def ann(open_memory: OpenMemory) -> incumbent.Session:
    return open_memory(settings=QUICK).session(user_id="ann")


def section(session: incumbent.Session, name: str, query: str, budget: int = 4_000) -> list[str]:
    lines = session.context(query, budget=budget, conversation=False).lines
    return [line.text.partition(": ")[2] for line in lines if line.section == name]


@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_what_an_assistant_is_asked_for_from_then_on_is_an_instruction(text: str) -> None:
    assert is_instruction(text)


@pytest.mark.parametrize("text", PREFERENCES)
def test_what_one_prefers_is_a_preference(text: str) -> None:
    assert names_preference(text)


@pytest.mark.parametrize("text", NEITHER)
def test_what_only_sounds_alike_is_neither(text: str) -> None:
    assert not is_instruction(text)
    assert not names_preference(text)


@pytest.mark.parametrize("text", [*INSTRUCTIONS[:3], PREFERENCES[0]])
def test_they_have_a_section_of_their_own_and_bind_nobody(
    ann: incumbent.Session, text: str
) -> None:
    ann.observe(text)
    assert section(ann, STANDING, "What is the weather?") == [text]
    assert section(ann, CONSTRAINTS, "What is the weather?") == []


def test_they_are_in_every_context_whatever_else_there_is(ann: incumbent.Session) -> None:
    """However little they have to do with the question, and however short the room."""
    ann.observe(INSTRUCTIONS[0])
    ann.write_many(
        {"key": f"harbour_{number}", "value": f"berth {number} of the harbour"}
        for number in range(300)
    )
    assert section(ann, STANDING, "Which berth of the harbour?", budget=300) == [INSTRUCTIONS[0]]


def test_many_of_them_take_a_small_share(ann: incumbent.Session) -> None:
    """What the question is about has room all the same, and comes with the nearest of them."""
    for number in range(40):
        ann.observe(f"Always mention harbour number {number} when I ask about boats of that kind.")
    ann.write("shoe_size", "44")
    context = ann.context("What is my shoe size?", budget=500, conversation=False)
    assert "- shoe_size: 44" in [line.text for line in context.lines]


def test_others_see_none_of_them(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=QUICK)
    memory.session(user_id="ann").observe(INSTRUCTIONS[0])
    assert section(memory.session(user_id="bob"), STANDING, "Which audiobooks?") == []


def test_one_that_is_taken_back_is_gone(ann: incumbent.Session) -> None:
    [verdict] = ann.observe(PREFERENCES[0]).verdicts
    ann.retract(verdict.fact_id)
    assert section(ann, STANDING, "How shall I travel?") == []
