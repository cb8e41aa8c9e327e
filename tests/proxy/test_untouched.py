"""What passes as it is: requests that do not say who is speaking, and every other path."""

from __future__ import annotations

import json
import ssl
from pathlib import Path

import pytest

from tests.proxy.conftest import RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn
from tests.telemetry.receiver import certificate

# Spaces, an escape, a number and a key that come twice: nothing of it survives being read anew.
ODD = (
    b'{ "model":"m" ,"temperature": 1.10, "seed": 1e2,\n "seed":3, "messages":'
    b'[{"role":"user","content":"caf\\u00e9 \xc3\xa9"}] }'
)
ANSWER = b'{ "a": 1.0,  "b": "\\u00e9" }\n'


def sent_raw(path: bytes, body: bytes, *headers: bytes, method: bytes = b"POST") -> bytes:
    lines = [
        method + b" " + path + b" HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Content-Length: %d" % len(body),
        *headers,
    ]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""]) + body


@pytest.mark.parametrize(
    "path", [b"/v1/chat/completions", b"/v1/responses", b"/v1/messages", b"/v1/embeddings"]
)
def test_without_a_speaker_every_byte_passes(
    proxy: RunningProxy, upstream: StandIn, path: bytes
) -> None:
    """The body, the headers and the answer are those of the two who talk; nothing is observed."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Own: 7\r\n"
    upstream.raw = head + b"Content-Length: %d\r\n\r\n" % len(ANSWER) + ANSWER
    headers = [b"Authorization: Bearer sk-1", b"Content-Type: application/json", b"X-Mine: a, b"]
    answer = proxy.raw(sent_raw(path + b"?beta=true&x=%20", ODD, *headers))
    assert upstream.last.body == ODD
    assert upstream.last.line == b"POST " + path + b"?beta=true&x=%20 HTTP/1.1"
    assert upstream.last.header(b"authorization") == [b"Bearer sk-1"]
    assert upstream.last.header(b"x-mine") == [b"a, b"]
    assert answer.endswith(b"\r\n\r\n" + ANSWER)
    assert b"x-own: 7" in answer.lower()
    assert b"x-incumbent" not in answer.lower()
    assert list(proxy.memory.store.organizations()) == []


def test_only_headers_of_the_connection_are_left_out(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """What is about one connection ends there, and so does what a client says is."""
    proxy.raw(
        sent_raw(
            *(b"/v1/models", b"", b"TE: trailers", b"Keep-Alive: 5", b"Proxy-Authorization: x"),
            *(b"X-Hop: 1", b"X-End: 2", b"Accept-Encoding: br", b"User-Agent: own"),
            method=b"GET",
        ).replace(b"Connection: close", b"Connection: close, X-Hop")
    )
    names = {name.lower() for name, _ in upstream.last.headers}
    assert names == {b"host", b"content-length", b"x-end", b"accept-encoding", b"user-agent"}
    assert upstream.last.header(b"host") == [b"127.0.0.1:%d" % upstream.port]


def test_a_stream_passes_to_the_byte(proxy: RunningProxy, upstream: StandIn) -> None:
    """Events of a request that nobody is named in arrive as they were sent."""
    stream = proxy.openai(user=None).chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Hello"}], stream=True
    )
    assert "".join(one.choices[0].delta.content or "" for one in stream) == "Noted."
    assert proxy.turns() == []


def test_other_paths_pass_also_when_somebody_speaks(proxy: RunningProxy, upstream: StandIn) -> None:
    """A client that sends the header with everything can list models and embed texts; the provider
    never learns who is speaking."""
    client = proxy.openai(**{"X-Incumbent-Session": "s"})
    assert list(client.models.list()) == []
    body = json.dumps({"model": "m", "input": "My desk is 4."}).encode()
    answer = proxy.post("/v1/embeddings", body, X_Incumbent_User="alice", Authorization="Bearer p")
    assert answer.json() == {"length": len(body)}
    assert upstream.last.body == body
    assert upstream.last.header(b"authorization") == [b"Bearer p"]
    for received in upstream.received:
        assert not [name for name, _ in received.headers if b"incumbent" in name.lower()]
    assert proxy.turns() == []


def test_a_large_upload_passes_in_pieces(start: StartProxy, upstream: StandIn) -> None:
    """What is not guarded is not held either, so the limit on requests is not about it."""
    proxy = start(max_body_bytes=1000)
    upload = b"x" * 3_000_000
    assert proxy.post("/v1/files", upload).json() == {"length": len(upload)}


@pytest.mark.parametrize(
    ("upstream_path", "expected"),
    [
        ("", b"/v1/models"),
        ("/", b"/v1/models"),
        ("/v1", b"/v1/models"),
        ("/openai/v1/", b"/openai/v1/models"),
        ("/v1beta/openai", b"/v1beta/openai/models"),
    ],
)
def test_the_upstream_is_named_as_a_base_url(
    start: StartProxy, upstream: StandIn, upstream_path: str, expected: bytes
) -> None:
    """An address with a path stands for our /v1; one without has a /v1 of its own."""
    proxy = start(upstream=f"http://127.0.0.1:{upstream.port}{upstream_path}")
    proxy.openai(user=None).models.list()
    assert upstream.last.line == b"GET " + expected + b" HTTP/1.1"


def test_a_redirect_is_the_clients_to_follow(proxy: RunningProxy, upstream: StandIn) -> None:
    """The proxy goes nowhere that it was not told to go, and neither does anybody's key."""
    with_body = b"HTTP/1.1 307 Over\r\nLocation: http://127.0.0.1:1/v1\r\nContent-Length: 0\r\n\r\n"
    upstream.raw = with_body
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}'
    for headers in ({}, {"X_Incumbent_User": "alice"}):
        answer = proxy.post("/v1/chat/completions", body, **headers)
        assert answer.status_code == 307
        assert answer.headers["location"] == "http://127.0.0.1:1/v1"
    assert len(upstream.received) == 2


@pytest.mark.parametrize(
    "path", ["/", "/v2/models", "/v1", "/metrics", "/v1x/models", "/observe", "//v1/models"]
)
def test_there_is_nothing_outside_the_api(
    proxy: RunningProxy, upstream: StandIn, path: str
) -> None:
    """Paths that are no API of a provider are not passed on."""
    answer = proxy.post(path, b"{}")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "NotFound"
    assert upstream.received == []


def test_health_is_told(proxy: RunningProxy, upstream: StandIn) -> None:
    """Whoever looks after the process learns that it answers, and the provider is not asked."""
    assert b'"status":"ok"' in proxy.raw(sent_raw(b"/health", b"", method=b"GET"))
    assert upstream.received == []


def test_the_environment_adds_nothing(
    start: StartProxy, upstream: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a proxy on the way nor a password for the host, however this machine is set up."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret")
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    proxy = start()
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}'
    for headers in ({}, {"X_Incumbent_User": "alice"}):
        answer = proxy.post("/v1/chat/completions", body, Cookie="a=1", **headers)
        assert answer.status_code == 200
        assert upstream.last.header(b"authorization") == []
        assert upstream.last.header(b"cookie") == [b"a=1"]


def test_a_provider_shows_a_certificate_that_is_believed(
    start: StartProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TLS; one that nobody vouches for is refused, unless SSL_CERT_FILE names it."""
    files = certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*files)
    with StandIn(tls=tls) as provider:
        assert start(upstream=provider.url).post("/v1/models", b"{}").status_code == 502
        monkeypatch.setenv("SSL_CERT_FILE", str(files[0]))
        assert start(upstream=provider.url).post("/v1/models", b"{}").status_code == 200
