"""CrewAI: the contract of adapters, with an LLM of its kind (`BaseLLM`)."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    IN_STOCK,
    INSTRUCTIONS,
    NEW,
    OLD,
    ORDER,
    Calls,
    ConversationContract,
    Framework,
    Hangs,
    NoAnswer,
    Script,
    conversation_of,
    empty_memory,
    turns,
)
from tests.patience import PATIENCE

if find_spec("crewai") is not None:
    # It would send traces of what is run here. Elsewhere others may want theirs.
    os.environ.update(
        CREWAI_DISABLE_TELEMETRY="true", CREWAI_TRACING_ENABLED="false", OTEL_SDK_DISABLED="true"
    )
pytest.importorskip("crewai", reason="CrewAI is not installed: make integrations")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool
from pydantic import PrivateAttr

from incumbent.integrations.crewai import with_incumbent

# Its own: of fields that it reads itself.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ALICE_OPTIONS: Any = ALICE


@tool
def stock(ship_to: str) -> str:
    """How many are in stock."""
    return IN_STOCK


class Scripted(BaseLLM):
    """Follows a script: with calls of tools as providers have them, or as words in CrewAI's own
    form."""

    _script: Script = PrivateAttr()
    _given_up: threading.Event = PrivateAttr(default_factory=threading.Event)
    calls_tools: bool = True

    def __init__(self, script: Script, **named: Any) -> None:
        super().__init__(model="scripted", **named)
        self._script = script

    def supports_function_calling(self) -> bool:
        return self.calls_tools

    def call(self, messages: Any, *given: Any, **named: Any) -> Any:
        reply = self._script.next(json.dumps(messages, ensure_ascii=False))
        if isinstance(reply, Hangs):
            self._given_up.wait(PATIENCE)
            raise NoAnswer
        if isinstance(reply, Calls):
            return self._called(json.dumps({"ship_to": reply.ship_to}))
        return reply if self.calls_tools else f"Thought: I know.\nFinal Answer: {reply}"

    async def acall(self, messages: Any, *given: Any, **named: Any) -> Any:
        return self.call(messages, *given, **named)

    def _called(self, arguments: str) -> Any:
        if not self.calls_tools:
            return f"Thought: I wonder.\nAction: stock\nAction Input: {arguments}"
        function = {"name": "stock", "arguments": arguments}
        return [{"id": "c1", "type": "function", "function": function}]


class CrewAI(Framework):
    modes = ("kickoff", "kickoff_async", "in words")
    awaited = frozenset({"kickoff_async"})

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.memory, self.options = memory, options
        self.agents: dict[str, Agent] = {}
        self.talks: dict[str, list[Any]] = {}

    def agent(self, mode: str, caller: Mapping[str, str]) -> Agent:
        """The agent of a conversation: whose it is, the application sees to."""
        who = conversation_of(caller)
        if who not in self.agents:
            llm = Scripted(self.script, calls_tools=mode != "in words")
            self.agents[who] = Agent(
                role="clerk",
                goal="Ship orders",
                backstory=INSTRUCTIONS,
                llm=with_incumbent(llm, self.memory, **{**self.options, **caller}),
                tools=[stock],
            )
        return self.agents[who]

    def talk(self, text: str, caller: Mapping[str, str]) -> list[Any]:
        """The application's own conversation with a person."""
        talk = self.talks.setdefault(conversation_of(caller), [])
        talk.append({"role": "user", "content": text})
        return talk

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        agent, talk = self.agent(mode, caller), self.talk(text, caller)
        _entered(talk, agent.kickoff(talk))

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        agent: Any = self.agent(mode, caller)
        talk = self.talk(text, caller)
        try:
            _entered(talk, await agent.kickoff_async(talk))
        except asyncio.CancelledError:
            agent.llm._given_up.set()
            raise

    async def history(self, caller: Mapping[str, str]) -> str:
        return json.dumps(self.talks[conversation_of(caller)], ensure_ascii=False)


def _entered(talk: list[Any], out: Any) -> None:
    """What a run added to the conversation, without CrewAI's own words to the model."""
    added = out.messages[len(talk) + 1 :]
    talk.extend(one for one in added if one["role"] != "user" and one["content"] != out.raw)
    talk.append({"role": "assistant", "content": out.raw})


class TestCrewAI(ConversationContract):
    framework = CrewAI
    page = "crewai.md"


memory = pytest.fixture(empty_memory)


def clerk(llm: BaseLLM) -> Agent:
    return Agent(role="clerk", goal="Ship orders", backstory=INSTRUCTIONS, llm=llm)


@pytest.mark.parametrize("calls_tools", [True, False])
def test_what_crewai_writes_around_the_words_is_not_observed(
    memory: incumbent.Memory, calls_tools: bool
) -> None:
    """It is sent as it was."""
    script = Script(["Noted."])
    llm = Scripted(script, calls_tools=calls_tools)
    clerk(with_incumbent(llm, memory, **ALICE_OPTIONS)).kickoff(ORDER)
    assert turns(memory) == [("user", ORDER), ("assistant", "Noted.")]
    assert f"Current Task: {ORDER}" in script.sent[0]


def test_the_task_of_a_crew_is_nobodys_word(memory: incumbent.Memory) -> None:
    """It was written by a developer. It is read without what no longer holds, and what holds
    stands beside it."""
    alice = memory.session(**ALICE)
    alice.write("shipping_address", OLD)
    alice.write("shipping_address", NEW)
    script = Script(["Done."])
    agent = clerk(with_incumbent(Scripted(script), memory, **ALICE_OPTIONS))
    task = Task(description=f"Ask {OLD} for a desk.", expected_output="a word", agent=agent)
    Crew(agents=[agent], tasks=[task]).kickoff()
    assert NEW in script.sent[0]
    assert turns(memory) == []


def test_the_llm_that_is_given_stays_as_it_was(memory: incumbent.Memory) -> None:
    """The other is of its class, also by name; a copy of it has the same memory."""
    given = Scripted(Script())
    made = with_incumbent(given, memory, **ALICE_OPTIONS)
    assert type(given) is Scripted
    assert isinstance(made, Scripted)
    assert (type(made).__name__, type(made).__module__) == ("Scripted", Scripted.__module__)
    copied = made.model_copy()
    copied._script = Script(["Noted."])
    clerk(copied).kickoff("I live in Oslo.")
    assert turns(memory) == [("user", "I live in Oslo."), ("assistant", "Noted.")]


def test_what_is_no_run_passes_untouched(memory: incumbent.Memory) -> None:
    """Such as CrewAI asking for another form of an answer: nobody speaks there."""
    script = Script(["{}"])
    with_incumbent(Scripted(script), memory, **ALICE_OPTIONS).call(ORDER)
    assert script.sent == [json.dumps(ORDER)]
    assert turns(memory) == []
