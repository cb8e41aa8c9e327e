"""Claude Agent SDK: hooks that observe, before a proxy that cuts. `incumbent[claude-agent-sdk]`

    with LocalProxy(memory, "https://api.anthropic.com") as proxy:
        options = with_incumbent(ClaudeAgentOptions(...), proxy, user_id="alice", session_id="7")
        async with ClaudeSDKClient(options) as client: ...

The agent is a program of its own that keeps the conversation and sends it. A hook can add to what
it sends, and take nothing out; so its requests go through a proxy. What they hold is not observed
there: under a person's name stand the program's own words as well, and those of agents that were
sent by agents.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, Unpack

from incumbent.integrations.agent_memory import AgentMemory, Options, on_thread, said_in
from incumbent.memory import Memory
from incumbent.model.errors import InvalidInput
from incumbent.session import Session

try:
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher
except ImportError as error:
    raise ImportError(
        f"{error}; install it with: pip install 'incumbent[claude-agent-sdk]'"
    ) from error

_BASE, _HEADERS = "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS"
_ELSEWHERE = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


class LetsThrough(Protocol):
    """A proxy as `incumbent.proxy.LocalProxy` is one."""

    @property
    def memory(self) -> Memory: ...
    @property
    def address(self) -> str: ...
    def ticket(self, session: Session) -> Any: ...


def with_incumbent(
    options: ClaudeAgentOptions, proxy: LetsThrough, **who: Unpack[Options]
) -> ClaudeAgentOptions:
    """The same options, for a conversation with a person: what is said is observed, and what is
    sent has what holds in place of what does not."""
    for name in ("budget", "messages_budget"):
        if name in who:
            raise InvalidInput(
                f"{name} is not ours to keep here; a budget of the context is the proxy's, and "
                f"the messages are shortened by the agent's own program"
            )
    _check_provider({**os.environ, **options.env})
    agent = AgentMemory(proxy.memory, who)
    session = agent.session()
    ticket = proxy.ticket(session)
    headers = filter(None, (options.env.get(_HEADERS), ticket.header))
    env = {**options.env, _BASE: proxy.address, _HEADERS: "\n".join(headers)}
    hooks = _Conversation(agent, session, ticket).hooks(options.hooks or {})
    return replace(options, env=env, hooks=hooks)


class _Conversation:
    """Observes what is said. It lives as long as the options that have its hooks, and so does the
    ticket."""

    def __init__(self, agent: AgentMemory, session: Session, ticket: Any) -> None:
        self._agent, self._session, self._ticket = agent, session, ticket

    def hooks(self, given: Mapping[Any, list[HookMatcher]]) -> dict[Any, list[HookMatcher]]:
        """The application's hooks, and ours behind them. If the memory fails, the run fails."""
        ours = {
            "UserPromptSubmit": self._said,
            "PostToolUse": self._returned,
            "Stop": self._answered,
        }
        made = {event: [*matchers] for event, matchers in given.items()}
        for event, hook in ours.items():
            matcher = HookMatcher(hooks=[hook], on_failure="block")
            made[event] = [*made.get(event, ()), matcher]
        return made

    async def _said(self, told: Any, *_: Any) -> Any:
        heard = {"role": "user", "content": told["prompt"]}
        await on_thread(self._agent.hear, self._session, [heard])
        return {}

    async def _returned(self, told: Any, *_: Any) -> Any:
        # What happens inside of an agent that an agent sent is nobody's word.
        if not told.get("agent_id"):
            value = told["tool_response"]
            text = said_in({"content": value}) if isinstance(value, list) else value
            await on_thread(self._agent.result, self._session, text, told["tool_use_id"])
        return {}

    async def _answered(self, told: Any, *_: Any) -> Any:
        said = told.get("last_assistant_message")
        await on_thread(self._agent.answer, self._session, said)
        return {}


def _check_provider(env: Mapping[str, str]) -> None:
    """Refuse what would not come through the proxy: it would be sent with what no longer holds."""
    for name in _ELSEWHERE:
        if env.get(name, "").lower() not in ("", "0", "false", "no", "off"):
            raise InvalidInput(
                f"{name} is set: the agent would ask a provider that the proxy does not stand "
                f"before; unset it"
            )
