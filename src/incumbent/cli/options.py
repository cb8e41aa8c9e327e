"""Options that several commands share, as dataclasses, and what they stand for.

A command takes such a dataclass as one parameter; `grouped` spreads its fields into options. Each
option therefore has one definition, one help text and one environment variable.
"""

from __future__ import annotations

import getpass
import inspect
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, get_type_hints

import typer

import incumbent
from incumbent.cli.progress import ProgressLine
from incumbent.cli.servers import is_address, require_schema
from incumbent.model.errors import InvalidInput, StoreError
from incumbent.search.embedders import NAMES

DEFAULT_DB = "incumbent.db"
DEFAULT_SESSION = "cli"
DEFAULT_EMBEDDER = "minilm"
NO_EMBEDDER = "none"
ORGANIZATION_HELP = "The organization; nothing crosses it."
Organization = Annotated[
    str,
    typer.Option(
        "--organization",
        "--org",
        envvar="INCUMBENT_ORGANIZATION",
        metavar="NAME",
        help=ORGANIZATION_HELP,
    ),
]

DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would come of it, and keep nothing.")
]

AskBeforeKeeping = Annotated[
    bool,
    typer.Option(
        "--ask-before-keeping",
        envvar="INCUMBENT_ASK_BEFORE_KEEPING",
        help="What a turn says waits in `reviews` until the person approves it.",
    ),
]

_WHO = "Who is asking"
_WHEN = "Looking at the past"
_COMMON = "Store and output"


@dataclass(frozen=True)
class Common:
    """The store, and the form of the output."""

    db: Annotated[
        str | None,
        typer.Option(
            envvar="INCUMBENT_DB",
            metavar="STORE",
            help="A SQLite file, a database (postgresql://user@host/database), or a service "
            "(https://host, with its key in INCUMBENT_KEY).",
            show_default=DEFAULT_DB,
            rich_help_panel=_COMMON,
        ),
    ] = None
    embedder: Annotated[
        str,
        typer.Option(
            envvar="INCUMBENT_EMBEDDER",
            metavar="NAME",
            help="What finds facts by meaning: minilm, static (faster, weaker) or none. Another "
            "one than before makes the index anew.",
            rich_help_panel=_COMMON,
        ),
    ] = DEFAULT_EMBEDDER
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document.", rich_help_panel=_COMMON)
    ] = False

    @property
    def path(self) -> str:
        return self.db or DEFAULT_DB

    @property
    def settings(self) -> incumbent.Settings:
        """The settings of the memory, by these options."""
        if self.embedder not in (*NAMES, NO_EMBEDDER):
            known = ", ".join((*NAMES, NO_EMBEDDER))
            raise InvalidInput(f"--embedder {self.embedder!r} is not one of {known}")
        return incumbent.Settings(embedder=None if self.embedder == NO_EMBEDDER else self.embedder)

    @contextmanager
    def open(
        self, *, create: bool = False, settings: incumbent.Settings | None = None
    ) -> Iterator[incumbent.Memory]:
        """Open the memory. A command that only reads must not create an empty file after a typo."""
        settings = settings or self.settings
        if not create:
            self._require_store()
        with incumbent.open(self.path, settings=settings) as memory:
            memory.progress = telling = ProgressLine()
            try:
                yield memory
            finally:
                telling.close()

    def _require_store(self) -> None:
        if self.path.startswith(("http://", "https://")):
            return  # a service has opened its store already
        if is_address(self.path):
            require_schema(self.path)
        elif self.path != ":memory:" and not os.path.exists(self.path):
            raise StoreError(
                f"there is no file {self.path}; name yours with --db PATH or INCUMBENT_DB, or "
                f"start "
                f"one with: incumbent write KEY VALUE"
            )


