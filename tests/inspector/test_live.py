"""Live: verdicts as they happen, with what their reader may see of them."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

import incumbent
from tests.inspector.browsing import PHONE, Browsing
from tests.inspector.conftest import Visit
from tests.service.running import Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}


def test_a_verdict_appears_as_it_happens(visit: Visit, served: Running) -> None:
    """Made through the API, it comes first, without a reload, and is told politely."""
    page = visit("alice").open("/inspect/live")
    expect(page.get_by_role("heading", name="Nothing was decided yet")).to_be_visible()
    page.evaluate("window.stayed = true")
    served.post("write", {"session": WHO, "key": "address", "value": "123 Main St"})
    expect(page.locator("#verdicts > li")).to_have_count(1)
    expect(page.get_by_role("heading", name="Nothing was decided yet")).to_be_hidden()
    served.post("write", {"session": WHO, "key": "address", "value": "456 Oak Ave"})
    expect(page.locator("#verdicts > li")).to_have_count(2)
    first = page.locator("#verdicts > li").first
    expect(first).to_contain_text("superseded")
    expect(first).to_contain_text("the same address received another value")
    expect(first.locator(".old")).to_have_text("123 Main St")
    expect(page.get_by_role("status")).to_contain_text("1 new verdict at")
    assert page.evaluate("window.stayed")


def test_a_pause_holds_the_list(visit: Visit, served: Running, memory: incumbent.Memory) -> None:
    """It asks for nothing then, and what came meanwhile appears when it goes on."""
    memory.session(**WHO).write("seat", "window")
    page = visit("alice").open("/inspect/live")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    ask = "document.querySelector('#watch').dispatchEvent(new Event('every'))"
    with page.expect_response("**part=rows**"):
        page.evaluate(ask)
    page.get_by_role("button", name="Pause").click()
    served.post("write", {"session": WHO, "key": "seat", "value": "aisle"})
    asked.clear()
    page.evaluate(ask)
    page.evaluate("fetch('/inspect/static/icon.svg')")
    assert not [url for url in asked if "part=rows" in url]
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#verdicts > li")).to_have_count(2)


def test_values_are_for_those_who_may_see_them(visit: Visit, memory: incumbent.Memory) -> None:
    """Somebody else's fact is an entry with its rule and its author, and nothing that was said."""
    memory.session(user_id="bob", organization="acme").write("diagnosis", "measles")
    memory.session(**WHO).write("seat", "window")
    page = visit("alice").open("/inspect/live")
    hidden = page.locator("#verdicts > li").nth(1)
    expect(hidden).to_contain_text("a fact that is not to be seen")
    expect(hidden).to_contain_text("by bob")
    assert "measles" not in page.content()
    assert "diagnosis" not in page.content()


def test_live_takes_the_scope_for_it(browser: Browser, memory: incumbent.Memory) -> None:
    """A key for reading has no way there, by the navigation or the address."""
    text = a_key(memory, "read")
    with Running(memory, credentials=True) as running:
        browsing = Browsing(browser, running.address)
        page = browsing.open("/inspect/enter")
        page.get_by_label("Key or token").fill(text)
        page.get_by_role("button", name="Sign in").click()
        browsing.look_as("alice")
        expect(page.get_by_role("link", name="Timeline")).to_be_visible()
        assert page.get_by_role("link", name="Live").count() == 0
        browsing.open("/inspect/live")
        expect(page.get_by_role("heading", name="Not permitted")).to_be_visible()
        browsing.close()


def test_charts_count_what_was_decided(visit: Visit, memory: incumbent.Memory) -> None:
    """By outcome, by rule and by day, with what is open for review; as tables too."""
    alice = memory.session(**WHO)
    alice.write("price", 12)
    alice.write("total", 1200, depends_on=["price"])
    alice.write("price", 15)
    browsing = visit("alice", viewport=PHONE)
    for scheme in ("light", "dark"):
        browsing.page.emulate_media(color_scheme=scheme)
        page = browsing.open("/inspect/live?days=7")
        outcome = page.get_by_role("table", name="By outcome")
        expect(outcome.get_by_role("row", name="established 2")).to_be_visible()
        review = page.get_by_role("table", name="Open for review now")
        expect(review.get_by_role("row", name="a base changed 1")).to_be_visible()
        assert page.locator(".chart rect.new").count() == 2  # a column, and the legend
        page.get_by_text("As a table").click()
        assert browsing.serious() == []
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
