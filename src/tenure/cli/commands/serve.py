"""The command that puts a memory on a network: serve."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import tenure
from tenure.cli.options import Common
from tenure.cli.root import command
from tenure.model.errors import InvalidInput

if TYPE_CHECKING:
    import socket

    from tenure.http.configuration import Service, Tokens
    from tenure.http.metrics import Metrics
    from tenure.telemetry import Telemetry

_TOKENS = "Signed tokens"
_LIMITS = "Limits"
_LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class Believing:
    """The issuer whose signed tokens are accepted."""

    issuer: Annotated[
        str | None,
        typer.Option(
            envvar="TENURE_ISSUER",
            metavar="URL",
            help="The issuer of tokens (JWT) to accept.",
            rich_help_panel=_TOKENS,
        ),
    ] = None
    audience: Annotated[
        str,
        typer.Option(
            envvar="TENURE_AUDIENCE",
            metavar="NAME",
            help="Whom tokens must be made out to.",
            rich_help_panel=_TOKENS,
        ),
    ] = "tenure"
    jwks: Annotated[
        str | None,
        typer.Option(
            envvar="TENURE_JWKS",
            metavar="WHERE",
            help="The issuer's key set: a file, or an https address.",
            rich_help_panel=_TOKENS,
        ),
    ] = None

    def tokens(self) -> Tokens | None:
        """As the service takes it; None where no tokens are accepted."""
        from tenure.http.configuration import Tokens

        if self.issuer is None and self.jwks is None:
            return None
        if self.issuer is None or self.jwks is None:
            raise InvalidInput("tokens take both --issuer URL and --jwks FILE")
        return Tokens(issuer=self.issuer, audience=self.audience, keys=self.jwks)


@dataclass(frozen=True)
class Limiting:
    """The limits on callers."""

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
    ] = 200
    at_once: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            help="Calls of one key under way at the same time.",
            rich_help_panel=_LIMITS,
        ),
    ] = 64
    share: Annotated[
        float,
        typer.Option(
            metavar="PART",
            help="Of a processor, how much one organization may keep busy while others call.",
            rich_help_panel=_LIMITS,
        ),
    ] = 0.25
    max_turns: Annotated[
        int,
        typer.Option(metavar="COUNT", help="Turns in one call.", rich_help_panel=_LIMITS),
    ] = 100
    max_writes: Annotated[
        int,
        typer.Option(metavar="COUNT", help="Writes in one call.", rich_help_panel=_LIMITS),
    ] = 1_000
    max_budget: Annotated[
        int,
        typer.Option(metavar="TOKENS", help="The largest context.", rich_help_panel=_LIMITS),
    ] = 32_000
    max_body: Annotated[
        int,
        typer.Option(metavar="BYTES", help="The largest request.", rich_help_panel=_LIMITS),
    ] = 2_000_000
    threads: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            help="Calls that are worked on at the same time.",
            rich_help_panel=_LIMITS,
        ),
    ] = 8


def serve(
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen.", envvar="TENURE_HOST")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="0 for a free one.", envvar="TENURE_PORT")
    ] = 8765,
    postgres: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep the facts on a PostgreSQL server of its own, with its data in this folder.",
        ),
    ] = None,
    processes: Annotated[
        int,
        typer.Option(
            metavar="COUNT",
            envvar="TENURE_PROCESSES",
            help="Processes that answer side by side: one for each core that may be used.",
        ),
    ] = 1,
    log: Annotated[
        str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")
    ] = "info",
    otel: Annotated[
        bool,
        typer.Option(
            "--otel",
            help="Tell OpenTelemetry too; exporters are set up by opentelemetry-instrument.",
        ),
    ] = False,
    inspector: Annotated[
        bool, typer.Option(help="Pages for people at /inspect: what the agent believes, and why.")
    ] = True,
    believing: Believing,
    limiting: Limiting,
    common: Common,
) -> None:
    """Serve a memory over HTTP, for programs in any language.

    Listens on this machine alone. Anywhere else it wants credentials first: make a key with
    `tenure keys create`, or name an issuer of signed tokens. As soon as there is a key, every
    caller needs one. What there is to call is told at /openapi.json. Stop it with Ctrl-C or
    SIGTERM: calls under way are finished.
    """
    if log not in _LEVELS:
        raise InvalidInput(f"--log {log!r} is not one of {', '.join(_LEVELS)}")
    if common.path.startswith(("http://", "https://")):
        raise InvalidInput("--db names a service; serve the file or the database behind it")
    if processes < 1:
        raise InvalidInput(f"--processes takes a number from 1 on, not {processes}")
    if processes > 1 and common.path == ":memory:":
        raise InvalidInput("several processes cannot share :memory:; name a file with --db")
    try:
        from tenure.http.configuration import Service
    except ImportError as error:
        raise InvalidInput(f"serving takes more: {error}") from error
    tokens = believing.tokens()
    asked = asdict(limiting)
    asked["max_body_bytes"] = asked.pop("max_body")
    with _store(common, postgres) as store:
        with store.open(create=True) as memory:
            has_keys = bool(memory.store.keys())
        service = Service(
            host=host,
            port=port,
            credentials=tokens is not None or has_keys,
            tokens=tokens,
            inspector=inspector,
            **asked,
        )
        work = ServingPlan(store, service, otel=otel, log=log, together=processes > 1)
        if processes == 1:
            work.alone()
        else:
            _side_by_side(work, processes)


@dataclass(frozen=True)
class ServingPlan:
    """The plan for a process that answers, which may be another one than this."""

    store: Common
    service: Service
    otel: bool
    log: str
    together: bool
    """Whether other processes answer beside it."""

    def alone(self) -> None:
        """Answer at the service's own address, and print it."""
        self._answer(lambda address: _announce(address, self.store, self.service))

    def __call__(self, place: socket.socket, ready: Callable[[], None]) -> None:
        """Answer at an address that is shared with other processes."""
        self._answer(lambda _: ready(), place)

    def _answer(self, announce: Callable[[str], None], place: socket.socket | None = None) -> None:
        from tenure.http.server import serve as run

        telemetry, metrics = _telling(self.otel, self.together)
        settings = replace(self.store.settings, telemetry=telemetry)
        with self.store.open(create=True, settings=settings) as memory:
            log_to_stderr(self.log)
            _ = memory.index, memory.detector  # loaded now, so that the first caller need not wait
            run(memory, self.service, announce, metrics, place)


