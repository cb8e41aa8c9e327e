"""Modes: what a proxy does with a request, by the settings of the memory or by a header."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import incumbent
from tests.conftest import QUICK
from tests.proxy.conftest import RunningProxy, StartProxy
from tests.proxy.stand_in import StandIn

CHAT = "/v1/chat/completions"
OLD, NEW = "123 Main St", "456 Oak Ave"
TALK = [
    {"role": "user", "content": f"The shipping address is {OLD}."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": f"No, the shipping address is {NEW} now."},
]
BODY = json.dumps({"model": "m", "messages": TALK, "odd": [1, 2]}).encode()


@pytest.mark.parametrize("by", ["setting", "header"])
def test_a_request_that_is_only_observed_goes_on_as_it_came(
    start: StartProxy, upstream: StandIn, tmp_path: Any, by: str
) -> None:
    """Byte for byte, with no receipt; what was said and what the model answered are known."""
    settings = replace(QUICK, mode="observe") if by == "setting" else QUICK
    with incumbent.open(tmp_path / "observed.db", settings=settings) as memory:
        proxy = start(memory)
        given = {"X_Incumbent_Mode": "observe"} if by == "header" else {}
        answer = proxy.post(CHAT, BODY, X_Incumbent_User="alice", **given)
        assert answer.status_code == 200
        assert "X-Incumbent-Receipt" not in answer.headers
        assert upstream.last.body == BODY
        assert proxy.heard(4) == ["user", "assistant", "user", "assistant"]
        assert memory.session(user_id="alice").current("shipping_address") == NEW


@pytest.mark.parametrize("by", ["setting", "header"])
def test_a_request_that_is_only_added_to_is_not_observed(
    start: StartProxy, upstream: StandIn, tmp_path: Any, by: str
) -> None:
    """It is guarded and given the context, and nothing in it is anybody's word."""
    settings = replace(QUICK, mode="add") if by == "setting" else QUICK
    with incumbent.open(tmp_path / "added.db", settings=settings) as memory:
        alice = memory.session(user_id="alice")
        alice.write("shipping_address", OLD)
        alice.write("shipping_address", NEW)
        proxy = start(memory)
        given = {"X_Incumbent_Mode": "add"} if by == "header" else {}
        answer = proxy.post(CHAT, BODY, X_Incumbent_User="alice", **given)
        assert "X-Incumbent-Receipt" in answer.headers
        assert OLD not in upstream.last.text
        assert NEW in upstream.last.text
        assert proxy.turns() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("X_Incumbent_Mode", "watch"), ("X_Incumbent_Ask_Before_Keeping", "perhaps")],
)
def test_a_mode_that_there_is_not_is_refused(
    proxy: RunningProxy, upstream: StandIn, name: str, value: str
) -> None:
    """It must not let a request pass unguarded."""
    answer = proxy.post(CHAT, BODY, X_Incumbent_User="alice", **{name: value})
    assert answer.status_code == 422
    assert name.replace("_", "-").lower() in answer.text
    assert upstream.received == []


def test_what_is_said_can_wait_for_approval(proxy: RunningProxy, upstream: StandIn) -> None:
    """The request is guarded as ever; nothing that it says is a fact before the person says so."""
    said = {"X_Incumbent_User": "alice", "X_Incumbent_Ask_Before_Keeping": "true"}
    assert proxy.post(CHAT, BODY, **said).status_code == 200
    alice = proxy.memory.session(user_id="alice")
    assert alice.facts() == []
    waiting = {one.fact.value: one.fact.id for one in alice.reviews()}
    assert {OLD, NEW} <= waiting.keys()
    assert OLD in upstream.last.text
    alice.resolve(waiting[NEW], still_right=True)
    alice.resolve(waiting[OLD], still_right=True)
    assert alice.current("shipping_address") == NEW
    assert proxy.post(CHAT, BODY, **said).status_code == 200
    assert OLD not in upstream.last.text
