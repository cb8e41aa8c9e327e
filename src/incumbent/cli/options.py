"""Options that several commands share, as dataclasses, and what they stand for.

A command takes such a class as one parameter, which stands for all of its options.
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import incumbent
from incumbent.cli.declaring import flag, option, options
from incumbent.cli.progress import ProgressLine
from incumbent.cli.servers import is_address, require_schema
from incumbent.model.errors import InvalidInput, StoreError
from incumbent.search.embedders import NAMES

DEFAULT_DB = "incumbent.db"
DEFAULT_SESSION = "cli"
DEFAULT_EMBEDDER = "minilm"
NO_EMBEDDER = "none"
ORGANIZATION = option(
    "NAME",
    "The organization; nothing crosses it.",
    "--organization",
    "--org",
    default="default",
    env="INCUMBENT_ORGANIZATION",
)

TASK = option("ID", "The task at hand: its facts apply too.", env="INCUMBENT_TASK")
DRY_RUN = flag("Show what would come of it, and keep nothing.")

ASK_BEFORE_KEEPING = flag(
    "What a turn says waits in `reviews` until the person approves it.",
    env="INCUMBENT_ASK_BEFORE_KEEPING",
)

_WHO = "Who is asking"
_WHEN = "Looking at the past"
_COMMON = "Store and output"


@options(_COMMON)
class Common:
    """The store, and the form of the output."""

    db: str | None = option(
        "STORE",
        "A SQLite file, a database (postgresql://user@host/database), or a service "
        "(https://host, with its key in INCUMBENT_KEY).",
        env="INCUMBENT_DB",
        shown=DEFAULT_DB,
    )
    embedder: str = option(
        "NAME",
        "What finds facts by meaning: minilm, static (faster, weaker) or none. Another one "
        "than before makes the index anew.",
        default=DEFAULT_EMBEDDER,
        env="INCUMBENT_EMBEDDER",
    )
    json: bool = flag("Print one JSON document.")

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


@options(_WHO)
class Person:
    """Who is asking, but for the session."""

    user: str | None = option("ID", "Your user id.", env="INCUMBENT_USER", shown="your login name")
    name: str | None = option("NAME", "Your name, as a model reads it.")
    authority: str = option(
        "TITLE",
        "Your rung or title: guest, employee, manager, executive, policy, CFO ...",
        default="employee",
        env="INCUMBENT_AUTHORITY",
    )
    organization: str = ORGANIZATION
    department: str | None = option("NAME", "Your department.")
    permission: list[str] | None = option("NAME", "A permission you hold; repeatable.")

    @property
    def attributes(self) -> dict[str, Any]:
        """The person as `memory.session` takes it, but for the user id."""
        return {
            "user_name": self.name,
            "authority": self.authority,
            "organization": self.organization,
            "department": self.department,
            "permissions": tuple(self.permission or ()),
        }


@options(_WHO)
class Asker(Person):
    """The identity that a command acts for."""

    session: str = option(
        "ID",
        "The session: its notes and session-scoped facts.",
        default=DEFAULT_SESSION,
        env="INCUMBENT_SESSION",
    )
    task: str | None = TASK

    def at(self, memory: incumbent.Memory) -> incumbent.Session:
        """A session of this identity. Never closed: its notes are for the next command too."""
        return memory.session(
            user_id=self.user or login_name(),
            session_id=self.session,
            task_id=self.task,
            **self.attributes,
        )


@options(_WHEN)
class When:
    """A look at the past, on either axis of time."""

    as_of: str | None = option(
        "TIME",
        "What was true then: ISO 8601 with a zone, 2026-03-02T09:00:00+00:00.",
        "--as-of",
        "--at",
    )
    known_at: str | None = option(
        "TIME", "As the store knew it then; alone, what it then held to be true now."
    )

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


def require_organization(memory: incumbent.Memory, organization: str, doing: str) -> None:
    """Refuse an organization that a store does not have: the name is misspelt, most likely."""
    there = organizations_of(memory)
    if there is not None and organization not in there:
        names = ", ".join(map(repr, there)) or "none"
        raise InvalidInput(
            f"organization {organization!r} has nothing to {doing}; this store has: {names}; "
            f"choose with --org"
        )


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
