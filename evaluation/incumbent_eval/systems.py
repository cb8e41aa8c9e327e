"""Systems under evaluation: a small protocol that anything with a memory can speak.

The evaluations that hold Incumbent beside others know nothing but this. An adapter states its
abilities in `can`. Checks beyond these are reported as such and never scored as a failure, or as
nought.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

Progress = Callable[[str, int, int | None], None]
"""The callback for progress: the work, the amount done, and the total."""


class Ability(StrEnum):
    """Something that a system may or may not be able to do."""

    WRITE = "write"
    """Take a value for a key."""
    OBSERVE = "observe"
    """Take a turn of a conversation."""
    SUPERSEDE = "supersede"
    """Take a value in the place of another that is named."""
    RETRACT = "retract"
    """Take a value back, with nothing in its place."""
    UNDO = "undo"
    """Undo a write."""
    DEPEND = "depend"
    """Know that a value follows from others."""
    AWAIT = "await"
    """Keep a value that waits, and takes over when another one is replaced."""
    DRAFT = "draft"
    """Keep drafts and suppositions apart from real values."""
    AUTHORITY = "authority"
    """Know who outranks whom."""
    DOUBT = "doubt"
    """Keep the value if a statement against it is weak, and show that they disagree."""
    VALIDITY = "validity"
    """Know from when until when a value holds."""
    LATE = "late arrival"
    """Put late values in their place by the time they were said."""
    AS_OF = "as of"
    """Tell the values that held, or were known, at an earlier time."""
    SESSION = "session"
    """Keep one session's values from another."""
    PERSON = "person"
    """Keep one person's values from another."""
    PERMISSION = "permission"
    """Keep values that take a permission from those who lack it."""
    ERASE = "erase"
    """Erase one's own values for good, and nothing of others."""
    ORGANIZATION = "organization"
    """Keep one organization's values from another."""
    BUDGET = "budget"
    """Hold a token budget."""


class CannotDo(Exception):
    """A system was asked for something that it does not do."""

    def __init__(self, ability: Ability) -> None:
        super().__init__(f"cannot: {ability}")
        self.ability = ability


class Refused(Exception):
    """A system would not do something, and nothing was changed; the message is the system's."""


@dataclass(frozen=True)
class Who:
    """The person who writes, says or asks something."""

    user: str = "ada"
    organization: str = "acme"
    authority: str = "employee"
    session: str = "one"
    permissions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A value to be written."""

    key: str
    value: str
    subject: str | None = None
    authority: str | None = None
    """The authority with which it is written; None means the writer's own."""
    supersedes: str | None = None
    """The name, from `write`, of the value that this one replaces."""
    depends_on: tuple[str, ...] = ()
    """The names, from `write`, of the values that this one follows from."""
    when_superseded: str | None = None
    """The name, from `write`, of the value that this one waits for: once that is replaced, it
    holds."""
    becomes: str | None = None
    """The value that must replace that one; None means any."""
    scope: str = "global"
    """Or "draft", "hypothetical", "session"."""
    is_private: bool = False
    """Whether it is the writer's alone."""
    is_constraint: bool = False
    requires: tuple[str, ...] = ()
    """The permissions that reading it takes."""
    is_doubtful: bool = False
    """Whether it is too weak to replace the value it contradicts."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    said_at: datetime | None = None
    """The time at which it was said, and from which it held; None means now. Earlier is a late
    arrival."""


@runtime_checkable
class System(Protocol):
    """A memory under evaluation, empty when it is made."""

    name: str
    can: frozenset[Ability]

    def move_to(self, moment: datetime) -> None:
        """Set the time. It is never earlier than before."""
        ...

    def write(self, who: Who, entry: Entry) -> str:
        """Write a value; return a name for it.

        A value that is only kept out (overruled, a draft) is taken like any other. `Refused` is for
        a value that is not taken at all, here as in the calls below.
        """
        ...

    def retract(self, who: Who, written: str) -> None:
        """Retract a value that was written."""
        ...

    def undo(self, who: Who, written: str) -> None:
        """Undo a write as if it had not been made: the value it replaced is back."""
        ...

    def observe(self, who: Who, text: str, speaker: str = "user") -> None:
        """Take a turn of a conversation."""
        ...

    def context(
        self,
        who: Who,
        query: str,
        budget: int,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        history: bool = False,
    ) -> str:
        """The text that a model would get to answer a question with.

        `as_of` asks for the values that held at that time, `known_at` for those that were known at
        it. `history` says that the question is about how something came about: earlier values are
        wanted too. A system that does not tell such questions from others may ignore it.
        """
        ...

    def tokens(self, text: str) -> int:
        """The number of tokens of a text, as the system counts them."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@runtime_checkable
class Accountable(Protocol):
    """A system that tells more than a context: its omissions with their reasons, and its
    knowledge."""

    def account(self, who: Who, query: str, budget: int) -> str:
        """Everything that somebody can learn beside the text of a context, without ids of its
        own."""
        ...


@runtime_checkable
class Erasing(Protocol):
    """A system that erases values for good."""

    def erase(self, who: Who, written: str) -> None:
        """Erase a value, if it is theirs to erase."""
        ...


@runtime_checkable
class TellingSystem(Protocol):
    """A system that tells the outcome of a write."""

    def told(self, written: str) -> str:
        """Everything that the writer was told, without ids and times of its own."""
        ...


Maker = Callable[[], System]
"""Makes a fresh, empty system."""
