"""Listings: what an organization has, by pages, a line for each user, session and so on; and what
was decided in it, counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Generic, TypeVar, overload

from incumbent.model.records import Spot
from incumbent.model.scope import Scope
from incumbent.model.verdict import Action, Outcome, Rule

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing(Sequence[T], Generic[T]):
    """Some lines of a list, in its order. `next`, given as `cursor`, brings those after them."""

    items: tuple[T, ...]
    next: str | None = None
    """None where the list ends here."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A person who owns a fact, brought a decision about, was observed, or has a receipt."""

    user_id: str
    facts: int
    """Facts in office that they own, in any scope."""
    sessions: int
    """Sessions in which a turn of theirs was observed."""
    last_at: datetime | None
    """When they last brought a decision about; None if they never did."""


@dataclass(frozen=True, slots=True)
class ListedSession:
    """A session in which a turn was observed."""

    session_id: str
    user_id: str
    started_at: datetime
    """When its first turn was said."""
    last_at: datetime
    """When its last turn was said."""
    turns: int


@dataclass(frozen=True, slots=True)
class ListedSubject:
    """What or whom facts in office are about, for one owner."""

    subject: str
    owner: str
    """Whose facts they are; "" for the organization's."""
    facts: int
    keys: int
    """How many keys these facts have."""
    last_at: datetime
    """When the newest of them was recorded."""


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key at which facts are in office, for one owner."""

    key: str
    owner: str
    """Whose facts they are; "" for the organization's."""
    facts: int
    subjects: int
    """How many subjects these facts have. Those that name none count as one."""
    last_at: datetime
    """When the newest of them was recorded."""


@dataclass(frozen=True, slots=True)
class ListedReceipt:
    """A receipt that was kept, without its lines."""

    id: str
    user_id: str
    at: datetime
    """The moment of the context."""
    kept_at: datetime
    query: str
    tokens: int
    budget: int
    facts: int
    """How many facts it shows."""


@dataclass(frozen=True, slots=True)
class ListedBranch:
    """A hypothetical or a draft that has facts in office."""

    kind: Scope
    """`hypothetical` or `draft`: the method of a session that opens it."""
    name: str
    facts: int
    last_at: datetime
    """When the newest of them was recorded."""


@dataclass(frozen=True, slots=True)
class ListedTurn:
    """A turn that was observed, with the facts and verdicts that it brought about."""

    session_id: str
    turn_index: int
    speaker: str
    at: datetime
    ref: str | None = None
    fact_ids: tuple[str, ...] = ()
    verdict_ids: tuple[str, ...] = ()
    text: str | None = None
    """Its words, as long as it is on the desk of its session; None afterwards."""
    spots: tuple[Spot, ...] = ()
    """The places in its text that state its facts."""


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many verdicts of one kind a day had."""

    day: date
    """A day in UTC, by the time at which they were recorded."""
    action: Action
    outcome: Outcome
    rule: Rule
    count: int


@dataclass(frozen=True, slots=True)
class Activity:
    """What was decided in an organization, and how it stands, in numbers alone."""

    verdicts: tuple[VerdictCount, ...]
    """By day, action, outcome and rule, undone ones included."""
    at: datetime
    """The moment that `facts` is counted for: the end of the time asked for, or the present."""
    facts: int
    """Facts in office at that moment, whoever owns them, in any scope."""
    base_changed: int
    """Derived facts in office with a base that has changed, as the last decisions left them."""
    contested: int
    """Statements that contradict a fact in office on weak evidence, and wait for a person."""
    doubted: int
    """Facts in office that a later statement may have replaced."""
