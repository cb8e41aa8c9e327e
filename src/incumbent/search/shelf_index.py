"""A shelf held in memory: everything about its entries that can be decided without the store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import count, islice
from typing import TYPE_CHECKING

import numpy as np

from incumbent.model.records import Declaration
from incumbent.search.analysis import MARK, MATTER
from incumbent.search.marks import Heard, Marked
from incumbent.search.past_terms import PastTerms
from incumbent.search.read_write_lock import Latch
from incumbent.search.recent import EntryRow, Recent
from incumbent.search.tenures import ShelfTenures
from incumbent.stores.port import Found, Placed

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]
    Numbers = npt.NDArray[np.int64]

_PORTION = 8_192
_WORD = 64
_FEW = 4
"""Of so many entries less than one counts: then it is quicker to pick them out than to pass all."""
_serials = count()
_ARRAYS = ("_entries", "_lengths", "_live", "_meant", "_codes")


def signs(vectors: npt.NDArray[np.int8]) -> Codes:
    """One bit a dimension, packed into words, for a quick estimate of nearness."""
    bits = np.packbits(vectors > 0, axis=1)
    spare = -bits.shape[1] % 8
    if spare:
        bits = np.pad(bits, ((0, 0), (0, spare)))
    return np.ascontiguousarray(bits).view(np.uint64)


class ShelfIndex:
    """The entries of one shelf, kept up to date by the changes since it was last looked at.

    Codes lie in columns, one row for each word of bits, because the machine scans whole columns
    fastest.
    """

    def __init__(
        self, dimensions: int, *, with_keys: bool = False, recent: Recent | None = None
    ) -> None:
        self.version = 0
        self.size = 0
        """The number of its live entries."""
        self.length = 0
        """The number of terms of its live entries."""
        self.turned = 0
        """The number of times an entry has left or come back: postings read before may differ by
        it."""
        self.filled = 0
        """The number of filled entries, live or not."""
        self.termed: dict[int, tuple[datetime | None, datetime | None]] = {}
        self.suspects: dict[str, Collection[int]] = {}
        """Entries whose value may be dead, by the terms that a repetition of it would have. Most
        have one: that is a tuple, which takes a quarter of the memory of a set."""
        self.keys: dict[int, str | None] | None = {} if with_keys else None
        self._dimensions = dimensions
        self._words = -(-dimensions // _WORD)
        self._count = 0
        self._entries: Numbers = np.zeros(0, np.int64)
        self._lengths: npt.NDArray[np.int32] = np.zeros(0, np.int32)
        self._live: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._meant: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._codes: Codes = np.zeros((self._words, 0), np.uint64)
        self._probes: dict[int, str] = {}
        self._marked = Marked()
        self._matters = Marked()
        self._past = PastTerms()
        self._kept: dict[tuple[Declaration, ...], tuple[int, set[int]]] = {}
        self.tenures = ShelfTenures()
        """When its facts held office; filled once somebody asks for a moment of the past."""
        self.latch = Latch()
        """Held while somebody reads the shelf for long, or changes it, if it is shared."""
        self.serial = next(_serials)
        """Unique among all stacks of this process, past ones included."""
        self._recent = recent or Recent()

    def recent(self) -> dict[int, EntryRow]:
        """The rows of entries that were read and have not changed since."""
        return self._recent.rows(self.serial)

    def note_recent(self, row: EntryRow, found: Found) -> None:
        self._recent.keep(self.serial, row, found)

    def heard(self, entry: int) -> Heard | None:
        """The sayings of an entry, if they were read and have not changed since."""
        return self._recent.heard.get((self.serial, entry))

    def hear(self, entry: int, heard: Heard) -> None:
        self._recent.hear(self.serial, entry, heard)

    def suspected(self, words: set[str], is_of_interest: Callable[[Heard], bool]) -> Iterator[int]:
        """Entries whose value may be dead and repeated by a text with these words. Of entries with
        known sayings, only those of interest."""
        known = self.suspects
        heard, serial = self._recent.heard, self.serial
        probes = (
            [p for p in known if p in words] if len(known) < len(words) else words & known.keys()
        )
        for entry in set[int]().union(*(known[probe] for probe in probes)):
            told = heard.get((serial, entry))
            if told is None or is_of_interest(told):
                yield entry

    def holding(self, mark: str) -> Iterator[int]:
        """Live entries that have a mark, the newest first."""
        return self.only_live(sorted(self._marked.having(int(mark[1:], 16)), reverse=True))

    def matters_with(self, other: ShelfIndex) -> set[int]:
        """The matters on which both this and another stack have entries, live or not."""
        return self._matters.shared_with(other._matters)

    def on_matters(self, matters: set[int]) -> list[int]:
        """Live entries on one of these matters."""
        entries = np.array(self._matters.having_any(matters), np.int64)
        places = np.searchsorted(self._entries[: self._count], entries)
        found: list[int] = entries[self._live[places]].tolist()
        return found

    def over_with(
        self,
        matters: set[int],
        terms: Iterable[str],
        read: Callable[[Sequence[int]], Iterable[EntryRow]],
    ) -> set[int]:
        """Entries out of office on one of these matters, or with one of these terms."""
        entries: list[int] = self._entries[: self._count][~self._live[: self._count]].tolist()
        if not entries:
            return set()
        on_matters = set(self._matters.having_any(matters)).intersection(entries)
        return on_matters | self._past.having(terms, entries, read)

    def catch_up(self, changes: Iterable[Placed], version: int) -> None:
        """Apply the changes up to a version of the shelf."""
        if self._count:
            self._take(list(changes))
        else:
            rest = iter(changes)
            while portion := list(islice(rest, _PORTION)):
                self._add(portion)
            # Entries come in the order of their last change; from here on, new ones come last.
            self._sort()
        self._marked.settle()
        self._matters.settle()
        self.version = version

    def _take(self, portion: list[Placed]) -> None:
        last = int(self._entries[self._count - 1])
        for placed in portion:
            if placed.entry <= last:
                position = self.position(placed.entry)
                assert position is not None, f"entry {placed.entry} came from nowhere"
                self._change(position, placed)
        self._add(sorted(placed for placed in portion if placed.entry > last))

    def _add(self, fresh: list[Placed]) -> None:
        self._append(fresh)
        live = [placed.length for placed in fresh if placed.live]
        self.size += len(live)
        self.length += sum(live)
        self.filled += sum([bool(placed.probes) for placed in fresh])
        if self.keys is not None:
            self.keys.update((placed.entry, placed.key) for placed in fresh)
        self._mark(fresh)
        for placed in fresh:
            if not placed.live or placed.derived or placed.starts or placed.ends:
                self._watch(placed)

    def _sort(self) -> None:
        order = np.argsort(self._entries[: self._count], kind="stable")
        for name in _ARRAYS:
            array = getattr(self, name)
            array[..., : self._count] = array[..., order]

    def _append(self, fresh: list[Placed]) -> None:
        count = self._count + len(fresh)
        if count > len(self._entries):
            self._grow(max(count, 2 * len(self._entries), 64))
        span = slice(self._count, count)
        self._entries[span] = [placed.entry for placed in fresh]
        self._lengths[span] = [placed.length for placed in fresh]
        self._live[span] = [placed.live for placed in fresh]
        self._codes[:, span] = self._coded(fresh)
        self._meant[span] = [placed.vector is not None for placed in fresh]
        self._count = count

    def _coded(self, fresh: list[Placed]) -> Codes:
        if not self._dimensions:
            return np.zeros((0, len(fresh)), np.uint64)
        blank = bytes(self._dimensions)
        wanted = len(blank)
        given = [placed.vector for placed in fresh]
        # A vector of another length is of another embedder; the recipe keeps those out.
        raw = b"".join([v if v is not None and len(v) == wanted else blank for v in given])
        return signs(np.frombuffer(raw, np.int8).reshape(len(fresh), self._dimensions)).T

    def _grow(self, capacity: int) -> None:
        def larger(array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
            grown = np.zeros((*array.shape[:-1], capacity), array.dtype)
            grown[..., : self._count] = array[..., : self._count]
            return grown

        for name in _ARRAYS:
            setattr(self, name, larger(getattr(self, name)))

    def _mark(self, fresh: list[Placed]) -> None:
        """Note the marks of new entries, of all of them at once: they may be a million."""
        entries = [placed.entry for placed in fresh]
        probes = [placed.probes for placed in fresh]
        self._marked.read(MARK, entries, probes)
        self._matters.read(MATTER, entries, probes)

    def _change(self, position: int, placed: Placed) -> None:
        if self._live[position]:
            self.size -= 1
            self.length -= int(self._lengths[position])
        self.turned += bool(self._live[position]) != placed.live
        self._recent.drop(self.serial, placed.entry)
        if not placed.probes:
            self.filled -= 1  # erased, which happens once
            for _, kept in self._kept.values():
                kept.discard(placed.entry)
            if self.keys is not None:
                self.keys[placed.entry] = None
        self._live[position] = placed.live
        self._lengths[position] = placed.length
        self._codes[:, position] = self._coded([placed])[:, 0]
        self._meant[position] = placed.vector is not None
        if placed.live:
            self.size += 1
            self.length += placed.length
        self._watch(placed)

    def _watch(self, placed: Placed) -> None:
        """Remember the terms, and the values that are or may become dead without a further
        entry."""
        entry = placed.entry
        for probe in self._probes.pop(entry, "").split():
            known = self.suspects[probe]
            if isinstance(known, set) and len(known) > 1:
                known.discard(entry)
            else:
                del self.suspects[probe]
        self.termed.pop(entry, None)
        if placed.live and (placed.starts is not None or placed.ends is not None):
            self.termed[entry] = (placed.starts, placed.ends)
        if placed.probes and (not placed.live or placed.derived or entry in self.termed):
            probes = [p for p in placed.probes.split() if not p.startswith((MARK, MATTER))]
            self._probes[entry] = " ".join(probes)
            for probe in probes:
                known = self.suspects.setdefault(probe, (entry,))
                if isinstance(known, set):
                    known.add(entry)
                elif entry not in known:
                    self.suspects[probe] = {entry, *known}

    def __len__(self) -> int:
        return self._count

    def position(self, entry: int) -> int | None:
        position = int(np.searchsorted(self._entries[: self._count], entry))
        if position < self._count and self._entries[position] == entry:
            return position
        return None

    def own(self, entries: Sequence[int]) -> set[int]:
        """Those of these entries that are here, live or not."""
        if not self._count:
            return set()
        here, numbers = self._entries[: self._count], np.array(entries, np.int64)
        places = np.searchsorted(here, numbers).clip(max=self._count - 1)
        return set(numbers[here[places] == numbers].tolist())

    def places(self, entries: Sequence[int]) -> list[int]:
        """The places of these entries, which all are here."""
        found: list[int] = np.searchsorted(self._entries[: self._count], entries).tolist()
        return found

    def entries_at(self, places: npt.NDArray[np.integer]) -> list[int]:
        """The entries at these places."""
        found: list[int] = self._entries[places].tolist()
        return found

    def places_in(self, entries: Iterable[int]) -> Numbers:
        """The places of those of these entries that are here."""
        wanted = np.fromiter(entries, np.int64)
        here = self._entries[: self._count]
        places = np.searchsorted(here, wanted).clip(max=max(0, self._count - 1))
        found: Numbers = places[here[places] == wanted] if self._count else places[:0]
        return found

    def lengths(self) -> npt.NDArray[np.int32]:
        """The number of terms at each place."""
        return self._lengths[: self._count]

    def meant(self) -> npt.NDArray[np.bool_]:
        """Whether the entry at each place has a meaning."""
        return self._meant[: self._count]

    def differing(self, code: Codes, places: Numbers | None = None) -> npt.NDArray[np.uint16]:
        """The number of differing bits at each place, or at these."""
        spots = slice(self._count) if places is None else places
        codes = self._codes[:, spots]
        if codes.shape[1] <= _PORTION:
            # All columns at once: there are few numbers, and each step has a price of its own.
            bits = np.bitwise_count(codes ^ code[:, None])
            summed: npt.NDArray[np.uint16] = bits.sum(axis=0, dtype=np.uint16)
            return summed
        far = np.zeros(codes.shape[1], np.uint16)
        differing = np.empty(codes.shape[1], np.uint64)
        for word in range(self._words):
            np.bitwise_xor(codes[word], code[word], out=differing)
            far += np.bitwise_count(differing)
        return far

    def length_of(self, entry: int) -> int:
        position = self.position(entry)
        return 0 if position is None else int(self._lengths[position])

    def count_up_to(self, entry: int) -> int:
        """The number of live entries up to this one."""
        position = int(np.searchsorted(self._entries[: self._count], entry, side="right"))
        return int(np.count_nonzero(self._live[:position]))

    def newest(self, count: int) -> list[int]:
        """The last live entries."""
        live = np.flatnonzero(self._live[: self._count])[-count:]
        found: list[int] = self._entries[live].tolist()
        return found

    def kept_by(self, hides: tuple[Declaration, ...]) -> set[int]:
        """Entries whose key matches one of these declarations. Each key is looked at once."""
        assert self.keys is not None, "this stack was made without keys"
        seen, kept = self._kept.get(hides, (0, set()))
        if seen < len(self.keys):
            added = (
                entry
                for entry, key in islice(self.keys.items(), seen, None)
                if key is not None and any(told.matches(key) for told in hides)
            )
            kept = kept.union(added)  # a new one: others may be looking at this
            self._kept[hides] = (len(self.keys), kept)
        return kept

    def only_live(self, entries: Iterable[int]) -> Iterator[int]:
        """Those of these entries that are here and live."""
        for entry in entries:
            position = self.position(entry)
            if position is not None and self._live[position]:
                yield entry

    def out_of_term(self, when: datetime) -> Iterator[int]:
        """Live entries whose term has not begun or is over at that moment."""
        for entry, (starts, ends) in self.termed.items():
            if (starts is not None and when < starts) or (ends is not None and when >= ends):
                yield entry

    def early(self, when: datetime) -> Iterator[tuple[datetime, int]]:
        """Live entries whose term begins after that moment, and when."""
        for entry, (starts, _) in self.termed.items():
            if starts is not None and when < starts:
                yield starts, entry

    def expired(self, when: datetime) -> Iterator[int]:
        """Live entries whose term is over at that moment, the last to end first."""
        ended = [(ends, entry) for entry, (_, ends) in self.termed.items() if ends and when >= ends]
        yield from (entry for _, entry in sorted(ended, reverse=True))

    def distances(
        self, code: Codes, hidden: Numbers | None = None
    ) -> tuple[npt.NDArray[np.uint16], Numbers]:
        """The number of differing bits of each live entry with a meaning, and the entry.

        Hidden entries, which are given in order, are left out.
        """
        count = self._count
        counted = self._live[:count] & self._meant[:count]
        if hidden is not None and len(hidden) and count:
            places = np.searchsorted(self._entries[:count], hidden).clip(max=count - 1)
            counted[places[self._entries[:count][places] == hidden]] = False
        here = self._entries[:count]
        number = int(np.count_nonzero(counted))
        if number < count // _FEW:
            places = np.flatnonzero(counted)
            return self.differing(code, places), here[places]
        far = self.differing(code)
        return (far, here) if number == count else (far[counted], here[counted])
