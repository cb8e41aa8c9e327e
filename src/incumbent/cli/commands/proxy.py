"""The command that stands between an application and its model: proxy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

import incumbent
from incumbent.cli.declaring import command, flag, option, options
from incumbent.cli.listening import (
    LOG_LEVEL,
    Believing,
    CallerLimits,
    ListeningPlan,
    check_listening,
    limit,
    log_to_stderr,
    warm,
)
from incumbent.cli.options import ASK_BEFORE_KEEPING, Common
from incumbent.model.errors import InvalidInput
from incumbent.model.modes import check_mode

if TYPE_CHECKING:
    import socket

    from incumbent.proxy.configuration import ProxySettings


@options()
class ProxyLimits(CallerLimits):
    """The limits on callers of a proxy. One key often stands for a whole application."""

    burst: int = limit("COUNT", "Requests it may make at once.", default=400)
    at_once: int = limit(
        "COUNT", "Requests of one key that the memory looks at, or that wait for it.", default=400
    )
    max_body: int = limit("BYTES", "The largest request to guard.", default=32_000_000)
    threads: int = limit("COUNT", "Requests that the memory looks at at the same time.", default=8)
    timeout: float = limit(
        "SECONDS",
        "In which the provider must begin its answer, and send its next piece.",
        default=600.0,
    )

    def of_service(self) -> dict[str, Any]:
        asked = super().of_service()
        del asked["timeout"]  # it is the provider's
        return asked


@command(
    "proxy --upstream https://api.openai.com/v1 --db agent.db",
    "proxy --upstream https://api.anthropic.com --on-failure open",
    "proxy --upstream http://127.0.0.1:8000/v1 --require-user",
    "proxy --upstream https://api.openai.com/v1 --mode observe",
    "proxy --upstream https://api.openai.com/v1 --reader upstream:gpt-5-mini",
    "proxy --upstream https://api.openai.com/v1 --db agent.db --processes 4",
    "proxy --upstream https://api.openai.com/v1 --host 0.0.0.0 --db postgresql://incumbent@db/incumbent",
)
def proxy(
    *,
    upstream: str = option(
        "URL",
        "The provider, as the application would give it as its base URL.",
        default=...,
        env="INCUMBENT_UPSTREAM",
    ),
    host: str = option(
        "ADDRESS", "Where to listen.", default="127.0.0.1", env="INCUMBENT_PROXY_HOST"
    ),
    port: int = option("NUMBER", "0 for a free one.", default=8787, env="INCUMBENT_PROXY_PORT"),
    budget: int = option("TOKENS", "The largest context to add; 0 for none.", default=2000),
    mode: str = option(
        "both|observe|add",
        "observe changes nothing that is sent; add observes nothing.",
        default="both",
        env="INCUMBENT_MODE",
    ),
    ask_before_keeping: bool = ASK_BEFORE_KEEPING,
    on_failure: str = option(
        "closed|open",
        "When the memory fails: closed refuses the request, open passes it on as it came.",
        default="closed",
    ),
    reader: str | None = option(
        "upstream[:MODEL]",
        "Have the provider's model read what is said, with the caller's own key, once the "
        "answer is out.",
        env="INCUMBENT_PROXY_READER",
    ),
    reader_pause: float = option("SECONDS", "Have it read after such a pause.", default=0.0),
    reader_calls: int | None = option("COUNT", "Readings an organization has per day (UTC)."),
    require_user: bool = flag("Refuse requests that do not say who is speaking."),
    processes: int = option(
        "COUNT",
        "Processes that answer side by side: one for each core that may be used.",
        default=1,
        env="INCUMBENT_PROXY_PROCESSES",
    ),
    log: str = LOG_LEVEL,
    believing: Believing,
    limits: ProxyLimits,
    common: Common,
) -> None:
    """Stand between an application and its model: observe, guard, add the context.

    The application changes its base URL and says who is speaking with the header X-Incumbent-User
    (and X-Incumbent-Session, X-Incumbent-Organization). Chat completions, responses and Anthropic's
    messages that say so are observed and sent on without what no longer holds, with the context
    among their instructions; the answer names the receipt in X-Incumbent-Receipt. Everything else
    passes as it is. Listens on this machine alone; anywhere else, and as soon as there is a key,
    it wants a key or token in X-Incumbent-Key, as `incumbent serve` does. docs/proxy.md has the
    rest.
    """
    check_listening(common, log, processes, doing="give")
    try:
        from incumbent.http.configuration import Service
        from incumbent.proxy.configuration import ProxySettings
    except ImportError as error:
        raise InvalidInput(f"a proxy takes more: {error}") from error
    settings = ProxySettings(
        upstream=upstream,
        on_failure=on_failure,  # type: ignore[arg-type]  # it refuses what is neither
        require_user=require_user,
        budget=budget,
        reader=reader,
        reader_pause=reader_pause,
        reader_calls=reader_calls,
        answer_timeout=limits.timeout,
    )
    modes = {"mode": check_mode(mode, "--mode"), "ask_before_keeping": ask_before_keeping}
    tokens = believing.tokens()
    with common.open(create=True) as memory:
        has_keys = bool(memory.store.keys())
    service = Service(
        host=host,
        port=port,
        credentials=tokens is not None or has_keys,
        tokens=tokens,
        **limits.of_service(),
    )
    ProxyPlan(common, service, log, settings=settings, modes=modes).run(processes)


@dataclass(frozen=True)
class ProxyPlan(ListeningPlan):
    """The plan for a process of a proxy."""

    settings: ProxySettings
    modes: dict[str, Any]
    """The settings of the memory that say what is done for a session."""

    def answer(self, announce: Callable[[str], None], place: socket.socket | None = None) -> None:
        from incumbent.proxy.server import serve

        settings = replace(self.store.settings, **self.modes)
        with self.store.open(create=True, settings=settings) as memory:
            log_to_stderr(self.log)
            warm(memory)
            serve(memory, self.settings, self.service, announce, place)

    def announce(self, address: str) -> None:
        told = f"stands with {self.store_named} before {self.settings.upstream} at {address}/v1"
        typer.echo(f"Incumbent {incumbent.__version__} {told} ({self.callers_named})", err=True)
