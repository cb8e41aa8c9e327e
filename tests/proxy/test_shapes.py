"""Where a context goes in a request, and what a reply says: the three APIs, piece by piece."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.context.guarded import GuardedMessages, MessageAccount
from incumbent.proxy.apis import (
    APIS,
    AnthropicMessages,
    ChatCompletions,
    ResponsesApi,
    api_at,
    plain_path,
)
from incumbent.proxy.configuration import ProxySettings
from incumbent.proxy.headers import asked_by, says_who, to_client, to_upstream
from incumbent.proxy.remembering import in_place
from incumbent.proxy.replies import StreamedReply, WholeEvents, WholeReply, broken_off
from tests.conftest import examples

SYSTEM = {"role": "system", "content": "Be short."}
USER = {"role": "user", "content": "Hello"}
CONTEXT = "# Facts"
PART = {"type": "text", "text": CONTEXT}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER], [{"role": "system", "content": CONTEXT}, USER]),
        ([SYSTEM, USER], [{"role": "system", "content": f"Be short.\n\n{CONTEXT}"}, USER]),
        (
            [SYSTEM, {"role": "developer", "content": [{"type": "text", "text": "a"}]}, USER],
            [
                SYSTEM,
                {"role": "developer", "content": [{"type": "text", "text": "a"}, PART]},
                USER,
            ],
        ),
        ([USER, SYSTEM], [{"role": "system", "content": CONTEXT}, USER, SYSTEM]),
        ([{"role": "system"}], [{"role": "system", "content": CONTEXT}]),
        ([], [{"role": "system", "content": CONTEXT}]),
    ],
)
def test_a_context_joins_the_instructions_of_a_chat(messages: Any, expected: Any) -> None:
    """After the application's own words, in one message: some models take no more."""
    made = ChatCompletions().rebuilt({"model": "m", "messages": messages}, messages, CONTEXT)
    assert made == {"model": "m", "messages": expected}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ({}, CONTEXT),
        ({"system": "a"}, f"a\n\n{CONTEXT}"),
        ({"system": [{"type": "text", "text": "a"}]}, [{"type": "text", "text": "a"}, PART]),
    ],
)
def test_a_context_joins_the_system_of_anthropic(before: Any, expected: Any) -> None:
    """A text or blocks, as it was given."""
    made = AnthropicMessages().rebuilt({"messages": [], **before}, [USER], CONTEXT)
    assert made == {"messages": [USER], "system": expected}


@pytest.mark.parametrize("given_input", ["Hello", [USER]])
def test_a_context_joins_the_instructions_of_responses(given_input: Any) -> None:
    """And what was one text stays one."""
    api = ResponsesApi()
    body = {"input": given_input, "instructions": "a"}
    made = api.rebuilt(body, api.messages(body), CONTEXT)
    assert made == {"input": given_input, "instructions": f"a\n\n{CONTEXT}"}
    assert api.rebuilt({"input": "x"}, [USER], "") == {"input": "Hello"}


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.path)
def test_what_is_no_list_of_messages_is_refused(api: Any) -> None:
    """With the place of it."""
    for given_messages in (7, {"a": 1}):
        with pytest.raises(incumbent.InvalidInput, match="send a list of messages"):
            api.messages({"messages": given_messages, "input": given_messages})


def test_a_message_that_is_left_out_keeps_its_place() -> None:
    """So that those who speak still take turns."""
    messages = [{**USER, "content": "old"}, {"role": "assistant", "content": "b"}, USER]
    guarded = GuardedMessages(messages[1:], (MessageAccount(0, "user", "left out"),), 9)
    assert in_place(messages, guarded) == [
        {"role": "user", "content": "[no longer current]"},
        *messages[1:],
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (b"/v1/chat/completions", ChatCompletions),
        (b"/v1//Chat/completions/", ChatCompletions),
        (b"/v1/chat/completions.json", ChatCompletions),
        (b"/v1/responses", ResponsesApi),
        (b"/v1/messages:x", AnthropicMessages),
        (b"/v1/messages/count_tokens", None),
        (b"/v1/responses/resp_1/cancel", None),
        (b"/v1/chat/completions/x", None),
        (b"/v1/models/ft:gpt%3Aacme::7", None),
        (b"/v1/models/meta-llama%2FLlama-3", None),
    ],
)
def test_which_api_is_at_a_path(path: bytes, expected: Any) -> None:
    """However it is spelled."""
    plain = plain_path(path)
    assert plain is not None
    found = api_at(plain)
    assert (None if found is None else type(found)) is expected


