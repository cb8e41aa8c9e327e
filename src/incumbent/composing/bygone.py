"""The facts of a past moment, read as far as a context of it needs them.

The index tells which may be wanted, and the lens what they were. What is given here is what one
would choose of all facts of the moment: the same facts, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np

from incumbent.engine.lens import Lens
from incumbent.model.fact import Fact
from incumbent.search.moment import PastMoment, ShelfMoment
from incumbent.search.tenures import matter_of
from incumbent.stores.port import Reader

if TYPE_CHECKING:
    from incumbent.search.marks import Heard
    from incumbent.search.moment import Spots

Matters = Collection[tuple[str, str | None]]


class Bygone:
    """The facts of the moment that a lens looks at."""

    def __init__(self, reader: Reader, lens: Lens, moment: PastMoment) -> None:
        self._reader = reader
        self._lens = lens
        self._moment = moment

    # in office

    def held(self) -> list[Fact]:
        """All facts in office."""
        return self._in_office(self._moment.ids(lambda shelf: np.flatnonzero(shelf.held)))

    def beside(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Those of these facts that are in office, and all on the same matters."""
        wanted = set(fact_ids)
        found = self._in_office(self._moment.beside(wanted))
        matters = {(fact.key, fact.subject) for fact in found if fact.id in wanted}
        return [fact for fact in found if (fact.key, fact.subject) in matters]

    def is_vacant(self, key: str, subject: str | None) -> bool:
        """Whether no fact is in office on a matter."""
        ids = self._moment.on_matters([matter_of(key, subject)])
        found = self._in_office(ids, marks=False)
        return not any((fact.key, fact.subject or "") == (key, subject or "") for fact in found)

    def doubled(self) -> list[Fact]:
        """The facts in office that may step aside for one another."""
        return self._in_office(self._moment.doubled())

    def _in_office(self, fact_ids: Collection[str], *, marks: bool = True) -> list[Fact]:
        if not fact_ids:
            return []
        lens, reader = self._lens, self._reader
        return lens.in_office(reader, lens.known_among(reader, fact_ids), marks=marks)

    # of every status

    def ahead(self) -> list[Fact]:
        """The facts that were said by then and take office later."""
        return self._known(lambda shelf: np.flatnonzero(shelf.ahead))

    def contested(self) -> list[Fact]:
        return self._seen(lambda shelf: np.flatnonzero(shelf.contested))

    def ended(self, asked: Collection[str]) -> list[Fact]:
        """The facts that were taken back or had expired, and have one of these terms."""
        return self._seen(lambda shelf: shelf.stack.tenures.terms.having(asked, shelf.ended))

    def over(
        self,
        matters: Matters,
        asked: Collection[str],
        is_wanted: Callable[[Fact], bool],
        most: int,
    ) -> list[Fact]:
        """Of the facts out of office on one of these matters or with one of these terms, those that
        are wanted: of each matter at least the first `most` that began, if there are as many."""
        marks = np.fromiter((hash(matter_of(*one)) for one in matters), np.int64)

        def every(shelf: ShelfMoment) -> Spots:
            tenures, over = shelf.stack.tenures, shelf.over
            named = tenures.matters.marked(marks, over)
            return np.union1d(named, tenures.terms.having(asked, over))

        found = self._seen(lambda shelf: _first_begun(shelf, every(shelf), most))
        wanted = [fact for fact in found if is_wanted(fact)]
        if len(wanted) < len(found) >= most:
            # What is not wanted may have stood in the place of what is.
            wanted = [fact for fact in self._seen(every) if is_wanted(fact)]
        return wanted

    def suspected(
        self, words: Collection[str], is_of_interest: Callable[[Heard], bool]
    ) -> list[tuple[int, Fact]]:
        """The facts whose value may be dead and repeated by a text with these words, each with its
        entry. Of entries with known sayings, only those of interest."""
        entries: dict[str, int] = {}
        for shelf in self._moment.shelves:
            places = shelf.stack.tenures.probes.having(words, shelf.dead)
            numbers = shelf.stack.entries_at(places)
            wanted = [
                (place, entry)
                for place, entry in zip(places.tolist(), numbers, strict=True)
                if (heard := shelf.stack.heard(entry)) is None or is_of_interest(heard)
            ]
            ids = shelf.stack.tenures.ids(place for place, _ in wanted)
            entries |= dict(zip(ids, (entry for _, entry in wanted), strict=True))
        if not entries:
            return []
        lens, reader = self._lens, self._reader
        return [(entries[fact.id], fact) for fact in lens.seen_among(reader, entries)]

    def _known(self, choose: Callable[[ShelfMoment], Spots]) -> list[Fact]:
        ids = self._moment.ids(choose)
        return self._lens.known_among(self._reader, ids) if ids else []

    def _seen(self, choose: Callable[[ShelfMoment], Spots]) -> list[Fact]:
        ids = self._moment.ids(choose)
        return self._lens.seen_among(self._reader, ids) if ids else []


def _first_begun(shelf: ShelfMoment, places: Spots, most: int) -> Spots:
    """Of each matter, those of these places that began first, so many of them and all that began
    with the last of these."""
    if len(places) <= most:
        return places
    matters = shelf.stack.tenures.matter[places]
    starts = shelf.standing.starts[places]
    order = np.lexsort((starts, matters))
    matters, starts = matters[order], starts[order]
    first = np.searchsorted(matters, matters, side="left")
    last = np.minimum(first + most - 1, np.searchsorted(matters, matters, side="right") - 1)
    return places[order][starts <= starts[last]]
