"""The facts that held office at a moment of the past, to be searched as those of the present are.

The results are those of `AdHoc` over all these facts, which are not read for it: the same size, the
same postings in the order of the facts' ids, the same neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from incumbent.model.fact import Status
from incumbent.search.collection import Postings, code_of, read_rows
from incumbent.search.recent import EntryRow
from incumbent.search.shelf_index import ShelfIndex, signs
from incumbent.search.tenures import NEVER, StandingThen, among
from incumbent.stores.port import IndexReader

if TYPE_CHECKING:
    import numpy.typing as npt

    from incumbent.search.collection import Vector
    from incumbent.search.tenures import Mask

    Spots = npt.NDArray[np.integer]

Meanings = Callable[[Sequence[str]], list[bytes | None]]
"""The vectors of the facts of these ids, made anew."""

_OFFICE = among(Status.OFFICE)
_WAITING = among(Status.WAITING)
_CONTESTED = among(Status.CONTESTED)
_ENDED = among(Status.RETRACTED, Status.EXPIRED)
_OVER = _ENDED | among(Status.SUPERSEDED)


@dataclass
class ShelfMoment:
    """The facts of one shelf at a moment, as known after an entry of the log.

    Each answer has a truth for each place.
    """

    stack: ShelfIndex
    binding: bool
    known: Mask
    """Facts that were known and are not hidden from this reader, of any status."""
    standing: StandingThen
    when: int

    @cached_property
    def held(self) -> Mask:
        """Facts in office."""
        return self.known & self.standing.held(self.when)

    @cached_property
    def size(self) -> int:
        return int(np.count_nonzero(self.held))

    @cached_property
    def length(self) -> int:
        """The number of terms of the facts in office."""
        return int(self.stack.lengths()[self.held].sum(dtype=np.int64))

    @cached_property
    def _begun(self) -> Mask:
        return self.standing.starts <= self.when

    @cached_property
    def _out(self) -> Mask:
        """Known facts that are out of office."""
        return self.known & ~self.held

    @cached_property
    def _lapsed(self) -> Mask:
        """Facts whose own term was over, with nobody having said so."""
        return self._in_office & self._begun

    @cached_property
    def _in_office(self) -> Mask:
        """Facts whose status is office, whatever their term."""
        return self._is(_OFFICE)

    def _is(self, statuses: Mask) -> Mask:
        return statuses[self.standing.status]

    @property
    def dead(self) -> Mask:
        """Facts whose value may be dead: over, turned away, or resting on others."""
        waiting = self._is(_WAITING) | (self._in_office & ~self._begun)
        return (self._out & ~waiting) | (self.known & self.stack.tenures.derived)

    @property
    def ended(self) -> Mask:
        """Facts that were taken back or had expired."""
        return self._out & (self._is(_ENDED) | self._lapsed)

    @property
    def over(self) -> Mask:
        """Facts that had held office, or were to, and had left it."""
        began: Mask = self.standing.starts != NEVER
        return self._out & began & (self._is(_OVER) | self._lapsed)

    @property
    def contested(self) -> Mask:
        return self.known & self._is(_CONTESTED)

    @property
    def ahead(self) -> Mask:
        """Facts that were said by then and take office later, by their own term."""
        starts, ends = self.standing.starts, self.standing.ends
        later: Mask = ~self._begun & (starts != NEVER) & (ends > starts)
        said = self.stack.tenures.said <= self.when
        return self.known & self._in_office & later & said

    @cached_property
    def ranked(self) -> Mask:
        """Whether there is a fact in office, in the order of ids."""
        order = self.stack.tenures.ordered().places
        return self.held if order is None else self.held[order]

    def ids(self, places: Spots) -> list[str]:
        return self.stack.tenures.ids(places.tolist())

    def matters(self) -> Iterator[npt.NDArray[np.int64]]:
        """The matters of the facts in office that others may take the place of, ordered."""
        counted = self.held & self.stack.tenures.single
        for run in self.stack.tenures.matters.runs():
            yield run.marks[counted[run.places]]


class PastMoment:
    """The facts in office at a moment, on all shelves of a reader."""

    def __init__(
        self, reader: IndexReader, shelves: Sequence[ShelfMoment], meanings: Meanings
    ) -> None:
        self._reader = reader
        self.shelves = shelves
        self._meanings = meanings
        self._spots: dict[int, tuple[ShelfMoment, int]] = {}
        """Where the entries are that were given out."""

    @property
    def size(self) -> int:
        return sum(shelf.size for shelf in self.shelves)

    @property
    def total(self) -> int:
        """The number of facts that were known, of any status."""
        return sum(int(np.count_nonzero(shelf.known)) for shelf in self.shelves)

    @property
    def mean_length(self) -> float:
        return sum(shelf.length for shelf in self.shelves) / self.size if self.size else 0.0

    # searching: entries are numbered in the order of the ids of all facts

    def _numbered(self, shelf: ShelfMoment, places: Spots) -> npt.NDArray[np.int64]:
        if not len(places):
            return np.zeros(0, np.int64)
        names = shelf.stack.tenures.names(places)
        numbers = sum(one.stack.tenures.before(names) for one in self.shelves)
        return np.asarray(numbers) + 1

    def _entries(self, found: Iterable[tuple[ShelfMoment, Spots]]) -> list[int]:
        entries: list[int] = []
        for shelf, places in found:
            numbers = self._numbered(shelf, places).tolist()
            self._spots |= {n: (shelf, p) for n, p in zip(numbers, places.tolist(), strict=True)}
            entries.extend(numbers)
        return entries

    def postings(self, term: str, limit: int) -> Postings:
        found = [
            (shelf, places[shelf.held[places]])
            for shelf in self.shelves
            for places in (shelf.stack.tenures.terms.of(term),)
        ]
        count = sum(len(places) for _, places in found)
        if count > limit:
            return Postings(None, self._share(found, 2 * limit))
        return Postings(sorted(self._entries(found)), count / max(1, self.size))

    def _share(self, found: Sequence[tuple[ShelfMoment, Spots]], most: int) -> float:
        """The density of the first facts with a term among all up to the last of them."""
        names = np.concatenate([shelf.stack.tenures.first(places, most) for shelf, places in found])
        first = np.sort(names)[:most]
        passed = 0
        for shelf in self.shelves:
            tenures = shelf.stack.tenures
            upto = int(tenures.before(first[-1:])[0])
            at = len(tenures.places_of([bytes(first[-1]).decode()]))
            passed += int(np.count_nonzero(shelf.ranked[: upto + at]))
        return len(first) / max(1, passed)

    def expect(self, terms: Sequence[str], limit: int) -> None:
        """Everything is at hand."""

    def nearest(self, query: Vector, count: int) -> list[int]:
        return self._nearest(self.shelves, query, count)

    def binding(self, query: Vector | None, count: int) -> list[int]:
        shelves = [shelf for shelf in self.shelves if shelf.binding]
        if query is None or sum(shelf.size for shelf in shelves) <= count:
            return self._newest(shelves, count)
        return self._nearest(shelves, query, count)

    def newest(self, count: int) -> list[int]:
        return self._newest(self.shelves, count)

    def _newest(self, shelves: Sequence[ShelfMoment], count: int) -> list[int]:
        every = self._entries((shelf, np.flatnonzero(shelf.held)) for shelf in shelves)
        return sorted(every)[-count:]

    def _nearest(self, shelves: Sequence[ShelfMoment], query: Vector, count: int) -> list[int]:
        scans = [(shelf, *self._distances(shelf, query)) for shelf in shelves if shelf.size]
        farthest = _reach([far for _, far, _ in scans], count)
        return self._entries((shelf, places[far <= farthest]) for shelf, far, places in scans)

    def _distances(self, shelf: ShelfMoment, query: Vector) -> tuple[Spots, Spots]:
        """The distances of the facts in office that have a meaning, and their places."""
        stack, code = shelf.stack, code_of(query)
        places = np.flatnonzero(shelf.held & stack.meant())
        few = 4 * len(places) < len(stack)
        far = stack.differing(code, places) if few else stack.differing(code)[places]
        blank = np.flatnonzero(shelf.held & ~stack.meant())
        if not len(blank):
            return far, places
        codes = self._coded(shelf, blank, len(query))
        more = np.bitwise_count(codes ^ code[None, :]).sum(axis=1)
        return np.concatenate([far, more.astype(far.dtype)]), np.concatenate([places, blank])

    def _coded(self, shelf: ShelfMoment, places: Spots, dimensions: int) -> npt.NDArray[np.uint64]:
        """The signs of meanings that the store does not have: of facts that never held since."""
        known = shelf.stack.tenures.codes
        missing = [place for place in places.tolist() if place not in known]
        if missing:
            made = self._meanings(shelf.stack.tenures.ids(missing))
            raw = b"".join(vector or bytes(dimensions) for vector in made)
            table = signs(np.frombuffer(raw, np.int8).reshape(len(missing), dimensions))
            known.update(zip(missing, table, strict=True))
        return np.array([known[place] for place in places.tolist()])

    def rows(self, entries: Sequence[int]) -> list[EntryRow]:
        spots = {entry: self._spots[entry] for entry in sorted(entries)}
        kept = {
            entry: shelf.stack.entries_at(np.array([place]))[0]
            for entry, (shelf, place) in spots.items()
        }
        stacks = [shelf.stack for shelf in self.shelves]
        read = {row.entry: row for row in read_rows(self._reader, stacks, list(kept.values()))}
        rows = [read[kept[entry]]._replace(entry=entry) for entry in spots]
        blank = [number for number, row in enumerate(rows) if row.vector is None]
        made = self._meanings([rows[number].fact_id for number in blank]) if blank else ()
        for number, vector in zip(blank, made, strict=True):
            rows[number] = rows[number]._replace(vector=vector)
        return rows

    # beside the search

    def ids(self, choose: Callable[[ShelfMoment], Spots]) -> list[str]:
        """The ids of the facts at the places that are chosen of each shelf."""
        return [one for shelf in self.shelves for one in shelf.ids(choose(shelf))]

    def on_matters(self, matters: Iterable[str]) -> list[str]:
        """The ids of the facts in office on these matters."""
        marks = np.fromiter(map(hash, matters), np.int64)
        return self.ids(lambda shelf: _within(shelf, marks, shelf.held))

    def beside(self, fact_ids: Iterable[str]) -> list[str]:
        """The ids of these facts, where they are in office, and of all on the same matters."""
        wanted = list(fact_ids)
        marks = [
            shelf.stack.tenures.matter[places[shelf.held[places]]]
            for shelf in self.shelves
            for places in (shelf.stack.tenures.places_of(wanted),)
        ]
        matters = np.concatenate(marks) if marks else np.zeros(0, np.int64)
        return self.ids(lambda shelf: _within(shelf, matters, shelf.held))

    def doubled(self) -> list[str]:
        """The ids of the facts in office on a matter on which another is in office too."""
        runs = [marks for shelf in self.shelves for marks in shelf.matters() if len(marks)]
        shared = [run[1:][run[1:] == run[:-1]] for run in runs]
        for one, other in combinations(sorted(runs, key=len), 2):
            places = np.searchsorted(other, one).clip(max=len(other) - 1)
            shared.append(one[other[places] == one])
        marks = np.unique(np.concatenate(shared)) if shared else np.zeros(0, np.int64)
        if not len(marks):
            return []
        return self.ids(
            lambda shelf: _within(shelf, marks, shelf.held & shelf.stack.tenures.single)
        )


def _within(shelf: ShelfMoment, marks: npt.NDArray[np.int64], mask: Mask) -> Spots:
    return shelf.stack.tenures.matters.marked(np.unique(marks), mask)


def _reach(scans: Sequence[Spots], count: int) -> int:
    """The distance within which at least `count` are, of all."""
    if not scans:
        return 0
    far = np.concatenate(scans) if len(scans) > 1 else scans[0]
    if count >= len(far):
        return int(far.max()) if len(far) else 0
    return int(np.searchsorted(np.cumsum(np.bincount(far)), count))
