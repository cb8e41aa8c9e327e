"""The command that stands between an application and its model: proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

import tenure
from tenure.cli.commands.serve import Believing, log_to_stderr
from tenure.cli.options import Common
from tenure.cli.root import command
from tenure.model.errors import InvalidInput

if TYPE_CHECKING:
    from tenure.http.configuration import Service
    from tenure.proxy.configuration import ProxySettings

_LIMITS = "Limits"
_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class ProxyLimits:
    """The limits on callers of a proxy."""

    rate: Annotated[
        float,
        typer.Option(
            metavar="COUNT",
            help="Requests a second that one key may make for long; 0 for no limit.",
            rich_help_panel=_LIMITS,
        ),
    ] = 100.0
    burst: Annotated[
        int,
        typer.Option(
            metavar="COUNT", help="Requests it may make at once.", rich_help_panel=_LIMITS
        ),
    ] = 400
    at_once: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            help="Requests of one key that the memory looks at, or that wait for it.",
            rich_help_panel=_LIMITS,
        ),
    ] = 400
    share: Annotated[
        float,
        typer.Option(
            metavar="PART",
            help="Of a processor, how much one organization may keep busy while others call.",
            rich_help_panel=_LIMITS,
        ),
    ] = 0.25
    max_body: Annotated[
        int,
        typer.Option(
            metavar="BYTES", help="The largest request to guard.", rich_help_panel=_LIMITS
        ),
    ] = 32_000_000
    threads: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            help="Requests that the memory looks at at the same time.",
            rich_help_panel=_LIMITS,
        ),
    ] = 8
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="In which the provider must begin its answer, and send its next piece.",
            rich_help_panel=_LIMITS,
        ),
    ] = 600.0


def proxy(
    *,
    upstream: Annotated[
        str,
        typer.Option(
            metavar="URL",
            envvar="TENURE_UPSTREAM",
            help="The provider, as the application would give it as its base URL.",
        ),
    ],
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen.", envvar="TENURE_PROXY_HOST")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="0 for a free one.", envvar="TENURE_PROXY_PORT")
    ] = 8787,
    budget: Annotated[
        int,
        typer.Option(metavar="TOKENS", help="The largest context to add; 0 for none."),
    ] = 2000,
    on_failure: Annotated[
        str,
        typer.Option(
            metavar="closed|open",
            help="When the memory fails: closed refuses the request, open passes it on as it came.",
        ),
    ] = "closed",
    require_user: Annotated[
        bool,
        typer.Option("--require-user", help="Refuse requests that do not say who is speaking."),
    ] = False,
    log: Annotated[
        str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")
    ] = "info",
    believing: Believing,
    limits: ProxyLimits,
    common: Common,
) -> None:
    """Stand between an application and its model: observe, guard, add the context.

    The application changes its base URL and says who is speaking with the header X-Tenure-User
    (and X-Tenure-Session, X-Tenure-Organization). Chat completions, responses and Anthropic's
    messages that say so are observed and sent on without what no longer holds, with the context
    among their instructions; the answer names the receipt in X-Tenure-Receipt. Everything else
    passes as it is. Listens on this machine alone; anywhere else, and as soon as there is a key,
    it wants a key or token in X-Tenure-Key, as `tenure serve` does. docs/proxy.md has the rest.
    """
    if log not in _LEVELS:
        raise InvalidInput(f"--log {log!r} is not one of {', '.join(_LEVELS)}")
    if common.path.startswith(("http://", "https://")):
        raise InvalidInput("--db names a service; give the file or the database behind it")
    try:
        from tenure.http.configuration import Service
        from tenure.proxy.configuration import ProxySettings
        from tenure.proxy.server import serve
    except ImportError as error:
        raise InvalidInput(f"a proxy takes more: {error}") from error
    settings = ProxySettings(
        upstream=upstream,
        on_failure=on_failure,  # type: ignore[arg-type]  # it refuses what is neither
        require_user=require_user,
        budget=budget,
        answer_timeout=limits.timeout,
    )
    tokens = believing.tokens()
    with common.open(create=True) as memory:
        service = Service(
            host=host,
            port=port,
            credentials=tokens is not None or bool(memory.store.keys()),
            tokens=tokens,
            max_body_bytes=limits.max_body,
            rate=limits.rate,
            burst=limits.burst,
            at_once=limits.at_once,
            share=limits.share,
            threads=limits.threads,
        )
        log_to_stderr(log)
        _warm(memory)
        serve(memory, settings, service, lambda place: _announce(place, common, settings, service))


def _warm(memory: tenure.Memory) -> None:
    """Load what the first request would have to wait for, by a conversation that is not kept."""
    _ = memory.index, memory.detector
    with tenure.open(":memory:", settings=memory.settings) as other:
        session = other.session(user_id="nobody")
        session.observe("My desk is 4.")
        session.observe("No, my desk is 5.")
        session.observe("Noted.", speaker="assistant")
        session.guard([{"role": "user", "content": "My desk is 4."}])
        session.context("Which desk?", conversation=False)


def _announce(address: str, store: Common, settings: ProxySettings, service: Service) -> None:
    where = "a PostgreSQL database" if "://" in store.path else store.path
    who = "with a key or token" if service.credentials else "open to this machine, no key needed"
    typer.echo(
        f"Tenure {tenure.__version__} stands with {where} before {settings.upstream} at "
        f"{address}/v1 ({who})",
        err=True,
    )


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
            "proxy --upstream https://api.openai.com/v1 --host 0.0.0.0 --db postgresql://tenure@db/tenure",
        ],
    )
