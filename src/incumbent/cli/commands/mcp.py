"""The command that lets a model use a memory: mcp."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

import incumbent
from incumbent.cli.declaring import command, flag, option, options
from incumbent.cli.listening import Believing, check_level, log_to_stderr, warm_meanwhile
from incumbent.cli.options import ASK_BEFORE_KEEPING, TASK, Common, Person, login_name
from incumbent.cli.root import remark
from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    from incumbent.http.configuration import Service
    from incumbent.mcp.seats import Seats, Sitting

_WHO = "For whom"
_WEB = "Over HTTP"


@options(_WHO)
class ForWhom(Person):
    """The identity that a model works for. The model cannot choose it."""

    user: str | None = option(
        "ID",
        "Whose facts these are: the user id of the person who talks with the model.",
        env="INCUMBENT_USER",
        shown="your login name; with credentials, theirs",
    )
    name: str | None = option("NAME", "Their name, as a model reads it.")
    authority: str = option(
        "TITLE",
        "The most that anything the model writes can carry: guest, employee, manager ... A "
        "guest cannot replace what others said.",
        default="employee",
        env="INCUMBENT_AUTHORITY",
    )
    department: str | None = option("NAME", "Their department.")
    permission: list[str] | None = option("NAME", "A permission they hold; repeatable.")
    session: str | None = option(
        "ID",
        "The session, to go on with one.",
        env="INCUMBENT_SESSION",
        shown="a new one, until this ends",
    )
    task: str | None = TASK

    def sitting(self, *, credentials: bool, read_only: bool, forgetting: bool) -> Sitting:
        """The identity as the server takes it. Where callers show credentials, the credentials
        decide."""
        from incumbent.mcp.seats import Sitting

        return Sitting(
            user_id=self.user if credentials else self.user or login_name(),
            session_id=self.session,
            task_id=self.task,
            read_only=read_only,
            forgetting=forgetting,
            **self.attributes,
        )


@options()
class Listening:
    """The HTTP address to listen on."""

    http: bool = flag("Listen for clients, at /mcp, instead of being started by one.")
    host: str = option(
        "ADDRESS", "Where to listen.", default="127.0.0.1", env="INCUMBENT_HOST", panel=_WEB
    )
    port: int = option(
        "NUMBER", "0 for a free one.", default=8766, env="INCUMBENT_PORT", panel=_WEB
    )
    rate: float = option(
        "COUNT",
        "Requests a second that one key may make for long; 0 for no limit.",
        default=100.0,
        panel=_WEB,
    )


@command(
    "mcp",
    "mcp --db agent.db --user alice --authority manager --org acme",
    "mcp --db https://incumbent.example.com --user alice",
    "mcp --http --port 8766",
    "mcp --http --host 0.0.0.0 --db postgresql://incumbent@db/incumbent",
)
def mcp(
    *,
    read_only: bool = flag("The model may read, and change nothing."),
    allow_forget: bool = flag("The model may erase facts of this person for good."),
    log: str = option("LEVEL", "debug, info, warning or error, on stderr.", default="warning"),
    ask_before_keeping: bool = ASK_BEFORE_KEEPING,
    whom: ForWhom,
    listening: Listening,
    believing: Believing,
    common: Common,
) -> None:
    """Let a model use a memory, over the Model Context Protocol.

    A client such as an editor or a desktop application starts this command and talks to it over
    its standard streams; with --http it listens for clients. Who the model works for, and the most
    authority that what it writes can carry, are said here and by no tool. Over HTTP it listens on
    this machine alone; anywhere else it wants credentials first, as `incumbent serve` does, and
    then these say who is asking. docs/mcp.md has the settings for common clients.
    """
    check_level(log)
    try:
        import incumbent.mcp as _needed  # noqa: F401
    except ImportError as error:
        raise InvalidInput(f"a server for models takes more: {error}") from error
    log_to_stderr(log)
    settings = replace(common.settings, ask_before_keeping=ask_before_keeping)
    with common.open(create=True, settings=settings) as memory:
        if hasattr(memory, "store"):  # a service elsewhere has loaded what it needs
            warm_meanwhile(memory)
        if listening.http:
            _over_http(memory, whom, listening, believing, read_only, allow_forget)
            return
        if believing.issuer is not None or believing.jwks is not None:
            raise InvalidInput("tokens are for --http; over the standard streams there are none")
        sitting = whom.sitting(credentials=False, read_only=read_only, forgetting=allow_forget)
        _over_streams(memory, sitting)


def _over_streams(memory: incumbent.Memory, sitting: Sitting) -> None:
    from incumbent.mcp.seats import Seats
    from incumbent.mcp.stdio import serve

    seats = Seats(memory, sitting)
    if sys.stdin.isatty():
        remark(
            "waiting for a client; editors and desktop applications start this by themselves, and "
            "Ctrl-C ends it"
        )

    def leave() -> None:
        _leave(seats)
        memory.close()

    try:
        serve(seats, leave)
    finally:
        _leave(seats)


def _over_http(
    memory: incumbent.Memory,
    whom: ForWhom,
    listening: Listening,
    believing: Believing,
    read_only: bool,
    allow_forget: bool,
) -> None:
    from incumbent.http.configuration import Service
    from incumbent.mcp.http_server import serve
    from incumbent.mcp.seats import Seats

    tokens = believing.tokens()
    store = getattr(memory, "store", None)  # a service elsewhere has one, and keeps it to itself
    if store is None and tokens is not None:
        raise InvalidInput(
            "the memory is a service, which believes tokens itself: a token shown here would not "
            "reach it; run this where the store is, or leave out --issuer and --jwks"
        )
    service = Service(
        host=listening.host,
        port=listening.port,
        rate=listening.rate,
        credentials=tokens is not None or (store is not None and bool(store.keys())),
        tokens=tokens,
    )
    sitting = whom.sitting(
        credentials=service.credentials, read_only=read_only, forgetting=allow_forget
    )
    seats = Seats(memory, sitting)
    try:
        serve(memory, seats, service, lambda address: _announce(address, service))
    finally:
        _leave(seats)


def _leave(seats: Seats) -> None:
    """Clear the desk. If the store is gone by now, its notes expire by themselves."""
    with suppress(incumbent.IncumbentError):
        seats.close()


def _announce(address: str, service: Service) -> None:
    who = "with a key or token" if service.credentials else "open to this machine, no key needed"
    typer.echo(f"Incumbent {incumbent.__version__} serves models at {address} ({who})", err=True)
