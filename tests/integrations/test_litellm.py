"""LiteLLM: the contract of adapters, with a provider of its own kind (`CustomLLM`)."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    IN_STOCK,
    INSTRUCTIONS,
    NEW,
    OLD,
    AdapterContract,
    Calls,
    Framework,
    Hangs,
    NoAnswer,
    Script,
    conversation_of,
    empty_memory,
    turns,
)

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # it asks a server for prices
pytest.importorskip("litellm", reason="LiteLLM is not installed: make integrations")

import litellm
from litellm.llms.custom_llm import CustomLLM
from litellm.router import Router
from litellm.types.utils import ModelResponse

from incumbent.integrations.litellm import IncumbentCompletions

# Its own: of how its types are written, and of what it serializes for its logs.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")

FAILED = (litellm.exceptions.APIConnectionError, litellm.exceptions.MidStreamFallbackError)

ALICE_OPTIONS: Any = ALICE


class Provider(CustomLLM):
    """Follows a script, and shows what it is sent."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script

    def completion(self, *given: Any, **named: Any) -> ModelResponse:
        return _response(self.script.next(_written(named["messages"])))

    async def acompletion(self, *given: Any, **named: Any) -> ModelResponse:
        reply = self.script.next(_written(named["messages"]))
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        return _response(reply)

    def streaming(self, *given: Any, **named: Any) -> Iterator[Any]:
        yield from _chunks(self.completion(**named))

    # Any: theirs is awaited by its type, and used as this is.
    async def astreaming(self, *given: Any, **named: Any) -> Any:
        for chunk in _chunks(await self.acompletion(**named)):
            yield chunk


def _response(reply: Any) -> ModelResponse:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(reply, Calls):
        function = {"name": "stock", "arguments": json.dumps({"ship_to": reply.ship_to})}
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
    else:
        message["content"] = str(reply)
    return ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": message}])


def _chunks(response: Any) -> Iterator[dict[str, Any]]:
    message = response.choices[0].message
    whole: dict[str, Any] = {"text": "", "is_finished": False, "finish_reason": "", "usage": None}
    for word in (message.content or "").splitlines(keepends=True):
        yield {**whole, "text": word, "index": 0}
    for call in message.tool_calls or ():
        made = {"id": call.id, "type": "function", "function": dict(call.function), "index": 0}
        yield {**whole, "tool_use": made, "index": 0}
    yield {**whole, "is_finished": True, "finish_reason": "stop", "index": 0}


