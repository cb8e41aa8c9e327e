"""The command that puts a memory on a network: serve."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import incumbent
from incumbent.cli.cores import usual_processes
from incumbent.cli.declaring import command, flag, option, options
from incumbent.cli.listening import (
    LOG_LEVEL,
    Believing,
    CallerLimits,
    ListeningPlan,
    check_listening,
    limit,
    log_to_stderr,
    warm_meanwhile,
)
from incumbent.cli.options import ASK_BEFORE_KEEPING, Common
from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    import socket

    from incumbent.http.metrics import Metrics
    from incumbent.telemetry import Telemetry


@options()
class ServingLimits(CallerLimits):
    """The limits on callers of a service."""

    max_turns: int = limit("COUNT", "Turns in one call.", default=100)
    max_writes: int = limit("COUNT", "Writes in one call.", default=1_000)
    max_budget: int = limit("TOKENS", "The largest context.", default=32_000)


@command(
    "serve",
    "serve --db postgresql://incumbent@db/incumbent --host 0.0.0.0",
    "serve --postgres ./data --processes 1",
    "serve --readers readers.toml",
    "serve --issuer https://login.example.com --jwks keys.json --host 0.0.0.0",
)
def serve(
    *,
    host: str = option("ADDRESS", "Where to listen.", default="127.0.0.1", env="INCUMBENT_HOST"),
    port: int = option("NUMBER", "0 for a free one.", default=8765, env="INCUMBENT_PORT"),
    postgres: Path | None = option(
        "FOLDER", "Keep the facts on a PostgreSQL server of its own, with its data in this folder."
    ),
    processes: int | None = option(
        "COUNT",
        "Processes that answer side by side. With 1, this process answers itself.",
        env="INCUMBENT_PROCESSES",
        shown="one for each core, 1 for :memory:",
    ),
    log: str = LOG_LEVEL,
    otel: bool = flag("Tell OpenTelemetry too; exporters are set up by opentelemetry-instrument."),
    readers: Path | None = option(
        "FILE",
        "The models that read for each organization: TOML (docs/service.md).",
        env="INCUMBENT_READERS",
    ),
    inspector: bool = flag(
        "Pages for people at /inspect: what the agent believes, and why.",
        "--inspector/--no-inspector",
        default=True,
    ),
    ask_before_keeping: bool = ASK_BEFORE_KEEPING,
    believing: Believing,
    limits: ServingLimits,
    common: Common,
) -> None:
    """Serve a memory over HTTP, for programs in any language.

    Listens on this machine alone. Anywhere else it wants credentials first: make a key with
    `incumbent keys create`, or name an issuer of signed tokens. As soon as there is a key, every
    caller needs one. What there is to call is told at /openapi.json. Stop it with Ctrl-C or
    SIGTERM: calls under way are finished.
    """
    if processes is None:
        processes = usual_processes(common.path)
    check_listening(common, log, processes, doing="serve")
    try:
        from incumbent.http.configuration import Service
        from incumbent.http.readers import readers_in
    except ImportError as error:
        raise InvalidInput(f"serving takes more: {error}") from error
    tokens = believing.tokens()
    with _store(common, postgres) as store:
        with store.open(
            create=True, settings=replace(store.settings, llm=readers_in(readers))
        ) as memory:
            has_keys = bool(memory.store.keys())
        service = Service(
            host=host,
            port=port,
            credentials=tokens is not None or has_keys,
            tokens=tokens,
            inspector=inspector,
            **limits.of_service(),
        )
        plan = ServingPlan(
            store,
            service,
            log,
            readers=readers,
            otel=otel,
            asks_first=ask_before_keeping,
            together=processes > 1,
        )
        with _counted_together() if processes > 1 else nullcontext():
            plan.run(processes)


@dataclass(frozen=True)
class ServingPlan(ListeningPlan):
    """The plan for a process of a service."""

    readers: Path | None
    otel: bool
    asks_first: bool
    together: bool
    """Whether other processes answer beside it."""

    def answer(self, announce: Callable[[str], None], place: socket.socket | None = None) -> None:
        from incumbent.http.readers import readers_in
        from incumbent.http.server import serve as run

        telemetry, metrics = _telling(self.otel, self.together)
        readers = readers_in(self.readers)
        settings = replace(
            self.store.settings,
            telemetry=telemetry,
            llm=readers,
            ask_before_keeping=self.asks_first,
        )
        with self.store.open(create=True, settings=settings) as memory:
            log_to_stderr(self.log)
            _ = memory.index, memory.reader  # loaded now, so that the first caller need not wait
            warm_meanwhile(memory)
            run(memory, self.service, announce, metrics, place)

    def announce(self, address: str) -> None:
        told = f"serves {self.store_named} at {address} ({self.callers_named})"
        typer.echo(f"Incumbent {incumbent.__version__} {told}", err=True)
        if self.service.inspector:
            typer.echo(f"See what it holds: {address}/inspect", err=True)
        if not self.service.credentials:
            typer.echo(
                f"Try: curl {address}/v1/observe -H 'Content-Type: application/json' -d "
                f"""'{{"session": {{"user_id": "alice"}}, "text": "I moved to 456 Oak Ave."}}'""",
                err=True,
            )


@contextmanager
def _counted_together() -> Iterator[None]:
    """Have the processes that are started meanwhile count together."""
    with tempfile.TemporaryDirectory(prefix="incumbent-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # those that are started go by it
        yield


def _telling(otel: bool, together: bool) -> tuple[Telemetry, Metrics]:
    """The telemetry of the memory, for /metrics and for OpenTelemetry."""
    from incumbent.http.metrics import Metrics
    from incumbent.telemetry import Together
    from incumbent.telemetry.prometheus import Prometheus

    counted = Prometheus(together=together)
    if not otel:
        return counted, Metrics(counted)
    try:
        from incumbent.telemetry.otel import OpenTelemetry
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
        from incumbent.stores.postgres.local import LocalServer
    except ImportError as error:
        raise InvalidInput(
            f"a server of your own takes more ({error}); install it with: "
            f"pip install 'incumbent[postgres-local]'"
        ) from error
    with LocalServer(postgres) as server:
        yield replace(common, db=server.url())
