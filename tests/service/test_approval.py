"""Asking before keeping, over HTTP alone: by request, by a setting of the service, by its keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import incumbent
from tests.conftest import QUICK
from tests.service.running import Running, a_key

SAID = "The venue is Paris."


def kinds(answer: Any) -> list[tuple[str, str]]:
    return [(one["kind"], one["fact"]["value"]) for one in answer.json()]


def test_a_request_can_have_its_person_asked(service: Running) -> None:
    """The turn waits, the list of reviews shows it, and the same person approves it."""
    who = {"user_id": "alice"}
    asked = {**who, "ask_before_keeping": True}
    made = service.post("observe", {"session": asked, "text": SAID}).json()
    assert [one["outcome"] for one in made["verdicts"]] == ["waiting"]
    assert service.post("facts", {"session": who}).json() == []
    assert SAID not in service.post("context", {"session": who, "query": "Where?"}).text
    found = service.post("reviews", {"session": who})
    assert kinds(found) == [("unapproved", "Paris")]
    waiting = found.json()[0]["fact"]
    assert waiting["source"]["quote"] == SAID
    body = {"fact_id": waiting["id"], "still_right": True}
    others = ({"user_id": "bob"}, {"user_id": "alice", "organization": "globex"})
    for other in others:
        assert service.post("reviews", {"session": other}).json() == []
        assert service.post("resolve", {"session": other, **body}).status_code == 404
    approved = service.post("resolve", {"session": who, **body}).json()
    assert (approved["outcome"], approved["rule"]) == ("established", "approval")
    (fact,) = service.post("facts", {"session": who}).json()
    assert (fact["value"], fact["timestamp"]) == ("Paris", waiting["timestamp"])


def test_approving_takes_the_scope_of_reviews(tmp_path: Path) -> None:
    """A credential that may only write proposes, and approves nothing."""
    with incumbent.open(tmp_path / "keyed.db", settings=QUICK) as memory:
        writing = a_key(memory, "read", "write", user_id="alice")
        deciding = a_key(memory, "read", "review", user_id="alice")
        with Running(memory, credentials=True) as running:
            asked = {"session": {"ask_before_keeping": True}, "text": SAID}
            assert running.post("observe", asked, key=writing).status_code == 200
            (review,) = running.post("reviews", {}, key=writing).json()
            body = {"fact_id": review["fact"]["id"], "still_right": True}
            assert running.post("resolve", body, key=writing).status_code == 403
            assert running.post("resolve", body, key=deciding).status_code == 200


def test_a_service_can_ask_everybody(tmp_path: Path) -> None:
    """What its settings say holds for who says nothing; a request can say otherwise."""
    settings = replace(QUICK, ask_before_keeping=True)
    with (
        incumbent.open(tmp_path / "asked.db", settings=settings) as memory,
        Running(memory) as running,
        incumbent.open(running.address) as client,
    ):
        alice = client.session(user_id="alice")
        alice.observe(SAID)
        assert [one.kind for one in alice.reviews()] == ["unapproved"]
        alice.ask_before_keeping = False
        alice.observe("The fee is $40.")
        assert [fact.value for fact in alice.facts()] == ["$40"]
