"""Conversations: what was read in each turn, what it changed, and a turn that is only tried."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

import incumbent
from tests.inspector.browsing import PHONE, Browsing
from tests.inspector.conftest import Visit
from tests.service.running import Running, a_key

HOSTILE = "My motto is <script>document.title='owned'</script> <b>bold</b> \u202egnp.exe."


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    """Somebody who said where she lives, and that she moved."""
    session = memory.session(user_id="alice", organization="acme", session_id="chat-1")
    session.observe("My home address is 123 Main St. What if we invited 40 people?", ref="m-1")
    session.observe("I moved to 456 Oak Ave.")
    return session


def test_a_talk_shows_what_it_was_read_as(visit: Visit, alice: incumbent.Session) -> None:
    """Each stretch marked, dead values struck out, what each turn changed beside it."""
    page = visit().open("/inspect/conversations")
    page.get_by_role("link", name="chat-1").click()
    first, second = page.locator("#turn-1"), page.locator("#turn-2")
    expect(first.locator("a.value.gone del")).to_have_text("123 Main St")
    expect(first.locator(".unreal").first).to_contain_text("What if")
    expect(second.locator("a.value")).to_have_text("456 Oak Ave")
    expect(second.locator("a.gone")).to_have_count(0)
    expect(second.locator(".came")).to_contain_text("superseded")
    expect(second.locator(".came")).to_contain_text("replaces address = 123 Main St")
    fact = alice.facts("address")[0]
    link = second.locator(".came").get_by_role("link", name="address = 456 Oak Ave")
    expect(link).to_have_attribute("href", f"/inspect/fact?id={fact.id}")


def test_a_talk_whose_words_are_not_kept_shows_quotes(
    visit: Visit, alice: incumbent.Session
) -> None:
    """And says so."""
    alice.close()
    page = visit().open("/inspect/conversation?session=chat-1")
    first = page.locator("#turn-1")
    expect(first.locator("blockquote").first).to_have_text("My home address is 123 Main St.")
    expect(first).to_contain_text("The words of this turn are not kept here")


def test_a_turn_is_tried_and_nothing_changes(visit: Visit, alice: incumbent.Session) -> None:
    """What would be read, superseded and kept, and what would not, and why."""
    page = visit().open("/inspect/conversation?session=chat-1")
    page.get_by_label("What would you make of this?").fill(
        "I moved to 9 Elm St. What is my budget?"
    )
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("h1")).to_have_text("What would come of it")
    expect(page.locator(".came")).to_contain_text("replaces address = 456 Oak Ave")
    change = page.locator(".changes tr", has_text="9 Elm St")
    expect(change).to_contain_text("not there")
    expect(page.locator("tr", has_text="What is my budget?")).to_contain_text("a question")
    assert alice.current("address") == "456 Oak Ave"
    assert len(alice.list_turns()) == 2
    page.get_by_label("What would you make of this?").fill("Hello!")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("main")).to_contain_text("It would change nothing")


def test_nobody_sees_the_talk_of_another(
    browser: Browser, visit: Visit, memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    """Nor the words of a turn that says what takes a permission; nor may a reader try one."""
    page = visit("bob").open("/inspect/conversations")
    expect(page.locator(".empty")).to_contain_text("Nothing was said yet")
    page.goto("/inspect/conversation?session=chat-1")
    expect(page.locator(".empty")).to_be_visible()
    assert "Main St" not in page.content()
    memory.declare("salary", requires=("finance",))
    cleared = memory.session(
        user_id="alice", organization="acme", session_id="chat-1", permissions=("finance",)
    )
    made = cleared.observe("My salary is $90,000.")
    assert [fact.key for fact in made.facts] == ["salary"]
    key = a_key(memory, "read", permissions=frozenset(), user_id="alice")
    with Running(memory, credentials=True) as running:
        browsing = Browsing(browser, running.address)
        page = browsing.open("/inspect/enter")
        page.get_by_label("Key or token").fill(key)
        page.get_by_role("button", name="Sign in").click()
        page.goto("/inspect/conversation?session=chat-1")
        expect(page.locator("#turn-3")).to_be_visible()
        assert "90,000" not in page.content()
        assert "salary" not in page.content()
        assert page.get_by_role("button", name="Try it").count() == 0
        browsing.close()


def test_the_pages_are_sound(visit: Visit, alice: incumbent.Session) -> None:
    """Nothing serious to axe in light and dark, no page wider than a phone, hostile text inert."""
    alice.observe(HOSTILE)
    alice.observe("Sure, 456 Oak Ave it is.", speaker="assistant")
    browsing = visit(viewport=PHONE)
    for scheme in ("light", "dark"):
        browsing.page.emulate_media(color_scheme=scheme)
        for path in ("conversations", "conversation?session=chat-1", "tried"):
            if path == "tried":
                browsing.page.get_by_label("What would you make of this?").fill(HOSTILE)
                browsing.page.get_by_role("button", name="Try it").click()
                expect(browsing.page.locator("h1")).to_have_text("What would come of it")
            else:
                browsing.open(f"/inspect/{path}")
            page = browsing.page
            assert browsing.serious() == []
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            assert "\u202e" not in page.inner_text("main")
            assert page.title() != "owned"
            assert page.locator("main b").count() == 0
