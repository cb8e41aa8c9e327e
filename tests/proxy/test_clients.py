"""The proxy under the official clients of OpenAI and Anthropic: only the base URL changes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK
from tests.proxy.conftest import SESSION, RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn

DEAD, LIVE = "123 Main St", "456 Oak Ave"
FIRST = f"The shipping address is {DEAD}."
SECOND = f"No, the shipping address is {LIVE} now."
QUESTION = "Where do we ship?"
FRAME = "You are a clerk."


class Talk:
    """A conversation that an application keeps, and sends whole every time."""

    def __init__(self, proxy: RunningProxy, api: str, stream: bool, **headers: str) -> None:
        self._proxy = proxy
        self._headers = headers
        self._say = {"chat": self._chat, "responses": self._responses, "messages": self._messages}[
            api
        ]
        self._stream = stream
        self.history: list[Any] = []

    def say(self, text: str) -> str:
        self.history.append({"role": "user", "content": text})
        answer = self._say()
        self.history.append({"role": "assistant", "content": answer})
        return answer

    def _chat(self) -> str:
        asked: Any = {
            "model": "m",
            "messages": [{"role": "system", "content": FRAME}, *self.history],
        }
        client = self._proxy.openai(**self._headers)
        if self._stream:
            chunks = client.chat.completions.create(**asked, stream=True)
            return "".join(one.choices[0].delta.content or "" for one in chunks)
        found = client.chat.completions.create(**asked)
        return str(found.choices[0].message.content)

    def _responses(self) -> str:
        asked: Any = {"model": "m", "input": self.history, "instructions": FRAME}
        client = self._proxy.openai(**self._headers)
        if self._stream:
            with client.responses.stream(**asked) as stream:
                return str(stream.get_final_response().output_text)
        return str(client.responses.create(**asked).output_text)

    def _messages(self) -> str:
        asked: Any = {"model": "m", "max_tokens": 9, "messages": self.history, "system": FRAME}
        client = self._proxy.anthropic(**self._headers)
        if self._stream:
            with client.messages.stream(**asked) as stream:
                return stream.get_final_text()
        return str(client.messages.create(**asked).content[0].text)


APIS = pytest.mark.parametrize("api", ["chat", "responses", "messages"])
BOTH_WAYS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@APIS
@BOTH_WAYS
def test_a_correction_takes_the_dead_value_out_of_the_prompt(
    proxy: RunningProxy, upstream: StandIn, api: str, stream: bool
) -> None:
    """The model gets the live value and not the dead one, and the application notices nothing."""
    upstream.said = [f"So {DEAD} it is.", "Noted.", f"To {LIVE}."]
    talk = Talk(proxy, api, stream)
    assert talk.say(FIRST) == f"So {DEAD} it is."
    assert DEAD in upstream.last.text
    assert talk.say(SECOND) == "Noted."
    assert talk.say(QUESTION) == f"To {LIVE}."
    for sent in upstream.received[1:]:
        assert DEAD not in sent.text
        assert LIVE in sent.text
        assert FRAME in sent.text
    assert proxy.heard(6) == ["user", "assistant"] * 3
    assert DEAD in str(talk.history)


_TIME = re.compile(r"Current time: \d\d:\d\d")
"""A minute may begin between two requests."""


def ask(proxy: RunningProxy, messages: Any, user: str = "alice", **more: Any) -> Any:
    """A chat completion of the official client, with its headers."""
    client = proxy.openai(user, **more.pop("headers", {}))
    return client.chat.completions.with_raw_response.create(model="m", messages=messages, **more)


@APIS
@BOTH_WAYS
def test_a_retry_observes_nothing_twice(
    proxy: RunningProxy, upstream: StandIn, api: str, stream: bool
) -> None:
    """The same request again, as clients send it when an answer was lost, adds no turn."""
    talk = Talk(proxy, api, stream)
    talk.say(FIRST)
    talk.say(SECOND)
    assert proxy.heard(4) == ["user", "assistant"] * 2
    before = proxy.turns()
    del talk.history[-2:]
    talk.say(SECOND)
    assert proxy.turns() == before
    again, first = (
        _TIME.sub("", sent.text) for sent in (upstream.received[-1], upstream.received[-2])
    )
    assert again == first


def test_a_correction_holds_in_the_next_conversation(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """A new session without any history has the live value in its context."""
    ask(proxy, [{"role": "user", "content": FIRST}], headers={SESSION: "monday"})
    ask(proxy, [{"role": "user", "content": SECOND}], headers={SESSION: "monday"})
    ask(proxy, [{"role": "user", "content": QUESTION}], headers={SESSION: "tuesday"})
    frame, question = upstream.last.json["messages"]
    assert frame["role"] == "system"
    assert LIVE in frame["content"]
    assert question == {"role": "user", "content": QUESTION}
    assert DEAD not in upstream.last.text


def test_a_history_from_elsewhere_is_taken_in_once(proxy: RunningProxy, upstream: StandIn) -> None:
    """A conversation that began before the proxy is observed with its first request."""
    history = [
        {"role": "user", "content": FIRST},
        {"role": "assistant", "content": f"So {DEAD}."},
        {"role": "user", "content": SECOND},
        {"role": "assistant", "content": "Changed."},
        {"role": "user", "content": QUESTION},
    ]
    ask(proxy, history)
    assert DEAD not in upstream.last.text
    assert LIVE in upstream.last.text
    proxy.heard(6)
    ask(proxy, history)
    assert len(proxy.turns()) == 6


def test_a_history_that_was_cut_short_brings_no_old_value_back(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """An application that drops the oldest messages, or sends the old ones alone, does not state
    them anew."""
    talk = Talk(proxy, "chat", stream=False)
    for text in (FIRST, SECOND, "Thanks.", QUESTION):
        talk.say(text)
    proxy.heard(8)
    del talk.history[:3]
    talk.say("And when?")
    assert proxy.heard(10)[-2:] == ["user", "assistant"]
    ask(proxy, [{"role": "user", "content": FIRST}, {"role": "assistant", "content": "Noted."}])
    alice = proxy.memory.session(user_id="alice")
    assert alice.current("shipping_address") == LIVE
    assert len(proxy.turns()) == 10


def test_the_receipt_of_an_answer_can_be_replayed(proxy: RunningProxy, upstream: StandIn) -> None:
    """The header names a context that is kept, and that is what the model got."""
    ask(proxy, [{"role": "user", "content": FIRST}])
    answer = ask(proxy, [{"role": "user", "content": QUESTION}])
    replayed = proxy.memory.replay(answer.headers["x-incumbent-receipt"])
    assert replayed.text == upstream.last.json["messages"][0]["content"]
    assert replayed.query == QUESTION
    assert "# Conversation" not in replayed.text


def test_tool_calls_keep_their_form_and_their_results_are_observed(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """A dead value is cut out of what a tool was called with and gave back; ids and names stay."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "ship", "arguments": json.dumps({"to": DEAD})},
    }
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    upstream.said = [asking]
    tools: Any = [{"type": "function", "function": {"name": "ship", "parameters": {}}}]
    history: list[Any] = [{"role": "user", "content": FIRST}]
    answer = ask(proxy, history, tools=tools).parse()
    assert answer.choices[0].message.tool_calls[0].function.arguments == json.dumps({"to": DEAD})
    assert upstream.last.json["tools"] == tools
    history += [asking, {"role": "tool", "tool_call_id": "call_1", "content": "Sent. Number 77."}]
    ask(proxy, history, tools=tools)
    assert proxy.heard(3) == ["user", "tool", "assistant"]
    history += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": SECOND}]
    ask(proxy, history, tools=tools)
    _, _, sent, result, *_ = upstream.last.json["messages"]
    assert sent["tool_calls"][0]["id"] == "call_1"
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) != {"to": DEAD}
    assert result == history[2]
    assert DEAD not in upstream.last.text
    assert proxy.heard(5) == ["user", "tool", "assistant", "user", "assistant"]


