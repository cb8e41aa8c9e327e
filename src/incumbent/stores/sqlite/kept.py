"""What a connection has read lately, good for as long as the file stays as it is.

Contexts read the same facts again and again. SQLite tells for each connection whether anything was
committed since it last looked (`data_version`): if not, what was read then is what would be read
now. After a commit, whoever's, a fact is good if the entry of the log that last changed it is still
the same one, which is looked up for many facts at once.

Only for reading: within a transaction that writes, nothing is kept and nothing of it is used.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from incumbent.model.fact import Fact

_MOST = 8_192
_MOST_ANSWERS = 256


class ReadFact(NamedTuple):
    """A fact, with what tells whether its row has changed."""

    since: int
    status: str
    fact: Fact


Facts = dict[str, ReadFact]


class KeptReads:
    """The facts and short answers that one connection has read."""

    def __init__(self) -> None:
        self._version: int | None = None
        self.forget()

    def begin(self) -> None:
        """Take in what is read from now on, unless something is erased meanwhile. To be called
        before a transaction begins: what it reads may be older than an erasure."""
        self._keeps = True

    def forget(self) -> None:
        """Drop everything: it has people's words."""
        self._keeps = False
        self._sure: dict[str, Facts] = {}
        self._older: dict[str, Facts] = {}
        self._count = 0
        self.undoubted: dict[str, set[str]] = {}
        """By organization, the facts that no other puts in doubt."""
        self.answers: dict[tuple[Any, ...], list[Any]] = {}

    def look(self, version: int) -> None:
        """Begin to read the file as it stands now."""
        if version == self._version:
            return
        self._version = version
        for organization, facts in self._sure.items():
            self._older.setdefault(organization, {}).update(facts)
        self._sure = {}
        self.undoubted = {}
        self.answers = {}

    def doubt(self) -> None:
        """Take nothing for sure: this connection itself has written."""
        self._version = None

    def sure(self, organization: str) -> Facts:
        """The facts that are as they were read."""
        return self._sure.setdefault(organization, {})

    def older(self, organization: str) -> Facts:
        """The facts that are as they were read if nothing has changed them since."""
        return self._older.setdefault(organization, {})

    def keep(self, organization: str, kept: ReadFact) -> None:
        if not self._keeps:
            return
        if self._count >= _MOST:
            self._sure, self._older, self._count = {}, {}, 0
        self._count += kept.fact.id not in self.older(organization)
        self.sure(organization)[kept.fact.id] = kept

    def answer(self, asked: tuple[Any, ...], rows: list[Any]) -> None:
        """Keep the rows of a short answer."""
        if not self._keeps:
            return
        if len(self.answers) >= _MOST_ANSWERS:
            self.answers.clear()
        self.answers[asked] = rows


class Connection(sqlite3.Connection):
    """A connection with what it has read."""

    kept: KeptReads
