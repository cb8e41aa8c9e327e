"""What a process has read of entries lately: the same ones come up again and again."""

from __future__ import annotations

from sys import intern
from typing import NamedTuple

from incumbent.search.marks import Heard
from incumbent.stores.port import Found

_MOST_ROWS = 16_384
_MOST_HEARD = 65_536
_LONG = 4_000
"""Characters; a row with more terms is read again rather than kept."""


class EntryRow(NamedTuple):
    """An entry as a search ranks it."""

    entry: int
    fact_id: str
    tokens: int
    vector: bytes | None
    terms: tuple[str, ...]
    """The terms of its text, in order."""


def row_of(found: Found) -> EntryRow:
    # Texts share most of their terms: each is in memory once.
    terms = tuple(map(intern, found.terms.split()))
    return EntryRow(found.entry, found.fact_id, found.tokens, found.vector, terms)


class Recent:
    """The rows and sayings of entries that were read lately, by the serial of their stack."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, EntryRow]] = {}
        self._count = 0
        self.heard: dict[tuple[int, int], Heard] = {}

    def rows(self, serial: int) -> dict[int, EntryRow]:
        """The kept rows of a stack, by entry."""
        return self._rows.setdefault(serial, {})

    def keep(self, serial: int, row: EntryRow, found: Found) -> None:
        """Keep a row, unless it is very long."""
        if len(found.terms) > _LONG:
            return
        if self._count >= _MOST_ROWS:
            self._rows, self._count = {}, 0
        self.rows(serial)[row.entry] = row
        self._count += 1

    def hear(self, serial: int, entry: int, heard: Heard) -> None:
        """Keep the sayings of an entry."""
        if len(self.heard) >= _MOST_HEARD:
            self.heard.clear()
        self.heard[serial, entry] = heard

    def drop(self, serial: int, entry: int) -> None:
        """Drop what is kept of an entry: it has changed."""
        self.rows(serial).pop(entry, None)
        self.heard.pop((serial, entry), None)
