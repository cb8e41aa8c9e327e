"""Branches: a what-if beside reality, committed or discarded with its consequences known."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import incumbent
from tests.inspector.browsing import PHONE
from tests.inspector.conftest import Visit

HOSTILE = "<script>document.title='owned'</script> <b>bold</b> \u202egnp.exe"


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    """Somebody with an address, a cost that rests on it, and a plan to move."""
    session = memory.session(user_id="alice", organization="acme")
    session.write("address", "456 Oak Ave")
    session.write("shipping_cost", "12 EUR", depends_on=("address",))
    session.hypothetical("berlin").write("address", "9 Unter den Linden")
    return session


def test_a_branch_stands_beside_reality(visit: Visit, alice: incumbent.Session) -> None:
    """Its value next to the one that holds without it."""
    alice.draft("plan-b").write("delivery_date", "2026-12-01")
    page = visit().open("/inspect/branches")
    berlin = page.locator("section", has=page.get_by_role("link", name="berlin"))
    expect(berlin.locator("tr.changed del").first).to_contain_text("456")
    expect(berlin.locator("tr.changed ins").first).to_contain_text("9")
    plan = page.locator("section", has=page.get_by_role("link", name="plan-b"))
    expect(plan.locator("tr.added")).to_contain_text("2026-12-01")


def test_a_commit_shows_its_consequences_first(visit: Visit, alice: incumbent.Session) -> None:
    """Nothing changes until it is confirmed; then it holds, and can be undone."""
    page = visit().open("/inspect/branches")
    page.get_by_role("link", name="Commit …").click()
    confirm = page.get_by_role("region", name="To confirm")
    expect(confirm).to_contain_text("replaces address = 456 Oak Ave")
    cost = confirm.locator("tr", has_text="shipping_cost")
    expect(cost.locator("td").nth(1)).not_to_contain_text("needs review")
    expect(cost.locator("td").nth(2)).to_contain_text("needs review")
    assert alice.current("address") == "456 Oak Ave"
    confirm.get_by_role("button", name="Commit it").click()
    expect(page.locator(".said")).to_contain_text("berlin was committed")
    expect(page.locator(".said").get_by_role("link", name="Undo …")).to_be_visible()
    assert alice.current("address") == "9 Unter den Linden"


def test_a_branch_is_discarded(visit: Visit, alice: incumbent.Session) -> None:
    """Nothing real changes, and the page says what to do when there is none."""
    page = visit().open("/inspect/branch?branch=hypothetical:berlin")
    page.get_by_role("link", name="Discard …").click()
    page.get_by_role("button", name="Discard it").click()
    expect(page.locator(".said")).to_contain_text("berlin was discarded")
    expect(page.locator(".empty")).to_contain_text("There is no branch")
    assert alice.current("address") == "456 Oak Ave"
    assert alice.hypothetical("berlin").current("address") == "456 Oak Ave"


def test_a_branch_begins_with_a_value(visit: Visit, alice: incumbent.Session) -> None:
    """Which is nowhere else; another one can be put in."""
    page = visit().open("/inspect/branches")
    page.get_by_label("Kind").select_option("draft")
    page.get_by_label("Name").fill("plan-b")
    page.get_by_label("Key", exact=True).fill("discount")
    page.get_by_label("Value", exact=True).fill("15")
    page.get_by_label("the value is JSON").check()
    page.get_by_role("button", name="Begin the branch").click()
    expect(page.locator("tr.added")).to_contain_text("15")
    assert alice.draft("plan-b").current("discount") == 15
    assert alice.current("discount") is None
    page.get_by_label("Key", exact=True).fill("tier")
    page.get_by_label("Value", exact=True).fill("gold")
    page.get_by_role("button", name="Put it in").click()
    expect(page.locator("tr.added")).to_have_count(2)


def test_nobody_sees_the_branch_of_another(visit: Visit, alice: incumbent.Session) -> None:
    """Neither in the list nor by its name; nor what takes a permission."""
    alice.draft("pay").write("salary", "90 grand", requires=("finance",))
    page = visit("bob").open("/inspect/branches")
    expect(page.locator(".empty")).to_be_visible()
    page.goto("/inspect/branch?branch=hypothetical:berlin&do=commit")
    expect(page.locator(".empty")).to_contain_text("Nothing is in this branch")
    page = visit("alice").open("/inspect/branches")
    expect(page.get_by_role("link", name="berlin")).to_be_visible()
    assert "90 grand" not in page.content()
    assert page.get_by_role("link", name="pay").count() == 0
    page.goto("/inspect/branch?branch=task:x")
    expect(page.locator(".problem")).to_contain_text("names no branch")


def test_the_pages_are_sound(visit: Visit, alice: incumbent.Session) -> None:
    """Nothing serious to axe in light and dark, no page wider than a phone, hostile text inert."""
    alice.draft(HOSTILE.replace("\u202e", "")).write("motto", HOSTILE)
    browsing = visit(viewport=PHONE)
    for scheme in ("light", "dark"):
        browsing.page.emulate_media(color_scheme=scheme)
        for path in ("branches", "branch?branch=hypothetical:berlin&do=commit"):
            page = browsing.open(f"/inspect/{path}")
            assert browsing.serious() == []
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            assert "\u202e" not in page.inner_text("main")
            assert page.title() != "owned"
            assert page.locator("main b").count() == 0
