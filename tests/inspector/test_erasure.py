"""Erasure: what will go, a confirmation in writing, and a proof that holds nothing."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import expect

import incumbent
from tests.inspector.conftest import Visit
from tests.inspector.forms import sending
from tests.service.running import Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}
SECRET = "ZEBRA-CROSSING"


def _id(verdict: incumbent.Verdict) -> str:
    assert verdict.fact is not None
    return verdict.fact.id


def test_a_fact_is_forgotten_from_its_story(
    visit: Visit, memory: incumbent.Memory, tmp_path: Path
) -> None:
    """Shown, confirmed by typing, gone, proven; and all of it without script."""
    alice = memory.session(**WHO)
    fact_id = _id(alice.write("nickname", SECRET))
    alice.write("quote", f"called {SECRET}", depends_on=[fact_id])
    alice.write("city", "Bern")
    browsing = visit(java_script_enabled=False, accept_downloads=True)
    seen: list[str] = []
    browsing.page.on("request", lambda request: seen.append(request.url))
    page = browsing.open(f"/inspect/fact?id={fact_id}")
    page.get_by_role("link", name="Forget for good").click()
    expect(page.get_by_label("Fact, by its id")).to_have_value(fact_id)
    page.get_by_role("button", name="Show what will go").click()
    expect(page.get_by_role("row", name="facts 2")).to_be_visible()
    expect(page.get_by_role("link", name="nickname")).to_be_visible()
    expect(page.get_by_role("link", name="quote")).to_be_visible()
    page.get_by_label("Type erase 2").fill("erase 2")
    page.get_by_role("button", name="Erase for good").click()
    expect(page.get_by_role("heading", name="Proof of an erasure")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Erased for good: 2 facts.")
    assert SECRET not in page.content()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download the proof").click()
    kept = tmp_path / "proof.json"
    downloading.value.save_as(kept)
    proof = json.loads(kept.read_text())
    stored = memory.store.erasures("acme")[-1]
    assert (proof["id"], proof["digest"]) == (stored.id, stored.digest)
    assert set(proof["fact_ids"]) == set(stored.fact_ids)
    assert fact_id in proof["fact_ids"]
    assert SECRET not in kept.read_text()
    assert [one for one in seen if SECRET in one or "nickname" in one] == []
    assert (alice.current("nickname"), alice.current("city")) == (None, "Bern")
    page.goto(f"/inspect/fact?id={fact_id}")
    expect(page.get_by_role("heading", name="Nothing to see here")).to_be_visible()
    page.goto("/inspect/erasure")
    expect(page.get_by_role("link", name=stored.id)).to_be_visible()


def test_nothing_goes_without_the_right_words(served: Running, memory: incumbent.Memory) -> None:
    """Nor if more would go by now than was shown."""
    alice = memory.session(**WHO)
    alice.write("a", 1, subject="Jane")
    with sending(served) as sender:
        for typed in ("", "erase", "erase 2", "yes"):
            answer = sender.send("erasure/do", subject="Jane", typed=typed)
            assert answer.status_code == 422
            assert "Nothing was erased" in answer.text
        alice.write("b", 2, subject="Jane")
        assert sender.send("erasure/do", subject="Jane", typed="erase 1").status_code == 422
        assert len(alice.facts()) == 2
        assert sender.send("erasure/do", subject="Jane", typed=" Erase 2 ").status_code == 303
    assert alice.facts() == []


def test_what_matches_nothing_is_said(served: Running, memory: incumbent.Memory) -> None:
    """An empty choice and an unknown name lead back to the form, filled in."""
    with sending(served) as sender:
        assert sender.send("erasure/preview").status_code == 422
        answer = sender.send("erasure/preview", subject="Nobody-We-Know")
        assert answer.status_code == 404
        assert 'value="Nobody-We-Know"' in answer.text
        assert sender.send("erasure/preview", fact="no-such-fact").status_code == 404


def test_a_person_erases_their_own(memory: incumbent.Memory) -> None:
    """Without the right to all, another's facts are as if they were not there."""
    alice = memory.session(**WHO)
    bob = memory.session(user_id="bob", organization="acme")
    alice.write("a", SECRET, subject="Jane")
    theirs = _id(bob.write("b", SECRET, subject="Jane"))
    key = a_key(memory, "read", "erase", user_id="alice")
    with Running(memory, credentials=True) as running, sending(running, key=key) as sender:
        page = sender.get("erasure").text
        assert "Erasures so far" not in page
        refused = sender.send("erasure/preview", person="bob")
        assert refused.status_code == 403
        hidden, missing = (
            sender.send("erasure/preview", fact=one).text.replace(one, "ID")
            for one in (theirs, "0" * len(theirs))
        )
        assert hidden == missing
        foreseen = sender.send("erasure/preview", subject="Jane").text
        assert "erase 1" in foreseen
        assert theirs not in foreseen
        done = sender.send("erasure/do", subject="Jane", typed="erase 1")
        assert done.status_code == 303
        proof = sender.client.get(done.headers["location"])
        assert proof.status_code == 200
        assert theirs not in proof.text
    assert bob.current("b", "Jane") == SECRET


def test_a_proof_takes_its_digest(served: Running, memory: incumbent.Memory) -> None:
    """An id alone, or a digest of another, shows nothing."""
    memory.session(**WHO).write("a", 1)
    proof = memory.forget(organization="acme", user_id="alice")
    with sending(served) as sender:
        for asked in (f"id={proof.id}", f"id={proof.id}&digest={'0' * 64}", "id=x&digest=y", ""):
            assert sender.get(f"erasure/proof?{asked}").status_code == 404
            assert sender.get(f"erasure/proof.json?{asked}").status_code == 404
        asked = f"id={proof.id}&digest={proof.digest}"
        assert sender.get(f"erasure/proof.json?{asked}").json()["digest"] == proof.digest
