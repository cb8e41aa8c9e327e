"""Subjects and keys: the names of facts in office, by their owners."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from incumbent.engine.lens import Lens
from incumbent.listing.cursors import Place, check_limit, check_prefix, page_of, place_of
from incumbent.model.fact import Fact
from incumbent.model.listings import ListedKey, ListedSubject, Listing
from incumbent.stores.port import Alike, Name, NameColumn, Reader

Judge = Callable[[list[Fact]], Iterable[Fact]]
"""Tells which of some facts are in office, for whoever looks."""


class Held(NamedTuple):
    """The facts in office under one name."""

    owner: str
    name: str
    facts: int
    others: int
    """How many keys the facts of a subject have, or subjects those of a key."""
    last_at: datetime

    def as_subject(self) -> ListedSubject:
        return ListedSubject(self.name, self.owner, self.facts, self.others, self.last_at)

    def as_key(self) -> ListedKey:
        return ListedKey(self.name, self.owner, self.facts, self.others, self.last_at)


@dataclass(frozen=True)
class NameQuery:
    """Which names are asked for."""

    column: NameColumn
    owners: tuple[str, ...] | None
    prefix: str
    limit: int
    cursor: str | None

    def place(self) -> Name | None:
        """The name that the page before ended with."""
        found = place_of(self.column, self.cursor, str, str)
        return None if found is None else (found[0], found[1])


def name_query(
    column: NameColumn, owners: tuple[str, ...] | None, prefix: str, limit: int, cursor: str | None
) -> NameQuery:
    """Which names are asked for, checked."""
    query = NameQuery(column, owners, check_prefix(prefix), check_limit(limit), cursor)
    query.place()
    return query


def subjects(found: Iterator[Held], query: NameQuery) -> Listing[ListedSubject]:
    """A page of subjects."""
    lines = ((_place(held), held.as_subject()) for held in found)
    return page_of(query.column, lines, query.limit)


def keys(found: Iterator[Held], query: NameQuery) -> Listing[ListedKey]:
    """A page of keys."""
    lines = ((_place(held), held.as_key()) for held in found)
    return page_of(query.column, lines, query.limit)


def _place(held: Held) -> Place:
    return held.owner, held.name


def held_by_all(reader: Reader, query: NameQuery, now: datetime) -> Iterator[Held]:
    """The names of all facts in office, whoever may see them."""
    return _walked(reader, query, now, lambda facts: (f for f in facts if f.held_at(now)))


def seen_through(reader: Reader, lens: Lens, query: NameQuery) -> Iterator[Held]:
    """The names of the facts in office that a lens shows, as if there were no others."""
    if lens.past:
        return _remembered(reader, lens, query)
    judge: Judge = lambda facts: lens.in_office(reader, facts, marks=False)  # noqa: E731
    return _walked(reader, query, lens.when, judge)


def _walked(reader: Reader, query: NameQuery, now: datetime, judge: Judge) -> Iterator[Held]:
    """Along the index of names, as far as somebody asks."""
    after, some = query.place(), query.limit + 1
    while names := reader.names(query.column, query.owners, after, query.prefix, some):
        alike = reader.alike(query.column, names, now)
        shown = {fact.id for fact in judge(reader.facts(one.fact_id for one in alike))}
        yield from _counted(query.column, (one for one in alike if one.fact_id in shown))
        after = names[-1]
        if len(names) < some:
            return


def _remembered(reader: Reader, lens: Lens, query: NameQuery) -> Iterator[Held]:
    """The names of a moment of the past, for which there is no index."""
    after = query.place()
    found = (
        Alike(fact.owner, fact.subject or "", fact.key, 1, fact.recorded_at, fact.id)
        for fact in lens.held(reader, marks=False)
        if query.column == "key" or fact.subject
    )
    for held in _counted(query.column, found):
        if held.name.startswith(query.prefix) and (after is None or held[:2] > after):
            yield held


def _counted(column: NameColumn, found: Iterable[Alike]) -> Iterator[Held]:
    other = "key" if column == "subject" else "subject"

    def name(one: Alike) -> Name:
        return one.owner, getattr(one, column)

    for (owner, called), same in groupby(sorted(found, key=name), key=name):
        group = list(same)
        others = {getattr(one, other) for one in group}
        facts = sum(one.facts for one in group)
        yield Held(owner, called, facts, len(others), max(one.last_at for one in group))
