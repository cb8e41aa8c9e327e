"""The entries out of office by their terms: who asks for history finds them without reading all.

Postings are of entries in office alone. These are made when somebody first asks, in little memory,
and then follow what leaves office.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from zlib import crc32

from incumbent.search.marks import Marked
from incumbent.search.recent import EntryRow

_PORTION = 1_000


class PastTerms:
    """Marks of the terms of entries. Safe to share between threads."""

    def __init__(self) -> None:
        self._marked = Marked()
        self._known: set[int] = set()
        self._lock = threading.Lock()

    def having(
        self,
        terms: Iterable[str],
        entries: Sequence[int],
        read: Callable[[Sequence[int]], Iterable[EntryRow]],
    ) -> set[int]:
        """Those of these entries that have one of the terms, and perhaps some that have not.

        `read` gives the rows of entries that were not asked for before. A value never changes, so
        neither do its terms.
        """
        with self._lock:
            fresh = [entry for entry in entries if entry not in self._known]
            for start in range(0, len(fresh), _PORTION):
                for row in read(fresh[start : start + _PORTION]):
                    for term in set(row.terms):
                        self._marked.add(row.entry, _mark(term))
                    self._known.add(row.entry)
            self._marked.settle()
            found = self._marked.having_any({_mark(term) for term in terms})
        return set(found).intersection(entries)


def _mark(term: str) -> int:
    return crc32(term.encode())
