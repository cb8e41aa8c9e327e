"""Who is speaking: headers, credentials, and what nobody gets by sending odd ones."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK
from tests.proxy.conftest import RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn
from tests.proxy.test_untouched import sent_raw
from tests.service.running import a_key

CHAT = "/v1/chat/completions"
SAID = "The safe code is quicksilver."


def body(text: str = SAID) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


@pytest.fixture
def keyed(start: StartProxy, tmp_path: Any) -> Any:
    """A proxy that asks for credentials, and its memory."""
    with incumbent.open(tmp_path / "keyed.db", settings=QUICK) as memory:
        yield start(memory, credentials=True)


def test_a_request_that_speaks_shows_a_credential(keyed: RunningProxy, upstream: StandIn) -> None:
    """The key stands in a header of its own: Authorization is the provider's, and goes there
    unchanged. The key goes nowhere."""
    key = a_key(keyed.memory)
    shown = {"X_Incumbent_Key": key, "X_Incumbent_User": "alice", "Authorization": "Bearer sk-1"}
    assert keyed.post(CHAT, body(), **shown).status_code == 200
    assert upstream.last.header(b"authorization") == [b"Bearer sk-1"]
    assert key not in upstream.last.text + str(upstream.last.headers)
    assert keyed.heard(2, organization="acme") == ["user", "assistant"]


@pytest.mark.parametrize("key", [None, "incumbent_x_y", "", "sk-1"])
def test_without_a_good_credential_nobody_speaks(
    keyed: RunningProxy, upstream: StandIn, key: str | None
) -> None:
    """Neither as somebody, nor past the memory to the provider."""
    a_key(keyed.memory)
    shown = {} if key is None else {"X_Incumbent_Key": key}
    answer = keyed.post(CHAT, body(), X_Incumbent_User="alice", **shown)
    assert answer.status_code in (401, 422)
    assert upstream.received == []


@pytest.mark.parametrize("mode", ["closed", "open"])
def test_a_client_of_one_organization_does_not_speak_in_another(
    start: StartProxy, upstream: StandIn, tmp_path: Any, mode: str
) -> None:
    """Whatever is done when the memory fails: this is no failure."""
    with incumbent.open(tmp_path / "two.db", settings=QUICK) as memory:
        proxy = start(memory, credentials=True, on_failure=mode)
        key = a_key(memory, organization="acme")
        shown = {
            "X_Incumbent_Key": key,
            "X_Incumbent_User": "alice",
            "X_Incumbent_Organization": "other",
        }
        answer = proxy.post(CHAT, body(), **shown)
        assert answer.status_code == 403
        assert answer.json()["error"]["message"] == "the credential is for another organization"
        assert upstream.received == []
        assert list(memory.store.organizations()) == []


def test_a_personal_key_says_who_is_speaking(keyed: RunningProxy, upstream: StandIn) -> None:
    """It needs no other header, and is good for nobody else."""
    key = a_key(keyed.memory, user_id="alice")
    assert keyed.post(CHAT, body(), X_Incumbent_Key=key).status_code == 200
    assert keyed.heard(2, organization="acme") == ["user", "assistant"]
    answer = keyed.post(CHAT, body(), X_Incumbent_Key=key, X_Incumbent_User="bob")
    assert answer.status_code == 403


def test_a_key_reads_and_writes_or_is_not_enough(keyed: RunningProxy, upstream: StandIn) -> None:
    """A request is observed and answered from memory, which takes both scopes."""
    for scope in ("read", "write"):
        key = a_key(keyed.memory, scope)
        answer = keyed.post(CHAT, body(), X_Incumbent_Key=key, X_Incumbent_User="alice")
        assert answer.status_code == 403
    assert upstream.received == []


def test_a_key_bounds_the_authority(keyed: RunningProxy, upstream: StandIn) -> None:
    """Headers go as far as the credential does."""
    key = a_key(keyed.memory, max_authority="employee")
    shown = {"X_Incumbent_Key": key, "X_Incumbent_User": "alice"}
    answer = keyed.post(CHAT, body(), **shown, X_Incumbent_Authority="executive")
    assert answer.status_code == 403
    answer = keyed.post(CHAT, body(), **shown, X_Incumbent_Permissions="a, b")
    assert answer.status_code == 403
    assert keyed.post(CHAT, body(), **shown, X_Incumbent_Authority="guest").status_code == 200


def test_a_first_key_closes_the_door(start: StartProxy, upstream: StandIn, tmp_path: Any) -> None:
    """A proxy that trusted this machine asks for credentials as soon as there are any."""
    with incumbent.open(tmp_path / "later.db", settings=QUICK) as memory:
        a_key(memory)
        proxy = start(memory)
        assert proxy.post(CHAT, body(), X_Incumbent_User="alice").status_code == 401


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (b"X-Incumbent-Usr", b"alice"),
        (b"X-Incumbent-User", b""),
        (b"X-Incumbent-User", b"   "),
        (b"X-Incumbent-User", b"a" * 600),
        (b"X-Incumbent-User", b"al\xff\xfeice"),
        (b"X-Incumbent-User", b"al\xe2\x80\xaeice"),
        (b"X-Incumbent-User", b"alice\r\nX-Incumbent-User: bob"),
        (b"X-Incumbent-Session", b"s-1"),
        (b"X-Incumbent-Organization", b"\xc2\x85"),
        (b"X-Incumbent-Authority", b"emperor"),
        (b"X_Incumbent_User", b"alice"),
    ],
)
@pytest.mark.parametrize("mode", ["closed", "open"])
def test_odd_headers_are_refused_and_pass_nothing_on(
    start: StartProxy, upstream: StandIn, name: bytes, value: bytes, mode: str
) -> None:
    """A misspelt, empty, repeated or unreadable header does not make a request pass unguarded."""
    proxy = start(on_failure=mode)
    kind = b"Content-Type: application/json"
    answer = proxy.raw(sent_raw(CHAT.encode(), body(), kind, name + b": " + value))
    assert answer.startswith(b"HTTP/1.1 422 ")
    assert upstream.received == []
    assert list(proxy.memory.store.organizations()) == []


@pytest.mark.parametrize(
    "head",
    [
        b"X-Incumbent-User: ali\x00ce",
        b"X-Incumbent-User: alice\rX-Other: 1",
        b"X-Incumbent-User : alice",
        b"X-Incumbent-User: alice\r\nTransfer-Encoding: chunked",
        b"X-Incumbent-User: alice\n evil: 1",
    ],
)
def test_broken_heads_reach_nobody(proxy: RunningProxy, upstream: StandIn, head: bytes) -> None:
    """Line ends, nulls and two lengths within headers end the connection at the door."""
    answer = proxy.raw(sent_raw(CHAT.encode(), body(), b"Content-Type: application/json", head))
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 422 ")) or answer == b""
    assert upstream.received == []


def test_a_huge_head_is_refused(proxy: RunningProxy, upstream: StandIn) -> None:
    """More than 64 KB of headers are nobody's name."""
    head = b"X-Incumbent-User: " + b"a" * 200_000
    assert proxy.raw(sent_raw(CHAT.encode(), body(), head))[:12] in (b"HTTP/1.1 431", b"")
    assert upstream.received == []


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/chat/completions/", "/v1//chat/completions", "/v1/chat/%63ompletions"),
        *("/v1/Chat/Completions", "/v1/chat%2Fcompletions", "/v1/chat/completions~"),
    ],
)
def test_another_spelling_of_a_path_is_guarded_too(
    proxy: RunningProxy, upstream: StandIn, path: str
) -> None:
    """Providers are lenient about paths, so the guard is."""
    answer = proxy.post(path, body(), X_Incumbent_User="alice")
    assert "x-incumbent-receipt" in answer.headers
    assert proxy.turns()


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/../admin", "/v1/%2e%2e/admin", "/v1/a/..%2f..%2fadmin", "/v1/%252e%252e/x"),
        *("/v1/./x", "/v1/..;/admin", CHAT + "%20", CHAT + ";a=b", CHAT + "%00", CHAT + "\\"),
    ],
)
def test_no_path_leads_out_of_the_api(proxy: RunningProxy, upstream: StandIn, path: str) -> None:
    """What climbs out of /v1, however it is written, is not passed on."""
    answer = proxy.raw(sent_raw(path.encode(), b"{}"))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert upstream.received == []


