"""Notes, turns and signals in a context: without the dead values that they repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenure.context.cuts import GuardedValue, guarded, says_more
from tenure.context.document import Line, Omission
from tenure.context.guard import Counts, DeadValue, DeadValueIndex, mentions
from tenure.context.material import Material
from tenure.context.mention_rules import in_passing
from tenure.context.page import Page
from tenure.context.rendering import WORKING_SET, item_line
from tenure.model.records import WorkingItem
from tenure.model.values import text_of
from tenure.model.words import said

_WORTH_SAYING = 3
"""The fewest words that must be left of a note for it to be shown."""


def shown_value(
    page: Page, name: str, value: Any, dead: DeadValueIndex, counts: Counts = in_passing
) -> GuardedValue | None:
    """A note or signal without dead values; None if nothing else is left of it."""
    if not dead:
        return GuardedValue(value, [], [])
    shown = guarded(value, name, dead, counts)
    named = mentions(name, "", dead, counts)
    page.omissions.extend(
        Omission("quotes a dead value", fact_id, name)
        for fact_id in dict.fromkeys(mention.fact.id for mention in (*shown.found, *named))
    )
    if named or (shown.found and not says_more(text_of(value), shown.found)):
        return None
    return shown


def add_working_set(page: Page, material: Material) -> None:
    """Add the items that fit, the most important first; they are shown in the order they were
    put."""
    places = {item.key: place for place, item in enumerate(material.working_set)}
    items = {item.key: item for item in material.working_set}
    for key in material.foremost or list(reversed(items)):
        item = items[key]
        text = _item_text(page, item, material)
        if text is None:
            continue
        stated = dict.fromkeys((*item.states, *(s.fact_id for s in item.spots if s.fact_id)))
        line = Line(WORKING_SET, text, quoted=tuple(stated))
        if not page.put(line, item=key, place=places[key]):
            page.leave_out(item=key)


def _item_text(page: Page, item: WorkingItem, material: Material) -> str | None:
    """A note as it may be shown; None if it must be left out."""
    stated = [fact_id for fact_id in item.states if fact_id in material.gone]
    own = [dead for fact_id in stated for dead in material.gone[fact_id]]
    certain = {dead.words for dead in own}

    def counts(value: DeadValue, present: set[str], before: str) -> bool:
        return value.words in certain or in_passing(value, present, before)

    spotted = {spot.fact_id for spot in item.spots}
    for fact_id in stated:
        if fact_id in spotted:
            continue
        gone = material.dead.others(material.gone[fact_id])
        if not guarded(item.value, "", gone, lambda *_: True).found:
            # It said in its own words what is no longer so; there is no telling where.
            page.omissions.append(Omission("quotes a dead value", fact_id, item.key))
            return None
    dead = material.dead.after(own) if own else material.dead
    shown = shown_value(page, item.key, item.value, dead, counts)
    if shown is None:
        return None
    return _spotted_line(page, item, shown, own)


def _spotted_line(
    page: Page, item: WorkingItem, shown: GuardedValue, gone: Sequence[DeadValue]
) -> str | None:
    """A note without the places where it states, in any words, a fact that is gone."""
    if not isinstance(shown.value, str) or not item.spots:
        return item_line(item.key, shown.value, shown.cuts)
    dead = {(one.fact.id, one.text) for one in gone}
    spots = [spot for spot in item.spots if not spot.fact_id or (spot.fact_id, spot.text) in dead]
    if not spots:
        return item_line(item.key, shown.value, shown.cuts)
    page.omissions.extend(
        Omission("quotes a dead value", fact_id, item.key)
        for fact_id in dict.fromkeys(spot.fact_id for spot in spots if spot.fact_id)
    )
    cuts = _merged([*shown.cuts, *((spot.start, spot.end) for spot in spots)])
    left = len(said(shown.value)) - sum(len(said(shown.value[a:b])) for a, b in cuts)
    return item_line(item.key, shown.value, cuts) if left >= _WORTH_SAYING else None


def _merged(cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order; overlapping ones are merged."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
