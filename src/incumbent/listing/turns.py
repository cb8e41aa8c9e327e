"""Turns: what was observed in a session, with what came of it as far as one may see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from incumbent.engine.lens import Lens
from incumbent.listing.cursors import check_limit, page_of, place_of
from incumbent.model.fact import Status
from incumbent.model.listings import ListedTurn, Listing
from incumbent.model.records import Turn, WorkingItem, item_key
from incumbent.model.values import text_of
from incumbent.stores.port import Reader

_TURNS = "turn"


def turns(
    reader: Reader, lens: Lens, session_id: str, *, limit: int, cursor: str | None
) -> Listing[ListedTurn]:
    """A page of the turns of a session of whoever looks, the first said first."""
    check_limit(limit)
    place = place_of(_TURNS, cursor, int)
    user_id = lens.identity.user_id

    def lines() -> Iterator[tuple[tuple[int], ListedTurn]]:
        after = 0 if place is None else place[0]
        desk = {
            item.key: item
            for item in reader.working_items(user_id, session_id)
            if not item.expired(lens.when)
        }
        while found := reader.turns_after(user_id, session_id, after, limit + 1):
            said = [turn for turn in found if not lens.past or turn.at <= lens.when]
            for line in _listed(reader, lens, said, desk):
                yield (line.turn_index,), line
            after = found[-1].turn_index
            if len(found) <= limit:
                return

    return page_of(_TURNS, lines(), limit)


def _listed(
    reader: Reader, lens: Lens, said: list[Turn], desk: Mapping[str, WorkingItem]
) -> Iterator[ListedTurn]:
    verdicts = reader.verdicts_by_id(one for turn in said for one in turn.verdict_ids)
    about = {verdict.id: verdict.fact_id for verdict in verdicts}
    items = {turn.turn_index: desk.get(item_key(turn)) for turn in said}
    stated = {fact_id for item in items.values() if item for fact_id in item.stated}
    brought = {fact_id for turn in said for fact_id in turn.fact_ids}
    seen = {
        fact.id
        for fact in reader.facts(stated | brought | set(about.values()))
        if fact.status is not Status.ERASED and lens.sees(reader, fact)
    }
    for turn in said:
        item = items[turn.turn_index]
        told = {*turn.fact_ids, *(about.get(one, "") for one in turn.verdict_ids)}
        # Words tell of all that came of them: they are shown to whoever may see all of it.
        if item is not None and not seen.issuperset(told.union(item.stated)):
            item = None
        yield ListedTurn(
            turn.session_id,
            turn.turn_index,
            turn.speaker,
            turn.at,
            turn.ref,
            tuple(one for one in turn.fact_ids if one in seen),
            tuple(one for one in turn.verdict_ids if about.get(one) in seen),
            None if item is None else text_of(item.value),
            () if item is None else item.spots,
        )
