"""Facts: a value at an address, with its provenance and its tenure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal, NamedTuple

from incumbent.model.errors import InvalidInput
from incumbent.model.making import quickly_made
from incumbent.model.schemas import object_schema
from incumbent.model.scope import Place, Scope
from incumbent.model.standing import is_instruction, names_preference
from incumbent.model.values import text_of

SourceType = Literal["conversation", "state_write", "system", "policy"]
SOURCE_TYPES: tuple[SourceType, ...] = ("conversation", "state_write", "system", "policy")


UNNAMED = ""
"""The key of a fact that was kept as it was said. An erased one has none left, either."""
CAPABILITY = "capability:"
"""The beginning of a permission to read and write the facts that a capability learned."""


class MemoryType(StrEnum):
    """The memory that a fact belongs to. It decides who may read the fact."""

    USER = "user"
    CAPABILITY = "capability"
    ORGANIZATIONAL = "organizational"


class Status(StrEnum):
    """The state of a fact's tenure. Only `office` is valid."""

    OFFICE = "office"
    SUPERSEDED = "superseded"
    OVERRULED = "overruled"
    CONTESTED = "contested"
    WAITING = "waiting"
    RETRACTED = "retracted"
    DISCARDED = "discarded"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    ERASED = "erased"


# A fact in one of these was true for a while, and as-of reads must be able to find it.
SERVED = frozenset({Status.OFFICE, Status.SUPERSEDED, Status.RETRACTED, Status.EXPIRED})


