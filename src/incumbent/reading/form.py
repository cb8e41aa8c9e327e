"""The form of every reading: what a turn states, and what that does to what is known.

Whoever reads (the rules with the model that ships, a user's own model, somebody else's) answers in
this form. A statement is a whole stretch of the turn, in its own words. What a reading may touch,
and what comes of a relation, is decided elsewhere, in one place for all readers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from incumbent.model.fact import Part

Span = tuple[int, int]
RETOLD = "retold"
"""The cue of words that are not straight out the speaker's own: quoted, heard, supposed."""
PARTLY = "partly"
"""The cue of a sentence that says something before it supposes: "new knee in May, or so he says if
all goes well"."""
READ = "read"
"""A cue: a user's model chose the statement."""
NAMED = "named"
"""A cue: a user's model gave the name, which is then taken over only where it says so."""


class StatementKind(StrEnum):
    """What a stretch of a turn is for."""

    STATES = "states"
    """It says that something is so, or wants it so from now on."""
    ORDERS = "orders"
    """It asks for something to be done now."""
    ASKS = "asks"
    SUPPOSES = "supposes"
    """A what-if, a wish, a condition: nothing of it is so."""
    PROPOSES = "proposes"
    """A draft that is put forward."""
    REPORTS = "reports"
    """Somebody else's words: quoted, pasted or retold."""
    RECALLS = "recalls"
    """It tells how things were."""
    AGREES = "agrees"
    """It takes up what was offered: "Yes, please."."""
    CHATS = "chats"
    VERBATIM = "verbatim"
    """Code, logs: kept word for word."""


class RelationKind(StrEnum):
    """What a statement does to something that is known."""

    REPLACES = "replaces"
    PART = "part"
    """It changes one stretch of it; the rest stands."""
    ENDS = "ends"
    CONFIRMS = "confirms"
    ADDS = "adds"
    DEPENDS = "depends"
    """The statement rests on it."""
    REVERTS = "reverts"
    """What was so before it counts again."""
    DOUBTS = "doubts"
    LATER = "later"
    """It takes its place on a day to come."""


class ActKind(StrEnum):
    """What a person asks of the memory itself."""

    ERASE = "erase"
    ERASE_ALL = "erase_all"
    RETRACT = "retract"
    UNDO = "undo"
    REVERT = "revert"


GOING_BACK = (ActKind.UNDO, ActKind.REVERT)


class Claim(NamedTuple):
    """A name in plain sight: of what, which attribute, and the value."""

    subject: str | None
    attribute: str
    value: str
    start: int
    """Where the value is in the turn."""
    end: int
    is_own: bool = False
    """Whether it is the speaker's: "my", "I live in"."""


class Term(NamedTuple):
    """From when until when a statement holds, where it says so."""

    begins: datetime | None
    ends: datetime | None


@dataclass(frozen=True)
class Statement:
    """A whole stretch of a turn: `turn[start:end]` is its text."""

    text: str
    start: int
    end: int
    kind: StatementKind
    chance: float = 1.0
    """How surely it is of that kind."""
    claim: Claim | None = None
    term: Term | None = None
    by: str | None = None
    """The title whose word it says it is: "per the CFO"."""
    parts: tuple[Part, ...] = ()
    """The values in it, placed by where the statement begins."""
    cues: tuple[str, ...] = ()
    """What else was noticed: "correction", "session", "task"."""
    awaits: frozenset[str] = frozenset()
    """The words for the thing that it waits for: its claim holds only from then on."""
    becomes: tuple[str, ...] = ()
    """What that thing has to become, in the forms in which it may be said."""
    wording: str = ""
    """The same so that it can be understood alone, where a user's model gave that. The `parts` are
    then of these words, and the `text` is kept beside them as the quote."""


@dataclass(frozen=True)
class Relation:
    """What a statement does to a fact."""

    kind: RelationKind
    fact_id: str
    statement: int | None
    """Which statement of the reading does it, by its number."""
    chance: float = 1.0
    rests_on: str = ""
    """The words that say so, or the name of the reader who thinks so."""
    is_told: bool = False
    """Whether the words themselves say that it is a change."""
    old: Span | None = None
    """The stretch of the fact that changes."""
    new: Span | None = None
    """The stretch of the turn that takes its place."""
    begins: datetime | None = None
    earlier: int | None = None
    """Which earlier statement of the same reading it speaks of, where that is no fact yet."""


@dataclass(frozen=True)
class Act:
    """A request to the memory, typed by the person and addressed to it."""

    kind: ActKind
    what: str
    """The words for what is meant; empty for what was said last."""
    start: int
    end: int
    is_sure: bool = True
    """Whether nothing speaks against it. Otherwise the person is asked."""


@dataclass(frozen=True)
class Reading:
    """What a reader makes of a turn."""

    statements: tuple[Statement, ...] = ()
    relations: tuple[Relation, ...] = ()
    acts: tuple[Act, ...] = ()


@dataclass(frozen=True)
class Known:
    """A fact that a turn may be about, as a reader sees it."""

    id: str
    text: str
    """As it was said, or as a sentence of its name and its value."""
    key: str = ""
    """Its attribute; empty where it is kept as said."""
    subject: str | None = None
    value: str = ""
    parts: tuple[Part, ...] = ()
    likeness: float = 0.0
    """How near in meaning it is to the turn."""
    age: int = 0
    """How many facts of this person were filed after it."""
    is_here: bool = False
    """Whether it was said in this conversation."""
    by_machine: bool = False
    speaker: str = "user"


@dataclass(frozen=True)
class Heard:
    """A turn with what a reader needs to understand it."""

    text: str
    speaker: str
    at: datetime
    previous: str = ""
    """What was said right before it in this conversation."""
    previous_by_machine: bool = False
    known: tuple[Known, ...] = field(default=())
    """What it may be about, the likeliest first."""


class TurnReader(Protocol):
    """Reads turns. It sees only what the person may see, and touches nothing."""

    name: str

    def read(self, heard: Heard) -> Reading:
        """What a turn states and does. Everything it names is in `heard`."""
        ...
