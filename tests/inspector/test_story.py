"""The story of a fact: where it comes from, what was decided, and what hangs on it."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Browser, expect

import incumbent
from incumbent.testing import SteppingClock
from tests.inspector.browsing import PHONE, Browsing
from tests.inspector.conftest import Visit
from tests.service.running import PLAIN, Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\u202egnp.exe"


def _id(verdict: incumbent.Verdict) -> str:
    assert verdict.fact is not None
    return verdict.fact.id


def test_it_tells_where_a_fact_comes_from(visit: Visit, memory: incumbent.Memory) -> None:
    """Its words, its turn, the verdicts with rule and confidence, and the way to what it was."""
    alice = memory.session(**WHO)
    alice.observe("My address is 123 Main St.", ref="chat:1")
    alice.observe("I moved to 456 Oak Ave.", ref="chat:2")
    now = alice.facts("address")[0]
    page = visit().open(f"/inspect/fact?id={now.id}")
    known = page.get_by_role("region", name="What is known about it")
    expect(known).to_contain_text("I moved to 456 Oak Ave.")
    expect(known).to_contain_text("chat:2")
    decided = page.get_by_role("region", name="What was decided")
    expect(decided.get_by_role("listitem")).to_have_count(2)
    expect(decided).to_contain_text("My address is 123 Main St.")
    expect(decided).to_contain_text("rule: explicit, confidence 0.95")
    decided.get_by_role("link", name="address = 123 Main St").click()
    expect(page.locator("h1 + .says")).to_have_text("123 Main St")
    expect(page.locator(".lead")).to_contain_text("Now stands: address = 456 Oak Ave")


def test_both_times_are_drawn(visit: Visit, memory: incumbent.Memory) -> None:
    """A lane for each value, with when it held and when it was on record, in words too."""
    alice = memory.session(**WHO)
    alice.write("city", "Bern")
    fact_id = _id(alice.write("city", "Basel"))
    page = visit().open(f"/inspect/fact?id={fact_id}")
    lanes = page.get_by_role("region", name="Over time").get_by_role("listitem")
    expect(lanes).to_have_count(2)
    drawn = lanes.first.get_by_role("img", name=re.compile(r"^Held from .+ to .+\. On record from"))
    expect(drawn.locator("rect")).to_have_count(2)
    expect(lanes.last.get_by_role("img", name=re.compile("^Held from .+ on"))).to_be_visible()


def test_who_was_overruled_is_told(visit: Visit, memory: incumbent.Memory) -> None:
    """With the authority that stood against it, and by which fact."""
    memory.session(**WHO, authority="manager").write("limit", 500)
    fact_id = _id(memory.session(**WHO, authority="guest").write("limit", 900))
    page = visit().open(f"/inspect/fact?id={fact_id}")
    entry = page.locator(".verdict.overruled")
    expect(entry).to_contain_text("a fact on the authority of manager stands")
    expect(entry).to_contain_text("(guest)")
    entry.get_by_role("link", name="limit = 500").click()
    expect(page.locator("h1 + .says")).to_have_text("500")


def test_what_broke_is_seen_to_spread(visit: Visit, memory: incumbent.Memory) -> None:
    """From the base that changed to all that rests on it: drawn, and as a list."""
    alice = memory.session(**WHO)
    price = _id(alice.write("price", 12))
    total = _id(alice.write("total", 480, depends_on=[price]))
    alice.write("offer", "480 in all", depends_on=[total])
    alice.write("price", 15)
    browsing = visit()
    page = browsing.open(f"/inspect/fact?id={price}")
    expect(page.get_by_role("region", name="What was decided")).to_contain_text(
        "total needs review: price -> total"
    )
    graph = page.get_by_role("region", name="The graph around the fact")
    expect(graph.locator(".edge.spreads")).to_have_count(3)
    expect(graph.locator(".node.review")).to_have_count(2)
    page.get_by_text("The same as a list").click()
    expect(page.locator(".listed li").first).to_contain_text(
        "rests on price = 12, and needs review"
    )
    graph.get_by_role("link", name="offer").click()
    expect(page.get_by_role("region", name="It needs review")).to_contain_text(
        "It rests on price = 12, which is now price = 15."
    )


def test_a_doubt_is_told(visit: Visit, memory: incumbent.Memory) -> None:
    """With the later statement that raised it, on both of their pages."""
    alice = memory.session(**WHO)
    hotel = _id(alice.write("hotel", "Ritz"))
    hint = _id(alice.write("hint", "We stay at the Grand", doubts=[hotel]))
    page = visit().open(f"/inspect/fact?id={hotel}")
    told = page.get_by_role("region", name="It may be out of date")
    expect(told).to_contain_text("hint = We stay at the Grand")
    told.get_by_role("link", name="hint").click()
    page.wait_for_url(f"**/fact?id={hint}")
    expect(page.get_by_role("region", name="What is known about it")).to_contain_text(
        "hotel = Ritz"
    )


def test_a_hidden_fact_is_like_none(served: Running, memory: incumbent.Memory) -> None:
    """Its page says the same, whether by its id, in a form or in an undo."""
    knows = memory.session(**WHO, permissions=["hr"])
    verdict = knows.write("salary", "90k", requires=["hr"])
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        token = _looking(client)
        hidden, missing = _id(verdict), "0" * 36
        for path in ("fact?id={}", "fact?id={}&all=1"):
            pages = [
                (found := client.get(f"/inspect/{path.format(one)}")).text.replace(one, "ID")
                for one in (hidden, missing)
            ]
            assert pages[0] == pages[1]
            assert found.status_code == 404
        for path in ("fact/preview", "fact/do"):
            form = {"token": token, "do": "retract"}
            pages = [
                client.post(f"/inspect/{path}", data={**form, "id": one}).text.replace(one, "ID")
                for one in (hidden, missing)
            ]
            assert pages[0] == pages[1]
        pages = [
            client.get(f"/inspect/undo?verdict={one}").text.replace(one, "ID")
            for one in (verdict.id, missing)
        ]
        assert pages[0] == pages[1]
    assert knows.current("salary") == "90k"


def test_a_hidden_fact_leaves_no_trace(visit: Visit, memory: incumbent.Memory) -> None:
    """Neither in the story of what stands at its place nor in that of what was derived from it."""
    knows = memory.session(**WHO, permissions=["hr"])
    hidden = _id(knows.write("plan", "SECRET-PLAN", requires=["hr"]))
    derived = _id(knows.write("budget", "tight", depends_on=[hidden]))
    open_plan = _id(memory.session(**WHO).write("plan", "stay"))
    knows.write("plan", "SECRET-TOO", requires=["hr"])
    browsing = visit()
    for path in (f"fact?id={open_plan}", f"fact?id={derived}", "reviews", ""):
        text = browsing.open(f"/inspect/{path}").content()
        assert "SECRET" not in text
        assert hidden not in text


def test_hostile_text_is_inert(visit: Visit, memory: incumbent.Memory) -> None:
    """In a key, a value, a subject, a reason or a ref, on every page that shows a fact."""
    alice = memory.session(**WHO)
    base = _id(alice.write(HOSTILE, HOSTILE, subject=HOSTILE))
    alice.write("rests", HOSTILE, depends_on=[base])
    verdict = alice.write(HOSTILE, "other " + HOSTILE, subject=HOSTILE)
    alice.retract(_id(alice.write("gone", HOSTILE)), HOSTILE)
    gone = alice.history("gone").facts[0]
    browsing = visit()
    page = browsing.page
    page.on("dialog", lambda _: browsing.problems.append("a dialog"))
    paths = (
        f"fact?id={base}",
        f"fact?id={gone.id}",
        f"undo?verdict={verdict.id}",
        "reviews",
        f"erasure?fact={base}",
    )
    for path in paths:
        browsing.open(f"/inspect/{path}")
        _assert_inert(browsing)
    page.get_by_role("button", name="Show what will go").click()
    expect(page.get_by_role("heading", name="What will go")).to_be_visible()
    _assert_inert(browsing)
    browsing.open(f"/inspect/fact?id={_id(verdict)}")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("heading", name="This will happen")).to_be_visible()
    _assert_inert(browsing)


def _assert_inert(browsing: Browsing) -> None:
    page = browsing.page
    assert page.locator("main script, main img, main [onerror]").count() == 0
    assert "owned" not in page.title().replace("document.title='owned'", "")
    shown = page.locator("main").inner_text()
    assert "\u202e" not in shown
    assert "<script>" in shown


def test_the_pages_are_fit_for_everybody(
    visit: Visit, memory: incumbent.Memory, clock: SteppingClock
) -> None:
    """axe finds nothing serious in light or in dark, and a phone needs no scrolling sideways."""
    alice = memory.session(**WHO)
    price = _id(alice.write("unit_price_of_the_long_named_thing", 12))
    total = _id(alice.write("total", "word" * 40, depends_on=[price]))
    alice.write("offer", "480 in all", depends_on=[total])
    clock.advance(days=40)
    verdict = alice.write("unit_price_of_the_long_named_thing", 15)
    alice.write("room", "A")
    alice.write("room", "B", confidence=0.4)
    alice.write("hint", "elsewhere", doubts=[_id(verdict)])
    alice.write("phone", "555-1234", subject="Jane")
    proof = memory.forget(organization="acme", subject="Jane")
    paths = (
        f"fact?id={total}",
        f"fact?id={price}",
        f"undo?verdict={verdict.id}",
        "reviews",
        "reviews?careful=1",
        f"erasure/proof?id={proof.id}&digest={proof.digest}",
        f"erasure?fact={price}",
    )
    for scheme, size in (("light", None), ("dark", PHONE)):
        options = {"color_scheme": scheme, **({"viewport": size} if size else {})}
        browsing = visit(**options)
        for path in paths:
            page = browsing.open(f"/inspect/{path}")
            assert browsing.serious() == [], path
            _assert_narrow(browsing)
        page.get_by_role("button", name="Show what will go").click()
        expect(page.get_by_role("heading", name="What will go")).to_be_visible()
        assert browsing.serious() == []
        _assert_narrow(browsing)
        browsing.open(f"/inspect/fact?id={total}")
        page.get_by_role("button", name="Take back").click()
        expect(page.get_by_role("heading", name="This will happen")).to_be_visible()
        assert browsing.serious() == []
        _assert_narrow(browsing)


def _assert_narrow(browsing: Browsing) -> None:
    wide = "document.scrollingElement.scrollWidth - innerWidth"
    assert browsing.page.evaluate(wide) <= 0, browsing.page.url


def test_a_long_story_is_cut_and_can_be_had_whole(visit: Visit, memory: incumbent.Memory) -> None:
    """The last verdicts are shown, and a link leads to all."""
    alice = memory.session(**WHO)
    for number in range(50):
        fact_id = _id(alice.write("reading", number))
    page = visit().open(f"/inspect/fact?id={fact_id}")
    decided = page.get_by_role("region", name="What was decided")
    expect(decided.get_by_role("listitem")).to_have_count(40)
    decided.get_by_role("link", name="Show all").click()
    expect(decided.get_by_role("listitem")).to_have_count(50)


def test_a_reader_is_offered_nothing_to_change(browser: Browser, memory: incumbent.Memory) -> None:
    """A credential that only reads sees the story without forms, and its forms are refused."""
    fact_id = _id(memory.session(**WHO).write("city", "Bern"))
    text = a_key(memory, "read", user_id="alice")
    with Running(memory, credentials=True) as running:
        browsing = Browsing(browser, running.address)
        page = browsing.open(f"/inspect/fact?id={fact_id}")
        page.get_by_label("Key or token").fill(text)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="city")).to_be_visible()
        expect(page.get_by_role("heading", name="Put it right")).to_have_count(0)
        expect(page.get_by_role("link", name="Undo")).to_have_count(0)
        browsing.close()
        with httpx.Client(
            base_url=running.address, cookies={"incumbent_key": text}, **PLAIN
        ) as client:
            client.get("/inspect/who")
            form = {"token": client.cookies["incumbent_token"], "do": "retract", "id": fact_id}
            for path in ("fact/preview", "fact/do", "reviews/do", "undo", "erasure/do"):
                assert client.post(f"/inspect/{path}", data=form).status_code == 403
    assert memory.session(**WHO).current("city") == "Bern"


def _looking(client: httpx.Client) -> str:
    """Look as alice; returns what forms must bring back."""
    client.get("/inspect/who")
    token = client.cookies["incumbent_token"]
    form = {"token": token, "user_id": "alice", "organization": "acme"}
    assert client.post("/inspect/who", data=form).status_code == 303
    return token


@pytest.mark.parametrize("asked", ["", "?id=", "?id=" + "x" * 2000, "?id=%00", "?id=a&all=x"])
def test_no_fact_is_told_as_such(served: Running, asked: str) -> None:
    """An address that names none gets a page that says so."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        _looking(client)
        answer = client.get(f"/inspect/fact{asked}")
        assert answer.status_code in (404, 422)
        assert "To the facts" in answer.text


