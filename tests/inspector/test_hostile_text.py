"""Hostile text: whatever a fact says, the pages show it and do nothing of it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import incumbent
from tests.inspector.conftest import Visit
from tests.inspector.forms import sending
from tests.service.running import Running

SCRIPT = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
ATTRIBUTE = '" onmouseover="window.hacked=1" x="'
TURNED = "invoice \u202egnp.exe"
CLOSING = "</bdi></li></ul><h1>Signed out</h1><form action='https://evil.example'>"


@pytest.mark.parametrize(
    "path",
    ["/inspect", "/inspect?state=all", "/inspect/subjects", "/inspect/timeline", "/inspect/live"],
)
def test_the_text_of_facts_is_inert(visit: Visit, memory: incumbent.Memory, path: str) -> None:
    """Markup is text, and what turns or hides text is written out."""
    alice = memory.session(user_id="alice", organization="acme")
    for number, text in enumerate((SCRIPT, ATTRIBUTE, TURNED, CLOSING)):
        alice.write(text, text, subject=text, id=f"{ATTRIBUTE}{number}")
    browsing = visit("alice")
    page = browsing.open(path)
    expect(page.locator("main")).to_contain_text("window.hacked = 1")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img, main h1:has-text('Signed out'), [onmouseover]").count() == 0
    assert "\u202e" not in page.content()
    assert browsing.serious() == []


def test_ids_and_refusals_turn_no_text(served: Running, memory: incumbent.Memory) -> None:
    """An id is what its writer chose, and refusals and proofs name it."""
    alice = memory.session(user_id="alice", organization="acme")
    alice.write("city", "Bern", id=TURNED)
    alice.draft(TURNED).write("city", "Thun")
    with sending(served) as sender:
        for answer in (
            sender.client.get("/inspect/fact", params={"id": TURNED}),
            sender.send("fact/preview", do="promote", id=TURNED),
            sender.client.get("/inspect/context"),
            sender.send("erasure/preview", fact=TURNED),
            sender.client.get(
                sender.send("erasure/do", fact=TURNED, typed="erase 1").headers["location"]
            ),
        ):
            told = re.sub(r' (?:value|id)="[^"]*"', "", answer.text)
            assert "gnp.exe" in told
            assert "\u202e" not in told
