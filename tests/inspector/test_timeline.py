"""Timeline: the state of any moment, as it was and as it was known."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from playwright.sync_api import Page, expect

import incumbent
from incumbent.inspector.looking import Looking
from incumbent.testing import SteppingClock
from tests.inspector.browsing import PHONE
from tests.inspector.conftest import Visit
from tests.service.running import PLAIN, Running

WHO = {"user_id": "alice", "organization": "acme"}


def shown(page: Page) -> str:
    return page.locator("#timeline").inner_text()


def filled(memory: incumbent.Memory, clock: SteppingClock) -> str:
    """A week: a move, a price with what rests on it, a withdrawal. The moment in its middle."""
    alice = memory.session(**WHO)
    alice.write("address", "123 Main St")
    alice.write("seat", "window")
    alice.write("rumour", "they cancel")
    middle = clock.now
    clock.advance(days=3)
    alice.write("address", "456 Oak Ave")
    alice.retract("rumour")
    alice.write("language", "French")
    return middle.isoformat()


def test_another_moment_shows_what_is_different_now(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """What changed since, what went since and what came since is marked."""
    middle = filled(memory, clock)
    browsing = visit("alice")
    page = browsing.open("/inspect/timeline")
    expect(page.locator(".entry", has_text="address")).to_contain_text("456 Oak Ave")
    assert "since" not in shown(page)
    page.goto(f"/inspect/timeline?at={middle.replace('+', '%2B')}")
    moved = page.locator(".entry", has_text="address")
    expect(moved).to_contain_text("123 Main St")
    expect(moved).to_contain_text("changed since")
    expect(moved).to_contain_text("now 456 Oak Ave")
    expect(page.locator(".entry", has_text="rumour")).to_contain_text("gone since")
    expect(page.locator(".entry", has_text="seat").locator(".state")).to_have_count(0)
    added = page.locator("h2:has-text('Added since') + ul")
    expect(added.locator("li")).to_have_count(1)
    expect(added).to_contain_text("French")


def test_what_was_true_differs_from_what_was_known(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """A move that was told late: by then's knowledge the old address, by today's the new one."""
    alice = memory.session(**WHO)
    alice.write("office", "Berlin")
    clock.advance(days=2)
    between = clock.now
    clock.advance(days=2)
    alice.write("office", "Madrid", valid_from=between - timedelta(days=1))
    browsing = visit("alice")
    at = between.isoformat().replace("+", "%2B")
    page = browsing.open(f"/inspect/timeline?at={at}")
    expect(page.get_by_role("heading", name="True then, recorded only later")).to_be_visible()
    expect(page.locator(".entry", has_text="office")).to_contain_text("Madrid")
    page.get_by_role("link", name="The same moment").click()
    expect(page.locator(".entry", has_text="office")).to_contain_text("Berlin")
    expect(page.locator(".entry", has_text="Berlin")).to_contain_text("now Madrid")
    assert "known=" in page.url


def test_the_slider_leads_through_time_and_keeps_the_focus(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """By its keys, and step by step from decision to decision; the address follows."""
    filled(memory, clock)
    page = visit("alice").open("/inspect/timeline")
    slider = page.get_by_role("slider", name="True at")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(".entries").first.locator("li")).to_have_count(1)
    expect(page.locator(".entries").first).to_contain_text("123 Main St")
    expect(slider).to_be_focused()
    assert "at=" in page.url
    page.locator("#at-later").click()
    expect(page.locator(".entries").first.locator("li")).to_have_count(2)
    expect(slider).to_have_value("0")
    page.locator("#at-present").click()
    expect(page.locator("#at-shown")).to_have_text("now")
    page.locator("#at-earlier").click()
    expect(page.locator("#at-shown")).not_to_have_text("now")
    field = page.get_by_label("True at, exactly, in UTC")
    field.fill("2020-01-01T00:00:00")
    field.press("Enter")
    expect(page.get_by_role("heading", name="Nothing was in office")).to_be_visible()


def test_the_timeline_works_without_script(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """A slider that was moved counts, then a field that was changed, then what was there."""
    middle = filled(memory, clock)
    page = visit("alice", java_script_enabled=False).open("/inspect/timeline")
    page.get_by_role("slider", name="As known at").fill("500")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".entry", has_text="address")).to_contain_text("123 Main St")
    page.locator("#known-present").click()
    page.get_by_label("True at, exactly, in UTC").fill(middle[:19])
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".entry", has_text="address")).to_contain_text("123 Main St")
    page.get_by_label("Search").fill("rumour")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".entries").first.locator("li")).to_have_count(1)


@pytest.mark.parametrize(
    "asked",
    [
        "at=yesterday",
        "at=9999-12-31T23:59:59.999999&known=9999-12-31T23:59:59.999999",
        "at=0001-01-01T00:00%2B14:00",
        "at_slid=-1&at_slid_was=3",
        "known_slid=\u00b2&known_slid_was=3",
        "held_cursor=nowhere",
    ],
)
def test_a_moment_that_is_none_is_refused(
    served: Running, alice: incumbent.Session, asked: str
) -> None:
    """With what would do; the service does not stumble."""
    alice.write("seat", "window")
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        client.cookies.set("incumbent_looking", Looking("acme", "alice").text(), path="/inspect")
        answer = client.get(f"/inspect/timeline?{asked}")
        assert answer.status_code == 422, answer.text
        assert "That did not work" in answer.text


def test_the_past_of_others_stays_theirs(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """Their decisions are no marks on the line, and what needs a permission is nowhere."""
    middle = filled(memory, clock)
    memory.session(user_id="board", organization="acme", authority="policy").write(
        "merger", "with Initech", memory_type="organizational", requires=["board"]
    )
    browsing = visit("bob")
    page = browsing.open("/inspect/timeline")
    expect(page.get_by_role("heading", name="No time to look back on")).to_be_visible()
    memory.session(user_id="bob", organization="acme").write("seat", "aisle")
    page.goto(f"/inspect/timeline?at={middle.replace('+', '%2B')}")
    expect(page.locator(".axis-mark")).to_have_count(1)
    for name in ("merger", "Initech", "Main St", "French"):
        assert name not in page.content()


def test_the_timeline_has_no_serious_fault(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """On a phone, in light and in dark, and nothing is wider than the screen."""
    middle = filled(memory, clock).replace("+", "%2B")
    memory.session(**WHO).write("x" * 200, "y" * 300, subject="z" * 200)
    browsing = visit("alice", viewport=PHONE)
    for scheme in ("dark", "light"):
        browsing.page.emulate_media(color_scheme=scheme)
        empty = f"?at={middle}&known={middle}&text=zzz"
        for path in (f"?at={middle}",) if scheme == "dark" else ("", empty):
            page = browsing.open(f"/inspect/timeline{path}")
            assert browsing.serious() == [], path
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), path
