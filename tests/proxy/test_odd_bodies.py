"""Bodies that no client sends: whatever they hold, they are passed on or refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incumbent
from incumbent.proxy.apis import APIS, MessageApi
from incumbent.proxy.remembering import Remembering
from incumbent.proxy.replies import StreamedReply, WholeReply
from tests.conftest import examples

NAMES = st.sampled_from(
    [
        *("role", "content", "name", "type", "text", "tool_calls", "function", "arguments"),
        *("output", "input", "parts", "thought", "messages", "system", "instructions"),
        *("choices", "message", "delta", "index", "finish_reason", "response", "content_block"),
        *("function_call", "previous_response_id"),
    ]
)
WORDS = st.sampled_from(
    [
        *("user", "assistant", "tool", "system", "text", "tool_result", "tool_use", "message"),
        *("function_call", "function_call_output", "Hello.", "", "{}", "[1]", "reasoning"),
        *("response.completed", "content_block_delta", "text_delta", "message_stop"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
MESSAGES = st.lists(st.dictionaries(NAMES, ANYTHING, max_size=4), max_size=4)


@pytest.fixture(scope="module")
def memory() -> Iterator[incumbent.Memory]:
    """A memory that reads quickly."""
    quick = incumbent.Settings(embedder=None, reader="rules")
    with incumbent.open(":memory:", settings=quick) as found:
        yield found


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.path)
@given(body=st.dictionaries(NAMES, ANYTHING, max_size=3), messages=MESSAGES)
@settings(max_examples=examples(100, soak=3000), deadline=None)
def test_a_body_is_prepared_or_refused(
    memory: incumbent.Memory, api: MessageApi, body: dict[str, Any], messages: list[Any]
) -> None:
    """With an error of ours, and never with another; as many messages go on as came."""
    given_body = {**body, "messages": messages, "input": messages}
    session = memory.session(user_id="alice", session_id="odd")
    content = json.dumps(given_body).encode()
    try:
        prepared = Remembering(memory, 100).prepare(session, api, content)
    except incumbent.InvalidInput:
        return
    made = json.loads(prepared.content)
    assert made.keys() - {"instructions", "system"} == given_body.keys() - {
        *("instructions", "system")
    }
    assert len(api.messages(made)) - len(messages) in (0, 1)


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.path)
@given(documents=st.lists(ANYTHING, max_size=4))
@settings(max_examples=examples(200, soak=5000), deadline=None)
def test_a_reply_of_any_form_is_heard_or_not(api: MessageApi, documents: list[Any]) -> None:
    """Whatever a provider sends: texts come out of it, or none."""
    streamed = StreamedReply(api, 10_000)
    for document in documents:
        text = json.dumps(document).encode()
        whole = WholeReply(api, 10_000)
        whole.hear(text)
        assert all(isinstance(one, str) and one.strip() for one in whole.reply())
        streamed.hear(b"data: " + text + b"\n\n")
    assert all(isinstance(one, str) and one.strip() for one in streamed.reply())
