"""Which entries have a probe, kept in little memory: 12 bytes for each pair."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_FRESH = 4_096
_MOST = 2_000
_REMEMBERED = 50_000


Words = tuple[str, ...]


class Heard(NamedTuple):
    """What an entry says, in words as they are compared: a value never changes."""

    fact_id: str
    sayings: tuple[Words, ...]
    """All that could be taken for a value of it; an empty one where words cannot be told apart."""
    held: frozenset[Words] | None
    """What it holds while it is in office; None where that hangs on other facts too."""


class Probed:
    """Entries by the probes that they have, and as far as they were listened to, by what they hold.

    Only ever added to, because values do not change: whether an entry is still live is for the
    caller to see.
    """

    def __init__(self) -> None:
        self._done: dict[str, int] = {}
        """For a probe, up to which entry those that have it were listened to."""
        self._holders: dict[Words, dict[int, None]] = {}
        self._unsure: dict[str, list[int]] = defaultdict(list)
        self._hashes: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._entries: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._fresh: dict[int, list[int]] = defaultdict(list)
        self._waiting = 0

    def add(self, entry: int, probes: Iterable[str]) -> None:
        for probe in probes:
            self._fresh[_hashed(probe)].append(entry)
            self._waiting += 1

    def having(self, probe: str) -> list[int]:
        """The entries that may have a probe, in order."""
        if self._waiting > _FRESH:
            self._settle()
        wanted = _hashed(probe)
        first, last = np.searchsorted(self._hashes, (wanted, wanted + 1))
        found: list[int] = self._entries[first:last].tolist()
        found.extend(self._fresh.get(wanted, ()))
        return found

    def unheard(self, probe: str) -> list[int]:
        """Entries that may have a probe and were not listened to yet; of very many the newest."""
        done = self._done.get(probe, -1)
        return [entry for entry in self.having(probe) if entry > done][-_MOST:]

    def hear(self, probe: str, entries: Sequence[int], heard: Mapping[int, Heard]) -> None:
        """Take in what these entries say, all that came to a probe since the last time."""
        if len(self._holders) > _REMEMBERED:
            self.forget()
        for entry in entries:
            told = heard.get(entry)
            if told is None:
                continue  # its fact is not there to be read
            if told.held is None:
                self._unsure[probe].append(entry)
            for words in told.held or ():
                self._holders.setdefault(words, {})[entry] = None
        self._done[probe] = max(entries, default=self._done.get(probe, -1))

    def holders(self, words: Words) -> Iterable[int]:
        """The entries that hold this, in office or not, as far as they were listened to."""
        return self._holders.get(words, ())

    def unsure(self, probe: str) -> Sequence[int]:
        """Those whose hold hangs on other facts too."""
        return self._unsure.get(probe, ())

    def forget(self) -> None:
        """Drop what anything says."""
        self._done.clear()
        self._holders.clear()
        self._unsure.clear()

    def _settle(self) -> None:
        """Sort in what came since the last time."""
        hashes = [value for value, entries in self._fresh.items() for _ in entries]
        entries = [entry for those in self._fresh.values() for entry in those]
        every = np.concatenate([self._entries, np.array(entries, np.int64)])
        keys = np.concatenate([self._hashes, np.array(hashes, np.uint32)])
        order = np.lexsort((every, keys))
        self._hashes, self._entries = keys[order], every[order]
        self._fresh.clear()
        self._waiting = 0


def _hashed(probe: str) -> int:
    return hash(probe) & 0x7FFF_FFFF
