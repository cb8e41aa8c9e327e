"""End to end: a real model on this machine, over real HTTP, with structured output.

The model is far too small to judge anything. What is tested is that its answers arrive in the form
that was asked for, are checked, counted and accounted for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

import incumbent
from incumbent.reading.asked import Answer, Ask, Completion
from incumbent.reading.asked.answer import read
from incumbent.reading.asked.client import completion_for
from incumbent.testing import SteppingClock
from tests.llm.scripted import opinion
from tests.llm.servers import local_model
from tests.patience import PATIENCE

TEXT = "Please book a table for 4."
LONG = 4 * PATIENCE
"""Seconds: it reads a thousand tokens on a core that others use as well."""
GIVEN: dict[str, Any] = {
    "timeout": LONG,
    "max_output_tokens": 2_000,  # the longest answer that the schema of so short a turn allows
    "input_price": 1.0,
    "retries": 0,
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a small model is served."""
    server = local_model()
    yield f"{server.listening_address}/v1"
    del server


def llm(address: str, **options: Any) -> incumbent.LLM:
    return incumbent.LLM("vllm:smollm2", base_url=address, **{**GIVEN, **options})


class Recorded:
    """A real model whose answers are kept as they came."""

    name = "recorded:model"

    def __init__(self, model: Completion) -> None:
        self.model = model
        self.exchanges: list[tuple[Ask, Answer]] = []

    def complete(self, ask: Ask, *, timeout: float) -> Answer:
        answer = self.model.complete(ask, timeout=timeout)
        self.exchanges.append((ask, answer))
        return answer


@dataclass
class Conversation:
    """What came of a turn on which the model had an opinion, in the background."""

    made: incumbent.Observation
    ask: Ask
    answer: Answer
    usage: Sequence[incumbent.Usage]


@pytest.fixture(scope="module")
def conversation(address: str, tmp_path_factory: pytest.TempPathFactory) -> Conversation:
    """One for all tests: a model of this kind thinks for long.

    The turn before was without a model, so that the one it reads is not the first.
    """
    recorded = Recorded(completion_for(llm(address)))
    file, clock = tmp_path_factory.mktemp("conversation") / "memory.db", SteppingClock()
    whose = {"user_id": "ann", "organization": "acme", "session_id": "s-1"}
    with incumbent.open(file, clock=clock, settings=incumbent.Settings(embedder=None)) as memory:
        assert memory.session(**whose).observe("Good morning.").turn_index == 1
    settings = incumbent.Settings(embedder=None, llm=incumbent.LLM(recorded, **GIVEN))
    with incumbent.open(file, clock=clock, settings=settings) as memory:
        made = memory.session(**whose).observe(TEXT)
        assert made.turn_index == 2
        assert memory.flush(timeout=LONG)
        ((ask, answer),) = recorded.exchanges
        return Conversation(made, ask, answer, memory.usage("acme"))


def test_structured_output_arrives(conversation: Conversation) -> None:
    """The answer has the form of the schema."""
    found = read(conversation.answer.content)
    assert found.unreadable == () or found.entries
    assert conversation.answer.input_tokens > 500
    assert conversation.answer.output_tokens > 5


def test_a_conversation_with_a_real_model(conversation: Conversation) -> None:
    """In the background: an opinion is given, its proposals are checked, its tokens counted."""
    made = conversation.made
    assert opinion(made).status == "given", opinion(made).reason
    for one in opinion(made).proposals:
        assert one.outcome in ("accepted", "agreed", "dropped")
        assert one.reason or one.outcome != "dropped"
    (usage,) = conversation.usage
    assert (usage.calls, usage.failed, usage.turns) == (1, 0, 1)
    assert usage.input_tokens > 500
    assert usage.micros == usage.input_tokens
    assert made.facts


def test_an_answer_that_is_cut_short_falls_back(address: str) -> None:
    """Where the model may say only a few tokens, it has no whole answer, and that is told."""
    settings = incumbent.Settings(
        embedder=None, llm=llm(address, mode="inline", max_output_tokens=8)
    )
    with incumbent.open(":memory:", settings=settings) as memory:
        session = memory.session(user_id="ann", organization="acme")
        made = session.observe(TEXT)
        assert opinion(made).status == "failed"
        assert made.facts
        (usage,) = memory.usage("acme")
        assert (usage.failed, usage.output_tokens) == (1, 8)
