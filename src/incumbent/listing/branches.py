"""Branches: the hypotheticals and drafts that have facts in office."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby

from incumbent.engine.lens import Lens
from incumbent.listing.cursors import check_limit, page_of, place_of
from incumbent.model.errors import InvalidInput
from incumbent.model.fact import Fact
from incumbent.model.listings import ListedBranch, Listing
from incumbent.model.scope import Place, Scope
from incumbent.stores.port import Reader, Selection

_BRANCHES = "branch"


def branches(
    reader: Reader, lens: Lens, *, limit: int, cursor: str | None
) -> Listing[ListedBranch]:
    """A page of branches, in the order of their kinds and names."""
    check_limit(limit)
    after = _after(cursor)
    found = _remembered(reader, lens, after) if lens.past else _walked(reader, lens, after, limit)
    return page_of(_BRANCHES, (((one.kind.value, one.name), one) for one in found), limit)


def _after(cursor: str | None) -> Place | None:
    place = place_of(_BRANCHES, cursor, str, str)
    if place is None:
        return None
    if place[0] not in (Scope.DRAFT, Scope.HYPOTHETICAL):
        raise InvalidInput("cursor is none that this list gave; leave it out to begin anew")
    return Scope(place[0]), place[1]


def _walked(reader: Reader, lens: Lens, after: Place | None, limit: int) -> Iterator[ListedBranch]:
    """Along the index of branches, as far as somebody asks."""
    while places := reader.branches(lens.owners, after, limit + 1):
        alike = reader.branched(lens.owners, places, lens.when)
        known = {fact.id: fact for fact in reader.facts(one.fact_id for one in alike)}
        held = {fact.id: fact for fact in _held(reader, lens, known.values())}
        yield from _counted(
            (held[one.fact_id].place, one.facts, one.last_at)
            for one in alike
            if one.fact_id in held
        )
        after = places[-1]
        if len(places) <= limit:
            return


def _remembered(reader: Reader, lens: Lens, after: Place | None) -> Iterator[ListedBranch]:
    """The branches of a moment of the past, for which there is no index."""
    found = reader.known(Selection(lens.owners), lens.seq(reader))
    branched = (fact for fact in found if not fact.scope.is_real)
    lines = ((fact.place, 1, fact.recorded_at) for fact in _held(reader, lens, branched))
    return _counted(line for line in lines if after is None or line[0] > after)


def _held(reader: Reader, lens: Lens, facts: Iterable[Fact]) -> Iterator[Fact]:
    """Those in office that this identity may know of, in whichever branch."""
    return (fact for fact in facts if fact.held_at(lens.when) and lens.sees(reader, fact))


def _counted(found: Iterable[tuple[Place, int, datetime]]) -> Iterator[ListedBranch]:
    for (kind, name), same in groupby(
        sorted(found, key=lambda one: one[0]), key=lambda one: one[0]
    ):
        group = list(same)
        yield ListedBranch(kind, name, sum(one[1] for one in group), max(one[2] for one in group))
