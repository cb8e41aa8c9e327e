"""The passages that a context may show: what was said before to or by this person, on the query."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from incumbent.composing.dead_values import is_dead
from incumbent.composing.doubts import DoubtsFound
from incumbent.composing.inquiry import Inquiry
from incumbent.composing.said_before import said_before
from incumbent.context.material import SaidBefore
from incumbent.context.passages import LEAST_NEW, says_besides
from incumbent.context.said_lines import label_of_passage
from incumbent.model.fact import Fact, Status
from incumbent.model.records import TURN, WorkingItem
from incumbent.model.scope import Scope
from incumbent.model.values import text_of
from incumbent.search import analysis

if TYPE_CHECKING:
    from incumbent.search.collection import Vector

_CHARACTERS_A_TOKEN = 4
"""Of a text that is looked at: what cannot fit need not be."""
_MOST_OF = 0.6
"""Of the terms of a fact, in a text that says it again."""
_LITTLE_MORE = 3
"""So many times the terms of a fact are in a text that says little more."""


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
    return _seen(inquiry, chosen)


def _seen(inquiry: Inquiry, passages: list[SaidBefore]) -> list[SaidBefore]:
    """Without those that state what one may not see, or repeat a value of it: words are for whoever
    may see all that came of them."""
    stated = {fact_id for one in passages for fact_id in one.item.stated}
    hidden = {
        fact.id: fact
        for fact in (inquiry.reader.facts(stated) if stated else ())
        if fact.status is not Status.ERASED and not inquiry.lens.sees(inquiry.reader, fact)
    }
    if not hidden:
        return passages
    values = {text_of(fact.value).casefold() for fact in hidden.values()}
    values.update(part.text.casefold() for fact in hidden.values() for part in fact.parts)
    return [
        one
        for one in passages
        if hidden.keys().isdisjoint(one.item.stated)
        and not any(value in one.item.value.casefold() for value in values if value)
    ]


def without_outdated(
    inquiry: Inquiry, passages: list[SaidBefore], doubts: DoubtsFound
) -> list[SaidBefore]:
    """Without those that say little more than what is over or in doubt, in words from before it
    was: a value that is over never stands alone."""
    stated = {fact_id for one in passages for fact_id in one.item.stated} | doubts.set_back
    known = inquiry.lens.by_ids(inquiry.reader, sorted(stated)) if passages else {}
    over = {fact.id: until for fact in known.values() if (until := _until(fact, doubts))}
    terms = {fact_id: _terms(known[fact_id]) for fact_id in over}
    return [one for one in passages if not _is_outdated(one.item, over, terms)]


def _is_outdated(
    item: WorkingItem, over: Mapping[str, datetime], terms: Mapping[str, frozenset[str]]
) -> bool:
    if not over.keys() >= (set(item.states) or item.stated):
        return False  # something that it states itself, and does not only mention, stands
    before = {fact_id for fact_id, until in over.items() if item.created_at <= until}
    told = [(spot.start, spot.end) for spot in item.spots if spot.fact_id in before]
    if told and not says_besides(item.value, told, LEAST_NEW):
        return True
    said = frozenset(analysis.terms(item.value))
    return any(_says_little_more(said, terms[fact_id]) for fact_id in before)


def _until(fact: Fact, doubts: DoubtsFound) -> datetime | None:
    """Since when a fact is over or in doubt; None while it stands."""
    if fact.id in doubts.set_back:
        return max(doubter.timestamp for doubter in doubts.by[fact.id])
    return (fact.ended_at or datetime.max.replace(tzinfo=UTC)) if is_dead(fact) else None


def _terms(fact: Fact) -> frozenset[str]:
    return frozenset(analysis.terms(f"{fact.key} {text_of(fact.value)}"))


def _says_little_more(said: frozenset[str], told: frozenset[str]) -> bool:
    """Whether a text has most of these terms, not many others, and no number besides."""
    if any(map(str.isdigit, "".join(said - told))):
        return False
    return len(said & told) >= _MOST_OF * len(told) and len(said) <= _LITTLE_MORE * len(told)
