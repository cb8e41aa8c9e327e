"""Listings: what an organization has, by pages, a line for each user, session and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar, overload

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