def test_tool_calls_are_streamed_as_they_come(proxy: RunningProxy, upstream: StandIn) -> None:
    """A streamed call of a tool reaches the application, and says nothing that is observed."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    upstream.said = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    stream = proxy.openai().chat.completions.create(
        model="m", messages=[{"role": "user", "content": QUESTION}], stream=True
    )
    calls = [one for chunk in stream for one in chunk.choices[0].delta.tool_calls or []]
    assert [one.id for one in calls] == ["c"]
    assert proxy.speakers() == ["user"]


def test_anthropic_tools_go_through(proxy: RunningProxy, upstream: StandIn) -> None:
    """Results of tools stand under the role of a user there, and are not the user's words."""
    history: list[Any] = [
        {"role": "user", "content": FIRST},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I will look."},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": DEAD}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "The gate is closed."},
                {"type": "text", "text": SECOND},
            ],
        },
    ]
    proxy.anthropic().messages.create(model="m", max_tokens=9, messages=history)
    assert proxy.heard(5) == ["user", "assistant", "tool", "user", "assistant"]
    sent = upstream.last.json["messages"]
    assert sent[1]["content"][1]["id"] == "t1"
    assert sent[2]["content"][0] == history[2]["content"][0]
    assert DEAD not in upstream.last.text


PICTURE = "data:image/png;base64," + "iVBORw0KGgo/+A=" * 50