@dataclass(frozen=True)
class Asker:
    """The identity that a command acts for."""

    user: Annotated[
        str | None,
        typer.Option(
            envvar="INCUMBENT_USER",
            metavar="ID",
            help="Your user id.",
            show_default="your login name",
            rich_help_panel=_WHO,
        ),
    ] = None
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Your name, as a model reads it.", rich_help_panel=_WHO),
    ] = None
    authority: Annotated[
        str,
        typer.Option(
            envvar="INCUMBENT_AUTHORITY",
            metavar="TITLE",
            help="Your rung or title: guest, employee, manager, executive, policy, CFO ...",
            rich_help_panel=_WHO,
        ),
    ] = "employee"
    organization: Annotated[
        str,
        typer.Option(
            "--organization",
            "--org",
            envvar="INCUMBENT_ORGANIZATION",
            metavar="NAME",
            help=ORGANIZATION_HELP,
            rich_help_panel=_WHO,
        ),
    ] = "default"
    department: Annotated[
        str | None, typer.Option(metavar="NAME", help="Your department.", rich_help_panel=_WHO)
    ] = None
    permission: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A permission you hold; repeatable.", rich_help_panel=_WHO
        ),
    ] = None
    session: Annotated[
        str,
        typer.Option(
            envvar="INCUMBENT_SESSION",
            metavar="ID",
            help="The session: its notes and session-scoped facts.",
            rich_help_panel=_WHO,
        ),
    ] = DEFAULT_SESSION
    task: Annotated[
        str | None,
        typer.Option(
            envvar="INCUMBENT_TASK",
            metavar="ID",
            help="The task at hand: its facts apply too.",
            rich_help_panel=_WHO,
        ),
    ] = None

    def at(self, memory: incumbent.Memory) -> incumbent.Session:
        """A session of this identity. Never closed: its notes are for the next command too."""
        return memory.session(
            user_id=self.user or login_name(),
            user_name=self.name,
            authority=self.authority,
            organization=self.organization,
            department=self.department,
            permissions=self.permission or (),
            session_id=self.session,
            task_id=self.task,
        )


@dataclass(frozen=True)
class When:
    """A look at the past, on either axis of time."""

    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            "--at",
            metavar="TIME",
            help="What was true then: ISO 8601 with a zone, 2026-03-02T09:00:00+00:00.",
            rich_help_panel=_WHEN,
        ),
    ] = None
    known_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="As the store knew it then; alone, what it then held to be true now.",
            rich_help_panel=_WHEN,
        ),
    ] = None

    def look(self, memory: incumbent.Memory, session: incumbent.Session) -> incumbent.Session:
        """The session itself, or a read-only one in the past."""
        if self.as_of is None and self.known_at is None:
            return session
        when = parse_moment(self.as_of, "--as-of")
        return session.as_of(
            memory.now() if when is None else when,
            known_at=parse_moment(self.known_at, "--known-at"),
        )


def organizations_of(memory: incumbent.Memory) -> list[str] | None:
    """The organizations of a store; None behind a service, which does not list them."""
    try:
        return list(memory.store.organizations())
    except InvalidInput:
        return None


def login_name() -> str:
    """The name of the login on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may run under a number that has no name
        raise InvalidInput("this login has no name; say who you are with --user ID") from None


def parse_moment(text: str | None, option: str) -> datetime | None:
    """A moment given as ISO 8601. The library refuses one without a zone."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"{option} {text!r} is not a time; write it as 2026-03-02T09:00:00+00:00"
        ) from None


def parse_value(text: str, as_json: bool) -> Any:
    """A value given on the command line: the text itself, or the JSON in it."""
    if not as_json:
        return text
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"value {text!r:.80} is not JSON ({error}); "
            f"leave out --json-value to store it as a string"
        ) from None


def _refuse_constant(name: str) -> Any:
    raise InvalidInput(f"value holds {name}, which JSON cannot carry; use null or a string")


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """The same command, with each dataclass among its parameters spread into its fields."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters.extend(_fields_of(groups[name]))
        else:
            annotation = hints[name]
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=annotation, kind=kind))

    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


@cache
def _fields_of(group: Any) -> tuple[inspect.Parameter, ...]:
    hints = get_type_hints(group, include_extras=True)
    return tuple(
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    )
