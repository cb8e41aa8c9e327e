"""When the facts of a shelf held office, as known at any time: held in memory, beside the shelf.

It is made when somebody first asks for a moment of the past, and then follows the changes of the
shelf. What is asked about all facts of a moment is answered here, without reading them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from incumbent.model.fact import SERVED, Status
from incumbent.search.analysis import MARK, MATTER
from incumbent.search.places import Places
from incumbent.stores.port import IndexReader, Tenured, TenuredBefore

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]
    Mask = npt.NDArray[np.bool_]
    Moments = npt.NDArray[np.int64]
    Statuses = npt.NDArray[np.int8]
    Names = npt.NDArray[np.bytes_]
    Spots = npt.NDArray[np.integer]

NEVER = int(np.iinfo(np.int64).max)
"""The start of a fact that never began, and the end of one that does not end."""
_PORTION = 8_192
_CODES = {status.value: number for number, status in enumerate(Status)}
_ARRAYS = ("_status", "_starts", "_ends", "_born", "_since", "said", "matter")
_FLAGS = ("single", "derived", "filled", "_noted")
_Row = TypeVar("_Row", Tenured, TenuredBefore)


def among(*statuses: Status) -> Mask:
    """For the number of each status, whether it is one of these."""
    return np.array([status in statuses for status in Status])


_SERVED = among(*SERVED)


def matter_of(key: str, subject: str | None) -> str:
    """The matter of a fact, as one text."""
    return f"{key}\0{subject or ''}"


class StandingThen(NamedTuple):
    """How the facts of a shelf stood, as known after one entry of the log."""

    status: Statuses
    starts: Moments
    ends: Moments

    def held(self, when: int) -> Mask:
        return _SERVED[self.status] & (self.starts <= when) & (when < self.ends)


class Stack(Protocol):
    """The shelf in memory whose places these are."""

    @property
    def version(self) -> int: ...

    def __len__(self) -> int: ...

    def places(self, entries: Sequence[int]) -> list[int]:
        """The places of these entries, which all are here."""
        ...


class Ordered(NamedTuple):
    """The order of ids; None where the places have it."""

    places: npt.NDArray[np.int64] | None
    ranks: npt.NDArray[np.int64] | None
    """For each place, how many ids come before its own."""


class ShelfTenures:
    """The tenures of the facts of one shelf. Its places are those of the shelf in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self.version = 0
        self.terms, self.probes, self.matters = Places(), Places(), Places()
        self._status: Statuses = np.zeros(0, np.int8)
        for name in _ARRAYS[1:]:
            setattr(self, name, np.zeros(0, np.int64))
        for name in _FLAGS:
            setattr(self, name, np.zeros(0, np.bool_))
        self._names: Names = np.zeros(0, "S1")
        self._ordered: Ordered | None = None
        self._before: Moments = np.zeros((6, 0), np.int64)
        self.codes: dict[int, Codes] = {}
        """The signs of meanings that the store has not, because their facts never held since."""

    _starts: Moments
    _ends: Moments
    _born: Moments
    _since: Moments
    said: Moments
    """When each fact was said."""
    matter: Moments
    """The mark of the matter of each fact."""
    single: Mask
    """The facts whose place others at their address may take."""
    derived: Mask
    filled: Mask
    """Whether there is a fact that was not erased."""
    _noted: Mask

    def __len__(self) -> int:
        return len(self._status)

    # following the shelf

    def catch_up(self, stack: Stack, reader: IndexReader, shelf: int) -> None:
        """Take in what changed on a shelf since. Nobody changes the stack meanwhile."""
        with self._lock:
            if self.version == stack.version:
                return
            try:
                self._grow(len(stack))
                changed: set[int] = set()
                for portion in _portions(reader.tenured(shelf, self.version)):
                    places = stack.places([one.entry for one in portion])
                    self._put(portion, places)
                    changed.update(places)
                    for kept in self._found_by():
                        kept.pack()
                rows = reader.tenured_before(shelf, self.version)
                self._put_before([_columns(one, stack) for one in _portions(rows)], changed)
                for kept in self._found_by():
                    kept.settle()
            except BaseException:
                self._begin()  # it may have taken in a part; whoever comes next begins anew
                raise
            self.version = stack.version

    def _found_by(self) -> tuple[Places, ...]:
        return self.terms, self.probes, self.matters

    def _grow(self, count: int) -> None:
        more = count - len(self)
        for name in (*_ARRAYS, *_FLAGS, "_names"):
            array = getattr(self, name)
            setattr(self, name, np.concatenate([array, np.zeros(more, array.dtype)]))

    def _put(self, portion: Sequence[Tenured], places: Sequence[int]) -> None:
        here = np.array(places, np.int64)
        self._status[here] = [_CODES[one.status] for one in portion]
        self._starts[here] = [NEVER if one.starts is None else one.starts for one in portion]
        self._ends[here] = [NEVER if one.ends is None else one.ends for one in portion]
        self._since[here] = [one.since for one in portion]
        self.filled[here] = [bool(one.probes) for one in portion]
        noted = self._noted[here].tolist()
        fresh = [number for number, known in enumerate(noted) if not known]
        if fresh:
            self._note([portion[number] for number in fresh], [places[number] for number in fresh])

    def _note(self, fresh: list[Tenured], places: list[int]) -> None:
        """Note what never changes of entries that are new here."""
        here = np.array(places, np.int64)
        self._noted[here] = True
        self._born[here] = [one.born for one in fresh]
        self.said[here] = [one.said for one in fresh]
        self.single[here] = [not one.multi_valued for one in fresh]
        self.derived[here] = [bool(one.derived) for one in fresh]
        self.matter[here] = [hash(matter_of(one.key, one.subject)) for one in fresh]
        self._name(here, [one.fact_id.encode() for one in fresh])
        for one, place in zip(fresh, places, strict=True):
            if one.probes:
                self.terms.add(set(one.terms.split()), place)
                probes = one.probes.split()
                self.probes.add({p for p in probes if not p.startswith((MARK, MATTER))}, place)
                self.matters.add((matter_of(one.key, one.subject),), place)

    def _name(self, here: Moments, names: list[bytes]) -> None:
        given = np.array(names)
        if given.itemsize > self._names.itemsize:
            self._names = self._names.astype(given.dtype)
        self._names[here] = given
        self._ordered = None

    def _put_before(self, earlier: list[Moments], changed: set[int]) -> None:
        """Replace the earlier tenures at the places that changed."""
        stale = np.fromiter(changed, np.int64, len(changed))
        kept = self._before[:, ~np.isin(self._before[0], stale)]
        self._before = np.concatenate([kept, *earlier], axis=1)

    # looking

    def known(self, seq: int) -> Mask:
        """The places of facts that were known after an entry of the log."""
        return self.filled & (self._born <= seq)

    def standing(self, seq: int) -> StandingThen:
        """How all facts stood, as known after an entry of the log. Only for those that were."""
        present = StandingThen(self._status, self._starts, self._ends)
        late = self._since > seq
        if not late.any():
            return present
        places, since, until, *tenure = self._before
        then = (since <= seq) & (until > seq)
        then &= late[places]
        found = StandingThen(self._status.copy(), self._starts.copy(), self._ends.copy())
        found.status[places[then]] = tenure[0][then]
        found.starts[places[then]] = tenure[1][then]
        found.ends[places[then]] = tenure[2][then]
        return found

    def ids(self, places: Iterable[int]) -> list[str]:
        """The ids of the facts at these places."""
        return [name.decode() for name in self._names[np.fromiter(places, np.int64)].tolist()]

    # the order of ids

    def ordered(self) -> Ordered:
        """The places in the order of the ids of their facts."""
        with self._lock:
            if self._ordered is None:
                names = self._names
                if bool((names[:-1] < names[1:]).all()):
                    self._ordered = Ordered(None, None)
                else:
                    order = np.argsort(names)
                    ranks = np.empty_like(order)
                    ranks[order] = np.arange(len(order))
                    self._ordered = Ordered(order, ranks)
            return self._ordered

    def first(self, places: Spots, count: int) -> Names:
        """The first of these ids, at most so many, ordered."""
        ranks = self.ordered().ranks
        if ranks is not None:
            places = places[np.argsort(ranks[places])]
        found: Names = self._names[places[:count]]
        return found

    def names(self, places: Spots) -> Names:
        """The ids at these places, in the form in which they are compared."""
        found: Names = self._names[places]
        return found

    def before(self, names: Names) -> npt.NDArray[np.int64]:
        """For each of these ids, how many here come before it."""
        return np.searchsorted(self._names, names, sorter=self.ordered().places)

    def places_of(self, fact_ids: Sequence[str]) -> Spots:
        """The places of the facts of these ids, as far as they are here."""
        names = np.array([fact_id.encode() for fact_id in fact_ids])
        if not len(self) or not len(names):
            return np.zeros(0, np.int64)
        ranks = self.before(names).clip(max=len(self) - 1)
        order = self.ordered().places
        places = ranks if order is None else order[ranks]
        found: Spots = places[self._names[places] == names]
        return found


def _columns(rows: Sequence[TenuredBefore], stack: Stack) -> Moments:
    """Earlier tenures as they are kept: a row for each column, the place of the entry first."""
    return np.array(
        [
            stack.places([row.entry for row in rows]),
            [row.since for row in rows],
            [row.until for row in rows],
            [_CODES[row.status] for row in rows],
            [NEVER if row.starts is None else row.starts for row in rows],
            [NEVER if row.ends is None else row.ends for row in rows],
        ],
        np.int64,
    )


def _portions(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    while portion := list(islice(rows, _PORTION)):
        yield portion