@pytest.mark.parametrize(
    "path",
    [
        *(b"/v1/chat/completions%20", b"/v1/chat/completions;a=b", b"/v1/chat/completions%00"),
        *(b"/v1\\chat\\completions", b"/v1/chat%5Ccompletions", b"/v1/..;/admin", b"/v1/chat%252f"),
        *(b"/v1/..", b"/v1/%2E%2e/a", b"/v1/.%2e/a", b"/v1/%252e%252e/a", b"/v1/./x", b"/v1/.../x"),
        *(b"/v1/chat/completions#", b"/v1/chat/completions%3F", b"/v1/chat/completions%09"),
        *(
            "/v1/\uff43hat/completions".encode(),
            b"/v1/%C4%B1",
            b"/v1",
            b"/V1/x",
            b"//v1/x",
            b"/v1/%zz",
        ),
    ],
)
def test_a_path_that_could_be_read_otherwise_is_none(path: bytes) -> None:
    """Nobody behind the proxy can take it for another than the proxy did."""
    assert plain_path(path) is None


# replies


def events(text: str, count: int = 1) -> list[bytes]:
    """A streamed chat with so many choices."""
    told: list[Any] = [
        {"choices": [{"index": n, "delta": {"content": text}, "finish_reason": None}]}
        for n in range(count)
    ]
    told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [f"data: {json.dumps(one)}\n\n".encode() for one in told]


def test_a_reply_is_heard_at_its_end() -> None:
    """Not before, and not if there are several to choose from."""
    reply = StreamedReply(ChatCompletions(), 10_000)
    first, last = events("Hello")
    reply.hear(first)
    assert reply.reply() == []
    reply.hear(last)
    reply.hear(b"data: [DONE]\n\n")
    assert reply.reply() == ["Hello"]
    several = StreamedReply(ChatCompletions(), 10_000)
    for event in events("Hello", 2):
        several.hear(event)
    assert several.reply() == []


@pytest.mark.parametrize(
    ("api", "document", "expected"),
    [
        (ChatCompletions(), {"choices": [{"message": {"content": "a"}}]}, ["a"]),
        (ChatCompletions(), {"choices": [{"message": {"content": None}}]}, []),
        (ChatCompletions(), {"choices": [{"message": {"content": "a"}}] * 2}, []),
        (
            ResponsesApi(),
            {
                "output": [
                    {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "x"}]},
                    {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
                    {"type": "function_call", "arguments": "{}"},
                    {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]},
                ]
            },
            ["a"],
        ),
        (
            AnthropicMessages(),
            {
                "content": [
                    {"type": "thinking", "thinking": "x"},
                    {"type": "text", "text": "a"},
                    {"type": "tool_use", "input": {}},
                    {"type": "text", "text": "b"},
                ]
            },
            ["a", "b"],
        ),
    ],
)
def test_what_a_whole_reply_says(api: Any, document: Any, expected: list[str]) -> None:
    """Its texts; neither thoughts nor calls nor one of several."""
    reply = WholeReply(api, 10_000)
    text = json.dumps(document).encode()
    reply.hear(text[:10])
    reply.hear(text[10:])
    assert reply.reply() == expected


def test_a_reply_beyond_measure_is_not_kept() -> None:
    """Neither whole nor in events; it is passed on all the same."""
    whole = WholeReply(ChatCompletions(), 100)
    whole.hear(json.dumps({"choices": [{"message": {"content": "a" * 200}}]}).encode())
    assert whole.reply() == []
    streamed = StreamedReply(ChatCompletions(), 100)
    for event in events("a" * 200):
        streamed.hear(event)
    assert streamed.reply() == []


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
@given(data=st.data())
@settings(max_examples=examples(100, soak=2000), deadline=None)
def test_a_stream_is_cut_into_whole_events(end: bytes, data: st.DataObject) -> None:
    """However it comes in pieces, and nothing of it is lost."""
    told = [f"data: {n}".encode() + end for n in range(5)]
    stream = b"".join(told)
    places = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    cut = WholeEvents(10_000)
    ends = [*places, len(stream)]
    pieces = [stream[a:b] for a, b in zip([0, *places], ends, strict=True)]
    assert [event for piece in pieces for event in cut.take(piece)] == told
    assert cut.rest() == b""


