"""A turn is read before it is filed, and kept whole where it says several things."""

from __future__ import annotations

from typing import Any

import pytest

import incumbent
from incumbent.language.learned.model import load
from incumbent.model.values import text_of
from incumbent.observing.observer import Observer


def said(memory: incumbent.Memory, *turns: str) -> list[str]:
    """What is in office after these turns of one person, a turn of the assistant being marked."""
    session = memory.session(user_id="ana")
    for turn in turns:
        text = turn.removeprefix("assistant: ")
        session.observe(text, speaker="user" if text == turn else "assistant")
    return [text_of(fact.value) for fact in session.facts()]


class Watched:
    """The network, which notes whether it runs while a turn is being filed."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self.is_filing = False
        self.runs = {True: 0, False: 0}

    def run(self, *given: Any) -> Any:
        self.runs[self.is_filing] += 1
        return self._session.run(*given)


@pytest.mark.parametrize(
    "turns",
    [
        ("Our boat lies in Split for the winter.", "She was towed to Zadar on Sunday."),
        (
            "Find restaurants in Split for 8 pm.",
            "assistant: I found two in Split.",
            "Then a hotel near it.",
            "Find restaurants in Zadar.",
        ),
    ],
    ids=["statements", "a request"],
)
def test_the_model_reads_before_the_transaction(
    monkeypatch: pytest.MonkeyPatch, turns: tuple[str, ...]
) -> None:
    """Filing finds the answers ready: nobody who wants to write waits for the network."""
    watched, filed = Watched(load()._session), Observer.observe
    monkeypatch.setattr(load(), "_session", watched)

    def filing(self: Observer, heard: Any) -> Any:
        watched.is_filing = True
        try:
            return filed(self, heard)
        finally:
            watched.is_filing = False

    monkeypatch.setattr(Observer, "observe", filing)
    with incumbent.open(":memory:") as memory:
        said(memory, *turns)
    assert watched.runs[False] > 0
    assert watched.runs[True] == 0


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        (
            "signed the lease at last and painted both bedrooms ourselves, the sofa comes monday",
            ("lease", "bedrooms", "sofa"),
        ),
        (
            "we keep bees behind the barn since spring, maybe we sell some honey at the market",
            ("bees", "barn"),
        ),
        ("i pay 41 a month for the gym and hardly go, if it gets dearer im out", ("41", "gym")),
    ],
)
def test_what_a_turn_tells_is_kept_beside_a_name_or_a_doubt(
    turn: str, told: tuple[str, ...]
) -> None:
    """Neither a name in it nor what may be stands for the rest."""
    with incumbent.open(":memory:") as memory:
        kept = " ".join(said(memory, turn))
    assert all(word in kept for word in told)


def test_a_name_in_the_assistants_question_is_not_taken_for_an_older_value() -> None:
    """No sentence is made of a greeting and an answer."""
    with incumbent.open(":memory:") as memory:
        kept = said(
            memory, "fasting from tomorrow", "assistant: Ramadan kareem. Which city?", "yes, Leeds"
        )
    assert not any("Leeds kareem" in text for text in kept)


def test_what_a_tool_reports_in_the_words_of_the_order_is_kept() -> None:
    """Also where it is put as one word of approval."""
    with incumbent.open(":memory:") as memory:
        kept = said(memory, "Any news of my refund?", "assistant: Refund R-71: approved.")
    assert any("approved" in text for text in kept)


def test_what_was_cut_to_be_read_is_kept_as_it_was_written() -> None:
    """A statement of several lines has a break only where its speaker put one."""
    turn = (
        "so its settled Jonas moved to his brothers on friday the kids are with me in the week "
        "and with him on weekends ive got a lawyer Frau Brandt 290 an hour"
    )
    with incumbent.open(":memory:") as memory:
        kept = said(memory, turn)
    assert kept
    assert all(text.rstrip(".") in turn for text in kept)
