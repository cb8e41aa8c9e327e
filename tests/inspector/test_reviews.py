"""Reviews: a queue to work through, by keyboard, with both sides and why."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import incumbent
from tests.inspector.browsing import PHONE, press
from tests.inspector.conftest import Visit
from tests.inspector.forms import sending
from tests.service.running import Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}


def _id(verdict: incumbent.Verdict) -> str:
    assert verdict.fact is not None
    return verdict.fact.id


def a_queue(memory: incumbent.Memory) -> incumbent.Session:
    """One review of each kind: a changed base, a doubt, a contested statement."""
    alice = memory.session(**WHO)
    price = _id(alice.write("price", 12))
    alice.write("total", 480, depends_on=[price])
    alice.write("price", 15)
    hotel = _id(alice.write("hotel", "Ritz"))
    alice.write("hint", "We stay at the Grand", doubts=[hotel])
    alice.write("room", "A")
    alice.write("room", "B", confidence=0.4)
    return alice


def asked_about(memory: incumbent.Memory) -> incumbent.Session:
    """A person who is asked before a change of venue is kept."""
    alice = memory.session(**WHO)
    alice.observe("The venue is Lyon.")
    alice.ask_before_keeping = True
    alice.observe("The venue is Paris now.")
    return alice


def test_what_waits_is_shown_with_what_it_would_replace(
    visit: Visit, memory: incumbent.Memory
) -> None:
    """In the words that were said; a letter keeps it, and it can be undone."""
    alice = asked_about(memory)
    page = visit().open("/inspect/reviews")
    article = page.get_by_role("article").first
    expect(article).to_contain_text("unapproved")
    expect(article).to_contain_text("The venue is Paris now.")
    expect(article).to_contain_text("Lyon")
    expect(article).to_contain_text("not kept yet")
    press(page, "1")
    expect(page.get_by_role("status")).to_contain_text("Kept: venue = Paris")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews (0)")
    assert alice.current("venue") == "Paris"


def test_the_story_of_what_waits_says_so(served: Running, memory: incumbent.Memory) -> None:
    """Whoever comes by its address learns that it is not kept, and where to decide."""
    alice = asked_about(memory)
    waiting = alice.reviews()[0].fact.id
    with sending(served) as sender:
        text = sender.get(f"fact?id={waiting}").text
        assert "It is not kept yet" in text
        assert "waits for approval" in text
        assert sender.send("reviews/do", do="dismiss", id=waiting).status_code == 303
    assert alice.reviews() == []
    assert alice.current("venue") == "Lyon"


def test_the_queue_is_worked_through_by_keyboard(visit: Visit, memory: incumbent.Memory) -> None:
    """Each letter decides, the next one is at hand, and the end says so."""
    alice = a_queue(memory)
    page = visit().open("/inspect")
    press(page, "g")
    press(page, "r")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews (3)")
    first = page.get_by_role("article").first
    expect(first).to_contain_text("price was 12, now it is 15.")
    press(page, "w")
    page.keyboard.type("600")
    press(page, "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews (2)")
    expect(page.get_by_role("status")).to_contain_text("Replaced: total = 600")
    expect(page.get_by_role("status").get_by_role("link", name="Undo")).to_be_visible()
    expect(page.locator("article.at")).to_contain_text("hint = We stay at the Grand")
    press(page, "b")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews (1)")
    expect(page.locator("article.at")).to_contain_text("the evidence is too weak")
    press(page, "2")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews (0)")
    expect(page.get_by_role("heading", name="Nothing wants a decision")).to_be_visible()
    assert (alice.current("total"), alice.current("hotel"), alice.current("room")) == (
        600,
        "Ritz",
        "B",
    )


def test_the_next_one_is_at_hand_wherever_one_began(visit: Visit, memory: incumbent.Memory) -> None:
    """Whoever skips the first does not come back to it after each decision."""
    a_queue(memory)
    page = visit(viewport=PHONE).open("/inspect/reviews")
    press(page, "j")
    expect(page.locator("article.at")).to_contain_text("hotel")
    press(page, "1")
    expect(page.get_by_role("status")).to_contain_text("Taken back: hint")
    expect(page.locator("article.at")).to_contain_text("room")
    expect(page.get_by_role("article")).to_have_count(2)


def test_what_follows_is_shown_first_to_whoever_asks(
    visit: Visit, memory: incumbent.Memory
) -> None:
    """Then it is confirmed, and the queue goes on in the same way."""
    alice = a_queue(memory)
    page = visit().open("/inspect/reviews")
    page.get_by_role("link", name="Show me first what follows").click()
    expect(page.get_by_role("link", name="decide at once")).to_be_visible()
    press(page, "t")
    expect(page.get_by_role("heading", name="This will happen")).to_be_visible()
    expect(page.locator(".changes")).to_contain_text("leaves office: retracted")
    assert alice.current("total") == 480
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reviews (2)")
    expect(page.get_by_role("link", name="decide at once")).to_be_visible()
    assert alice.current("total") is None


@pytest.mark.parametrize(
    ("kind", "do", "holds"),
    [
        ("base changed", "keep", {"total": 480}),
        ("base changed", "retract", {"total": None}),
        ("contested", "retract", {"room": "A"}),
        ("contested", "replace", {"room": "C"}),
        ("doubted", "retract", {"hotel": None, "hint": "We stay at the Grand"}),
        ("doubted", "drop", {"hotel": "Ritz", "hint": None}),
    ],
)
def test_a_decision_settles_its_review(
    served: Running, memory: incumbent.Memory, kind: str, do: str, holds: dict[str, object]
) -> None:
    """It is gone from the queue, what holds is as decided, and undoing brings it back."""
    alice = a_queue(memory)
    review = next(one for one in alice.reviews() if one.kind == kind)
    chosen = review.rival if do == "drop" else review.fact
    assert chosen is not None
    with sending(served) as sender:
        done = sender.send("reviews/do", do=do, id=chosen.id, value="C")
        assert done.status_code == 303, done.text
    assert kind not in {one.kind for one in alice.reviews()}
    assert {key: alice.current(key) for key in holds} == holds
    last = alice.explain(chosen.id).verdicts
    undone = next(one for one in reversed(last) if one.rule in ("review", "retraction"))
    alice.undo(undone)
    assert kind in {one.kind for one in alice.reviews()}


def test_a_reader_sees_the_queue_and_decides_nothing(memory: incumbent.Memory) -> None:
    """Deciding takes the scope review; to take back what raised a doubt takes writing too."""
    alice = a_queue(memory)
    hint = alice.facts("hint")[0].id
    key = a_key(memory, "read", "review", user_id="alice")
    reading = a_key(memory, "read", user_id="alice")
    with Running(memory, credentials=True) as running:
        with sending(running, key=reading) as sender:
            page = sender.get("reviews").text
            assert "Reviews" in page
            assert "reviews/do" not in page
            assert sender.send("reviews/do", do="keep", id=hint).status_code == 403
        with sending(running, key=key) as sender:
            assert 'value="drop"' not in sender.get("reviews").text
            assert sender.send("reviews/do", do="drop", id=hint).status_code == 403
    assert len(alice.reviews()) == 3
