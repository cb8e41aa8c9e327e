"""The index: written and read by the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from incumbent.model.fact import Fact
from incumbent.model.scope import Place


class Shelf(NamedTuple):
    """A place for index entries: facts of one owner, scope and condition on readers.

    Every fact of a shelf is for the same readers, so that the facts of others can neither be found
    nor change a ranking. Constraints stand apart.
    """

    id: int
    owner: str
    place: Place
    requires: tuple[str, ...]
    min_authority: str | None
    binding: bool
    version: int
    """Grows with every transaction that changes an entry of the shelf."""


class IndexEntry(NamedTuple):
    """The data by which a fact is found: the terms of its text, and a vector of its meaning."""

    fact: Fact
    terms: str
    """The terms of its text, in order, separated by spaces."""
    probes: str
    """The terms by which a repetition of its value is noticed, and its matter, separated by spaces.
    Only what is erased has none."""
    tokens: int
    """The tokens of its line in a context."""
    vector: bytes | None = None


class Placed(NamedTuple):
    """The search data of an entry: its number, and the conditions on whether it counts."""

    entry: int
    changed: int
    live: bool
    """Whether its fact holds office or may yet hold it."""
    starts: datetime | None
    """The start and end of its term; None if it simply holds, or if there is no limit."""
    ends: datetime | None
    derived: bool
    length: int
    """The number of its terms."""
    key: str
    probes: str
    vector: bytes | None


class Found(NamedTuple):
    """An entry that a search is about to rank."""

    entry: int
    fact_id: str
    key: str
    terms: str
    tokens: int
    vector: bytes | None


class Tenured(NamedTuple):
    """An entry with what its fact is found by at any moment, and the present tenure of the fact.

    Moments are microseconds since 1970: there are many, and they are only compared.
    """

    entry: int
    fact_id: str
    key: str
    subject: str
    terms: str
    probes: str
    """Empty if the fact was erased, as key and terms are."""
    derived: bool
    multi_valued: bool
    born: int
    """The entry of the log that brought the fact."""
    said: int
    since: int
    """The entry of the log from which this tenure is known."""
    status: str
    starts: int | None
    ends: int | None


class TenuredBefore(NamedTuple):
    """An earlier tenure of the fact of an entry, known from one entry of the log to another."""

    entry: int
    since: int
    until: int
    """The entry of the log from which another is known."""
    status: str
    starts: int | None
    ends: int | None


def is_moved(before: Fact, after: Fact) -> bool:
    """Whether a change of a tenure changes at what moments a fact held office, or how it left."""
    return (before.status, before.started_at, before.until) != (
        after.status,
        after.started_at,
        after.until,
    )


def term_of(fact: Fact, now: datetime) -> tuple[bool, datetime | None, datetime | None]:
    """The part of a fact's tenure that an entry keeps: live, a start still to come, an end."""
    later = fact.started_at if fact.started_at is not None and fact.started_at > now else None
    return fact.may_hold_after(now), later, fact.until


class IndexReader(Protocol):
    """The index of one organization."""

    @property
    def organization(self) -> str: ...

    def recipe(self) -> str | None:
        """The recipe of this organization's index; None if there is none yet."""
        ...

    def shelves(self, owners: tuple[str, ...], places: tuple[Place, ...]) -> list[Shelf]:
        """The shelves of these owners in these places, ordered by id."""
        ...

    def placed(self, shelf: int, after: int) -> Iterator[Placed]:
        """The entries of a shelf that changed after version `after`, in the order of their changes.

        With 0, all. An entry whose fact was erased is there too, with nothing in it.
        """
        ...

    def tenured(self, shelf: int, after: int) -> Iterator[Tenured]:
        """The entries that `placed` gives, with the present tenures of their facts, in any order.

        An entry counts as changed with every change of a tenure that `is_moved` tells.
        """
        ...

    def tenured_before(self, shelf: int, after: int) -> Iterator[TenuredBefore]:
        """All earlier tenures of the facts of these entries, in any order."""
        ...

    def postings(self, shelves: Sequence[int], term: str, limit: int) -> list[int]:
        """The live entries of these shelves that have a term, at most `limit`, ordered."""
        ...

    def many_postings(
        self, shelves: Sequence[int], terms: Sequence[str], limit: int
    ) -> list[list[int]]:
        """The result of `postings` for each of these terms, in their order, in one go."""
        ...

    def found(self, entries: Sequence[int]) -> list[Found]:
        """These entries with the data for ranking, ordered by entry; missing ones are left out."""
        ...

    def entries_of(self, fact_ids: Iterable[str]) -> list[Found]:
        """The entries of these facts, live or not, ordered by entry."""
        ...

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        """Facts with an id above `after` that have no entry yet, erased ones left out.

        At most `limit`, ordered by id.
        """
        ...


class IndexWriter(IndexReader, Protocol):
    """Makes and removes the entries of one organization."""

    def index(self, entries: Sequence[IndexEntry]) -> None:
        """Add entries, in this transaction, so that they live and die with their facts.

        From here on `record` and `erase` keep them in step by themselves: an entry leaves the
        postings when its fact leaves office, comes back with it, and is emptied with it. The entry
        of a fact that has one already is replaced.
        """
        ...

    def unindex(self, limit: int) -> int:
        """Remove entries of this organization, at most `limit`; returns how many."""
        ...

    def set_recipe(self, recipe: str) -> None:
        """Keep the recipe of this organization's index."""
        ...
