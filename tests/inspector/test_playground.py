"""The context playground: what a model would read, why, and what would change it."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

import incumbent
from tests.inspector.browsing import PHONE, Browsing
from tests.inspector.conftest import Visit
from tests.service.running import Running, a_key

QUESTION = "Where should we ship the order?"
HOSTILE = "<script>document.title='owned'</script> <b>bold</b> \u202egnp.exe"


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    """Somebody of whom something is known, was known, and is noted."""
    session = memory.session(
        user_id="alice", organization="acme", session_id="chat-1", permissions=("finance",)
    )
    session.write("address", "123 Main St")
    session.write("address", "456 Oak Ave")
    session.write("salary", "90 grand", requires=("finance",))
    session.note("plan", "we ship everything to 123 Main St as we did before")
    return session


def asked(page: Page, **fields: str) -> None:
    """Ask on the page that is open, with these settings."""
    form = page.locator("form.controls")
    form.evaluate("f => f.querySelectorAll('details').forEach(d => { d.open = true })")
    for name, value in fields.items():
        field = form.locator(f"[name={name}]")
        if field.evaluate("e => e.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def test_a_question_shows_its_context_as_it_is_typed(
    visit: Visit, alice: incumbent.Session
) -> None:
    """Lines with scores, sources and links to stories; what the guard cut; what is left out."""
    page = visit().open("/inspect/context")
    asked(page, query=QUESTION, session="chat-1")
    line = page.locator(".lines li", has_text="456 Oak Ave")
    expect(line).to_contain_text("score")
    expect(line.get_by_role("link", name="its story")).to_have_attribute(
        "href", re.compile("/inspect/fact\\?id=")
    )
    expect(page.locator("mark.cut")).to_contain_text("no longer current")
    gone = page.get_by_role("region", name="superseded", exact=True)
    expect(gone).to_contain_text("123 Main St")
    expect(page.locator("#text")).not_to_contain_text("123 Main St")
    expect(page.get_by_role("img", name=re.compile("of 2,000 tokens"))).to_be_visible()


def test_moving_the_budget_leaves_things_out(visit: Visit, alice: incumbent.Session) -> None:
    """Without another page; and a fact that was left out says why."""
    page = visit().open("/inspect/context")
    asked(page, query=QUESTION, fact="address")
    answer = page.locator("#asked")
    expect(answer.locator("li", has_text="456 Oak Ave")).to_contain_text("Yes")
    expect(answer.locator("li", has_text="123 Main St")).to_contain_text("a newer value has taken")
    page.get_by_role("slider").evaluate(
        "e => { e.value = 50; e.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    expect(page.locator("#tokens")).to_have_text("50")
    expect(answer.locator("li", has_text="456 Oak Ave")).to_contain_text("there was no room")
    expect(answer.locator("li", has_text="456 Oak Ave")).to_contain_text("Its score is")
    asked(page, fact="no_such_key")
    expect(answer).to_contain_text("No fact with that key or id")


def test_two_settings_stand_side_by_side(visit: Visit, alice: incumbent.Session) -> None:
    """What differs is marked, line by line; the address of it can be passed on."""
    alice.hypothetical("berlin").write("address", "9 Unter den Linden")
    page = visit().open("/inspect/context")
    page.get_by_label("Compare with a second").check()
    page.locator("[name=b_branch]").select_option("hypothetical:berlin")
    row = page.locator(".diff-row.changed", has_text="address")
    expect(row.locator("del").first).to_contain_text("456")
    expect(row.locator("ins").first).to_contain_text("9")
    page.get_by_role("link", name="Link to this").click()
    expect(page.locator(".diff-row.changed", has_text="address")).to_be_visible()
    expect(page.get_by_label("Compare with a second")).to_be_checked()


def test_two_moments_stand_side_by_side(visit: Visit, memory: incumbent.Memory) -> None:
    """What was known then, beside what is."""
    session = memory.session(user_id="alice", organization="acme")
    first = session.write("order_status", "approved")
    session.write("order_status", "cancelled")
    then = first.recorded_at.isoformat()
    page = visit().open("/inspect/context")
    page.goto(f"/inspect/context?query=order&compare=1&b_at={then.replace('+', '%2B')}")
    row = page.locator(".diff-row.changed", has_text="order_status")
    expect(row.locator("[role=cell]").first).to_contain_text("cancelled")
    expect(row.locator("[role=cell]").last).to_contain_text("approved")


def test_it_is_copied_as_text_and_as_messages(visit: Visit, alice: incumbent.Session) -> None:
    """What is copied is what a model would be sent."""
    browsing = visit()
    browsing.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = browsing.open(f"/inspect/context?query={HOSTILE.replace(' ', '+')}")
    page.get_by_role("button", name="Copy as Anthropic messages").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    (message,) = json.loads(page.evaluate("() => navigator.clipboard.readText()"))
    assert [block["text"] for block in message["content"]][1] == HOSTILE
    page.get_by_role("button", name="Copy the text").click()
    expect(page.get_by_role("button", name="Copied")).to_have_count(2)
    assert "456 Oak Ave" in page.evaluate("() => navigator.clipboard.readText()")


def test_a_receipt_is_kept_replayed_and_compared(visit: Visit, alice: incumbent.Session) -> None:
    """Byte for byte; two of them tell what changed in between, and why."""
    page = visit().open(f"/inspect/context?query={QUESTION.replace(' ', '+')}")
    text = page.locator("#text").text_content()
    page.get_by_role("button", name="Keep a receipt").click()
    expect(page.locator(".intact")).to_contain_text("byte for byte")
    assert page.locator("#text").text_content() == text
    alice.write("address", "9 Elm St")
    page.get_by_role("link", name="Ask the same now").click()
    page.get_by_role("button", name="Keep a receipt").click()
    page.get_by_role("link", name="All receipts").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Compare the two").click()
    change = page.locator("tr.changed", has_text="address")
    expect(change).to_contain_text("456 Oak Ave")
    expect(change).to_contain_text("9 Elm St")
    expect(change).to_contain_text("superseded since")


def test_an_erased_fact_is_erased_from_a_replay(
    visit: Visit, memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """And the page says that it is not intact."""
    receipt = alice.context(QUESTION, record=True).receipt
    memory.forget(organization="acme", user_id="alice", fact_id=alice.facts("address")[0].id)
    browsing = visit()
    browsing.look_as("alice", permissions="finance")
    page = browsing.open(f"/inspect/receipt?id={receipt.id}")
    expect(page.get_by_role("status")).to_contain_text("Not intact")
    expect(page.locator("main")).not_to_contain_text("456 Oak Ave")
    expect(page.locator("mark.cut").first).to_have_text("[erased]")


def test_nobody_sees_what_they_may_not(
    browser: Browser, memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """Not its line, nor a trace of it, nor a receipt that shows it; not by asking as another."""
    shown = alice.context("salary", record=True).receipt
    assert "90 grand" in alice.context("salary").text
    others = memory.session(user_id="bob", organization="acme").context("x", record=True).receipt
    key = a_key(memory, "read", permissions=frozenset(), user_id="alice")
    with Running(memory, credentials=True) as running:
        browsing = Browsing(browser, running.address)
        page = browsing.open("/inspect/enter")
        page.get_by_label("Key or token").fill(key)
        page.get_by_role("button", name="Sign in").click()
        page.goto("/inspect/context?query=salary&fact=salary")
        expect(page.locator("#asked")).to_contain_text("No fact with that key or id")
        assert "90 grand" not in page.content()
        page.goto("/inspect/context?query=salary&permissions=finance")
        expect(page.get_by_role("alert")).to_contain_text("finance")
        page.goto("/inspect/context?query=salary&user=bob")
        expect(page.locator(".summary")).to_contain_text("For alice")
        page.goto("/inspect/receipts")
        expect(page.locator("tbody tr")).to_have_count(0)
        for receipt in (shown, others):
            page.goto(f"/inspect/receipt?id={receipt.id}")
            expect(page.locator(".problem")).to_contain_text("no receipt")
            assert "90 grand" not in page.content()
        browsing.close()


def test_a_setting_that_cannot_be_is_told_in_place(visit: Visit) -> None:
    """With the form as it was, to put it right."""
    page = visit().open("/inspect/context?query=x&budget=99999999&at=yesterday")
    expect(page.get_by_role("alert")).to_contain_text("no moment")
    page = visit().open("/inspect/context?query=what&budget=99999999")
    expect(page.get_by_role("alert")).to_contain_text("the limit of the service")
    expect(page.get_by_label("Question").first).to_have_value("what")


def test_the_pages_are_sound(visit: Visit, alice: incumbent.Session) -> None:
    """Nothing serious to axe in light and dark, no page wider than a phone, hostile text inert;
    and all of it without a script."""
    alice.write("motto", HOSTILE)
    receipt = alice.context(HOSTILE, record=True).receipt.id
    other = alice.context("motto", record=True).receipt.id
    paths = (
        "/inspect/context?query=motto&session=chat-1&fact=motto",
        "/inspect/context?query=motto&session=chat-1&compare=1&b_history=1&b_budget=60",
        "/inspect/receipts",
        f"/inspect/receipt?id={receipt}",
        f"/inspect/receipts/compare?one={receipt}&other={other}",
    )
    browsing = visit(viewport=PHONE)
    for scheme in ("light", "dark"):
        browsing.page.emulate_media(color_scheme=scheme)
        for path in paths:
            page = browsing.open(path)
            assert browsing.serious() == []
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            assert "\u202e" not in page.inner_text("main")
            assert page.title() != "owned"
            assert page.locator("main b").count() == 0
    without = visit(java_script_enabled=False)
    page = without.open("/inspect/context")
    page.get_by_label("Question").first.fill(QUESTION)
    page.get_by_role("button", name="Compose").click()
    expect(page.locator(".lines li", has_text="456 Oak Ave")).to_be_visible()
