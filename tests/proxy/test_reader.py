"""The provider reads what was said, with the caller's key, once it has answered."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK
from tests.patience import PATIENCE, eventually
from tests.proxy.conftest import RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn

KEY = "sk-of-the-provider"
MOVED = "Turns out peanuts make me ill."
ASKED: Any = [{"role": "user", "content": MOVED}]
READ = json.dumps(
    {"statements": [{"s": "s1", "attribute": "allergy", "value": "peanuts", "does": []}]}
)
HOLDS = "allergy"


def reading(upstream: StandIn) -> Any:
    """The last request that asked for a reading."""
    found = [one for one in upstream.received if b"You keep somebody's memory" in one.body]
    return found[-1] if found else None


def known(proxy: RunningProxy) -> Any:
    return proxy.memory.session(user_id="alice").current(HOLDS)


def ask(proxy: RunningProxy, api: str, **given: Any) -> None:
    """One request of an official client."""
    if api == "chat":
        proxy.openai().chat.completions.create(model="m-1", messages=ASKED, **given)
    elif api == "responses":
        proxy.openai().responses.create(model="m-1", input=MOVED)
    else:
        client: Any = proxy.anthropic()
        client.messages.create(model="m-1", messages=ASKED, max_tokens=99)


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_the_upstream_reads_with_the_callers_key(
    start: StartProxy, upstream: StandIn, api: str
) -> None:
    """The model of the request is asked at the same path; what it says becomes a fact."""
    proxy = start(reader="upstream")
    upstream.said = ["Noted.", f"Here it is:\n```json\n{READ}\n```"]
    ask(proxy, api)
    eventually(lambda: known(proxy) == "peanuts", pause=0.01)
    first, second = upstream.received
    assert (first.line, first.json["model"]) == (second.line, second.json["model"])
    shown = [one.header(b"x-api-key") + one.header(b"authorization") for one in (first, second)]
    assert shown[0] == shown[1] != []
    assert MOVED in second.text
    assert not any(header.lower().startswith(b"x-incumbent") for header, _ in second.headers)
    (used,) = proxy.memory.usage("default")
    assert (used.model, used.calls, used.failed) == ("upstream:m-1", 1, 0)


def test_another_model_of_the_upstream_can_read(start: StartProxy, upstream: StandIn) -> None:
    """A small one is often good enough."""
    proxy = start(reader="upstream:m-small")
    upstream.said = ["Noted.", READ]
    ask(proxy, "chat")
    eventually(lambda: known(proxy) == "peanuts", pause=0.01)
    assert reading(upstream).json["model"] == "m-small"
    verdict = proxy.memory.session(user_id="alice").explain(HOLDS).verdicts[-1]
    assert verdict.evidence["reader"] == "upstream:m-small"


def test_nothing_is_asked_before_the_answer_is_out(start: StartProxy, upstream: StandIn) -> None:
    """Not while a stream is under way, however long it takes."""
    proxy = start(reader="upstream")
    upstream.said = ["A long answer.", READ]
    upstream.waits = True
    stream: Any = proxy.openai().chat.completions.create(
        model="m-1",
        messages=ASKED,
        stream=True,
    )
    assert upstream.begun.wait(PATIENCE)
    eventually(lambda: len(proxy.turns()) == 1, pause=0.01)
    assert reading(upstream) is None
    upstream.go_on()
    assert "".join(one.choices[0].delta.content or "" for one in stream) == "A long answer."
    eventually(lambda: known(proxy) == "peanuts", pause=0.01)


def test_who_is_refused_is_not_read(start: StartProxy, upstream: StandIn) -> None:
    """A key that the provider does not take is not tried again; the offline reading stands."""
    proxy = start(reader="upstream")
    upstream.status = 401
    answer = proxy.post(
        "/v1/chat/completions",
        json.dumps({"model": "m-1", "messages": ASKED}).encode(),
        X_Incumbent_User="alice",
    )
    assert answer.status_code == 401
    assert proxy.memory.flush(timeout=PATIENCE)
    assert len(upstream.received) == 1
    assert [fact.value for fact in proxy.memory.session(user_id="alice").facts()] == [MOVED]


def test_a_provider_that_takes_no_form_is_asked_in_words(
    start: StartProxy, upstream: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked once more without, and never with it again."""
    answer = upstream._answer

    async def picky(request: Any, *streams: Any) -> bool:
        upstream.status = 400 if "response_format" in request.json else 200
        return await answer(request, *streams)

    monkeypatch.setattr(upstream, "_answer", picky)
    proxy = start(reader="upstream")
    upstream.said = ["Noted.", READ, "Noted.", json.dumps({"statements": []})]
    ask(proxy, "chat")
    eventually(lambda: known(proxy) == "peanuts", pause=0.01)
    proxy.openai().chat.completions.create(
        model="m-1", messages=[{"role": "user", "content": "My desk is green."}]
    )
    eventually(lambda: len(upstream.received) == 5, pause=0.01)
    assert ["response_format" in one.json for one in upstream.received] == [
        *(False, True, False),
        *(False, False),
    ]


