"""Claude Agent SDK: the contract of adapters, with the program that comes with it, and a provider
that speaks Anthropic's API."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest

import incumbent
from tests.integrations.contract import (
    ALICE,
    IN_STOCK,
    INSTRUCTIONS,
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
from tests.proxy.stand_in import Received, StandIn

pytest.importorskip("claude_agent_sdk", reason="it is not installed: make integrations")

import httpx
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    ResultError,
    ResultMessage,
    create_sdk_mcp_server,
    get_session_messages,
    query,
    tool,
)

from incumbent.integrations.claude_agent_sdk import with_incumbent
from incumbent.proxy import LocalProxy

ALICE_OPTIONS: Any = ALICE


@tool("stock", "How many are in stock.", {"ship_to": str})
async def stock(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": IN_STOCK}]}


@dataclass
class Provider(StandIn):
    """Follows a script."""

    script: Script = field(default_factory=Script)

    async def _answer(self, request: Received, reader: Any, writer: Any) -> bool:
        # The program asks again after some refusals, and is refused again.
        if self.script.replies or self.status == 200:
            try:
                await self._follow(self.script.next(request.text), reader)
            except NoAnswer:
                self.status = 400
        return await super()._answer(request, reader, writer)

    async def _follow(self, reply: Any, reader: asyncio.StreamReader) -> None:
        if isinstance(reply, Hangs):
            await self._until_gone(reader)
        self.status, self.said = 200, [reply]
        if isinstance(reply, Calls):
            given = {"ship_to": reply.ship_to}
            call = {"type": "tool_use", "id": "c1", "name": "mcp__shop__stock", "input": given}
            self.said = [[call]]


def options(folder: Path, **more: Any) -> ClaudeAgentOptions:
    """An agent with no tools but ours, that knows nothing of who runs the tests."""
    env = {
        "ANTHROPIC_API_KEY": "sk-of-the-provider",
        "CLAUDE_CONFIG_DIR": str(folder),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    return ClaudeAgentOptions(
        **{
            "system_prompt": INSTRUCTIONS,
            "model": "claude-sonnet-4-5",
            "tools": [],
            "setting_sources": [],
            "cwd": folder,
            "env": env,
            **more,
        }
    )


class ClaudeAgent(Framework):
    modes = ("query", "client")
    awaited = frozenset(modes)
    closing: ClassVar[ExitStack]
    """What is closed at the end of a test."""

    def __init__(self, script: Script, memory: incumbent.Memory, **options: Any) -> None:
        super().__init__(script, memory)
        self.folder = Path(self.closing.enter_context(TemporaryDirectory()))
        self.provider = self.closing.enter_context(Provider(script=script))
        upstream = self.provider.url.removesuffix("/v1")
        self.proxy = self.closing.enter_context(LocalProxy(memory, upstream))
        self.given = options
        self.talks: dict[str, str] = {}

    def options(self, caller: Mapping[str, str]) -> ClaudeAgentOptions:
        """Those of a conversation, which goes on where it is known already."""
        given = options(
            self.folder,
            mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[stock])},
            allowed_tools=["mcp__shop__stock"],
            resume=self.talks.get(conversation_of(caller)),
        )
        return with_incumbent(given, self.proxy, **{**self.given, **caller})

    def call(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        raise NotImplementedError

    async def acall(self, mode: str, text: str, caller: Mapping[str, str]) -> None:
        run = _asked(text, self.options(caller), is_client=mode == "client")
        try:
            async with aclosing(run) as messages:
                async for message in messages:
                    if isinstance(message, ResultMessage):
                        self.talks[conversation_of(caller)] = message.session_id
                        failed = message.is_error
        except ResultError as error:
            raise NoAnswer from error
        if failed:
            raise NoAnswer

    async def history(self, caller: Mapping[str, str]) -> str:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("CLAUDE_CONFIG_DIR", str(self.folder))
            kept = get_session_messages(self.talks[conversation_of(caller)], str(self.folder))
        return json.dumps([one.message for one in kept], ensure_ascii=False)


async def _asked(
    text: str, given: ClaudeAgentOptions, *, is_client: bool
) -> AsyncGenerator[Any, None]:
    if not is_client:
        async for message in query(prompt=text, options=given):
            yield message
        return
    async with ClaudeSDKClient(replace(given, include_partial_messages=True)) as client:
        await client.query(text)
        async for message in client.receive_response():
            yield message


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    with ExitStack() as ClaudeAgent.closing:
        yield


class TestClaudeAgent(ConversationContract):
    framework = ClaudeAgent
    page = "claude-agent-sdk.md"

    @pytest.fixture(autouse=True)
    def apart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The program on the page keeps its conversations beside those of whoever runs this."""
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))

    def test_the_oldest_messages_go_where_there_is_a_budget(
        self, script: Script, memory: incumbent.Memory, mode: str
    ) -> None:
        """They are not ours to leave out, which is said at once."""
        agent = self.framework(script, memory, messages_budget=40)
        with pytest.raises(incumbent.InvalidInput, match="messages_budget is not ours"):
            self.say(agent, mode, (ORDER, []))


