"""The smaller values: chains, reviews, changes, declarations, working items, environment,
erasures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload

from incumbent.model.fact import Cause, Fact
from incumbent.model.schemas import object_schema
from incumbent.model.verdict import Verdict

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chain(Sequence[Fact]):
    """The facts linked by supersession, oldest first.

    Invariants: acyclic; at most one of a single-valued address is in office.
    """

    facts: tuple[Fact, ...]
    overruled: tuple[Fact, ...] = ()
    """Statements about the same thing that never took office."""

    in_office: str | None = None
    """The id of the fact that the session goes by."""

    @property
    def live(self) -> Fact | None:
        """The fact in office, or None if the chain ended."""
        return next((fact for fact in self.facts if fact.id == self.in_office), None)

    @property
    def values(self) -> tuple[Any, ...]:
        return tuple(fact.value for fact in self.facts)

    def __str__(self) -> str:
        return " -> ".join(str(fact) for fact in self.facts)

    @overload
    def __getitem__(self, index: int) -> Fact: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Fact, ...]: ...
    def __getitem__(self, index: int | slice) -> Fact | tuple[Fact, ...]:
        return self.facts[index]

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)


@dataclass(frozen=True, slots=True)
class Review:
    """A question for a person: is this fact still right?

    `kind` is "base changed" for a derived fact whose base changed, "contested" for a statement
    that contradicts the fact in office on weak evidence; `rival` is then that fact. It is "doubted"
    for a fact in office that a later statement may have replaced; `rival` is the newest of those.
    And it is "unapproved" for what a turn said and what is kept only once its author approves it;
    `rival` is the fact in office that it would replace.
    """

    fact: Fact
    kind: Literal["base changed", "contested", "doubted", "unapproved"]
    causes: tuple[Cause, ...] = ()
    rival: Fact | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons for a fact's status: its chain, and every verdict on it."""

    fact: Fact
    chain: Chain
    verdicts: tuple[Verdict, ...]
    causes: tuple[Cause, ...] = ()
    doubted_by: tuple[Fact, ...] = ()
    """The statements in office that put it in doubt, newest first."""


@dataclass(frozen=True, slots=True)
class Change:
    """A fact as it is and as it would be, if what was rehearsed were done."""

    before: Fact | None
    """None for a fact that would be new."""
    after: Fact | None
    """None for a fact that would be erased."""


@dataclass(frozen=True, slots=True)
class Rehearsed(Generic[T]):
    """What a call would return, and what it would change. A service answers with it."""

    result: T
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """The special rules of a key, or of every key that matches a pattern."""

    pattern: str
    multi_valued: bool = False
    time_sensitive: bool = False
    write_authority: str | None = None
    requires: tuple[str, ...] = ()

    def matches(self, key: str) -> bool:
        return self.pattern == key or fnmatchcase(key, self.pattern)


class Spot(NamedTuple):
    """The place in the text of a working item that states a value of a fact, in any words."""

    fact_id: str
    """"" where it says what is not so at all: a what-if, a wish, a proposal."""
    text: str
    """The value as the fact has it: a part of it, or the whole."""
    start: int
    end: int

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return object_schema(cls, handler)


@dataclass(frozen=True, slots=True)
class WorkingItem:
    """A turn or scratch value of one session. Layer 3."""

    key: str
    value: Any
    created_at: datetime
    expires_at: datetime | None = None
    states: tuple[str, ...] = ()
    """Ids of the facts that it stated itself. When one of them leaves office, its words about it
    are cut."""
    spots: tuple[Spot, ...] = ()
    """The places where it states them, or says again a value of what others stated."""

    @property
    def stated(self) -> set[str]:
        """Ids of all facts that it states, or whose values it says again."""
        return {*self.states, *(spot.fact_id for spot in self.spots if spot.fact_id)}

    def expired(self, when: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= when


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of conversation that was observed: its ref and its results.

    It keeps none of its words; passages do. `digest` begins with a mark of the turn's own, up to
    "$"; the rest tells whether a repeated turn says the same, until a fact that its speaker stated
    is erased.
    """

    session_id: str
    turn_index: int
    speaker: str
    at: datetime
    digest: str
    ref: str | None = None
    fact_ids: tuple[str, ...] = ()
    """The facts that it brought."""
    verdict_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph of a turn that was observed, in the words of whoever said it."""

    session_id: str
    turn_index: int
    place: int
    """Its number among the paragraphs of the turn, from 0 on."""
    speaker: str
    at: datetime
    text: str
    states: tuple[str, ...] = ()
    """Ids of the facts that the turn stated."""
    spots: tuple[Spot, ...] = ()
    """The places in this text where it states them, as far as they are known."""
    terms: str = ""
    """The terms that it is found by, separated by spaces."""
    vector: bytes | None = None
    """Its meaning, one signed byte a dimension."""


class KeptPassage(NamedTuple):
    """A passage with its number in the store, and the person whose session it is from."""

    number: int
    """Later passages have larger numbers."""
    user_id: str
    passage: Passage


TURN = "turn "
"""The beginning of the names of turns on a desk."""


def item_key(turn: Turn) -> str:
    """What a turn is called on the desk."""
    return f"{TURN}{turn.turn_index} ({turn.speaker})"


def is_turn(item: WorkingItem) -> bool:
    """Whether a working item is a turn that was observed."""
    return item.key.startswith(TURN) and item.key[len(TURN) : len(TURN) + 1].isdigit()


@dataclass(frozen=True, slots=True)
class Signal:
    """A value from a provider that is not to be used after `expires_at`."""

    value: Any
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Signals read fresh. Layer 4. `unavailable` names the providers that failed, and why."""

    current_time: datetime
    current_date: date
    timezone: str
    location: str | None = None
    external_data: Mapping[str, Any] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """The calls of a model for an organization on one day, in numbers."""

    day: date
    """A day in UTC."""
    model: str
    calls: int = 0
    failed: int = 0
    """Calls that brought nothing that could be used."""
    turns: int = 0
    """Turns that were read, in any number of calls."""
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0
    """The cost, in millionths of the currency of the prices."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> float:
        """The cost, in the currency of the prices."""
        return self.micros / 1_000_000


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """A turn's request to erase everything of its speaker's own.

    Observing it erases nothing: an erasure of that size takes a confirmation.
    """

    organization: str
    user_id: str
    permitted: bool
    """Whether the session of the turn may erase at all."""

    @property
    def how(self) -> str:
        """The call that carries it out, once it is confirmed."""
        call = f"memory.forget(organization={self.organization!r}, user_id={self.user_id!r})"
        return call if self.permitted else f"{call}, by somebody who may erase"


@dataclass(frozen=True, slots=True)
class Erasure:
    """The proof of a `forget`: ids and counts of the erased facts, and none of their content."""

    id: str
    organization: str
    at: datetime
    fact_ids: tuple[str, ...]
    quoted_in: tuple[str, ...] = ()
    """Of those, the derived facts that were removed because they repeated erased content."""
    removed: Mapping[str, int] = field(default_factory=dict)
    scrubbed: bool = False
    """Whether freed space of the medium was overwritten too. If other processes hold the file,
    `memory.store.scrub()` does it later."""

    @property
    def digest(self) -> str:
        """A hash over the proof, so that a copy of it can be checked."""
        said = "\n".join(
            [
                self.id,
                self.organization,
                self.at.isoformat(),
                *self.fact_ids,
                *(f"{kind}={count}" for kind, count in sorted(self.removed.items())),
            ]
        )
        return hashlib.sha256(said.encode()).hexdigest()