@pytest.mark.parametrize("stream", [False, True])
def test_pictures_and_sounds_pass_unchanged(
    proxy: RunningProxy, upstream: StandIn, stream: bool
) -> None:
    """Parts that are no text arrive as they were sent, in their order, beside what is cut."""
    parts: list[Any] = [
        {"type": "text", "text": f"The shipping address is {DEAD}."},
        {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "text", "text": "My desk is 4."},
    ]
    history: list[Any] = [
        {"role": "user", "content": parts},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": SECOND},
    ]
    answer = proxy.openai().chat.completions.create(model="m", messages=history, stream=stream)
    if stream:
        list(answer)
    sent = upstream.last.json["messages"][1]["content"]
    assert sent[1:] == parts[1:]
    assert DEAD not in upstream.last.text


def test_pictures_of_the_other_apis_pass_unchanged(proxy: RunningProxy, upstream: StandIn) -> None:
    """The same for responses and for Anthropic's messages."""
    picture = {"type": "input_image", "image_url": PICTURE, "detail": "auto"}
    said = [{"type": "input_text", "text": QUESTION}, picture]
    proxy.openai().responses.create(model="m", input=[{"role": "user", "content": said}])  # type: ignore[list-item,misc]
    assert upstream.last.json["input"] == [{"role": "user", "content": said}]
    block = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "i+/="},
    }
    cached = {"type": "text", "text": QUESTION, "cache_control": {"type": "ephemeral"}}
    message: Any = {"role": "user", "content": [block, cached]}
    proxy.anthropic().messages.create(model="m", max_tokens=9, messages=[message])
    assert upstream.last.json["messages"] == [message]


def test_settings_of_a_request_pass_unchanged(proxy: RunningProxy, upstream: StandIn) -> None:
    """Whatever else a request says is sent on: the model, temperatures, fields that are new."""
    more = {"temperature": 0.1, "seed": 7, "metadata": {"ä": "1"}, "new_field": [None, 1.5, "x"]}
    message = {"role": "user", "content": QUESTION, "new": True}
    body = {"model": "m", "messages": [message], **more}
    content = json.dumps(body).encode()
    assert proxy.post("/v1/chat/completions", content, X_Incumbent_User="alice").status_code == 200
    sent = upstream.last.json
    assert {**sent, "messages": sent["messages"][1:]} == body


def test_a_field_that_comes_twice_hides_nothing(proxy: RunningProxy, upstream: StandIn) -> None:
    """What is sent on is what was guarded, whichever of the two a provider would have read."""
    ask(proxy, [{"role": "user", "content": FIRST}])
    ask(proxy, [{"role": "user", "content": SECOND}])
    old = json.dumps([{"role": "assistant", "content": f"To {DEAD}."}])
    new = json.dumps([{"role": "user", "content": QUESTION}])
    content = f'{{"model": "m", "messages": {old}, "messages": {new}}}'.encode()
    assert proxy.post("/v1/chat/completions", content, X_Incumbent_User="alice").status_code == 200
    assert DEAD not in upstream.last.text


def test_another_persons_facts_never_appear(proxy: RunningProxy, upstream: StandIn) -> None:
    """Neither the values of another person, nor cuts because of them."""
    ask(proxy, [{"role": "user", "content": FIRST}], "alice")
    ask(proxy, [{"role": "user", "content": SECOND}], "alice")
    ask(proxy, [{"role": "user", "content": QUESTION}], "bob")
    assert DEAD not in upstream.last.text
    assert LIVE not in upstream.last.text
    ask(proxy, [{"role": "user", "content": f"Is it {DEAD}?"}], "bob")
    assert DEAD in upstream.last.text
    other = {"X-Incumbent-Organization": "elsewhere"}
    ask(proxy, [{"role": "user", "content": QUESTION}], "alice", headers=other)
    assert LIVE not in upstream.last.text


