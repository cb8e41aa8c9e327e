"""The contract of an adapter: one suite that every framework passes, with its own fake model.

A test module gives the framework (`Framework`) and inherits `AdapterContract`. Whatever the
framework, and however it is called (awaited or not, streamed or not): what holds is in what the
model gets, what no longer holds is nowhere in it, the framework's own history is whole, and
nothing is observed twice.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest

import incumbent
from incumbent.model.records import is_turn
from incumbent.testing import SteppingClock
from tests.pages import ROOT, event_loop, run_snippets
from tests.patience import PATIENCE

OLD, NEW, SUPPOSED = "123 Main St", "456 Oak Ave", "789 Pine Rd"
ORDER = f"We need 40 desks by Friday. The shipping address is {OLD}."
CHANGE = f"No, 45 desks. And the shipping address is {NEW} now."
WHAT_IF = f"What if we shipped to {SUPPOSED} instead?"
ASKED = "What do we ship, and where?"
IN_STOCK = "60 desks are in stock."
INSTRUCTIONS = "You are a clerk."
ILL = "Peanuts make me ill."
READ = '{"statements": [{"s": "s1", "attribute": "allergy", "value": "Peanuts", "does": []}]}'
"""What a model answers that is asked to read that."""
ALICE = {"user_id": "alice", "organization": "acme", "session_id": "t1"}


@dataclass(frozen=True)
class Calls:
    """A reply of the model that calls the tool `stock`, which tells `IN_STOCK`."""

    ship_to: str


@dataclass(frozen=True)
class Fails:
    """The model cannot be reached."""


@dataclass(frozen=True)
class Hangs:
    """The model does not answer until somebody gives up."""


Reply = str | Calls | Fails | Hangs
Talk = list[tuple[str, Iterable[Reply]]]
"""What a person says, and what the model replies to each of it."""


class NoAnswer(Exception):
    """What a model that cannot be reached raises."""


@dataclass
class Script:
    """What the fake model of a framework replies, and everything that it was sent."""

    replies: list[Reply] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    is_hanging: threading.Event = field(default_factory=threading.Event)

    def next(self, sent: str) -> str | Calls | Hangs:
        """The next reply to what was sent, with every word of it."""
        self.sent.append(sent)
        reply = self.replies.pop(0)
        if isinstance(reply, Fails):
            raise NoAnswer
        if isinstance(reply, Hangs):
            self.is_hanging.set()
        return reply


class Framework(ABC):
    """A framework with an agent that has Incumbent, the instructions above and the tool `stock`."""

    modes: ClassVar[tuple[str, ...]]
    """The ways to call it."""
    awaited: ClassVar[frozenset[str]]
    """Those that run in the caller's event loop."""
    knows_who: ClassVar[bool] = False
    """Whether no run can be without a user and a session."""
    tells_of_tools: ClassVar[bool] = True
    """Whether it tells what a tool gave back at once, and not only when the run has an answer."""

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        self.script = script

    @abstractmethod
    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> object:
        """Let a person say something, and wait for the answer."""

    @abstractmethod
    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> object:
        """The same for modes that are awaited."""

    @abstractmethod
    async def history(self, caller: Mapping[str, str]) -> str:
        """Every word of the framework's own history of a conversation."""