def test_what_was_said_under_no_name_follows_only_what_it_took_the_place_of(
    visit: Visit, memory: incumbent.Memory
) -> None:
    """Its story has its own chain, not all that was ever said; it is known by subject and text."""
    alice = memory.session(**WHO)
    for text in ("The cat likes fish.", "We need 40 desks.", "Actually we need 45 desks."):
        alice.observe(text)
    desks = next(fact for fact in alice.facts("") if "[45]" in str(fact.value))
    page = visit().open(f"/inspect/fact?id={desks.id}")
    expect(page.locator("h1")).to_have_text("alice")
    expect(page.locator("h1 + .says")).to_have_text("We need [45] desks.")
    lanes = page.get_by_role("region", name="Over time").get_by_role("listitem")
    expect(lanes).to_have_count(2)
    expect(page.locator("main")).not_to_contain_text("The cat likes fish.")
    page.goto("/inspect")
    cat = page.locator("#list > li", has_text="The cat likes fish.")
    expect(cat.locator(".name")).to_have_text("alice")


def test_the_mark_of_a_verdict_is_as_large_as_its_word(
    visit: Visit, memory: incumbent.Memory
) -> None:
    """However much is told beside it."""
    alice = memory.session(**WHO)
    price = _id(alice.write("price", 12))
    alice.write("total", 480, depends_on=[price])
    alice.write("price", 15)
    page = visit(viewport={"width": 1300, "height": 800}).open(f"/inspect/fact?id={price}")
    around = page.locator(".verdict .outcome").last
    assert around.evaluate("e => getComputedStyle(e).backgroundColor") == "rgba(0, 0, 0, 0)"
    mark = around.locator(".state").bounding_box()
    assert mark is not None
    assert mark["height"] < 30
