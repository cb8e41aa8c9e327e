"""The postings that a process has read, kept in step with the shelves they are from.

The terms of an entry never change. An entry that came into office since, or left it, tells by them
in which postings it stands now: those few entries are read, and not the postings again.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_MOST = 262_144
"""Entries in the postings of one reader."""
_MOST_SHELVES = 64
_OF_A_LIST = 16
"""What a list takes by itself, in entries."""


class MovedEntry(NamedTuple):
    """An entry that has come into office, or left it."""

    entry: int
    live: bool
    lexemes: list[str]
    """The lexemes under which it is posted while it is live."""


class PostedEntries(NamedTuple):
    """The entries under a lexeme, ordered."""

    entries: array[int]
    whole: bool
    """Whether these are all of them, and not the first alone."""

    def first(self, limit: int) -> list[int] | None:
        """At most so many entries; None where more have to be read."""
        if self.whole or limit <= len(self.entries):
            return self.entries[:limit].tolist()
        return None

    def after(self, entry: int, *, live: bool) -> PostedEntries:
        """The postings once an entry has come or gone."""
        entries = self.entries
        place = bisect_left(entries, entry)
        stands = place < len(entries) and entries[place] == entry
        if stands == live or (live and place == len(entries) and not self.whole):
            return self
        between = array("q", [entry] if live else [])
        return self._replace(entries=entries[:place] + between + entries[place + stands :])


class KeptPostings:
    """The postings that were read for one reader, of shelves at certain versions."""

    def __init__(self) -> None:
        self.versions: dict[int, int] = {}
        self._lists: dict[str, PostedEntries] = {}
        self.size = 0

    def copy(self) -> KeptPostings:
        """The same, to which nobody else adds."""
        found = KeptPostings()
        # In this order: another thread may be adding, and no list may be without its version.
        found._lists = dict(self._lists)
        found.versions = dict(self.versions)
        found.size = self.size
        return found

    def first(self, lexeme: str, limit: int) -> list[int] | None:
        """At most so many entries under a lexeme; None where they have to be read."""
        known = self._lists.get(lexeme)
        return None if known is None else known.first(limit)

    def keep(
        self, lexeme: str, entries: list[int], limit: int, versions: Mapping[int, int]
    ) -> None:
        """Keep what was read of shelves that are at these versions."""
        shelf = int(lexeme.partition("x")[0])
        if shelf not in versions:
            return
        if self.size > _MOST:
            self._lists.clear()
            self.versions.clear()
            self.size = 0
        self.versions[shelf] = versions[shelf]
        self._lists[lexeme] = PostedEntries(array("q", entries), len(entries) < limit)
        self.size += len(entries) + _OF_A_LIST

    def after(self, changed: Iterable[MovedEntry], versions: Mapping[int, int]) -> KeptPostings:
        """The same of shelves that are at these versions by now, where these entries have
        changed.

        A shelf whose version is not known stays at the one before: the next time its entries are
        told again, which changes nothing.
        """
        if len(self.versions) > _MOST_SHELVES:
            return KeptPostings()
        found = self.copy()
        found.versions = {
            shelf: versions.get(shelf, seen) for shelf, seen in found.versions.items()
        }
        for entry, live, lexemes in changed:
            for lexeme in lexemes:
                if (known := found._lists.get(lexeme)) is not None:
                    found._lists[lexeme] = known.after(entry, live=live)
        return found
