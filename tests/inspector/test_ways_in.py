"""Ways in: what a key does not carry, what a stranger or another page sends, and odd addresses."""

from __future__ import annotations

import base64
import json

import httpx
import pytest

import incumbent
from incumbent.inspector.views import ROUTES
from tests.inspector.forms import sending
from tests.service.running import PLAIN, Running, a_key

WHO = {"user_id": "alice", "organization": "acme"}
ALL = ("read", "write", "review", "erase", "admin")


def _looking(**said: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({**WHO, **said}).encode()).decode()


def test_no_page_is_open_to_strangers(memory: incumbent.Memory) -> None:
    """They get the page at the door; and a key in a cookie is good for pages alone."""
    memory.session(**WHO).write("city", "Bern", id="city-1")
    key = a_key(memory, *ALL)
    with Running(memory, credentials=True) as running:
        cookies = {"incumbent_looking": _looking(), "incumbent_token": "t" * 43}
        with httpx.Client(base_url=running.address, cookies=cookies, **PLAIN) as client:
            for route in ROUTES:
                path = f"/inspect/{route.path}".rstrip("/")
                if route.action:
                    form = {"token": "t" * 43, "id": "city-1", "do": "retract", "key": "wrong"}
                    answer = client.post(path, data=form)
                    assert answer.status_code == 401
                elif route.path != "enter":
                    answer = client.get(path, params={"id": "city-1"})
                    assert answer.status_code == 303
                    assert answer.headers["location"].startswith("/inspect/enter?to=")
                assert "Bern" not in answer.text
        session = {"session": {"user_id": "alice"}}
        assert running.post("facts", session, Cookie=f"incumbent_key={key}").status_code == 401


@pytest.mark.parametrize("lacking", ["read", "write", "review", "erase", "admin"])
def test_every_page_and_action_takes_its_scope(memory: incumbent.Memory, lacking: str) -> None:
    """A key with every scope but that one is refused where that one is needed, and only there."""
    verdict = memory.session(**WHO).write("city", "Bern", id="city-1")
    key = a_key(memory, *(one for one in ALL if one != lacking))
    needing = {(route.path, route.action) for route in ROUTES if route.scope == lacking}
    with Running(memory, credentials=True) as running:
        cookies = {
            "incumbent_key": key,
            "incumbent_looking": _looking(),
            "incumbent_token": "t" * 43,
        }
        with httpx.Client(base_url=running.address, cookies=cookies, **PLAIN) as client:
            for route in ROUTES:
                if route.path in ("enter", "leave") or (lacking == "read" and route.action):
                    continue
                given = {"id": "city-1", "verdict": verdict.id, "session": "s", "branch": "draft:x"}
                path = f"/inspect/{route.path}".rstrip("/")
                if route.action:
                    answer = client.post(path, data={"token": "t" * 43, "do": "no", **given})
                else:
                    answer = client.get(path, params=given)
                refused = answer.status_code == 403 and f"the scope &#39;{lacking}" in answer.text
                assert refused == ((route.path, route.action) in needing), (path, answer.text)


