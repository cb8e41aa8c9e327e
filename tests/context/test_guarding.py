"""Guarding: what an agent sends to a model itself has nothing in it that no longer holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from types import MappingProxyType
from typing import Any

import pytest

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent.testing import SteppingClock

OLD, NEW = "123 Main St", "456 Oak Ave"
POEM = "O desk, four legs and a plain oak face,\nkeeper of pens in your proper place."


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    with incumbent.open(":memory:", clock=SteppingClock()) as opened:
        yield opened


@pytest.fixture
def alice(memory: incumbent.Memory) -> incumbent.Session:
    """A session in which the address has moved."""
    session = memory.session(user_id="alice", organization="acme")
    session.observe(f"The shipping address is {OLD}.")
    session.observe(f"The shipping address is {NEW} now.")
    return session


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def nested(levels: int) -> Any:
    return [nested(levels - 1)] if levels else "x"


def called(text: str) -> dict[str, Any]:
    function = {"name": "quote", "arguments": json.dumps({"to": text, "desks": 2})}
    return said("assistant", None, tool_calls=[{"id": "c1", "function": function}])


SHAPES: dict[str, list[dict[str, Any]]] = {
    "text": [said("assistant", f"I will send the two desks to {OLD} tomorrow.")],
    "parts": [said("user", [{"type": "text", "text": f"Two desks to {OLD}, and a lamp."}])],
    "a call of a tool": [called(OLD), said("tool", f"To {OLD}: $220.", tool_call_id="c1")],
    "tool use in parts": [
        said("assistant", [{"type": "tool_use", "id": "t", "name": "quote", "input": {"to": OLD}}]),
        said("user", [{"type": "tool_result", "tool_use_id": "t",
                       "content": [{"type": "text", "text": f"Two desks to {OLD}: $220."}]}]),
    ],
    "items of responses": [
        {"type": "function_call", "name": "quote", "arguments": json.dumps({"to": OLD})},
        {"type": "function_call_output", "call_id": "c", "output": f"Two desks to {OLD}: $220."},
    ],
    "calls in parts": [
        said("assistant", [{"type": "tool_call", "id": "t", "name": "quote", "args": {"to": OLD}}]),
        said("tool", f"Two desks to {OLD}: $220.", tool_call_id="t"),
        said("assistant", [{"type": "function_call", "arguments": json.dumps({"to": OLD})}]),
        said("tool", f"Two desks to {OLD}: $220.", tool_call_id="u"),
    ],
    "parts of Google": [
        {"role": "model", "parts": [{"function_call": {"name": "quote", "args": {"to": OLD}}}]},
        {"role": "user", "parts": [{"function_response": {"response": {"for": f"to {OLD}: $9"}}}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_dead_value_is_cut_whatever_the_shape_of_a_message(
    alice: incumbent.Session, shape: str
) -> None:
    """The messages keep their shape, what they are given with stays as it was."""
    given = [*SHAPES[shape], said("user", f"So it goes to {NEW}?")]
    before = deepcopy(given)
    made = alice.guard(given)
    assert given == before
    assert OLD not in json.dumps(made.messages)
    assert NEW in json.dumps(made.messages)
    assert [list(one) for one in made.messages] == [list(one) for one in given]
    assert {one.outcome for one in made.account} == {"cut"}
    assert all(one.fact_ids for one in made.account)


def test_messages_need_not_be_dicts_and_lists(alice: incumbent.Session) -> None:
    part = MappingProxyType({"type": "text", "text": f"Two desks to {OLD}, and a lamp."})
    made = alice.guard((MappingProxyType({"role": "user", "content": (part,)}), said("user", "?")))
    told = {"type": "text", "text": "Two desks to [no longer current], and a lamp."}
    assert made.messages[0] == said("user", [told])


def test_what_a_tool_is_called_with_stays_json(alice: incumbent.Session) -> None:
    made = alice.guard([called(OLD), said("tool", "ok"), said("user", "Thanks.")])
    arguments = made.messages[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"to": "[no longer current]", "desks": 2}


@pytest.mark.parametrize("text", ["{", "[" * 100_000, f"to {OLD}, please, two desks"])
def test_what_is_no_json_is_a_text_like_others(alice: incumbent.Session, text: str) -> None:
    call = {"type": "function_call", "name": "quote", "arguments": text}
    made = alice.guard([call, said("user", "Well?")])
    assert made.messages[0]["arguments"] == text.replace(OLD, "[no longer current]")


def test_a_message_that_says_nothing_else_is_left_out(alice: incumbent.Session) -> None:
    made = alice.guard([said("user", f"The shipping address is {OLD}."), said("user", "And now?")])
    assert made.messages == [said("user", "And now?")]
    assert [(one.index, one.outcome) for one in made.account] == [(0, "left out")]
    old = alice.history("shipping_address").facts[0]
    assert made.account[0].fact_ids == (old.id,)


def test_what_is_no_fact_is_still_there(alice: incumbent.Session) -> None:
    """A poem, the application's words, pictures and a model's own thoughts."""
    given = [
        said("system", f"The shop is at {OLD}."),
        said("user", [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]),
        said("assistant", [{"type": "thinking", "thinking": OLD, "signature": "x"}]),
        said("assistant", POEM),
        said("user", "Once more."),
    ]
    made = alice.guard(given)
    assert made.messages == given
    assert made.account == ()


def test_what_was_said_of_a_fact_in_other_words_goes_with_it(alice: incumbent.Session) -> None:
    """A turn that was observed is cut where it stated what is gone."""
    turn = "We need 40 desks by Friday."
    alice.observe(turn)
    alice.observe("No, 45 desks.")
    made = alice.guard([said("user", turn), said("user", "How many?")])
    assert made.messages[0]["content"] == "We need [no longer current] desks by Friday."


def test_what_a_person_supposes_now_is_passed_on(alice: incumbent.Session) -> None:
    turn = "What if we shipped everything to Lisbon?"
    alice.observe(turn)
    assert alice.guard([said("user", turn)]).messages == [said("user", turn)]


def test_nobody_elses_state_touches_what_one_says(
    memory: incumbent.Memory, alice: incumbent.Session
) -> None:
    given = [said("user", f"The shipping address is {OLD}."), said("user", "Right?")]
    bob = memory.session(user_id="bob", organization="acme")
    other = memory.session(user_id="alice", organization="elsewhere")
    assert bob.guard(given).messages == other.guard(given).messages == given


def test_the_past_is_guarded_as_it_was(alice: incumbent.Session) -> None:
    """A session that looks at the day of the old address cuts the new one out of nothing."""
    first = alice.history("shipping_address").facts[0]
    then = alice.as_of(first.recorded_at)
    given = [said("user", f"It goes to {OLD}, doesn't it?")]
    assert then.guard(given).messages == given


def test_the_oldest_go_first_where_there_is_a_budget(alice: incumbent.Session) -> None:
    """What a person says now stays, and a call of a tool with what it gave back."""
    given = [
        said("system", "Be brief."),
        said("assistant", POEM),
        called("Porto"),
        said("tool", "Two desks to Porto: $220.", tool_call_id="c1"),
        said("assistant", "That would be $220."),
        said("user", "Good, and how long does it take?"),
    ]
    whole = alice.guard(given)
    assert whole.messages == given
    made = alice.guard(given, budget=whole.tokens - 1)
    assert made.messages == [given[0], *given[2:]]
    assert made.tokens < whole.tokens
    made = alice.guard(given, budget=made.tokens - 1)
    assert made.messages == [given[0], *given[4:]]
    assert {one.outcome for one in made.account} == {"over budget"}
    assert alice.guard(given, budget=0).messages == [given[0], given[5]]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("Hello", "must be a list of messages"),
        ([said("user", "Hello"), "Hello"], "message 1 must have a role and content"),
        ([said("user", "x" * 5_000_000)], "leave out the oldest"),
        ([said("user", nested(99))], "nested deeper"),
    ],
)
def test_what_are_no_messages_is_refused(alice: incumbent.Session, given: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        alice.guard(given)


def test_a_context_without_the_conversation_has_facts_and_notes(
    alice: incumbent.Session,
) -> None:
    """For callers who send the conversation themselves: nothing reaches the model twice."""
    alice.note("shortlist", ["Porto", "Lisbon"])
    with_turns = alice.context("Where do we ship?").text
    without = alice.context("Where do we ship?", conversation=False).text
    assert "turn 2" in with_turns
    assert "turn 2" not in without
    assert NEW in without
    assert "Porto" in without


def test_a_context_without_the_conversation_does_not_call_its_question_unknown(
    alice: incumbent.Session,
) -> None:
    """The answer may be in what the caller sends, or in what any model knows."""
    asked = "Which countries border Mongolia?"
    told = "nothing on record matches this question"
    assert told in alice.context(asked).text
    assert told not in alice.context(asked, conversation=False).text


def test_a_thought_stays_as_it_is_with_what_follows_from_it(alice: incumbent.Session) -> None:
    """Its provider takes neither without the other: what follows is cut, and not left out."""
    thought = {"type": "reasoning", "id": "r", "summary": [], "content": [{"text": f"{OLD}?"}]}
    given = [thought, said("assistant", f"To {OLD}."), said("user", f"So it goes to {NEW}?")]
    made = alice.guard(given)
    assert made.messages[0] == thought
    assert [one["role"] for one in made.messages[1:]] == ["assistant", "user"]
    assert OLD not in json.dumps(made.messages[1:])


def test_a_budget_parts_no_thought_from_what_follows(alice: incumbent.Session) -> None:
    """Both are sent, or neither is."""
    thought = {"type": "reasoning", "id": "r", "summary": []}
    call = {"type": "function_call", "call_id": "c", "name": "quote", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "The lamp is $20. " * 5}
    given: list[dict[str, Any]] = [thought, call, thought, call, result, result]
    given += [thought, said("assistant", "It is $20.")]
    asked = said("user", "And a lamp?")
    whole = alice.guard([*given, asked])
    sizes = {
        len(alice.guard([*given, asked], budget=budget).messages)
        for budget in range(whole.tokens + 1)
    }
    assert sizes == {1, 3, 9}


def test_amazons_shape_is_guarded_too(alice: incumbent.Session) -> None:
    """What a tool is called with and what it gives back, as text and as data."""
    call = {"toolUse": {"toolUseId": "c", "name": "quote", "input": {"to": OLD}}}
    told = [{"text": f"To {OLD}: $40."}, {"json": {"to": OLD, "price": 40}}]
    result = {"toolResult": {"toolUseId": "c", "status": "success", "content": told}}
    given = [
        {"role": "user", "content": [{"text": f"Two lamps to {OLD}, please."}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"text": "It is $40."}]},
        {"role": "user", "content": [{"text": "Is it dear?"}]},
    ]
    made = alice.guard(given)
    assert OLD not in json.dumps(made.messages)
    assert len(made.messages) == len(given)
    assert made.messages[2]["content"][0]["toolResult"]["content"][1]["json"]["price"] == 40
    assert made.messages[3:] == given[3:]