class Part(NamedTuple):
    """A value within the words of a fact: its kind, its text, and its role."""

    kind: str
    """The sort of value: a date, money, a name, a term."""
    text: str
    normal: str
    """A form in which equal values are equal, however they were written."""
    role: str = ""
    """Its role in the statement: "from" and "to" tell two places apart."""
    start: int = 0
    end: int = 0
    """The end of its span in the fact's text."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return object_schema(cls, handler)


class Said(NamedTuple):
    """A turn in which something was said, and the place in it."""

    turn_index: int
    speaker: str
    ref: str | None = None
    start: int = 0
    end: int = 0

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return object_schema(cls, handler)


@dataclass(frozen=True, slots=True)
class Source:
    """The provenance of a fact."""

    type: SourceType = "state_write"
    name: str | None = None
    turn_index: int | None = None
    event_index: int | None = None
    authority: str | None = None
    speaker: str | None = None
    ref: str | None = None
    span: tuple[int, int] | None = None
    """The place in the turn."""
    quote: str | None = None
    """The words it was taken from."""
    parts: tuple[Part, ...] = ()
    """The values within those words."""
    earlier: tuple[Said, ...] = ()
    """Earlier turns whose words it keeps: a partial correction repeats the rest."""
    inferred: tuple[str, ...] = ()
    """The fields of the fact that were read off its wording, and may be overridden."""
    becomes: tuple[str, ...] = ()
    """The values that the awaited fact must become, in their possible forms; empty if any change
    will do."""
    by_machine: bool = False
    """Whether an assistant or a tool said it. Its words keep no value alive that a person
    replaced."""
    composed: bool = False
    """Whether its wording was put together from what was said, and nobody said it so."""

    # The one value that requests hold: a field that it does not have is a slip.
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    def __post_init__(self) -> None:
        if self.type not in SOURCE_TYPES:
            raise InvalidInput(f"source type {self.type!r} is not one of {', '.join(SOURCE_TYPES)}")


class Address(NamedTuple):
    """The address of a fact. It holds one valid fact at a time for each audience, unless the key is
    declared multi-valued."""

    organization: str
    owner: str
    subject: str
    key: str
    scope: Scope
    scope_id: str


class Basis(NamedTuple):
    """One leg a derived fact stands on.

    `base` is the fact it was derived from; `stands_on` the present end of that fact's chain.
    """

    base: str
    stands_on: str

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return object_schema(cls, handler)


class Cause(NamedTuple):
    """The reason why a fact needs review: the base that changed, and the path from there.

    `path` runs from the base to the fact itself, both included. `now` is the successor of the base,
    or None if there is none.
    """

    base: str
    now: str | None
    path: tuple[str, ...]

    @property
    def token(self) -> str:
        """The name of this cause in an acknowledgement. A later change of the same base is another
        token."""
        return f"{self.base}>{self.now or ''}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return object_schema(cls, handler)


# Members of an enum are looked up in a roundabout way each time; every write asks for these.
_OFFICE = Status.OFFICE
_CAPABILITY_MEMORY = MemoryType.CAPABILITY


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A value at an address, with provenance, validity, scope, authority and dependencies.

    Invariants: the content (down to `time_sensitive`) never changes once written, except that an
    erasure empties it; `superseded_by` is set exactly while `status` is superseded, and kept by an
    erasure; `valid_from < valid_until`; a fact that waits has not started.
    """

    # what was said, by whom, about what
    id: str
    organization: str
    owner: str = ""
    subject: str | None = None
    key: str
    value: Any
    source: Source = Source()
    timestamp: datetime
    recorded_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    memory_type: MemoryType = MemoryType.USER
    scope: Scope = Scope.GLOBAL
    scope_id: str | None = None
    authority: str
    requires: tuple[str, ...] = ()
    min_authority: str | None = None
    depends_on: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """The facts that it puts in doubt without taking their place."""
    when_superseded: str | None = None
    is_constraint: bool = False
    constraint_type: str | None = None
    multi_valued: bool = False
    time_sensitive: bool = False

    # how its tenure stands
    status: Status = Status.OFFICE
    superseded_by: str | None = None
    predecessors: tuple[str, ...] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    standing: str = ""
    confirmed_at: datetime | None = None
    awaits: str | None = None
    basis: tuple[Basis, ...] = ()
    causes: tuple[Cause, ...] = ()
    acknowledged: frozenset[str] = frozenset()

    # read off the rest of the store, for the reader's convenience
    derived_facts: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the fact holds office."""
        return self.status is _OFFICE

    @property
    def supersedes(self) -> str | None:
        """The fact that this one superseded; `predecessors` has all, if there were several."""
        return self.predecessors[0] if self.predecessors else None

    @property
    def doubt_token(self) -> str:
        """What an acknowledgement of a fact names that this one puts in doubt."""
        return f"{self.id}~"

    @property
    def needs_review(self) -> bool:
        """Whether a base of the fact has changed since."""
        return bool(self.causes)

    @property
    def is_unapproved(self) -> bool:
        """Whether it waits until somebody approves it: for no other fact, and for no day."""
        return self.status is Status.WAITING and self.awaits is None and self.started_at is None

    @property
    def was_never_kept(self) -> bool:
        """Whether it waits until its author approves it, or was turned down. It is the author's
        alone, and shown nowhere."""
        return self.is_unapproved or (self.status is Status.DISCARDED and self.scope.is_real)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The values within its words, if it came from text."""
        return self.source.parts

    @property
    def place(self) -> Place:
        return (self.scope, self.scope_id or "")

    @property
    def address(self) -> Address:
        return Address(
            self.organization,
            self.owner,
            self.subject or "",
            self.key,
            self.scope,
            self.scope_id or "",
        )

    @property
    def capability(self) -> str | None:
        """The capability whose memory it is: "" for a fact that one agent learned for itself, None
        for a fact of no capability."""
        if self.memory_type is not _CAPABILITY_MEMORY:
            return None
        named = (name for name in self.requires if name.startswith(CAPABILITY))
        return next(named, CAPABILITY)[len(CAPABILITY) :]

    @property
    def audience(self) -> str:
        """The conditions on its readers beyond its owner, as a text: "" if there are none.

        Two facts of different audiences may both be valid at one address: a writer who may not see
        the one must not notice it when writing the other. A fact that a capability learned has its
        own place there as well, for any reader.
        """
        learned = self.memory_type is _CAPABILITY_MEMORY
        if not (learned or self.requires or self.min_authority):
            return ""
        kind = self.memory_type.value if learned else ""
        requires = json.dumps(self.requires, ensure_ascii=False, separators=(",", ":"))
        return f"{kind}|{requires if self.requires else ''}|{self.min_authority or ''}"

    @property
    def order(self) -> datetime:
        """The moment that orders a chain: of the statement, or of the reading for a time-sensitive
        key.

        A contingent fact speaks from the moment it takes office.
        """
        own = self.valid_from if self.time_sensitive else self.timestamp
        if self.when_superseded is not None and self.started_at is not None:
            own = max(own, self.started_at)
        return max(own, self.confirmed_at) if self.confirmed_at else own

    @property
    def until(self) -> datetime | None:
        """The end of its validity, past or future, as far as it is known."""
        if self.ended_at is None:
            return self.valid_until
        return self.ended_at if self.valid_until is None else min(self.ended_at, self.valid_until)

    def held_at(self, when: datetime) -> bool:
        """Whether the fact was in office at that moment of valid time."""
        if self.status is not _OFFICE and self.status not in SERVED:
            return False
        if self.started_at is None or when < self.started_at:
            return False
        if self.ended_at is None and self.valid_until is None:
            return True
        until = self.until
        return until is None or when < until

    @property
    def is_unnamed(self) -> bool:
        """Whether it was kept as it was said, under no name."""
        return not self.key

    @property
    def is_standing(self) -> bool:
        """Whether it is what a person asks of an assistant from then on, or a preference."""
        return (
            self.is_unnamed
            and not (self.is_constraint or self.source.by_machine)
            and self.memory_type is MemoryType.USER
            and isinstance(self.value, str)
            and (is_instruction(self.value) or names_preference(self.value))
        )

    @property
    def comes_first(self) -> bool:
        """Whether it belongs in every context of its reader, whatever is asked."""
        return self.is_constraint or self.is_standing

    @property
    def quoted_key(self) -> str:
        """What a message calls it: its key, or that it has none. Never its words."""
        return repr(self.key) if self.key else "what was said"

    def __str__(self) -> str:
        if self.is_unnamed:
            return f"{text_of(self.value)} [{self.status}]"
        about = f" ({self.subject})" if self.subject else ""
        return f"{self.key}{about} = {text_of(self.value)} [{self.status}]"

    def may_hold_after(self, moment: datetime) -> bool:
        """Whether the fact is in office, or has a term that ends later than that moment."""
        if self.status is _OFFICE:
            return True
        return self.status in SERVED and (self.until is None or self.until > moment)

    def is_ordinary(self, now: datetime) -> bool:
        """Whether the fact is simply in office: no term, no condition on readers."""
        return (
            self.status is _OFFICE
            and not self.multi_valued
            and not self.requires
            and self.min_authority is None
            and self.valid_until is None
            and self.ended_at is None
            and self.started_at is not None
            and self.started_at <= now
        )

    def evolve(self, **changes: Any) -> Fact:
        """A copy with some fields changed."""
        return replace(self, **changes)