def _side_by_side(work: ServingPlan, processes: int) -> None:
    from tenure.http.crew import Crew
    from tenure.http.server import address_of

    service = work.service
    with tempfile.TemporaryDirectory(prefix="tenure-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # those that are started go by it
        log_to_stderr(work.log)
        Crew(work, processes, service.host, service.port, service.shutdown_timeout).run(
            lambda host, port: _announce(address_of(host, port), work.store, service)
        )


def _telling(otel: bool, together: bool) -> tuple[Telemetry, Metrics]:
    """The telemetry of the memory, for /metrics and for OpenTelemetry."""
    from tenure.http.metrics import Metrics
    from tenure.telemetry import Together
    from tenure.telemetry.prometheus import Prometheus

    counted = Prometheus(together=together)
    if not otel:
        return counted, Metrics(counted)
    try:
        from tenure.telemetry.otel import OpenTelemetry
    except ImportError as error:
        raise InvalidInput(str(error)) from error
    return Together(counted, OpenTelemetry()), Metrics(counted)


@contextmanager
def _store(common: Common, postgres: Path | None) -> Iterator[Common]:
    """The store to serve; with --postgres, on a server that runs as long as this process."""
    if postgres is None:
        yield common
        return
    if common.db is not None:
        raise InvalidInput("--postgres starts a server of its own; leave --db out")
    try:
        from tenure.stores.postgres.local import LocalServer
    except ImportError as error:
        raise InvalidInput(
            f"a server of your own takes more ({error}); install it with: "
            f"pip install 'tenure[postgres-local]'"
        ) from error
    with LocalServer(postgres) as server:
        yield replace(common, db=server.url())


def _announce(address: str, store: Common, service: Service) -> None:
    where = "a PostgreSQL database" if "://" in store.path else store.path
    who = "with a key or token" if service.credentials else "open to this machine, no key needed"
    typer.echo(f"Tenure {tenure.__version__} serves {where} at {address} ({who})", err=True)
    if service.inspector:
        typer.echo(f"See what it holds: {address}/inspect", err=True)
    if not service.credentials:
        typer.echo(
            f"Try: curl {address}/v1/observe -H 'Content-Type: application/json' -d "
            f"""'{{"session": {{"user_id": "alice"}}, "text": "I moved to 456 Oak Ave."}}'""",
            err=True,
        )


def log_to_stderr(level: str) -> None:
    """Log to stderr, a JSON object a line. Of libraries only errors are logged: their messages
    quote the data they receive."""
    from tenure.telemetry.logs import JsonFormatter

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.ERROR)
    logging.getLogger("tenure").setLevel(level.upper())


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(
        app,
        "serve",
        serve,
        [
            "serve",
            "serve --db postgresql://tenure@db/tenure --host 0.0.0.0",
            "serve --postgres ./data --processes 4",
            "serve --issuer https://login.example.com --jwks keys.json --host 0.0.0.0",
        ],
    )