class WatchedClock(SteppingClock):
    """A clock that knows on which threads it was read: those that use the memory."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def __call__(self) -> datetime:
        self.threads.add(threading.get_ident())
        return super().__call__()


class AdapterContract:
    """What every adapter does."""

    framework: ClassVar[type[Framework]]
    page: ClassVar[str]
    """The page of the documentation on it, in docs/integrations."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Every way to call the framework is tested."""
        if "mode" in metafunc.fixturenames:
            metafunc.parametrize("mode", self.framework.modes)

    def test_the_page_on_it_holds(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Every program there runs, and prints what the page shows."""
        monkeypatch.chdir(tmp_path)
        _run(self.page)

    @pytest.fixture
    def clock(self) -> WatchedClock:
        return WatchedClock()

    @pytest.fixture
    def memory(self, clock: WatchedClock) -> Iterator[incumbent.Memory]:
        with incumbent.open(":memory:", clock=clock) as opened:
            yield opened

    @pytest.fixture
    def script(self) -> Script:
        return Script()

    @pytest.fixture
    def agent(self, script: Script, memory: incumbent.Memory) -> Framework:
        return self.framework(script, memory)

    def say(
        self, agent: Framework, mode: str, *talk: tuple[str, Iterable[Reply]], **caller: str | None
    ) -> list[str]:
        """Let a person talk with the agent, and return all that the model was sent so far."""

        who = {name: value for name, value in {**ALICE, **caller}.items() if value is not None}
        for text, replies in talk:
            agent.script.replies.extend(replies)
            if mode in agent.awaited:
                asyncio.run(asyncio.wait_for(agent.acall(mode, text, who), PATIENCE))
            else:
                with event_loop():
                    agent.call(mode, text, who)
        assert agent.script.replies == []
        return agent.script.sent

    def test_only_what_holds_is_in_what_the_model_gets(self, agent: Framework, mode: str) -> None:
        """After a correction the old values are nowhere in the prompt: not in what the person
        said, nor in what the model repeated or called a tool with."""
        self.say(agent, mode, (ORDER, [Calls(OLD), f"So 40 desks go to {OLD} by Friday?"]))
        before = len(agent.script.sent)
        sent = self.say(agent, mode, (CHANGE, ["Noted."]), (ASKED, [f"45 desks, to {NEW}."]))
        assert len(sent) == before + 2
        for prompt in sent[before:]:
            assert NEW in prompt
            assert "45 desks" in prompt
            assert OLD not in prompt
            assert "40 desks" not in prompt
            assert prompt.count(INSTRUCTIONS) == 1
            assert prompt.count("# Facts") == 1

    def test_a_what_if_becomes_no_fact(
        self, agent: Framework, memory: incumbent.Memory, mode: str
    ) -> None:
        """It is answered, and then the address is what it was."""
        self.say(agent, mode, (ORDER, ["Noted."]), (WHAT_IF, ["That takes a week."]))
        assert SUPPOSED in agent.script.sent[-1]
        prompt = self.say(agent, mode, (ASKED, [f"40 desks, to {OLD}."]))[-1]
        assert OLD in prompt
        assert SUPPOSED not in prompt
        assert memory.session(**ALICE).current("shipping_address") == OLD

    def test_what_a_tool_tells_is_known(
        self, agent: Framework, memory: incumbent.Memory, mode: str
    ) -> None:
        """It is in the prompt of the run, and on record for later ones."""
        prompt = self.say(agent, mode, ("Do we have desks?", [Calls("us"), "Yes."]))[-1]
        assert IN_STOCK in prompt
        assert turns(memory)[1:] == [("tool", IN_STOCK), ("assistant", "Yes.")]

    def test_the_history_of_the_framework_is_whole(self, agent: Framework, mode: str) -> None:
        """It keeps every word as it was said, and nothing of ours gets into it."""
        talk: Talk = [(ORDER, [Calls(OLD), f"So to {OLD}?"]), (CHANGE, ["Noted."])]
        self.say(agent, mode, *talk)
        history = asyncio.run(agent.history(ALICE))
        for words in (ORDER, f"So to {OLD}?", IN_STOCK, CHANGE, "Noted."):
            assert history.count(words) == 1
        assert history.count(OLD) == 3
        assert "no longer current" not in history
        assert "# Facts" not in history

    def test_a_turn_is_observed_once(
        self, agent: Framework, memory: incumbent.Memory, mode: str
    ) -> None:
        """Whatever is said is on record once, in its order, with who said it."""
        talk: Talk = [
            (ORDER, [Calls(OLD), "So to Main St?"]),
            ("Yes.", ["Good."]),
            ("Yes.", ["Fine."]),
        ]
        self.say(agent, mode, *talk)
        assert turns(memory) == [
            ("user", ORDER),
            ("tool", IN_STOCK),
            ("assistant", "So to Main St?"),
            ("user", "Yes."),
            ("assistant", "Good."),
            ("user", "Yes."),
            ("assistant", "Fine."),
        ]

    def test_another_session_knows_what_holds(
        self, agent: Framework, clock: WatchedClock, mode: str
    ) -> None:
        """The next day, in a conversation that has no history yet."""
        self.say(agent, mode, (ORDER, ["Noted."]), (CHANGE, ["Noted."]))
        clock.advance(days=1)
        prompt = self.say(agent, mode, (ASKED, ["45 desks."]), session_id="t2")[-1]
        assert NEW in prompt
        assert "[45] desks" in prompt
        assert OLD not in prompt

    def test_another_person_sees_nothing_of_it(self, agent: Framework, mode: str) -> None:
        """Not in a session that has the same name, nor in another organization."""
        self.say(agent, mode, (ORDER, ["Noted."]), (CHANGE, ["Noted."]))
        others = [{"user_id": "bob"}, {"organization": "globex"}]
        for other in others:
            prompt = self.say(agent, mode, (ASKED, ["I do not know."]), **other)[-1]
            assert NEW not in prompt
            assert OLD not in prompt
            assert "desks" not in prompt

    def test_a_retry_is_the_same_turn(
        self, agent: Framework, memory: incumbent.Memory, mode: str
    ) -> None:
        """A model that failed is asked again with the same words."""
        self.say(agent, mode, (ORDER, ["Noted."]))
        with pytest.raises(NoAnswer):
            self.say(agent, mode, (CHANGE, [Calls(OLD), Fails()]))
        prompt = self.say(agent, mode, (CHANGE, ["Noted, too."]))[-1]
        assert NEW in prompt
        assert OLD not in prompt
        assert turns(memory) == [
            ("user", ORDER),
            ("assistant", "Noted."),
            ("user", CHANGE),
            *([("tool", IN_STOCK)] if agent.tells_of_tools else []),
            ("assistant", "Noted, too."),
        ]

    def test_a_cancelled_run_leaves_what_was_said(
        self, agent: Framework, memory: incumbent.Memory, mode: str
    ) -> None:
        """The person's words count although nobody answered, and count once when they come
        again."""
        if mode not in agent.awaited:
            pytest.skip("only what is awaited can be cancelled")
        self.say(agent, mode, (ORDER, ["Noted."]))
        asyncio.run(_cancelled(agent, mode, CHANGE))
        assert turns(memory)[2:] == [("user", CHANGE)]
        prompt = self.say(agent, mode, (CHANGE, ["Noted, too."]))[-1]
        assert NEW in prompt
        assert OLD not in prompt
        assert turns(memory)[2:] == [("user", CHANGE), ("assistant", "Noted, too.")]

    def test_the_event_loop_goes_on(self, agent: Framework, clock: WatchedClock, mode: str) -> None:
        """What waits for the store waits on a thread of its own where the call is awaited."""
        if mode not in agent.awaited:
            pytest.skip("only what is awaited runs in an event loop")
        clock.threads.clear()
        self.say(agent, mode, (ORDER, [Calls(OLD), "Noted."]))
        assert clock.threads
        assert threading.get_ident() not in clock.threads

    def test_the_adapter_can_name_the_person(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """What the run does not say, the adapter was made with; the run's own word counts more,
        and nobody gets the rank of another."""
        made = self.framework(
            script, memory, user_id="carol", authority="executive", organization="acme"
        )
        said = "The venue is Lyon."
        self.say(made, mode, (said, ["Noted."]), user_id="dora")
        self.say(made, mode, (said, ["Noted."]), user_id="carol" if made.knows_who else None)
        ranks = {
            who: memory.session(**{**ALICE, "user_id": who}).facts()[0].authority
            for who in ("carol", "dora")
        }
        assert ranks == {"carol": "executive", "dora": "employee"}

    def test_a_run_of_nobody_is_refused(self, agent: Framework, mode: str) -> None:
        """The error says what is missing and where to name it, and the model is not asked."""
        if agent.knows_who:
            pytest.skip("every run of this framework has a user")
        with pytest.raises(incumbent.InvalidInput, match="user_id= to the adapter"):
            self.say(agent, mode, (ORDER, []), user_id=None)
        assert agent.script.sent == []

    def test_an_empty_name_is_refused(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """It is not filled in: whoever it stands for is not the one we know."""
        known = self.framework(script, memory, user_id="carol")
        if known.knows_who:
            pytest.skip("every run of this framework has a user")
        with pytest.raises(incumbent.InvalidInput, match="user_id= to the adapter"):
            self.say(known, mode, (ORDER, []), user_id="")
        assert script.sent == []

    def test_the_oldest_messages_go_where_there_is_a_budget(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """What they said and still holds is in the context."""
        agent = self.framework(script, memory, messages_budget=40)
        talk = [(ORDER, ["A word. " * 40]), ("Thanks.", ["Welcome."]), (ASKED, ["40 desks."])]
        prompt = self.say(agent, mode, *talk)[-1]
        assert "A word." not in prompt
        assert OLD in prompt
        assert ASKED in prompt

    def test_an_agent_can_read_without_observing(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """For one that another agent talks to: what that says is nobody's word."""
        memory.session(**ALICE).write("shipping_address", NEW)
        agent = self.framework(script, memory, observe=False)
        prompt = self.say(agent, mode, (ORDER, [Calls(OLD), "Noted."]))[-1]
        assert NEW in prompt
        assert turns(memory) == []

    def test_an_agent_can_be_observed_only(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """Its model gets what it would get without a memory, and the memory learns."""
        agent = self.framework(script, memory, memory_mode="observe")
        prompt = self.say(agent, mode, (ORDER, ["Noted."]), (CHANGE, ["Noted."]))[-1]
        assert OLD in prompt
        assert "# Facts" not in prompt
        assert prompt.count(INSTRUCTIONS) == 1
        assert memory.session(**ALICE).current("shipping_address") == NEW


class ConversationContract(AdapterContract):
    """The same where what has Incumbent is of one conversation: a run says nothing of whom it is
    for."""

    def test_the_adapter_can_name_the_person(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """It is made for the person who speaks there."""
        for who, rank in (("carol", "executive"), ("dora", "employee")):
            agent = self.framework(script, memory, authority=rank)
            self.say(agent, mode, ("The venue is Lyon.", ["Noted."]), user_id=who)
            facts = memory.session(**{**ALICE, "user_id": who}).facts()
            assert [fact.authority for fact in facts] == [rank]


def empty_memory() -> Iterator[incumbent.Memory]:
    """For a fixture of tests outside of the contract."""
    with incumbent.open(":memory:") as opened:
        yield opened


def was_read(memory: incumbent.Memory) -> bool:
    """Whether a model's reading of `ILL` was put into effect."""
    assert memory.flush(timeout=PATIENCE)
    return bool(memory.session(**ALICE).current("allergy") == "Peanuts")


def conversation_of(caller: Mapping[str, str]) -> str:
    """A name for a conversation, where the framework leaves it to the application to tell one from
    another."""
    return str(sorted(caller.items()))


@cache
def example(page: str) -> dict[str, Any]:
    """What the programs of a page define, where the page itself has the code that joins Incumbent
    to its framework: that code is held to the contract."""
    with TemporaryDirectory() as folder, chdir(folder):
        return _run(page)


def _run(page: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "snippets"}
    with event_loop():
        run_snippets(ROOT / "docs" / "integrations" / page, names)
    for value in names.values():
        if isinstance(value, incumbent.Memory):
            value.close()
    return names


def turns(memory: incumbent.Memory) -> list[tuple[str, Any]]:
    """What was said in Alice's session, as it is on record: the speaker and the words."""
    items = memory.session(**ALICE).working_set()
    return [(item.key.split("(")[1][:-1], item.value) for item in items if is_turn(item)]


async def _cancelled(agent: Framework, mode: str, text: str) -> None:
    """Say something, and give up once the model is asked."""
    agent.script.replies.append(Hangs())
    run = asyncio.create_task(agent.acall(mode, text, ALICE))
    asked = asyncio.to_thread(agent.script.is_hanging.wait, PATIENCE)
    assert await asked
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
