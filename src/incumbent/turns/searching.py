"""Searching: the facts in office that a turn may be about, by its words and its meaning."""

from __future__ import annotations

from typing import Final

from incumbent.engine.lens import Lens
from incumbent.rules.authority import may_speak
from incumbent.search.index import Index
from incumbent.search.retrieval import search
from incumbent.stores.port import Reader
from incumbent.turns.situation import FoundBySearch

_MOST: Final = 16
_LONGEST: Final = 400
"""So many characters of a turn are searched for."""


def found_by_search(
    reader: Reader, lens: Lens, index: Index, text: str
) -> dict[str, FoundBySearch]:
    """The ids of the facts that a turn may be about: a person's own, and those of their
    organization where they may speak for it.

    For use before a turn is filed: what a transaction has not committed is no matter of an index.
    """
    if not index.is_current(reader) or not text.strip():
        return {}
    identity, settings = lens.identity, lens.settings
    speaks = may_speak(identity, identity.authority, settings.speaking_rung, settings.ladder)
    owners = (identity.user_id, "") if speaks else (identity.user_id,)
    shelves = [s for s in reader.shelves(lens.owners, lens.places) if s.owner in owners]
    if not shelves:
        return {}
    with index.shelved(reader, shelves, lens.when, ()) as space:
        hits = search(space.collection, text[:_LONGEST], index.meaning, limit=_MOST)
    scored = {
        hit.fact_id: FoundBySearch(0.3 * hit.text + 0.6 * max(0.0, hit.meaning), hit.meaning)
        for hit in hits
    }
    best = sorted(scored, key=lambda fact_id: -scored[fact_id].score)[:_MOST]
    return {fact_id: scored[fact_id] for fact_id in best}
