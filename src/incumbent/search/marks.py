"""The entries of each mark, kept in little memory: 12 bytes for each pair."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from incumbent.model.words import Words

if TYPE_CHECKING:
    import numpy.typing as npt

_FRESH = 4_096
_FEW = 64


class Heard(NamedTuple):
    """The sayings of an entry, in words as they are compared. They never change, because a value
    never does."""

    fact_id: str
    sayings: tuple[Words, ...]
    """Everything that could be taken for a value of it; an empty one where words cannot be told
    apart."""
    held: frozenset[Words] | None
    """The words that it holds while it is in office; None if that depends on other facts too."""


class Marked:
    """Entries by their marks.

    Entries are only ever added, because values do not change. The caller checks whether an entry is
    still live, and whether it really has the words of the mark.
    """

    def __init__(self) -> None:
        self._marks: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._entries: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._fresh: dict[int, list[int]] = defaultdict(list)
        self._waiting = 0
        self._added: list[tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]] = []

    def add(self, entry: int, mark: int) -> None:
        self._fresh[mark].append(entry)
        self._waiting += 1

    def read(self, begin: str, entries: Sequence[int], probes: Sequence[str]) -> None:
        """Add the marks among the probes of these entries, which begin as told and as nothing else
        does. All at once, because they may be a million. Settle afterwards."""
        told = re.findall(f"{begin}([0-9a-f]{{8}})", " ".join(probes))
        marks = np.frombuffer(bytes.fromhex("".join(told)), ">u4").astype(np.uint32)
        marked = np.repeat(np.array(entries, np.int64), [text.count(begin) for text in probes])
        if len(entries) > _FEW:
            self._added.append((marks, marked))
            return
        for entry, mark in zip(marked.tolist(), marks.tolist(), strict=True):
            self.add(entry, mark)

    def having(self, mark: int) -> list[int]:
        """The entries that have a mark."""
        return self.having_any((mark,))

    def having_any(self, marks: Collection[int]) -> list[int]:
        """The entries that have one of these marks."""
        wanted = np.fromiter(marks, np.uint32, len(marks))
        first = np.searchsorted(self._marks, wanted, side="left").tolist()
        last = np.searchsorted(self._marks, wanted, side="right").tolist()
        found: list[int] = []
        for mark, start, end in zip(marks, first, last, strict=True):
            if start < end:
                found.extend(self._entries[start:end].tolist())
            found.extend(self._fresh.get(mark, ()))
        return found

    def shared_with(self, other: Marked) -> set[int]:
        """The marks that this and another both have. It is quick if one of them has few."""
        few, many = (self, other) if len(self) <= len(other) else (other, self)
        wanted = np.concatenate([few._marks, np.fromiter(few._fresh, np.uint32)])
        found: set[int] = set(wanted.tolist()) & many._fresh.keys()
        if len(many._marks):
            places = np.searchsorted(many._marks, wanted).clip(max=len(many._marks) - 1)
            found.update(wanted[many._marks[places] == wanted].tolist())
        return found

    def __len__(self) -> int:
        return len(self._marks) + self._waiting

    def settle(self) -> None:
        """Sort the newly added entries in, if they are many."""
        if self._waiting <= _FRESH and not self._added:
            return
        marks = [mark for mark, entries in self._fresh.items() for _ in entries]
        entries = [entry for those in self._fresh.values() for entry in those]
        added = [*self._added, (np.array(marks, np.uint32), np.array(entries, np.int64))]
        keys = np.concatenate([self._marks, *(marks for marks, _ in added)])
        every = np.concatenate([self._entries, *(entries for _, entries in added)])
        order = np.lexsort((every, keys))
        self._marks, self._entries = keys[order], every[order]
        self._fresh.clear()
        self._added.clear()
        self._waiting = 0