class LiteLLM(Framework):
    modes = ("completion", "acompletion", "stream", "astream")
    awaited = frozenset({"acompletion", "astream"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": Provider(script)}]
        self.chat = IncumbentCompletions(memory, **options)
        self.talks: dict[str, list[Any]] = {}

    def talk(self, caller: Mapping[str, str]) -> list[Any]:
        """The application's own conversation with a person."""
        who = conversation_of(caller)
        return self.talks.setdefault(who, [{"role": "system", "content": INSTRUCTIONS}])

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        talk, named = self.talk(caller), _named(caller, mode)
        talk.append({"role": "user", "content": text})
        try:
            while _goes_on(talk):
                response = self.chat.completion("scripted/model", talk, **named)
                if mode == "stream":
                    response = litellm.stream_chunk_builder(list(response))
                _entered(talk, response)
        except FAILED as error:
            raise NoAnswer from error

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        talk, named = self.talk(caller), _named(caller, mode)
        talk.append({"role": "user", "content": text})
        try:
            while _goes_on(talk):
                response = await self.chat.acompletion("scripted/model", talk, **named)
                if mode == "astream":
                    pieces = [piece async for piece in response]
                    response = litellm.stream_chunk_builder(pieces)
                _entered(talk, response)
        except FAILED as error:
            raise NoAnswer from error

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(self.talk(caller))


def _named(caller: Mapping[str, str], mode: str) -> dict[str, Any]:
    return {"metadata": dict(caller), "stream": "stream" in mode}


def _goes_on(talk: list[Any]) -> bool:
    last = talk[-1]
    return isinstance(last, dict)


def _entered(talk: list[Any], response: Any) -> None:
    message = response.choices[0].message
    talk.append(message)  # as it is, which LiteLLM takes back
    talk.extend(
        {"role": "tool", "tool_call_id": call.id, "content": IN_STOCK}
        for call in message.tool_calls or ()
    )


def _written(messages: list[Any]) -> str:
    plain = [one if isinstance(one, dict) else one.model_dump() for one in messages]
    return json.dumps(plain, ensure_ascii=False)


class TestLiteLLM(AdapterContract):
    framework = LiteLLM
    page = "litellm.md"


memory = pytest.fixture(empty_memory)


def scripted(*replies: Any) -> Script:
    """What a provider was sent that gives these replies."""
    script = Script(list(replies))
    litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": Provider(script)}]
    return script


def test_every_kind_of_message_is_guarded(memory: incumbent.Memory) -> None:
    """Instructions in parts stay as they are, with the context behind them; a message of a
    response may stand in the conversation as it came."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    script = scripted("No.")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,MTIz"}}
    talk = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "text", "text": f"Two lamps to {OLD}."}, picture]},
        _response(Calls(OLD)).choices[0].message,
        {"role": "tool", "tool_call_id": "c1", "content": f"To {OLD}: $40."},
        _response(f"To {OLD} it is $40.").choices[0].message,
        {"role": "user", "content": "Is it dear?"},
    ]
    before = _written(talk)
    IncumbentCompletions(memory).completion("scripted/model", talk, metadata=dict(ALICE))
    (sent,) = script.sent
    assert OLD not in sent
    assert NEW in sent
    first, *rest = json.loads(sent)
    assert [part["text"][:9] for part in first["content"]] == ["Be brief.", "# Identit"]
    assert rest[0]["content"][1] == picture
    assert _written(talk) == before
    assert turns(memory) == [("user", "Is it dear?"), ("assistant", "No.")]


def test_the_user_of_a_call_is_the_person(memory: incumbent.Memory) -> None:
    """As providers name an end user; the rest is what this was made with."""
    scripted("Noted.")
    chat = IncumbentCompletions(memory, organization="acme", session_id="t1")
    said = [{"role": "user", "content": "I live in Oslo."}]
    chat.completion("scripted/model", said, user="alice")
    assert turns(memory) == [("user", "I live in Oslo."), ("assistant", "Noted.")]


def test_an_awaited_call_is_for_whom_it_was_made(memory: incumbent.Memory) -> None:
    """Also if its metadata names somebody else when it is awaited."""
    scripted("Noted.", "Noted.")
    chat, shared = IncumbentCompletions(memory, organization="acme"), {"session_id": "t1"}

    async def both() -> None:
        calls = []
        for who in ("alice", "bob"):
            shared["user_id"] = who
            said = [{"role": "user", "content": f"My name is {who}."}]
            calls.append(chat.acompletion("scripted/model", said, metadata=shared))
        await asyncio.gather(*calls)

    asyncio.run(both())
    assert turns(memory) == [("user", "My name is alice."), ("assistant", "Noted.")]


def test_a_router_can_make_the_calls(memory: incumbent.Memory) -> None:
    """Whatever has `completion` and `acompletion`."""
    script = scripted("Noted.")
    deployments = [{"model_name": "clerk", "litellm_params": {"model": "scripted/model"}}]
    chat = IncumbentCompletions(memory, Router(deployments), **ALICE_OPTIONS)
    said = [{"role": "user", "content": "I live in Oslo."}]
    asyncio.run(chat.acompletion("clerk", said))
    assert "# Identity" in script.sent[0]
    assert turns(memory) == [("user", "I live in Oslo."), ("assistant", "Noted.")]


def test_a_stream_that_nobody_reads_to_its_end_is_no_answer(memory: incumbent.Memory) -> None:
    """What was said counts all the same."""
    scripted("One.\nTwo.\n")
    said = [{"role": "user", "content": "Count."}]
    stream = IncumbentCompletions(memory).completion(
        "scripted/model", said, metadata=dict(ALICE), stream=True
    )
    assert next(stream).choices[0].delta.content == "One.\n"
    stream.close()
    assert turns(memory) == [("user", "Count.")]
