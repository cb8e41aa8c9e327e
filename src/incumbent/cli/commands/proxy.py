"""The command that stands between an application and its model: proxy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import incumbent
from incumbent.cli.listening import (
    Believing,
    CallerLimits,
    ListeningPlan,
    LogLevel,
    check_listening,
    limit,
    log_to_stderr,
    warm,
)
from incumbent.cli.options import AskBeforeKeeping, Common
from incumbent.cli.root import command
from incumbent.model.errors import InvalidInput
from incumbent.model.modes import check_mode

if TYPE_CHECKING:
    import socket

    from incumbent.proxy.configuration import ProxySettings


@dataclass(frozen=True)
class ProxyLimits(CallerLimits):
    """The limits on callers of a proxy. One key often stands for a whole application."""

    burst: Annotated[int, limit("COUNT", "Requests it may make at once.")] = 400
    at_once: Annotated[
        int, limit("COUNT", "Requests of one key that the memory looks at, or that wait for it.")
    ] = 400
    max_body: Annotated[int, limit("BYTES", "The largest request to guard.")] = 32_000_000
    threads: Annotated[
        int, limit("COUNT", "Requests that the memory looks at at the same time.")
    ] = 8
    timeout: Annotated[
        float,
        limit("SECONDS", "In which the provider must begin its answer, and send its next piece."),
    ] = 600.0

    def of_service(self) -> dict[str, Any]:
        asked = super().of_service()
        del asked["timeout"]  # it is the provider's
        return asked


def proxy(
    *,
    upstream: Annotated[
        str,
        typer.Option(
            metavar="URL",
            envvar="INCUMBENT_UPSTREAM",
            help="The provider, as the application would give it as its base URL.",
        ),
    ],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen.", envvar="INCUMBENT_PROXY_HOST")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="0 for a free one.", envvar="INCUMBENT_PROXY_PORT")
    ] = 8787,
    budget: Annotated[
        int,
        typer.Option(metavar="TOKENS", help="The largest context to add; 0 for none."),
    ] = 2000,
    mode: Annotated[
        str,
        typer.Option(
            metavar="both|observe|add",
            envvar="INCUMBENT_MODE",
            help="observe changes nothing that is sent; add observes nothing.",
        ),
    ] = "both",
    ask_before_keeping: AskBeforeKeeping = False,
    on_failure: Annotated[
        str,
        typer.Option(
            metavar="closed|open",
            help="When the memory fails: closed refuses the request, open passes it on as it came.",
        ),
    ] = "closed",
    reader: Annotated[
        str | None,
        typer.Option(
            metavar="upstream[:MODEL]",
            envvar="INCUMBENT_PROXY_READER",
            help="Have the provider's model read what is said, with the caller's own key, once "
            "the answer is out.",
        ),
    ] = None,
    reader_pause: Annotated[
        float, typer.Option(metavar="SECONDS", help="Have it read after such a pause.")
    ] = 0.0,
    reader_calls: Annotated[
        int | None,
        typer.Option(metavar="COUNT", help="Readings an organization has per day (UTC)."),
    ] = None,
    require_user: Annotated[
        bool,
        typer.Option("--require-user", help="Refuse requests that do not say who is speaking."),
    ] = False,
    processes: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            envvar="INCUMBENT_PROXY_PROCESSES",
            help="Processes that answer side by side: one for each core that may be used.",
        ),
    ] = 1,
    log: LogLevel = "info",
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


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(
        app,
        "proxy",
        proxy,
        [
            "proxy --upstream https://api.openai.com/v1 --db agent.db",
            "proxy --upstream https://api.anthropic.com --on-failure open",
            "proxy --upstream http://127.0.0.1:8000/v1 --require-user",
            "proxy --upstream https://api.openai.com/v1 --mode observe",
            "proxy --upstream https://api.openai.com/v1 --reader upstream:gpt-5-mini",
            "proxy --upstream https://api.openai.com/v1 --db agent.db --processes 4",
            "proxy --upstream https://api.openai.com/v1 --host 0.0.0.0 --db postgresql://incumbent@db/incumbent",
        ],
    )
