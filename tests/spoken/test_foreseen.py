"""What a turn is read for before it is filed, and what happens in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import incumbent
from incumbent.language.learned.combined import CombinedDetector
from incumbent.language.learned.encoding import Span
from incumbent.language.learned.model import Opinion
from incumbent.observing.ahead import read_ahead


class Watched(CombinedDetector):
    """The detector that ships, which tells what it is asked, and what happens after reading."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: list[str] = []
        """The statements that turns were read beside."""
        self.meanwhile: list[Callable[[], object]] = []

    def read(
        self, statement: str, marked: Sequence[Span], previous: str, turn: str
    ) -> tuple[Opinion | None, ...]:
        self.beside.append(statement)
        return super().read(statement, marked, previous, turn)


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Watched:
    detector = Watched()

    def read_then(*given: Any) -> Any:
        foreseen = read_ahead(*given)
        while detector.meanwhile:
            detector.meanwhile.pop()()
        return foreseen

    monkeypatch.setattr("incumbent.observing.ahead.read_ahead", read_then)
    return detector


@pytest.fixture
def memory(reader: Watched) -> incumbent.Memory:
    return incumbent.open(
        ":memory:", settings=incumbent.Settings(embedder="static", detector=reader)
    )


def said(memory: incumbent.Memory, session_id: str = "s") -> incumbent.Session:
    return memory.session(user_id="ann", session_id=session_id)


def told(session: incumbent.Session) -> list[tuple[str, object, list[str]]]:
    """What is in office, with all that ever stood there."""
    return [
        (fact.key, fact.value, [str(one) for one in session.history(fact.key, fact.subject)])
        for fact in session.facts()
    ]


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("Is there parking nearby?", False),
        ("What if we met in Porto?", False),
        ("Thank you so much, that's all.", False),
        ("Bob said the venue was Lyon.", False),
        ("The venue is Graz.", False),
        ("We meet at the lake this year.", True),
        ("The dinner is for nine, Farah is coming too.", False),
        ("Farah is coming to the dinner too, that makes nine.", True),
    ],
)
def test_a_turn_is_read_beside_others_only_where_it_may_end_them(
    memory: incumbent.Memory, reader: Watched, text: str, is_read: bool
) -> None:
    """What nobody stands by ends nothing, and what says the value of a thing ends the one before
    it, without a question to the model. Where rules leave a statement as it is whatever the model
    says, it is not read."""
    session = said(memory)
    session.observe("The venue is Lyon.")
    session.observe("The dinner in the old town is for eight people.")
    reader.beside.clear()
    session.observe(text)
    assert bool(reader.beside) is is_read


@pytest.mark.parametrize("session_id", ["s", "another"])
@pytest.mark.parametrize(
    "between",
    [
        "The venue is Porto.",
        "No, it's Porto.",
        "Thanks!",
        "We meet in the old mill instead, the venue is closed.",
        "Please delete the venue from your memory.",
    ],
)
def test_what_is_said_between_reading_and_filing_counts(
    memory: incumbent.Memory, reader: Watched, session_id: str, between: str
) -> None:
    """It comes out as if the turn had come after it, and not when it was read."""
    session, other = said(memory), said(memory, session_id)
    session.observe("The venue is Lyon.")
    reader.meanwhile.append(lambda: other.observe(between))
    session.observe("No, the venue is Graz.")
    assert reader.meanwhile == []
    plainly = incumbent.open(":memory:", settings=memory.settings)
    said(plainly).observe("The venue is Lyon.")
    said(plainly, session_id).observe(between)
    said(plainly).observe("No, the venue is Graz.")
    assert told(session) == told(said(plainly))


@pytest.mark.parametrize(
    ("between", "text"),
    [
        ("The launch is in Rome.", "Move the launch to Porto."),
        ("The launch is in Rome.", "Take the launch off the list."),
        ("The launch budget is 900.", "The launch budget was 900, now 950."),
        ("The deadline is 4 May.", "The deadline slips to 9 May."),
    ],
)
def test_a_turn_is_read_anew_by_what_came_in_between(
    memory: incumbent.Memory, reader: Watched, between: str, text: str
) -> None:
    """A turn about a thing that was named only after it had been read."""
    session, again = said(memory), said(memory)
    reader.meanwhile.append(lambda: again.observe(between))
    session.observe(text)
    plainly = said(incumbent.open(":memory:", settings=memory.settings))
    plainly.observe(between)
    plainly.observe(text)
    assert told(session) == told(plainly)
