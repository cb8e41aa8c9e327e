"""The passages that a context may show: what was said before to or by this person, on the query."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC
from typing import TYPE_CHECKING

from incumbent.composing.inquiry import Inquiry
from incumbent.composing.said_before import said_before
from incumbent.context.material import SaidBefore
from incumbent.context.said_lines import label_of_passage
from incumbent.model.records import TURN, WorkingItem
from incumbent.model.scope import Scope

if TYPE_CHECKING:
    from incumbent.search.collection import Vector

_CHARACTERS_A_TOKEN = 4
"""Of a text that is looked at: what cannot fit need not be."""


def passages_for(
    inquiry: Inquiry,
    meaning: Callable[[str], Vector | None],
    on_desk: Collection[str],
) -> list[SaidBefore]:
    """The passages that bear on a query, the best first.

    Without a query there are none: the desk has what was said last, and a context that nobody
    asked anything of stays the same from turn to turn. Nor are there any in a look at the past,
    and none of turns that the desk shows, or that the caller sends to the model.
    """
    lens = inquiry.lens
    if not lens.settings.passages or lens.past:
        return []
    zone = inquiry.environment.current_time.tzinfo or UTC
    here = dict(lens.places).get(Scope.SESSION)
    found = said_before(inquiry.reader, lens.identity.user_id, inquiry.query, meaning)
    chosen: list[SaidBefore] = []
    room = _CHARACTERS_A_TOKEN * inquiry.request.budget
    for number, _, one in (one.kept for one in found):
        is_shown = f"{TURN}{one.turn_index} ({one.speaker})" in on_desk
        if one.session_id == here and (is_shown or not inquiry.request.conversation):
            continue
        room -= len(one.text)
        if room < 0:
            break
        label = label_of_passage(one.speaker, one.at, zone)
        item = WorkingItem(label, one.text, one.at, None, one.states, one.spots)
        chosen.append(SaidBefore(item, (one.at, number)))
    return chosen