memory = pytest.fixture(empty_memory)


def test_what_the_program_asks_for_itself_is_nobodys_word(
    memory: incumbent.Memory, tmp_path: Path
) -> None:
    """Such as for the title of a chat; and what it adds to a person's message is not theirs."""
    with StandIn(said=["Noted."]) as provider, LocalProxy(memory, provider.url) as proxy:
        given = options(tmp_path)
        del given.env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]

        async def asked() -> None:
            async with ClaudeSDKClient(with_incumbent(given, proxy, **ALICE_OPTIONS)) as client:
                await client.query(ORDER)
                assert [one async for one in client.receive_response()]

        asyncio.run(asyncio.wait_for(asked(), PATIENCE))
        assert any("<system-reminder>" in one.text for one in provider.received)
    assert turns(memory) == [("user", ORDER), ("assistant", "Noted.")]


def test_nobody_gets_through_without_options(memory: incumbent.Memory, tmp_path: Path) -> None:
    """Other programs of this machine neither ask the provider nor learn anything, also while
    conversations are open; and options that are gone open nothing."""
    with StandIn() as provider, LocalProxy(memory, provider.url) as proxy:
        made: Any = with_incumbent(options(tmp_path), proxy, **ALICE_OPTIONS)
        name, _, token = made.env["ANTHROPIC_CUSTOM_HEADERS"].partition(": ")
        address = f"{made.env['ANTHROPIC_BASE_URL']}/v1/messages"
        body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}

        def status(**headers: str) -> int:
            return httpx.post(address, json=body, headers=headers, trust_env=False).status_code

        assert status() == 403
        assert status(**{"X-Incumbent-User": "alice"}) == 401
        assert status(**{name: "another"}) == 401
        assert status(**{name: token}) == 200
        del made
        gc.collect()
        assert status(**{name: token}) == 401
        assert len(provider.received) == 1


def test_what_would_not_come_through_is_refused(
    memory: incumbent.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that asks another provider would be sent what no longer holds."""
    with StandIn() as provider, LocalProxy(memory, provider.url) as proxy:
        given = options(tmp_path)
        given.env["CLAUDE_CODE_USE_BEDROCK"] = "1"
        with pytest.raises(incumbent.InvalidInput, match="CLAUDE_CODE_USE_BEDROCK is set"):
            with_incumbent(given, proxy, **ALICE_OPTIONS)
        monkeypatch.setenv("CLAUDE_CODE_USE_VERTEX", "true")
        with pytest.raises(incumbent.InvalidInput, match="CLAUDE_CODE_USE_VERTEX is set"):
            with_incumbent(options(tmp_path), proxy, **ALICE_OPTIONS)


def test_the_applications_own_options_stay(memory: incumbent.Memory, tmp_path: Path) -> None:
    """Its hooks run before ours and its headers are sent; what was given is not changed."""

    async def hook(*_: Any) -> Any:
        return {}

    own = HookMatcher(hooks=[hook])
    given = options(tmp_path, hooks={"Stop": [own]})
    given.env["ANTHROPIC_CUSTOM_HEADERS"] = "X-Mine: 1"
    before = dict(given.env)
    with StandIn() as provider, LocalProxy(memory, provider.url) as proxy:
        made = with_incumbent(given, proxy, **ALICE_OPTIONS)
    assert made.hooks is not None
    assert made.hooks["Stop"][0] is own
    assert len(made.hooks["Stop"]) == 2
    assert made.env["ANTHROPIC_CUSTOM_HEADERS"].startswith("X-Mine: 1\nX-Incumbent-Key: ")
    assert (given.env, given.hooks) == (before, {"Stop": [own]})


def test_the_tools_of_an_agent_that_was_sent_tell_nothing(
    memory: incumbent.Memory, tmp_path: Path
) -> None:
    """What happens inside of it is nobody's word."""
    told: Any = {"tool_response": {"left": 60}, "tool_use_id": "c1"}
    with StandIn() as provider, LocalProxy(memory, provider.url) as proxy:
        made: Any = with_incumbent(options(tmp_path), proxy, **ALICE_OPTIONS)
        (hook,) = made.hooks["PostToolUse"][0].hooks
        assert asyncio.run(hook({**told, "agent_id": "a1"}, "c1", None)) == {}
        assert asyncio.run(hook(told, "c1", None)) == {}
    assert turns(memory) == [("tool", '{"left": 60}')]
