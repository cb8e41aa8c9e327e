"""Now: what is known of a person, found, followed and told where it is from."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, Route, expect

import incumbent
from tests.inspector.browsing import PHONE, Browsing, press
from tests.inspector.conftest import Visit
from tests.service.running import Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}
PART = {"HX-Request": "true"}


def write(served: Running, key: str, value: object, **more: object) -> None:
    """A write through the API, by somebody else than the page."""
    answer = served.post("write", {"session": WHO, "key": key, "value": value, **more})
    assert answer.status_code == 200, answer.text


def expect_keys(page: Page, *keys: str) -> None:
    """Wait for a list of just these, in this order."""
    expect(page.locator("#list .name")).to_have_text(list(keys))


def test_a_fact_tells_where_it_is_from(visit: Visit, memory: incumbent.Memory) -> None:
    """In plain words, with its story and everything about its subject one click away."""
    alice = memory.session(**WHO)
    alice.observe("My address is 123 Main St.")
    alice.write("status", "approved", subject="order-17")
    alice.write("weight", "3 kg", subject="order-17")
    page = visit("alice").page
    said = page.locator("#list > li", has_text="123 Main St")
    expect(said).to_contain_text(re.compile(r"said by alice on \d+ \w+ \d{4}, turn 1, "))
    fact_id = alice.facts("status")[0].id
    story = page.get_by_role("link", name="status")
    expect(story).to_have_attribute("href", f"/inspect/fact?id={fact_id}")
    page.locator("aside").get_by_role("link", name="order-17").click()
    expect(page.locator("#news")).to_contain_text("2 facts")
    expect_keys(page, "weight", "status")


def test_facts_are_found_by_words_and_state(visit: Visit, memory: incumbent.Memory) -> None:
    """Without leaving the page; the address leads there again."""
    alice = memory.session(**WHO, authority="manager")
    for key, value in (("address", "123 Main St"), ("address", "456 Oak Ave"), ("seat", "window")):
        alice.write(key, value)
    alice.write("q3_budget", 9000)
    page = visit("alice").page
    page.get_by_label("Search").press_sequentially("oak")
    expect(page.locator("#list > li")).to_have_count(1)
    page.get_by_label("State").select_option("superseded")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.get_by_label("Search").fill("main")
    expect(page.locator("#list > li")).to_contain_text("123 Main St")
    page.reload()
    expect(page.locator("#list > li")).to_contain_text("123 Main St")
    expect(page.get_by_label("Search")).to_have_value("main")
    page.get_by_role("link", name="Constraints").click()
    expect_keys(page, "q3_budget")


def test_what_is_typed_before_the_page_listens_is_searched_for(
    visit: Visit, memory: incumbent.Memory
) -> None:
    """The page can be seen and typed into before its scripts have come."""
    memory.session(**WHO).write("address", "456 Oak Ave")
    memory.session(**WHO).write("seat", "window")
    page = visit("alice").page
    expect(page.locator("#list > li")).to_have_count(2)
    held: list[Route] = []
    page.route("**/htmx.min.js*", lambda route: held.append(route))
    with page.expect_request("**/htmx.min.js*"):
        page.reload(wait_until="commit")
    page.get_by_label("Search").press_sequentially("oak")
    expect(page.locator("#list > li")).to_have_count(2)
    (asked,) = held
    asked.continue_()
    expect(page.locator("#list > li")).to_have_count(1)


def test_a_supersession_made_through_the_api_appears(visit: Visit, served: Running) -> None:
    """Without a reload, and without a word lost of what is being typed."""
    write(served, "address", "123 Main St")
    write(served, "seat", "window")
    write(served, "box", 7)
    page = visit("alice").page
    page.evaluate("window.stayed = true")
    typed = page.get_by_label("Search")
    typed.press_sequentially("a")
    expect(page.locator("#list > li")).to_have_count(2)
    write(served, "address", "456 Oak Ave")
    expect(page.locator("#list")).to_contain_text("456 Oak Ave")
    expect(page.locator("#list")).not_to_contain_text("123 Main St")
    expect(page.locator("#news")).to_contain_text("The list changed at")
    expect(typed).to_be_focused()
    expect(typed).to_have_value("a")
    assert page.evaluate("window.stayed")


def test_a_list_keeps_its_place_while_it_changes(visit: Visit, served: Running) -> None:
    """The entry at hand stays at hand when another comes before it, and a pause is a pause."""
    for number in range(60):
        write(served, f"key_{number:02}", number)
    page = visit("alice").page
    page.get_by_role("link", name="More").click()
    expect(page.locator("#list > li")).to_have_count(60)
    for _ in range(3):
        press(page, "j")
    expect(page.get_by_role("link", name="key_57")).to_be_focused()
    write(served, "fresh", "new here")
    expect(page.locator("#list > li")).to_have_count(61)
    expect(page.get_by_role("link", name="key_57")).to_be_focused()
    expect(page.locator("#list > li.at")).to_contain_text("key_57")
    press(page, "j")
    expect(page.get_by_role("link", name="key_56")).to_be_focused()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Go on")).to_have_attribute("aria-pressed", "true")
    write(served, "fresher", "not yet to be seen")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("link", name="fresher")).to_be_visible()


def test_it_works_without_script(visit: Visit, memory: incumbent.Memory) -> None:
    """Filters are a form, and more is a link."""
    alice = memory.session(**WHO)
    alice.write_many([{"key": f"key_{number:02}", "value": number} for number in range(60)])
    page = visit("alice", java_script_enabled=False).page
    expect(page.locator("#list > li")).to_have_count(50)
    page.get_by_role("link", name="More").click()
    expect(page.locator("#list > li")).to_have_count(10)
    page.get_by_role("link", name="To the newest").click()
    page.get_by_label("Search").fill("key_07")
    page.get_by_role("button", name="Show").click()
    expect_keys(page, "key_07")
    page.get_by_role("link", name="What the facts are about").click()
    expect(page.get_by_role("heading", name="No subjects yet")).to_be_visible()


def test_what_a_reader_may_not_see_is_not_noticed(
    visit: Visit, memory: incumbent.Memory, served: Running
) -> None:
    """Neither in the list, nor among the subjects, nor by the page asking whether there is more."""
    board = memory.session(user_id="board", organization="acme", authority="policy")
    memory.session(**WHO).write("seat", "window")
    browsing = visit("alice")
    page = browsing.page
    watch = page.locator("#watch").get_attribute("hx-get")
    assert watch is not None
    board.write(
        *("merger", "with Initech"),
        subject="initech",
        memory_type="organizational",
        requires=["board"],
    )
    assert page.request.get(watch, headers=PART).status == 204
    for path in ("/inspect", "/inspect?state=all", "/inspect?text=initech", "/inspect/subjects"):
        content = browsing.open(path).content().replace("text=initech", "")
        assert "merger" not in content
        assert "Initech" not in content
    memory.session(**WHO).write("seat", "aisle")
    assert page.request.get(watch, headers=PART).status == 200


def test_an_open_page_says_when_its_visitor_is_out(
    browser: Browser, memory: incumbent.Memory
) -> None:
    """It does not go on showing a list that nobody keeps up to date."""
    memory.session(**WHO).write("seat", "window")
    text = a_key(memory, "read")
    with Running(memory, credentials=True) as running:
        browsing = Browsing(browser, running.address)
        page = browsing.open("/inspect/enter")
        page.get_by_label("Key or token").fill(text)
        page.get_by_role("button", name="Sign in").click()
        browsing.look_as("alice")
        expect(page.get_by_role("link", name="seat")).to_be_visible()
        browsing.context.clear_cookies()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        browsing.close()


def test_a_fact_that_stands_behind_another_says_so(visit: Visit, memory: incumbent.Memory) -> None:
    """One's own word of higher authority is gone by, and the organization's stays in office."""
    manager = memory.session(user_id="mia", organization="acme", authority="manager")
    manager.write("head_count", 40, subject="berlin", memory_type="organizational")
    memory.session(**WHO, authority="executive").write("head_count", 44, subject="berlin")
    page = visit("alice").page
    behind = page.locator("#list > li", has_text="organizational")
    expect(behind).to_contain_text("stands behind what is gone by here: 44")


def test_the_other_layers_are_there(visit: Visit, memory: incumbent.Memory) -> None:
    """Who is asking, what is on the desk, and the signals from outside."""
    memory.environment.provide("weather", lambda: "rain in Lyon")
    memory.session(**WHO, session_id="chat-1").observe("We talked about the venue.")
    page = visit("alice").page
    page.get_by_role("link", name="Identity").click()
    expect(page.locator(".pairs").first).to_contain_text("employee")
    page.get_by_role("link", name="Working set").click()
    expect(page.locator("tbody")).to_contain_text("We talked about the venue.")
    page.get_by_role("link", name="Environment").click()
    expect(page.locator(".pairs").first).to_contain_text("rain in Lyon")


def test_an_empty_memory_says_how_to_begin(visit: Visit) -> None:
    """And fills as soon as there is something."""
    page = visit("alice").page
    expect(page.get_by_role("heading", name="Nothing is known yet")).to_be_visible()
    expect(page.locator("pre")).to_contain_text("incumbent observe")


def test_now_has_no_serious_fault(visit: Visit, memory: incumbent.Memory) -> None:
    """On a phone, in light and in dark, and nothing is wider than the screen."""
    alice = memory.session(**WHO, authority="manager", session_id="chat-1")
    alice.observe("I prefer the window seat.")
    alice.write("x" * 200, "y" * 300, subject="z" * 200)
    alice.write("venue", "Lyon")
    alice.write("venue", "Paris", confidence=0.4)
    browsing = visit("alice", viewport=PHONE)
    layers = ("?layer=constraints", "?layer=identity", "?layer=working", "?layer=environment")
    for scheme in ("dark", "light"):
        browsing.page.emulate_media(color_scheme=scheme)
        more = (*layers, "/subjects") if scheme == "light" else ()
        for path in ("?state=all", *more):
            page = browsing.open(f"/inspect{path}")
            assert browsing.serious() == [], path
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), path