@pytest.mark.parametrize(
    "header", [b"Host: evil.example", b"Origin: https://evil.example", b"X-Forwarded-For: 10.0.0.1"]
)
def test_an_open_proxy_is_for_programs_on_this_machine(
    proxy: RunningProxy, upstream: StandIn, header: bytes
) -> None:
    """No web page under any name uses it, nor whoever comes through another proxy."""
    request = sent_raw(CHAT.encode(), body(), header, b"X-Incumbent-User: alice")
    if header.startswith(b"Host"):
        request = request.replace(b"Host: 127.0.0.1\r\n", b"", 1)
    assert proxy.raw(request).startswith(b"HTTP/1.1 403 ")
    assert upstream.received == []


def test_nobody_passes_unnamed_where_a_user_is_required(
    start: StartProxy, upstream: StandIn
) -> None:
    """For those who want nothing to go past the memory."""
    proxy = start(require_user=True)
    answer = proxy.post(CHAT, body())
    assert answer.status_code == 403
    assert "X-Incumbent-User" in answer.json()["detail"]
    assert proxy.post(CHAT, body(), X_Incumbent_User="alice").status_code == 200


def test_a_required_user_shows_a_credential_on_every_path(
    start: StartProxy, upstream: StandIn, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are credentials, a name alone opens nothing, not even while the store is gone."""
    with incumbent.open(tmp_path / "strict.db", settings=QUICK) as memory:
        proxy = start(memory, credentials=True, require_user=True, on_failure="open")
        key = a_key(memory)
        assert proxy.post("/v1/embeddings", b"{}", X_Incumbent_User="alice").status_code == 401
        shown = {"X_Incumbent_User": "alice", "X_Incumbent_Key": key}
        assert proxy.post("/v1/embeddings", b"{}", **shown).status_code == 200

        def gone(*_: Any) -> None:
            raise incumbent.StoreUnavailable("gone")

        with monkeypatch.context() as patch:
            patch.setattr(type(memory.store), "key", gone)
            assert proxy.post(CHAT, body(), **shown).status_code == 503
            assert proxy.post("/v1/embeddings", b"{}", **shown).status_code == 503
    assert len(upstream.received) == 1


def test_names_may_be_in_any_script(proxy: RunningProxy, upstream: StandIn) -> None:
    """A header carries UTF-8."""
    kind = b"Content-Type: application/json"
    proxy.raw(sent_raw(CHAT.encode(), body(), kind, "X-Incumbent-User: Zoë 李".encode()))
    assert proxy.heard(2, user="Zoë 李") == ["user", "assistant"]


def test_the_log_holds_no_secret(
    keyed: RunningProxy, upstream: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither keys, nor who is speaking, nor anything that was said, in good times and bad."""
    key = a_key(keyed.memory)
    shown = {"X_Incumbent_Key": key, "X_Incumbent_User": "alice-7", "Authorization": "Bearer sk-77"}
    with caplog.at_level(logging.DEBUG, logger="incumbent"):
        keyed.post(CHAT + "?api_key=sk-78", body(), **shown)
        keyed.post(CHAT, body("\ud800".encode("utf-16", "surrogatepass").hex()), **shown)
        keyed.post(CHAT, b"{" + SAID.encode(), **shown)
        upstream.status = 500
        keyed.post(CHAT, body(), **shown)
    told = "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    assert CHAT in told
    for secret in (key, key[-20:], "sk-7", "quicksilver", "alice-7", "Bearer"):
        assert secret not in told
