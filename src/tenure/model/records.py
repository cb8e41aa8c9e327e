"""The smaller values: chains, reviews, declarations, working items, environment, erasures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, overload

from tenure.model.fact import Cause, Fact
from tenure.model.schemas import object_schema
from tenure.model.verdict import Verdict


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
        """The fact in office, or None where the chain ended."""
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
    """

    fact: Fact
    kind: Literal["base changed", "contested", "doubted"]
    causes: tuple[Cause, ...] = ()
    rival: Fact | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a fact stands as it does: its chain, and every verdict on it."""

    fact: Fact
    chain: Chain
    verdicts: tuple[Verdict, ...]
    causes: tuple[Cause, ...] = ()
    doubted_by: tuple[Fact, ...] = ()
    """The statements in office that put it in doubt, newest first."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is special about a key, or about every key that matches a pattern."""

    pattern: str
    multi_valued: bool = False
    time_sensitive: bool = False
    write_authority: str | None = None
    requires: tuple[str, ...] = ()

    def matches(self, key: str) -> bool:
        return self.pattern == key or fnmatchcase(key, self.pattern)


class Spot(NamedTuple):
    """Where in the text of a working item a value of a fact is said, in whatever words."""

    fact_id: str
    """"" where it says what is not so at all: a what-if, a wish, a proposal."""
    text: str
    """The value as the fact has it: a part of it, or all that it says."""
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
    """Ids of the facts that it stated; when one of them dies, so does what it said of it."""
    spots: tuple[Spot, ...] = ()
    """Where it says them, as far as that is known."""

    def expired(self, when: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= when


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of conversation that was observed: what it was called and what came of it.

    It keeps nothing of what was said. `digest` begins with a mark of the turn's own, up to "$";
    what follows tells whether a turn that comes again says the same, until something that its
    speaker stated is erased.
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


TURN = "turn "
"""How the names of turns on a desk begin."""


def is_turn(item: WorkingItem) -> bool:
    """Whether a working item is a turn that was observed."""
    return item.key.startswith(TURN) and item.key[len(TURN) : len(TURN) + 1].isdigit()


@dataclass(frozen=True, slots=True)
class Signal:
    """What a provider may return: a value that is not to be used after `expires_at`."""

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
    """What a model was asked for an organization on one day, in numbers."""

    day: date
    """A day in UTC."""
    model: str
    calls: int = 0
    failed: int = 0
    """How many of the calls brought nothing that could be used."""
    turns: int = 0
    """How many turns were read, whichever number of calls it took."""
    input_tokens: int = 0
    output_tokens: int = 0
    micros: int = 0
    """What it cost, in millionths of the currency that the prices are in."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> float:
        """What it cost, in the currency that the prices are in."""
        return self.micros / 1_000_000


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """That a turn asked for all that is its speaker's own to be erased.

    Observing it erases nothing: so much goes only after somebody has confirmed it.
    """

    organization: str
    user_id: str
    permitted: bool
    """Whether the session in which it was said may erase at all."""

    @property
    def how(self) -> str:
        """What does it, once it is confirmed."""
        call = f"memory.forget(organization={self.organization!r}, user_id={self.user_id!r})"
        return call if self.permitted else f"{call}, by somebody who may erase"


@dataclass(frozen=True, slots=True)
class Erasure:
    """The proof of a `forget`: what was removed, by id and count, and nothing of its content."""

    id: str
    organization: str
    at: datetime
    fact_ids: tuple[str, ...]
    quoted_in: tuple[str, ...] = ()
    """Of those, the derived facts that were removed because they repeated erased content."""
    removed: Mapping[str, int] = field(default_factory=dict)
    scrubbed: bool = False
    """Whether freed space of the medium was overwritten too; where other processes hold the file,
    `memory.store.scrub()` does it later."""

    @property
    def digest(self) -> str:
        """A hash over what the proof says, so that a copy of it can be checked."""
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
