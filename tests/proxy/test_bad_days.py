"""Bad days: providers that fail, break off or hang, clients that go away, memories that fail."""

from __future__ import annotations

import json
import socket
from contextlib import closing, contextmanager
from typing import Any

import anthropic
import openai
import pytest

import incumbent
from incumbent.proxy.remembering import Remembering
from tests.patience import PATIENCE, eventually
from tests.proxy.conftest import RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn
from tests.proxy.test_who import CHAT, body

HELLO: Any = [{"role": "user", "content": "My desk is 4."}]


@pytest.mark.parametrize("status", [400, 401, 429, 500, 529])
@pytest.mark.parametrize("user", ["alice", None])
def test_errors_of_a_provider_pass_as_they_are(
    proxy: RunningProxy, upstream: StandIn, status: int, user: str | None
) -> None:
    """Status, body and headers; clients raise what they would without a proxy, and the error is
    nobody's reply."""
    upstream.status = status
    with pytest.raises(openai.APIStatusError) as raised:
        proxy.openai(user).chat.completions.create(model="m", messages=HELLO)
    assert raised.value.status_code == status
    assert raised.value.body == {"message": "no", "type": "bad", "code": "x"}
    assert raised.value.response.headers["x-request-id"] == "upstream-1"
    assert proxy.speakers() == (["user"] if user else [])


def test_clients_retry_through_the_proxy(proxy: RunningProxy, upstream: StandIn) -> None:
    """A client that asks again after an error is observed once."""
    upstream.status = 500
    client = proxy.openai().with_options(max_retries=1)
    with pytest.raises(openai.InternalServerError):
        client.chat.completions.create(model="m", messages=HELLO)
    assert len(upstream.received) == 2
    upstream.status = 200
    client.chat.completions.create(model="m", messages=HELLO)
    assert proxy.heard(2) == ["user", "assistant"]


@pytest.mark.parametrize("user", ["alice", None])
def test_a_provider_that_cannot_be_had_is_told(start: StartProxy, user: str | None) -> None:
    """502, with what the client's own errors show."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    proxy = start(upstream=f"http://127.0.0.1:{port}/v1")
    with pytest.raises(openai.APIStatusError, match="the provider cannot be had") as raised:
        proxy.openai(user).chat.completions.create(model="m", messages=HELLO)
    assert raised.value.status_code == 502


def test_a_provider_that_does_not_answer_is_given_up(start: StartProxy, upstream: StandIn) -> None:
    """504, after as long as the settings say."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        proxy = start(upstream=f"http://127.0.0.1:{port}/v1", answer_timeout=0.2)
        answer = proxy.post(CHAT, body(), X_Incumbent_User="alice")
        assert answer.status_code == 504
        assert answer.json()["error"]["type"] == "UpstreamTimeout"