def test_tiny_events_are_cut_in_linear_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at and moved is as long as the stream, however many events it has."""
    work = 0

    class Counted(bytearray):
        def find(self, sought: Any, begin: Any = 0, *rest: Any) -> int:
            nonlocal work
            found = super().find(sought, begin, *rest)
            work += (len(self) if found < 0 else found) - begin
            return found

        def __delitem__(self, where: Any) -> None:
            nonlocal work
            work += len(self)  # the rest of it may move
            super().__delitem__(where)

    monkeypatch.setattr("incumbent.proxy.replies.bytearray", Counted, raising=False)
    stream, cut = b"\n\n" * 20_000, WholeEvents(10_000_000)
    assert len(list(cut.take(stream))) == 20_000
    assert len(stream) <= work <= 2 * len(stream)


def test_an_event_beyond_measure_passes_in_pieces() -> None:
    """Nothing is held for ever."""
    cut = WholeEvents(10)
    assert list(cut.take(b"data: " + b"a" * 20)) == [b"data: " + b"a" * 20]


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.path)
def test_a_break_is_told_in_an_event(api: Any) -> None:
    """One event, whole, with an error in it."""
    event = broken_off(api, "broke")
    (data,) = [line[6:] for line in event.splitlines() if line.startswith(b"data: ")]
    assert json.loads(data)["error"]["message"] == "broke"
    assert list(WholeEvents(1000).take(event)) == [event]


# headers


def test_a_speaker_is_read_from_headers() -> None:
    """Each header is a field of the session; the key is a credential of ours."""
    form, shown = asked_by(
        [
            (b"X-Incumbent-User", b"alice"),
            (b"x-incumbent-permissions", b"a, b,"),
            (b"x-incumbent-key", b"incumbent_1_2"),
            (b"authorization", b"Bearer other"),
        ]
    )
    assert (form.user_id, form.permissions, form.session_id) == ("alice", ["a", "b"], "proxy")
    assert shown == "Bearer incumbent_1_2"
    assert not says_who([(b"x-incumbentd", b"a"), (b"incumbent-user", b"b")])


def test_nothing_of_ours_goes_on_and_nobody_speaks_in_our_name() -> None:
    """To a provider, nor from one to an application."""
    mixed = [(b"X-Incumbent-Key", b"a"), (b"X_Incumbent_User", b"b"), (b"Accept-Encoding", b"br")]
    assert to_upstream(mixed, rewritten=False) == [(b"Accept-Encoding", b"br")]
    assert to_upstream(mixed, rewritten=True) == [(b"accept-encoding", b"identity")]
    assert to_client(mixed[:2], (b"x-incumbent-receipt", b"r")) == [(b"x-incumbent-receipt", b"r")]


@pytest.mark.parametrize(
    "address",
    [
        *("", "api.openai.com", "ftp://a/v1", "https://", "http://[::1", "https://a:b/v1"),
        *("https://user:secret@a/v1", "https://a/v1?key=secret", "https://a/v1#x", "https://a/v 1"),
        *("https://ä/v1", "https://a/v1\n"),
    ],
)
def test_an_odd_upstream_is_refused_and_no_secret_is_told(address: str) -> None:
    """With how one looks."""
    with pytest.raises(incumbent.InvalidInput, match="upstream") as raised:
        ProxySettings(upstream=address)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "wrong", [{"on_failure": "ajar"}, {"budget": -1}, {"answer_timeout": 0}, {"connect_timeout": 0}]
)
def test_odd_settings_are_refused(wrong: Any) -> None:
    """By name."""
    with pytest.raises(incumbent.InvalidInput, match=next(iter(wrong))):
        ProxySettings(upstream="https://a/v1", **wrong)