def test_a_choice_goes_no_further_than_the_key(memory: incumbent.Memory) -> None:
    """Whatever the cookie, the address or a form says of person, organization and rights."""
    for user_id, organization in (("alice", "acme"), ("bob", "acme"), ("alice", "other")):
        of = {"user_id": user_id, "organization": organization}
        session = memory.session(**of)
        session.write("city", f"{user_id} at {organization}", id=f"{user_id}-1")
        kept = session.context("city", record=True).receipt.id
    bobs = memory.session(user_id="bob", organization="acme").context("city", record=True)
    key = a_key(memory, *ALL, user_id="alice", max_authority="employee")
    elsewhere = _looking(user_id="bob", organization="other")
    with Running(memory, credentials=True) as running:
        cookies = {
            "incumbent_key": key,
            "incumbent_looking": elsewhere,
            "incumbent_token": "t" * 43,
        }
        with httpx.Client(base_url=running.address, cookies=cookies, **PLAIN) as client:
            form = {"token": "t" * 43, "user_id": "bob", "organization": "other"}
            assert client.post("/inspect/who", data=form).status_code == 303
            shown = client.get("/inspect").text
            assert "alice at acme" in shown
            for path in (
                "",
                "/context?user=bob&query=city",
                "/context?compare=1&b_user=bob&query=city",
                "/fact?id=bob-1",
                "/conversation?session=s&user=bob",
                f"/receipt?id={bobs.receipt.id}",
                f"/receipt?id={kept}",
            ):
                page = client.get(f"/inspect{path}")
                assert page.status_code in (200, 404), page.text
                assert "bob at acme" not in page.text
                assert "at other" not in page.text
        for more in ({"authority": "executive"}, {"permissions": "hr"}):
            cookies["incumbent_looking"] = _looking(**more)
            with httpx.Client(base_url=running.address, cookies=cookies, **PLAIN) as client:
                assert client.get("/inspect").status_code == 403


def test_a_preview_takes_the_scope_of_what_it_previews(memory: incumbent.Memory) -> None:
    """Taking a statement back is a write, also in a review and where it is only rehearsed."""
    memory.session(**WHO).write("city", "Bern", id="city-1")
    key = a_key(memory, "read", "review")
    with Running(memory, credentials=True) as running, sending(running, key=key) as sender:
        for path in ("reviews/preview", "reviews/do"):
            refused = sender.send(path, do="drop", id="city-1")
            assert refused.status_code == 403
            assert "write" in refused.text
        page = sender.get("branch?branch=draft:x&do=commit")
        assert page.status_code == 200
        assert "Commit it?" not in page.text


def test_a_key_that_counts_no_more_leads_to_the_door(memory: incumbent.Memory) -> None:
    """Whoever has one in their browser is asked for another, and is not locked out."""
    a_key(memory)
    with Running(memory, credentials=True) as running:
        cookies = {"incumbent_key": "tnr_gone", "incumbent_token": "t" * 43}
        with httpx.Client(base_url=running.address, cookies=cookies, **PLAIN) as client:
            asked = client.get("/inspect")
            assert (asked.status_code, asked.headers["location"][:14]) == (303, "/inspect/enter")
            assert client.get("/inspect/enter").status_code == 200
            form = {"token": "t" * 43, "key": a_key(memory)}
            entered = client.post("/inspect/enter", data=form)
            assert (entered.status_code, entered.headers["location"]) == (303, "/inspect")


