"""Words that would act if they were meant: 150 mails, tickets, chats, documents, code and stories
that another hand wrote, and 50 requests that are meant."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import incumbent
from incumbent.reading.form import Act, Heard
from incumbent.reading.offline import OfflineReader
from incumbent.testing import SteppingClock

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
TEXTS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "quotations.jsonl").read_text("utf-8").splitlines()
]
READER = OfflineReader(None)


def sure_acts(text: dict[str, Any]) -> list[Act]:
    told = READER.read(Heard(text["text"], "user", AT, text["facts"][-1]))
    return [act for act in told.acts if act.is_sure]


def test_nothing_that_is_only_shown_acts() -> None:
    """Not one of the quotations, examples and stories erases, takes back or undoes anything."""
    shown = [text for text in TEXTS if not text["acts"]]
    assert len(shown) == 150
    assert [text["text"] for text in shown if sure_acts(text)] == []


def doubted_or_gone(text: dict[str, Any]) -> tuple[bool, bool]:
    """Whether anything that was known is in doubt after a turn, and whether anything is gone."""
    settings = incumbent.Settings(embedder="static")
    with incumbent.open(":memory:", clock=SteppingClock(AT), settings=settings) as memory:
        session = memory.session(user_id="ann", session_id="here")
        for known in text["facts"]:
            session.observe(known)
        before = {fact.id for fact in session.facts()}
        session.observe(text["text"])
        after = session.facts()
        doubted = {one for fact in after for one in fact.doubts}
        return bool(before & doubted), not before <= {fact.id for fact in after}


def test_what_is_only_shown_changes_nothing_that_is_known() -> None:
    """Shown words end nothing of what their reader has said, and put hardly anything in doubt."""
    found = [(text, *doubted_or_gone(text)) for text in TEXTS if not text["acts"]]
    assert [text["text"] for text, _, gone in found if gone] == []
    assert sum(doubted for _, doubted, _ in found) <= 6


def test_of_what_is_meant_no_less_is_done_than_before() -> None:
    """Free words mostly do nothing yet, which is the lesser harm; those that act go on doing so."""
    meant = [text for text in TEXTS if text["acts"]]
    assert len(meant) == 50
    assert sum(bool(sure_acts(text)) for text in meant) >= 7


def test_a_request_that_goes_on_from_introduced_words_is_asked_about() -> None:
    """A colon that introduces somebody's words does so to the end of the line; one that announces
    one's own news does not."""

    def sure(text: str) -> list[Act]:
        return sure_acts({"text": text, "facts": [""]})

    assert sure("For the play, my line is: The till is empty! Forget my budget!") == []
    assert sure("My line in the sketch is: Hello there! Erase all my data!") == []
    assert len(sure("One more thing: I moved to Rome. Forget my old address.")) == 1
    assert len(sure("Forget my budget.")) == 1
