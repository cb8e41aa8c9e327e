"""What a system under evaluation does: a small protocol that anything with a memory can speak.

The evaluations that hold Tenure beside others know nothing but this. An adapter says what it `can`
do; what lies beyond that is reported as such and never scored as a failure, or as nought.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, runtime_checkable

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and of how much."""


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
    """Keep what is only a draft or a supposition out of what is real."""
    AUTHORITY = "authority"
    """Know who outranks whom."""
    DOUBT = "doubt"
    """Keep what holds where a statement against it is weak, and show that they disagree."""
    VALIDITY = "validity"
    """Know from when until when a value holds."""
    LATE = "late arrival"
    """Put what comes in late in its place by when it was said."""
    AS_OF = "as of"
    """Tell what was so, or was known, at an earlier time."""
    SESSION = "session"
    """Keep what is one session's from another."""
    PERSON = "person"
    """Keep what is one person's from another."""
    PERMISSION = "permission"
    """Keep what takes a permission from those who lack it."""
    ERASE = "erase"
    """Erase what one wrote, for good, and nothing of others."""
    ORGANIZATION = "organization"
    """Keep what is one organization's from another."""
    BUDGET = "budget"
    """Hold a token budget."""


class CannotDo(Exception):
    """A system was asked for something that it does not do."""

    def __init__(self, ability: Ability) -> None:
        super().__init__(f"cannot: {ability}")
        self.ability = ability


class Refused(Exception):
    """A system would not do something, and nothing was changed; the message is what it said."""


@dataclass(frozen=True)
class Who:
    """Who writes, says or asks something."""

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
    """With whose authority it is written; None means the writer's own."""
    supersedes: str | None = None
    """What `write` gave for the value that this one replaces."""
    depends_on: tuple[str, ...] = ()
    """What `write` gave for the values that this one follows from."""
    when_superseded: str | None = None
    """What `write` gave for the value that this one waits for: once that is replaced, it holds."""
    becomes: str | None = None
    """What that value must be replaced by; None means by anything."""
    scope: str = "global"
    """Or "draft", "hypothetical", "session"."""
    is_private: bool = False
    """Whether it is the writer's alone."""
    is_constraint: bool = False
    requires: tuple[str, ...] = ()
    """The permissions that reading it takes."""
    is_doubtful: bool = False
    """Whether there is too little to go by for it to replace what it contradicts."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    said_at: datetime | None = None
    """When it was said, and from when it held; None means now. Earlier is a late arrival."""


@runtime_checkable
class System(Protocol):
    """A memory under evaluation, empty when it is made."""

    name: str
    can: frozenset[Ability]

    def move_to(self, moment: datetime) -> None:
        """What time it is from now on. Never earlier than before."""
        ...

    def write(self, who: Who, entry: Entry) -> str:
        """Write a value; what comes back names it afterwards.

        A value that is only kept out (overruled, a draft) is taken like any other. `Refused` is
        for what is not taken at all, here as in the calls below.
        """
        ...

    def retract(self, who: Who, written: str) -> None:
        """Take a value back that was written."""
        ...

    def undo(self, who: Who, written: str) -> None:
        """Undo a write as if it had not been made: what it replaced is back."""
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
        """What a model would be given to answer a question with.

        `as_of` asks for what held at that time, `known_at` for what was known at it. `history`
        says that the question is about how something came to be what it is: what held before is
        wanted too. A system that tells no such question from others may pass over it.
        """
        ...

    def tokens(self, text: str) -> int:
        """How many tokens a text has, as the system counts them."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@runtime_checkable
class Accountable(Protocol):
    """A system that tells more than a context: what it left out of it and why, what it knows."""

    def account(self, who: Who, query: str, budget: int) -> str:
        """All that somebody can learn beside the text of a context, without ids of its own."""
        ...


@runtime_checkable
class Erasing(Protocol):
    """A system that erases for good what somebody wrote."""

    def erase(self, who: Who, written: str) -> None:
        """Erase a value, if it is theirs to erase."""
        ...


@runtime_checkable
class TellingSystem(Protocol):
    """A system that says what became of a write."""

    def told(self, written: str) -> str:
        """All that the writer was told, without ids and times of its own."""
        ...


Maker = Callable[[], System]
"""Makes a fresh, empty system."""