def test_the_bare_address_leads_to_the_pages(served: Running) -> None:
    """Where there are pages; elsewhere nothing is there."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        led = client.get("/")
        assert (led.status_code, led.headers["location"]) == (303, "/inspect")
    with (
        Running(served.memory, inspector=False) as plain,
        httpx.Client(base_url=plain.address, **PLAIN) as client,
    ):
        assert client.get("/").status_code == 404


def test_a_large_form_of_a_stranger_is_not_read(memory: incumbent.Memory) -> None:
    """Who shows nothing that counts is refused by the head of a large request."""
    a_key(memory)
    with Running(memory, credentials=True) as running:
        for path in (b"enter", b"fact/do"):
            said = (
                b"POST /inspect/" + path + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 1900000\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
            )
            with running.connect() as connection:
                connection.sendall(said)
                assert connection.recv(65536).startswith(b"HTTP/1.1 401")


def test_a_key_has_a_limit_of_pages_at_once(memory: incumbent.Memory) -> None:
    """Pages count as calls do."""
    key = a_key(memory)
    form = (
        b"POST /inspect/who HTTP/1.1\r\nHost: a\r\nCookie: incumbent_key=" + key.encode() + b"\r\n"
    )
    form += b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n"
    form += b"Expect: 100-continue\r\n\r\n"
    with Running(memory, credentials=True, at_once=1, rate=0) as running:
        cookies = {"incumbent_key": key, "incumbent_looking": _looking()}
        with httpx.Client(base_url=running.address, cookies=cookies, **PLAIN) as client:
            assert client.get("/inspect").status_code == 200
            with running.connect() as waiting:
                waiting.sendall(form)  # and not the nine bytes that it announces
                assert waiting.recv(65536).startswith(b"HTTP/1.1 100")  # it waits for them
                assert client.get("/inspect").status_code == 429


@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", ""])
def test_no_page_answers_to_a_name_that_was_pointed_here(served: Running, name: str) -> None:
    """Without keys a page is for browsers of this machine: whoever owns a name can point it here,
    and its pages would read all of this."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        for route in ROUTES:
            path = f"/inspect/{route.path}".rstrip("/")
            answer = client.request("POST" if route.action else "GET", path, headers={"Host": name})
            assert answer.status_code in (400, 403)
            assert "default" not in answer.text


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_page_can_link_here_and_load_nothing(served: Running, site: str) -> None:
    """It could not read it, but measure it, or have the browser ask again and again."""
    with httpx.Client(base_url=served.address, **PLAIN) as client:
        for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
            loaded = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
            assert client.get("/inspect?text=secret", headers=loaded).status_code == 403
        linked = {
            "Sec-Fetch-Site": site,
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        assert client.get("/inspect/enter", headers=linked).status_code == 200


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("context", {"budget": "²"}),
        ("context", {"at": "0001-01-01T00:00:00+14:00"}),
        ("context", {"compare": "1", "b_at": "9999-12-31T23:59:59-14:00"}),
        ("timeline", {"at": "0001-01-01T00:00:00+14:00"}),
        ("live", {"part": "rows", "after": "²"}),
    ],
)
def test_an_odd_address_is_told_what_is_wrong(
    served: Running, path: str, asked: dict[str, str]
) -> None:
    """Digits of other scripts and moments outside the calendar are no fault of ours."""
    served.memory.session(**WHO).write("city", "Bern")
    with sending(served) as sender:
        answer = sender.client.get(f"/inspect/{path}", params=asked, headers={"HX-Request": "true"})
        assert answer.status_code == 422, answer.text


def test_odd_forms_and_cookies_break_nothing(served: Running) -> None:
    """Values too deep for anybody, a key where none is asked for, and half characters."""
    with sending(served) as sender:
        deep = {"kind": "draft", "name": "a", "key": "k", "json": "1", "value": "[" * 100_000}
        assert sender.send("branch/write", **deep).status_code == 422
        assert sender.send("enter", key="ключ\r\nSet-Cookie: a=b").status_code == 303
        assert "incumbent_key" not in sender.client.cookies
        origin = {"Origin": "http://[bad"}
        form = {"token": sender.token, "user_id": "alice"}
        assert sender.client.post("/inspect/who", data=form, headers=origin).status_code == 403
    half = base64.urlsafe_b64encode(json.dumps({"text": "\ud800"}).encode()).decode()
    for cookies in (
        {"incumbent_looking": _looking(user_id="\ud800")},
        {"incumbent_looking": _looking(), "incumbent_said": half},
    ):
        with httpx.Client(base_url=served.address, cookies=cookies, **PLAIN) as client:
            for path in ("/inspect", "/inspect/who"):
                assert client.get(path).status_code < 500


def test_a_long_name_is_nobody_elses(served: Running, memory: incumbent.Memory) -> None:
    """A person is looked as by the whole of their name, or not at all."""
    short, long = "a" * 200, "a" * 200 + "-bob"
    memory.session(user_id=short, organization="acme").write("city", "Bern")
    memory.session(user_id=long, organization="acme").write("town", "Thun")
    with sending(served, long) as sender:
        page = sender.client.get("/inspect").text
        assert "Thun" in page
        assert "Bern" not in page
        assert sender.send("who", user_id="a" * 600, organization="acme").status_code == 422
        assert sender.send("who", user_id="😀" * 500, organization="é" * 500).status_code == 422
    with sending(served, "😀" * 200) as sender:
        assert sender.client.get("/inspect").status_code == 200
