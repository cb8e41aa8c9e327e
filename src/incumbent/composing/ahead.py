"""What lies ahead: facts that were said and take office later, by their own term.

They retire nothing before their day, and a context shows them with it.
"""

from __future__ import annotations

from incumbent.composing.inquiry import Inquiry
from incumbent.model.fact import Fact
from incumbent.search.space import SearchSpace

_MOST = 50
"""So many are shown, the soonest."""
_LOOKED_AT = 500
"""Among so many they are looked for: others may have been written for later, and are not shown."""


def ahead_of(inquiry: Inquiry, space: SearchSpace) -> list[Fact]:
    """The statements that take office later, seen as waiting, the soonest first."""
    lens, reader = inquiry.lens, inquiry.reader
    then = inquiry.bygone(space)
    if then is not None:
        found = then.ahead()
    elif lens.past:
        found = lens.known(reader, lens.selection())
    elif space.facts is not None:
        found = reader.live(lens.selection())
    else:
        rows = space.collection.rows(space.ahead[:_LOOKED_AT])
        found = reader.facts(row.fact_id for row in rows)
    # What was written with a later term comes on its day; only talk is told of before.
    said = [fact for fact in found if fact.source.turn_index is not None]
    waiting = lens.not_yet(reader, said)
    waiting.sort(key=lambda fact: (fact.started_at or fact.valid_from, fact.id))
    return waiting[:_MOST]
