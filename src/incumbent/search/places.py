"""The places of a shelf's entries by marks of what they have, in little memory: 12 bytes a pair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Marks = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]
    Spots = npt.NDArray[np.int32]

_FRESH = 8_192


class Run(NamedTuple):
    """Pairs of a mark and a place, ordered by mark and then by place."""

    marks: Marks
    places: Spots


def _sorted(runs: Sequence[Run]) -> Run:
    marks = np.concatenate([run.marks for run in runs])
    places = np.concatenate([run.places for run in runs])
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
        self._added: list[Run] = []
        self._marks: list[int] = []
        self._places: list[int] = []

    def add(self, texts: Collection[str], place: int) -> None:
        """Note that a place has these. They are found once they were sorted in."""
        self._marks.extend(map(hash, texts))
        self._places.extend([place] * len(texts))

    def pack(self) -> None:
        """Put what was added into less memory."""
        if self._marks:
            added = Run(np.array(self._marks, np.int64), np.array(self._places, np.int32))
            self._added.append(added)
            self._marks, self._places = [], []

    def settle(self) -> None:
        """Sort in what was added: few among the fresh ones, many among all."""
        self.pack()
        if not self._added:
            return
        added, self._added = self._added, []
        many = len(self._fresh.marks) + sum(len(run.marks) for run in added) > _FRESH
        if many:
            self._settled, self._fresh = _sorted([self._settled, self._fresh, *added]), _nothing()
        else:
            self._fresh = _sorted([self._fresh, *added])

    def runs(self) -> Iterator[Run]:
        """All pairs, in a long run and a short one."""
        return (run for run in (self._settled, self._fresh) if len(run.marks))

    def having(self, texts: Iterable[str], among: Mask) -> Spots:
        """Of the places among these, those that have one of the texts, ordered, each once."""
        return self.marked(np.fromiter(map(hash, texts), np.int64), among)

    def marked(self, marks: Marks, among: Mask) -> Spots:
        """Of the places among these, those that have one of the marks, ordered, each once."""
        found = [places[among[places]] for run in self.runs() for places in (_ranges(run, marks),)]
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