def test_somebody_else_in_the_conversation_speaks_for_themselves(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """A message with the name of another participant is not the user's own word."""
    messages = [
        {"role": "user", "name": "alice", "content": "My desk is 4."},
        {"role": "user", "name": "Bob", "content": "My desk is 9."},
    ]
    ask(proxy, messages)
    assert proxy.heard(3) == ["user", "Bob", "assistant"]
    assert proxy.memory.session(user_id="alice").current("desk") == "4"


def test_a_response_that_follows_another_says_what_is_new(
    proxy: RunningProxy, upstream: StandIn
) -> None:
    """With previous_response_id an application sends only what is new: the same words after
    another answer are new, the same request again is not; and the answer says that the provider
    keeps what was said before, where nothing can be cut."""
    client = proxy.openai().responses.with_raw_response
    client.create(model="m", input="Yes.")
    proxy.heard(2)
    for previous in ("resp_1", "resp_1", "resp_2"):
        answer = client.create(model="m", input="Yes.", previous_response_id=previous)
        assert answer.headers["x-incumbent-unguarded"] == "kept-by-provider"
    assert proxy.heard(6) == ["user", "assistant"] * 3


def test_a_word_said_again_later_is_new(proxy: RunningProxy, upstream: StandIn) -> None:
    """An application that sends the last message alone can say the same twice."""
    for number, text in enumerate(("Yes.", "No.", "Yes."), 1):
        ask(proxy, [{"role": "user", "content": text}])
        assert proxy.heard(2 * number) == ["user", "assistant"] * number


@pytest.mark.on_every_store
def test_a_store_makes_no_difference(start: StartProxy, upstream: StandIn, where: str) -> None:
    """A file, a database, nothing but memory: corrections are cut, retries add nothing."""
    with incumbent.open(where, settings=QUICK) as memory:
        proxy = start(memory)
        history: list[Any] = [{"role": "user", "content": FIRST}]
        ask(proxy, history)
        proxy.heard(2)
        history += [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": SECOND}]
        for _ in range(2):
            ask(proxy, history)
            assert DEAD not in upstream.last.text
            assert proxy.heard(4) == ["user", "assistant"] * 2


def test_a_budget_of_nothing_guards_only(start: StartProxy, upstream: StandIn) -> None:
    """Without a context there is no receipt, and dead values are cut all the same."""
    proxy = start(budget=0)
    talk = Talk(proxy, "chat", stream=False)
    talk.say(FIRST)
    talk.say(SECOND)
    assert [one["role"] for one in upstream.last.json["messages"]] == [
        *("system", "user", "assistant", "user")
    ]
    assert upstream.last.json["messages"][0]["content"] == FRAME
    assert DEAD not in upstream.last.text
    assert "x-incumbent-receipt" not in ask(proxy, [{"role": "user", "content": QUESTION}]).headers


def test_a_request_to_erase_everything_is_told(proxy: RunningProxy, upstream: StandIn) -> None:
    """The application learns of it, and nothing is erased by a turn."""
    first = ask(proxy, [{"role": "user", "content": FIRST}])
    assert "x-incumbent-erasure-requested" not in first.headers
    answer = ask(proxy, [{"role": "user", "content": "Erase all my data."}])
    assert answer.headers["x-incumbent-erasure-requested"] == "true"
    assert proxy.memory.session(user_id="alice").current("shipping_address") == DEAD


def test_what_was_forgotten_is_not_observed_again(proxy: RunningProxy, upstream: StandIn) -> None:
    """A transcript that still has what was erased does not bring it back."""
    talk = Talk(proxy, "chat", stream=False)
    upstream.said = ["One.", "Two.", "Three."]
    talk.say(FIRST)
    proxy.heard(2)
    alice = proxy.memory.session(user_id="alice")
    (fact,) = alice.facts("shipping_address")
    proxy.memory.forget(organization="default", fact_id=fact.id)
    talk.say("What is my desk?")
    talk.say(QUESTION)
    assert proxy.heard(6) == ["user", "assistant"] * 3
    assert alice.current("shipping_address") is None
