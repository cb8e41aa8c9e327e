"""The places of a shelf's entries by marks of what they have, in little memory: 12 bytes a pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Marks = npt.NDArray[np.int64]
    Spots = npt.NDArray[np.int32]

_FRESH = 8_192


class Run(NamedTuple):
    """Pairs of a mark and a place, ordered by mark and then by place."""

    marks: Marks
    places: Spots


def _sorted(marks: Marks, places: Spots) -> Run:
    order = np.lexsort((places, marks))
    return Run(marks[order], places[order])


def _nothing() -> Run:
    return Run(np.zeros(0, np.int64), np.zeros(0, np.int32))


class Places:
    """Places by marks. Pairs are only ever added, because values do not change.

    A mark is the hash of a text within this process. It has 64 bits: that two texts have the same
    is not to be expected in a memory of any size.
    """

    def __init__(self) -> None:
        self._settled = _nothing()
        self._fresh = _nothing()
        self._marks: list[int] = []
        self._places: list[int] = []

    def add(self, texts: Collection[str], place: int) -> None:
        """Note that a place has these. They are found once they were sorted in."""
        self._marks.extend(map(hash, texts))
        self._places.extend([place] * len(texts))

    def settle(self) -> None:
        """Sort in what was added: few among the fresh ones, many among all."""
        if not self._marks:
            return
        marks = np.array(self._marks, np.int64)
        places = np.array(self._places, np.int32)
        self._marks, self._places = [], []
        fresh = self._joined(self._fresh, marks, places)
        if len(fresh.marks) > _FRESH:
            self._settled, fresh = self._joined(self._settled, *fresh), _nothing()
        self._fresh = fresh

    @staticmethod
    def _joined(run: Run, marks: Marks, places: Spots) -> Run:
        return _sorted(np.concatenate([run.marks, marks]), np.concatenate([run.places, places]))

    def runs(self) -> Iterator[Run]:
        """All pairs, in a long run and a short one."""
        return (run for run in (self._settled, self._fresh) if len(run.marks))

    def having(self, texts: Iterable[str]) -> Spots:
        """The places that have one of these texts, ordered, each once."""
        return self.marked(np.fromiter(map(hash, texts), np.int64))

    def marked(self, marks: Marks) -> Spots:
        """The places that have one of these marks, ordered, each once."""
        found = [_ranges(run, marks) for run in self.runs()]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int32)

    def of(self, text: str) -> Spots:
        """The places that have a text, ordered."""
        mark = np.array([hash(text)], np.int64)
        found = [places for run in self.runs() if len(places := _ranges(run, mark))]
        if len(found) == 1:
            return found[0]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int32)


def _ranges(run: Run, marks: Marks) -> Spots:
    first = np.searchsorted(run.marks, marks, side="left")
    counts = np.searchsorted(run.marks, marks, side="right") - first
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total) - np.repeat(ends - counts, counts)
    found: Spots = run.places[np.repeat(first, counts) + within]
    return found