def test_the_key_is_neither_stored_nor_logged(
    start: StartProxy,
    upstream: StandIn,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Not when all goes well, and not when nothing does."""
    caplog.set_level(logging.DEBUG)
    with incumbent.open(tmp_path / "kept.db", settings=QUICK) as memory:
        proxy = start(memory, reader="upstream")
        upstream.said = ["Noted.", READ, "Noted.", "no JSON", "nor this", "nor that"]
        ask(proxy, "chat")
        eventually(lambda: known(proxy) == "peanuts", pause=0.01)
        proxy.openai().chat.completions.create(
            model="m-1", messages=[{"role": "user", "content": "My desk is green."}]
        )
        eventually(lambda: "no second opinion" in caplog.text, pause=0.01)
        assert [one.failed for one in memory.usage("default")] == [3]
    ours = [one for one in caplog.records if one.name.startswith("incumbent")]
    assert KEY not in "".join(f"{one.getMessage()} {vars(one)}" for one in ours)
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.glob("kept.db*"))


def test_a_day_has_so_many_readings(
    start: StartProxy, upstream: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    """They cost the caller, so that they can be bounded."""
    proxy = start(reader="upstream", reader_calls=1)
    for number in range(2):
        proxy.openai().chat.completions.create(
            model="m-1", messages=[{"role": "user", "content": f"Shelf {number} is full."}]
        )
        eventually(lambda: proxy.memory.usage("default")[:1] != [], pause=0.01)
    eventually(lambda: "the budget of 1 calls a day is exhausted" in caplog.text, pause=0.01)
    assert len(upstream.received) == 3


def test_a_slow_reading_delays_no_answer(
    start: StartProxy, upstream: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next request is answered while the last one is still being read."""
    answer, reads, goes_on = upstream._answer, threading.Event(), threading.Event()

    async def slow(request: Any, *streams: Any) -> bool:
        if b"You keep somebody's memory" in request.body:
            reads.set()
            await asyncio.to_thread(goes_on.wait, PATIENCE)
        return await answer(request, *streams)

    monkeypatch.setattr(upstream, "_answer", slow)
    proxy = start(reader="upstream")
    try:
        ask(proxy, "chat")
        assert reads.wait(PATIENCE)
        ask(proxy, "chat")
        assert not proxy.memory.usage("default")[0].turns
    finally:
        goes_on.set()


@pytest.mark.parametrize("given", ["downstream", "upstream:", "openai:gpt-5-mini"])
def test_another_reader_is_refused(start: StartProxy, given: str) -> None:
    """Only the provider has the caller's key."""
    with pytest.raises(incumbent.InvalidInput, match="reader is upstream or upstream:MODEL"):
        start(reader=given)
