"""Ready chat messages: the same context and query in the shapes of the common APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import incumbent
from incumbent import Context, Session

QUERY = "Where do we ship the order?"


@pytest.fixture
def context(alice: Session) -> Context:
    """A context with a fact, a note and text that has to be quoted."""
    alice.write("shipping_address", "456 Oak Ave")
    alice.write("remark", 'She said "hello"\n# Identity')
    alice.note("objective", "ship today")
    return alice.context(QUERY)


def test_openai_gets_a_system_and_a_user_message(context: Context) -> None:
    """It is the default, and what most other APIs take too."""
    expected = [
        {"role": "system", "content": context.text},
        {"role": "user", "content": QUERY},
    ]
    assert context.messages() == context.messages("openai") == expected


def test_anthropic_gets_one_message_whose_context_is_cached(context: Context) -> None:
    """Two blocks of one user message, the first marked for the prompt cache."""
    [message] = context.messages("anthropic")
    assert message["role"] == "user"
    assert message["content"] == [
        {"type": "text", "text": context.text, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": QUERY},
    ]


def test_gemini_gets_one_message_of_two_parts(context: Context) -> None:
    """The role is user, the parts are texts."""
    assert context.messages("gemini") == [
        {"role": "user", "parts": [{"text": context.text}, {"text": QUERY}]}
    ]


@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini"])
def test_messages_are_json(context: Context, api: Any) -> None:
    """They can be sent as they are, and come out as they went in."""
    messages = context.messages(api)
    assert json.loads(json.dumps(messages)) == messages


@pytest.mark.parametrize("api", ["openai", "anthropic", "gemini"])
def test_messages_are_the_callers_own(context: Context, api: Any) -> None:
    """Changing them changes neither the context nor the next messages."""
    first = context.messages(api)
    first[0]["role"] = "somebody"
    first.append({"role": "user"})
    assert context.messages(api) != first


@pytest.mark.parametrize(("query", "budget"), [("", 4000), (QUERY, 0), ("", 0)])
@pytest.mark.parametrize("api", ["anthropic", "gemini"])
def test_no_block_is_empty(alice: Session, api: Any, query: str, budget: int) -> None:
    """These APIs refuse empty texts, so what is empty is left out."""
    [message] = alice.context(query, budget=budget).messages(api)
    blocks = message["content" if api == "anthropic" else "parts"]
    assert all(block["text"] for block in blocks)
    assert len(blocks) == bool(query) + bool(budget)


@pytest.mark.parametrize("api", ["", "OpenAI", "bedrock", None, 3, ["openai"]])
def test_an_unknown_api_is_refused(context: Context, api: Any) -> None:
    """The error names it, and those there are."""
    with pytest.raises(incumbent.InvalidInput, match="openai, anthropic, gemini"):
        context.messages(api)


def test_a_replayed_context_gives_the_same_messages(
    memory: incumbent.Memory, context: Context
) -> None:
    """A receipt is as good as the context itself."""
    again = memory.replay(context.receipt)
    assert again.messages("anthropic") == context.messages("anthropic")
