"""Pydantic AI: the contract of adapters, with `FunctionModel`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    ILL,
    IN_STOCK,
    INSTRUCTIONS,
    NEW,
    OLD,
    READ,
    AdapterContract,
    Calls,
    Framework,
    Hangs,
    Script,
    empty_memory,
    turns,
    was_read,
)

pytest.importorskip("pydantic_ai", reason="Pydantic AI is not installed: make integrations")

from pydantic import BaseModel
from pydantic_ai import Agent, AgentRunResultEvent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from incumbent.integrations.pydantic_ai import IncumbentMemory
from tests.pages import event_loop

CALL = f'{{"to": "{OLD}"}}'


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """The framework's plain calls start a loop and leave it open."""
    with event_loop():
        yield


class Desks(BaseModel):
    desks: int


class PydanticAI(Framework):
    modes = ("run", "run_sync", "run_stream", "run_stream_events", "iter")
    awaited = frozenset({"run", "run_stream", "run_stream_events", "iter"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.kept: dict[tuple[str, ...], list[ModelMessage]] = {}
        self.agent = Agent(
            FunctionModel(self.reply, stream_function=self.stream),
            deps_type=dict[str, str],
            instructions=INSTRUCTIONS,
            capabilities=[IncumbentMemory(memory, **options)],
        )

        @self.agent.tool_plain
        def stock(ship_to: str) -> str:
            return IN_STOCK

    async def reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        reply = self.script.next(f"{info.instructions}\n{_written(messages)}")
        if isinstance(reply, Hangs):
            await asyncio.Event().wait()
        if isinstance(reply, Calls):
            return ModelResponse([ToolCallPart("stock", {"ship_to": reply.ship_to})])
        return ModelResponse([TextPart(str(reply))])

    async def stream(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        response = await self.reply(messages, info)
        part = response.parts[0]
        if isinstance(part, ToolCallPart):
            yield {0: DeltaToolCall(part.tool_name, part.args_as_json_str())}
        else:
            assert isinstance(part, TextPart)
            for word in part.content.split(" "):
                yield word if part.content.startswith(word) else f" {word}"

    def given(self, caller: Mapping[str, str]) -> dict[str, Any]:
        kept = self.kept.get(tuple(caller.values()))
        return {"deps": dict(caller), "message_history": kept}

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        result = self.agent.run_sync(text, **self.given(caller))
        self.kept[tuple(caller.values())] = result.all_messages()

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        given = self.given(caller)
        if mode == "run_stream":
            async with self.agent.run_stream(text, **given) as stream:
                assert [piece async for piece in stream.stream_text()]
            made = stream.all_messages()
        elif mode == "run_stream_events":
            async with self.agent.run_stream_events(text, **given) as events:
                last = [event async for event in events][-1]
            assert isinstance(last, AgentRunResultEvent)
            made = last.result.all_messages()
        elif mode == "iter":
            async with self.agent.iter(text, **given) as run:
                assert [node async for node in run]
            made = run.all_messages()
        else:
            made = (await self.agent.run(text, **given)).all_messages()
        self.kept[tuple(caller.values())] = made

    async def history(self, caller: Mapping[str, str]) -> str:
        return _written(self.kept[tuple(caller.values())])


def _written(messages: list[ModelMessage]) -> str:
    return ModelMessagesTypeAdapter.dump_json(messages).decode().replace(INSTRUCTIONS, "")


class TestPydanticAI(AdapterContract):
    framework = PydanticAI
    page = "pydantic-ai.md"


def changed(memory: incumbent.Memory) -> incumbent.Memory:
    """A memory in which the address has moved."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    return memory


def answering(memory: incumbent.Memory, *replies: ModelResponse, **more: Any) -> tuple[Any, Any]:
    """An agent that gives these replies, and the messages that its model was sent."""
    left, sent = list(replies), []

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        sent.append(messages)
        return left.pop(0)

    capabilities = [IncumbentMemory(memory)]
    return Agent(FunctionModel(reply), deps_type=dict, capabilities=capabilities, **more), sent


memory = pytest.fixture(empty_memory)


def test_every_kind_of_part_is_guarded(memory: incumbent.Memory) -> None:
    """What is no text keeps its place, and a thought stays with what follows from it."""
    picture = BinaryContent(b"123", media_type="image/png")
    told: list[Any] = [
        TextContent(f"Ship two lamps to {OLD}, please."),
        picture,
        f"I said {OLD}, and soon.",
    ]
    history: list[ModelMessage] = [
        ModelRequest([SystemPromptPart("Be brief."), UserPromptPart(told)]),
        ModelResponse([ThinkingPart("Hm."), TextPart(OLD), ToolCallPart("quote", CALL, "c1")]),
        ModelRequest([ToolReturnPart("quote", {"to": OLD, "price": [40]}, "c1")]),
        ModelResponse([TextPart(OLD)]),
    ]
    agent, sent = answering(changed(memory), ModelResponse([TextPart("Yes.")]))
    result = agent.run_sync("Is it dear?", deps=ALICE, message_history=history)
    ((first, called, last),) = sent  # with nothing between them, two requests are one
    assert [type(part).__name__ for part in first.parts] == ["SystemPromptPart", "UserPromptPart"]
    assert first.parts[1].content[1] is picture
    assert [part.part_kind for part in called.parts] == ["thinking", "text", "tool-call"]
    assert '"price":[40]' in last.parts[0].content
    assert last.parts[1].content == "Is it dear?"
    assert OLD not in _written([first, called, last])
    assert _written(result.all_messages()).count(OLD) == 6


def test_an_answer_need_not_be_a_text(memory: incumbent.Memory) -> None:
    """What a run came to is on record as data, and the person's next word is the next turn."""
    call = ModelResponse([ToolCallPart("final_result", {"desks": 45})])
    agent, _ = answering(memory, call, call, output_type=Desks)
    for _ in range(2):
        agent.run_sync("Yes.", deps=ALICE)
    assert turns(memory) == [("user", "Yes."), ("assistant", '{"desks": 45}')] * 2


def test_a_run_that_waits_for_consent_has_no_answer_yet(memory: incumbent.Memory) -> None:
    """It goes on when somebody has consented, with nothing said twice."""
    call = ModelResponse([ToolCallPart("ship", {"to": NEW}, "c1")])
    done = ModelResponse([TextPart("Done.")])
    agent, _ = answering(memory, call, done, output_type=[str, DeferredToolRequests])

    @agent.tool_plain(requires_approval=True)
    def ship(to: str) -> str:
        return "Shipped."

    waiting = agent.run_sync("Ship it.", deps=ALICE)
    assert turns(memory) == [("user", "Ship it.")]
    agent.run_sync(
        deps=ALICE,
        message_history=waiting.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"c1": True}),
    )
    assert turns(memory)[1:] == [("tool", "Shipped."), ("assistant", "Done.")]


def test_what_one_agent_says_to_another_is_nobodys_word(memory: incumbent.Memory) -> None:
    """A tool that asks another agent: that reads what holds, and observes nothing."""
    inner, asked = answering(changed(memory), ModelResponse([TextPart("It fits.")]))
    call = ModelResponse([ToolCallPart("fit", {})])
    outer, _ = answering(memory, call, ModelResponse([TextPart("Yes.")]))

    @outer.tool_plain
    async def fit() -> str:
        result = await inner.run(f"The address is {OLD}, and the budget is $5.", deps=ALICE)
        return str(result.output)

    outer.run_sync("Does it fit?", deps=ALICE)
    assert len(asked) == 1
    assert turns(memory) == [("user", "Does it fit?"), ("tool", "It fits."), ("assistant", "Yes.")]
    assert memory.session(**ALICE).current("budget") is None


def test_a_model_of_the_framework_reads(memory: incumbent.Memory) -> None:
    """The reader is a model like any other, and may be the agent's own."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asks = "memory. The message is JSON" in str(messages)
        return ModelResponse([TextPart(READ if asks else "Noted.")])

    model = FunctionModel(reply)
    agent = Agent(model, capabilities=[IncumbentMemory(memory, reader=model)])
    assert agent.run_sync(ILL, deps=ALICE).output == "Noted."
    assert was_read(memory)
