"""Entering: a key, a person, and nobody who has neither."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Browser, expect

import incumbent
from tests.inspector.browsing import Browsing
from tests.inspector.conftest import Visit
from tests.service.running import PLAIN, Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}


def test_a_visitor_chooses_whom_to_look_as(visit: Visit, memory: incumbent.Memory) -> None:
    """The page then shows what that person's agent goes by."""
    memory.session(**WHO).write("order_status", "approved")
    page = visit("alice").page
    expect(page.get_by_role("link", name="order_status")).to_be_visible()
    expect(page.locator(".who")).to_contain_text("alice")


def test_the_page_at_the_door_has_no_serious_fault(visit: Visit) -> None:
    """Neither has the choice of a person, in light and in dark."""
    browsing = visit("alice")
    for scheme in ("light", "dark"):
        browsing.page.emulate_media(color_scheme=scheme)
        for path in ("/inspect/who", "/inspect/enter", "/inspect"):
            browsing.open(path)
            assert browsing.serious() == []


def test_a_key_is_asked_for_where_there_is_one(browser: Browser, memory: incumbent.Memory) -> None:
    """A visitor without a key sees nothing; with it, what it is good for."""
    memory.session(**WHO).write("order_status", "approved")
    text = a_key(memory, "read")
    with Running(memory, credentials=True) as running:
        browsing = Browsing(browser, running.address)
        page = browsing.open("/inspect")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert "order_status" not in page.content()
        page.get_by_label("Key or token").fill(text)
        page.get_by_role("button", name="Sign in").click()
        browsing.look_as("alice")
        expect(page.get_by_role("link", name="order_status")).to_be_visible()
        assert page.get_by_role("link", name="Erasure").count() == 0
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        browsing.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=["another port", "a frame without origin", "another site", "a sister site"],
)
def test_a_form_of_another_page_is_refused(served: Running, headers: dict[str, str]) -> None:
    """Even if it has the token."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        token = _token(client.get("/inspect/who").text)
        refused = client.post("/inspect/who", data={"token": token}, headers=headers)
        assert refused.status_code == 403


def test_a_form_without_the_token_is_refused(served: Running) -> None:
    """The cookie alone is sent by the browser whoever made the form."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        client.get("/inspect/who")
        for data in ({"user_id": "alice"}, {"token": ""}, {"token": "x" * 43}):
            assert client.post("/inspect/who", data=data).status_code == 403


def test_every_answer_has_the_strict_policy(served: Running) -> None:
    """Nothing from elsewhere, nothing inline, in nobody's frame, kept by nobody."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        for path in ("/inspect/who", "/inspect", "/inspect/enter", "/inspect/static/style.css"):
            answer = client.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            if "static" not in path:
                assert answer.headers["cache-control"] == "no-store"


def test_the_first_page_is_found_with_a_slash_too(served: Running) -> None:
    """People write both."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        assert client.get("/inspect/").status_code == client.get("/inspect").status_code == 303


def test_no_page_leads_to_another_site(served: Running) -> None:
    """Where to go afterwards is a page of ours, whatever a form says."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        token = _token(client.get("/inspect/who").text)
        for back in ("https://evil.example/", "//evil.example", "/inspectx", "/inspect/\r\nX: y"):
            form = {"token": token, "user_id": "alice", "back": back}
            answer = client.post("/inspect/who", data=form)
            assert answer.status_code == 303
            assert answer.headers["location"] == "/inspect"


def _token(text: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', text)
    assert found is not None
    return found[1]