def test_a_chat_stream_that_breaks_off_is_an_error_at_the_client(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """What was said so far arrives whole event by whole event, then an error as the API tells it;
    half a reply is not observed."""
    upstream.breaks_after = 3
    stream = proxy.openai().chat.completions.create(model="m", messages=HELLO, stream=True)
    said = []
    with pytest.raises(openai.APIError, match="broke the answer off"):
        for one in stream:
            said.append(one.choices[0].delta.content)  # noqa: PERF401
    assert said == ["", "Noted", "."]
    upstream.breaks_after = None
    list(proxy.openai().chat.completions.create(model="m", messages=HELLO, stream=True))
    assert proxy.heard(2) == ["user", "assistant"]


def test_the_other_apis_tell_of_a_break_in_their_own_way(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """Anthropic's messages and responses raise at the client too."""
    upstream.breaks_after = 3
    with pytest.raises(anthropic.APIError, match="broke the answer off"):
        list(
            proxy.anthropic().messages.create(model="m", max_tokens=9, messages=HELLO, stream=True)
        )
    with pytest.raises(openai.APIError, match="broke the answer off"):
        list(proxy.openai().responses.create(model="m", input="Hello", stream=True))
    assert "assistant" not in proxy.speakers()


@pytest.mark.parametrize("user", ["alice", None])
def test_a_document_that_breaks_off_breaks_off_at_the_client(
    proxy: RunningProxy, upstream: StandIn, user: str | None
) -> None:
    """Half a document is not made to look like a whole one."""
    upstream.breaks_after = 20
    with pytest.raises(openai.APIConnectionError):
        proxy.openai(user).chat.completions.create(model="m", messages=HELLO)
    assert "assistant" not in proxy.speakers()
    upstream.breaks_after = None
    proxy.openai(user).chat.completions.create(model="m", messages=HELLO)


def test_an_untouched_stream_that_breaks_off_is_passed_on_as_it_is(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """Nothing is added to it, not even an error."""
    upstream.breaks_after = 3
    asked = json.dumps({"model": "m", "stream": True, "messages": HELLO}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    answer = proxy.raw(head % len(asked) + asked)
    assert b"broke" not in answer
    assert not answer.endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("user", ["alice", None])
def test_a_client_that_goes_away_cancels_the_request(
    proxy: RunningProxy, upstream: StandIn, user: str | None
) -> None:
    """The provider is told by a closed connection, and half a reply is not observed."""
    upstream.waits = True
    stream = proxy.openai(user).chat.completions.create(model="m", messages=HELLO, stream=True)
    next(stream)
    stream.close()
    assert upstream.gone.wait(PATIENCE)
    assert proxy.speakers() == (["user"] if user else [])


def chat(proxy: RunningProxy) -> Any:
    return proxy.openai().chat.completions.create(model="m", messages=HELLO, stream=True)


def responses(proxy: RunningProxy) -> Any:
    return proxy.openai().responses.create(model="m", input="My desk is 4.", stream=True)


def messages(proxy: RunningProxy) -> Any:
    return proxy.anthropic().messages.create(model="m", max_tokens=9, messages=HELLO, stream=True)


@pytest.mark.parametrize(
    ("ask", "is_last"),
    [
        (chat, lambda event: event.choices[0].finish_reason),
        (responses, lambda event: event.type == "response.completed"),
        (messages, lambda event: event.type == "message_stop"),
    ],
)
def test_a_client_that_goes_away_after_the_last_event_has_the_whole_reply(
    proxy: RunningProxy, upstream: StandIn, ask: Any, is_last: Any
) -> None:
    """Many close as soon as they have read it, before the body ends: the reply is observed."""
    upstream.lingers = True
    stream = ask(proxy)
    while not is_last(next(stream)):
        pass
    stream.close()
    assert upstream.gone.wait(PATIENCE)
    assert proxy.heard(2) == ["user", "assistant"]


def test_a_slow_stream_is_not_held_back(proxy: RunningProxy, upstream: StandIn) -> None:
    """The first pieces arrive while the provider is still at work."""
    upstream.waits = True
    stream = proxy.openai().chat.completions.create(model="m", messages=HELLO, stream=True)
    assert next(stream).choices[0].delta.role == "assistant"
    assert next(stream).choices[0].delta.content == "Noted"
    upstream.go_on()
    assert [one.choices[0].delta.content for one in stream] == [".", None]
    assert proxy.heard(2) == ["user", "assistant"]


def test_a_stop_lets_streams_end(proxy: RunningProxy, upstream: StandIn) -> None:
    """What is under way when the proxy is told to stop is passed on to its end, and observed."""
    upstream.waits = True
    stream = proxy.openai().chat.completions.create(model="m", messages=HELLO, stream=True)
    next(stream)
    proxy.stop()
    assert eventually(lambda: not proxy.listens())
    upstream.go_on()
    assert [one.choices[0].delta.content for one in stream] == ["Noted", ".", None]
    assert proxy.heard(2) == ["user", "assistant"]


@contextmanager
def broken(monkeypatch: pytest.MonkeyPatch, error: Exception) -> Any:
    """A memory that fails when it is asked to observe."""

    def fails(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(incumbent.Session, "observe", fails)
        yield


@pytest.mark.parametrize(
    ("error", "status"),
    [(incumbent.StoreBusy("busy: 9911"), 503), (RuntimeError("a bug: 9911"), 500)],
)
def test_a_proxy_fails_closed(
    proxy: RunningProxy,
    upstream: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
) -> None:
    """That is the default: nothing reaches a model unguarded because a memory failed."""
    with broken(monkeypatch, error), pytest.raises(openai.APIStatusError) as raised:
        proxy.openai().chat.completions.create(model="m", messages=HELLO)
    assert raised.value.status_code == status
    assert "9911" not in raised.value.response.text
    assert upstream.received == []


def test_a_proxy_fails_open_where_it_is_told_to(
    start: StartProxy, upstream: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request passes as it came, and the answer says so."""
    proxy = start(on_failure="open")
    with broken(monkeypatch, incumbent.StoreBusy("busy")):
        answer = proxy.post(CHAT, body(), X_Incumbent_User="alice")
    assert answer.status_code == 200
    assert answer.headers["x-incumbent-unguarded"] == "StoreBusy"
    assert "x-incumbent-receipt" not in answer.headers
    assert upstream.last.body == body()
    assert proxy.turns() == []
    answer = proxy.post(CHAT, body(), X_Incumbent_User="alice")
    assert "x-incumbent-unguarded" not in answer.headers
    assert "x-incumbent-receipt" in answer.headers


@pytest.mark.parametrize(("mode", "status"), [("closed", 503), ("open", 200)])
def test_a_store_that_is_gone_fails_the_same_way(
    start: StartProxy,
    upstream: StandIn,
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    status: int,
) -> None:
    """Also where nobody can be asked for keys any more: what passes has nothing of the memory."""
    proxy = start(on_failure=mode)

    def gone(*_: Any) -> None:
        raise incumbent.StoreUnavailable("gone")

    with monkeypatch.context() as patch:
        patch.setattr(type(proxy.memory.store), "keys", gone)
        assert proxy.post(CHAT, body(), X_Incumbent_User="alice").status_code == status
    assert [one.body for one in upstream.received] == ([body()] if status == 200 else [])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        '{"messages": [{"role": "user", "content": "Hello"}]}'.encode("utf-16"),
        b'{"model": "m"}',
        b'{"messages": "hello"}',
        b'{"messages": ["hello"]}',
        b'{"messages": [{"role": "user", "content": "a\\u0000b"}]}',
        b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"messages": [{"role": "user", "name": "\\u200b", "content": "Hello"}]}',
        b'{"messages": [{"role": "system", "content": 7}, {"role": "user", "content": "Hello"}]}',
        b'{"messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"messages": [{"role": "user", "content": ' + b'{"a":' * 99 + b"1" + b"}" * 99 + b"}]}",
    ],
    ids=range(13),
)
def test_what_cannot_be_guarded_is_refused_and_changes_nothing(
    proxy: RunningProxy, upstream: StandIn, content: bytes
) -> None:
    """With an error that says what is wrong with it."""
    answer = proxy.post(CHAT, content, X_Incumbent_User="alice")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]
    assert upstream.received == []
    assert proxy.turns() == []


def test_what_cannot_be_guarded_passes_where_a_proxy_fails_open(
    start: StartProxy, upstream: StandIn
) -> None:
    """The provider says what it thinks of it."""
    proxy = start(on_failure="open")
    content = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800"}]}'
    answer = proxy.post(CHAT, content, X_Incumbent_User="alice")
    assert answer.headers["x-incumbent-unguarded"] == "InvalidInput"
    assert upstream.last.body == content


def test_bodies_have_a_limit_and_a_type(start: StartProxy, upstream: StandIn) -> None:
    """As at the service."""
    proxy = start(max_body_bytes=1000)
    assert proxy.post(CHAT, b" " * 1001, X_Incumbent_User="a").status_code == 413
    answer = proxy.post(CHAT, b"{}", X_Incumbent_User="a", Content_Encoding="gzip")
    assert answer.status_code == 415
    with_type = {"X_Incumbent_User": "a", "Content_Type": "text/plain"}
    assert proxy.post(CHAT, b"{}", **with_type).status_code == 415
    assert upstream.received == []


def test_a_text_too_long_for_a_turn_is_guarded_and_not_observed(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """A pasted book does not make a request fail."""
    book = "All happy families are alike. " * 5000
    messages: Any = [{"role": "user", "content": book}, *HELLO]
    proxy.openai().chat.completions.create(model="m", messages=messages)
    assert upstream.last.json["messages"][1]["content"] == book
    assert proxy.heard(2) == ["user", "assistant"]


def test_a_reply_that_is_not_understood_is_passed_on(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """Whatever a provider sends under 200, the application gets it, and nothing is observed."""
    for told in (b"", b"null", b"{", b'{"choices": 7}', b'{"choices": [{"message": []}]}', b"\xff"):
        head = (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Incumbent-Receipt: forged\r\n"
        )
        upstream.raw = head + b"Content-Length: %d\r\n\r\n" % len(told) + told
        answer = proxy.post(CHAT, body(), X_Incumbent_User="alice")
        assert (answer.status_code, answer.content) == (200, told)
        assert answer.headers["x-incumbent-receipt"].startswith("rc-")
    assert proxy.speakers() == ["user"]


def test_a_reply_that_cannot_be_observed_is_passed_on(
    proxy: RunningProxy, upstream: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next request brings it."""

    def fails(*_: Any) -> int:
        raise incumbent.StoreBusy("busy")

    with monkeypatch.context() as patch:
        patch.setattr(Remembering, "hear", fails)
        proxy.openai().chat.completions.create(model="m", messages=HELLO)
    assert proxy.speakers() == ["user"]
    reply = {"role": "assistant", "content": "Noted."}
    more: Any = [*HELLO, reply, {"role": "user", "content": "Thanks."}]
    proxy.openai().chat.completions.create(model="m", messages=more)
    assert proxy.heard(4) == ["user", "assistant"] * 2
