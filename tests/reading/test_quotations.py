"""Words that would act if they were meant: 150 mails, tickets, chats, documents, code and stories
that another hand wrote, and 50 requests that are meant."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incumbent.reading.form import Act, Heard
from incumbent.reading.offline import OfflineReader

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


def test_of_what_is_meant_no_less_is_done_than_before() -> None:
    """Free words mostly do nothing yet, which is the lesser harm; those that act go on doing so."""
    meant = [text for text in TEXTS if text["acts"]]
    assert len(meant) == 50
    assert sum(bool(sure_acts(text)) for text in meant) >= 7
