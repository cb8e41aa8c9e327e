"""The entries that a search goes through: the shelves a reader may see, or a set of facts put
together ad hoc.

Both answer the same questions, so that the context of a past moment is ranked exactly as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from incumbent.search.recent import EntryRow, row_of
from incumbent.search.shelf_index import ShelfIndex, signs
from incumbent.stores.port import Found, IndexReader, Placed

if TYPE_CHECKING:
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]


_REMEMBERED_TERMS = 20_000
_REMEMBERED_POSTINGS = 1_024
_SHORT = 256
"""The most entries of postings that are remembered."""

Posted = dict[tuple[object, ...], list[int]]
"""Remembered postings, by the stacks and their versions, the term and how many were wanted. What
is posted changes only with a version."""


class Frequent(NamedTuple):
    """The remembered count of a term that very many entries have.

    Good until an entry leaves the shelves or comes back: new ones come after those it counted.
    """

    turned: int
    share: float


class Postings(NamedTuple):
    """The entries that have a term, ordered."""

    entries: list[int] | None
    """None if they are too many to be worth reading."""
    share: float
    """The share of all entries that have the term; for very many, an estimate from the first."""


class Collection(Protocol):
    """Live entries that a reader may see, each with terms and perhaps a meaning."""

    @property
    def size(self) -> int: ...

    @property
    def mean_length(self) -> float: ...

    def postings(self, term: str, limit: int) -> Postings:
        """The entries that have a term, unless they are more than `limit`."""
        ...

    def expect(self, terms: Sequence[str], limit: int) -> None:
        """Announce that the postings of these terms will be read: it is worth fetching them all at
        once."""
        ...

    def nearest(self, query: Vector, count: int) -> list[int]:
        """The entries whose meaning is nearest; at least `count` of them, if there are as many."""
        ...

    def newest(self, count: int) -> list[int]:
        """The last entries, as many as `count`, or all."""
        ...

    def binding(self, query: Vector | None, count: int) -> list[int]:
        """The constraints; if they are more than `count`, those whose meaning is nearest."""
        ...

    def rows(self, entries: Sequence[int]) -> list[EntryRow]:
        """These entries, ordered."""
        ...


def code_of(query: Vector) -> npt.NDArray[np.uint64]:
    """The signs of a query, in the form a stack compares with."""
    code: npt.NDArray[np.uint64] = signs(np.sign(query).astype(np.int8)[None, :])[0]
    return code


def nearest_of(
    stacks: Sequence[ShelfIndex], query: Vector, count: int, hidden: set[int]
) -> list[int]:
    """The nearest entries of several stacks by their signs. All ties are taken, so that no order
    decides."""
    code = code_of(query)
    out = np.array(sorted(hidden), np.int64)
    scans = [stack.distances(code, out) for stack in stacks if stack.size]
    if not scans:
        return []
    far = np.concatenate([distances for distances, _ in scans]) if len(scans) > 1 else scans[0][0]
    entries = np.concatenate([numbers for _, numbers in scans]) if len(scans) > 1 else scans[0][1]
    if count < len(far):
        within = np.cumsum(np.bincount(far))
        farthest = int(np.searchsorted(within, count))
        entries = entries[far <= farthest]
    found: list[int] = entries.tolist()
    return found


def _nearest_or_all(
    stacks: Sequence[ShelfIndex], query: Vector | None, count: int, hidden: set[int]
) -> list[int]:
    if query is None or sum(stack.size for stack in stacks) <= count:
        return _newest_of(stacks, count, hidden)
    return nearest_of(stacks, query, count, hidden)


def _newest_of(stacks: Sequence[ShelfIndex], count: int, hidden: set[int]) -> list[int]:
    found = chain.from_iterable(stack.newest(count + len(hidden)) for stack in stacks)
    return sorted(set(found).difference(hidden))[-count:]


class Shelved:
    """The shelves that a reader may see, as they stand in the store and in memory."""

    def __init__(
        self,
        reader: IndexReader,
        stacks: dict[int, ShelfIndex],
        binding: Sequence[int],
        hidden: set[int],
        frequent: dict[tuple[tuple[int, ...], str, int], Frequent],
        posted: Posted,
    ) -> None:
        self._reader = reader
        self._stacks = stacks
        self._binding = binding
        self._hidden = hidden
        """Entries of these shelves that do not count here: out of term, or not for this reader."""
        self._frequent = frequent
        self._posted = posted
        self._turned = sum(stack.turned for stack in stacks.values())
        self._numbers = tuple(stacks)
        # Not the numbers of the shelves: what is remembered counts from what a stack saw leave.
        self._name = tuple(stack.serial for stack in stacks.values())
        self._state = tuple((stack.serial, stack.version) for stack in stacks.values())
        self._fetched: dict[tuple[str, int], list[int]] = {}

    @property
    def size(self) -> int:
        return sum(stack.size for stack in self._stacks.values()) - len(self._hidden)

    @property
    def mean_length(self) -> float:
        terms = sum(stack.length for stack in self._stacks.values())
        terms -= sum(
            stack.length_of(entry) for entry in self._hidden for stack in self._stacks.values()
        )
        return terms / self.size if self.size else 0.0

    def postings(self, term: str, limit: int) -> Postings:
        known = self._remembered(term, limit)
        if known is not None:
            return Postings(None, known.share)
        self.expect((term,), limit)
        found = self._fetched[term, limit]
        if self._hidden:
            found = [entry for entry in found if entry not in self._hidden]
        visible = found[: 2 * limit]
        if len(visible) > limit:
            share = self._share(visible)
            if len(visible) == 2 * limit and not self._hidden:
                if len(self._frequent) > _REMEMBERED_TERMS:
                    self._frequent.clear()
                self._frequent[self._name, term, limit] = Frequent(self._turned, share)
            return Postings(None, share)
        return Postings(visible, len(visible) / max(1, self.size))

    def expect(self, terms: Sequence[str], limit: int) -> None:
        # Reading further than needed: what comes later changes nothing then. And as many more as
        # are hidden: those may neither be found nor make a term look frequent.
        wanted = [
            term
            for term in dict.fromkeys(terms)
            if (term, limit) not in self._fetched and self._remembered(term, limit) is None
        ]
        most = 2 * limit + len(self._hidden)
        names = {term: (self._state, term, most) for term in wanted}
        unread = [term for term in wanted if names[term] not in self._posted]
        read = self._reader.many_postings(self._numbers, unread, most) if unread else ()
        found = dict(zip(unread, read, strict=True))
        for term in wanted:
            entries = found.get(term)
            if entries is None:
                # Somebody may have emptied it by now.
                entries = self._posted.get(names[term])
            if entries is None:
                entries = self._reader.postings(self._numbers, term, most)
            self._fetched[term, limit] = entries
            self._remember(names[term], entries)

    def _remember(self, name: tuple[object, ...], entries: list[int]) -> None:
        if len(entries) > _SHORT or name in self._posted:
            return
        if len(self._posted) >= _REMEMBERED_POSTINGS:
            self._posted.clear()
        self._posted[name] = entries

    def _remembered(self, term: str, limit: int) -> Frequent | None:
        known = self._frequent.get((self._name, term, limit))
        return known if known and known.turned == self._turned and not self._hidden else None

    def _share(self, first: list[int]) -> float:
        """The density of the first entries with a term among all those up to the last of them."""
        passed = sum(stack.count_up_to(first[-1]) for stack in self._stacks.values())
        passed -= sum(entry <= first[-1] for entry in self._hidden)
        return len(first) / max(1, passed)

    def nearest(self, query: Vector, count: int) -> list[int]:
        return nearest_of(list(self._stacks.values()), query, count, self._hidden)

    def newest(self, count: int) -> list[int]:
        return _newest_of(list(self._stacks.values()), count, self._hidden)

    def binding(self, query: Vector | None, count: int) -> list[int]:
        stacks = [self._stacks[number] for number in self._binding]
        return _nearest_or_all(stacks, query, count, self._hidden)

    def rows(self, entries: Sequence[int]) -> list[EntryRow]:
        return read_rows(self._reader, list(self._stacks.values()), entries)


def read_rows(
    reader: IndexReader, stacks: Sequence[ShelfIndex], entries: Sequence[int]
) -> list[EntryRow]:
    """These entries of the stacks, ordered. Those that were read lately are not read again."""
    known: dict[int, EntryRow] = {}
    wanted = set(entries)
    for rows in [stack.recent() for stack in stacks]:
        here = wanted & rows.keys()
        known.update(zip(here, map(rows.__getitem__, here), strict=True))
    if len(known) < len(entries):
        missing = [entry for entry in entries if entry not in known]
        owned = [(stack, stack.own(missing)) for stack in stacks]
        for found in reader.found(missing):
            row = known[found.entry] = row_of(found)
            for stack, own in owned:
                if found.entry in own:
                    stack.note_recent(row, found)
    return list(map(known.__getitem__, sorted(known)))


class AdHoc:
    """Facts put together for one search, such as those that held office at a past moment."""

    def __init__(self, rows: Sequence[tuple[Found, bool]], dimensions: int) -> None:
        """`rows` are pairs of a row and whether it is a constraint."""
        self._rows = {row.entry: row_of(row) for row, _ in rows}
        self._binding = ShelfIndex(dimensions)
        self._others = ShelfIndex(dimensions)
        self._posted: dict[str, list[int]] = {}
        for stack, wanted in ((self._binding, True), (self._others, False)):
            stack.catch_up((_placed(row) for row, binding in rows if binding is wanted), 1)
        for _, row in sorted(self._rows.items()):
            for term in dict.fromkeys(row.terms):
                self._posted.setdefault(term, []).append(row.entry)

    @property
    def size(self) -> int:
        return len(self._rows)

    @property
    def mean_length(self) -> float:
        return (self._binding.length + self._others.length) / self.size if self._rows else 0.0

    def postings(self, term: str, limit: int) -> Postings:
        found = self._posted.get(term, [])
        if len(found) > limit:
            first = found[: 2 * limit]
            stacks = (self._binding, self._others)
            passed = sum(stack.count_up_to(first[-1]) for stack in stacks)
            return Postings(None, len(first) / max(1, passed))
        return Postings(found, len(found) / max(1, self.size))

    def expect(self, terms: Sequence[str], limit: int) -> None:
        """Everything is at hand."""

    def nearest(self, query: Vector, count: int) -> list[int]:
        return nearest_of([self._binding, self._others], query, count, set())

    def newest(self, count: int) -> list[int]:
        return sorted(self._rows)[-count:]

    def binding(self, query: Vector | None, count: int) -> list[int]:
        return _nearest_or_all([self._binding], query, count, set())

    def rows(self, entries: Sequence[int]) -> list[EntryRow]:
        return [self._rows[entry] for entry in sorted(entries)]


def _placed(row: Found) -> Placed:
    length = len(row.terms.split())
    return Placed(row.entry, 1, True, None, None, False, length, row.key, "", row.vector)
