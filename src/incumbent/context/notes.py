"""Notes, turns and signals in a context: without the dead values that they repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from incumbent.context.cuts import GuardedValue, guarded, says_more
from incumbent.context.document import Line, Omission
from incumbent.context.doubt_lines import doubts_within, is_told
from incumbent.context.guard import Counts, DeadValue, DeadValueIndex, mentions
from incumbent.context.material import Material
from incumbent.context.mention_rules import in_passing
from incumbent.context.page import Page
from incumbent.context.rendering import WORKING_SET, item_line
from incumbent.model.records import WorkingItem
from incumbent.model.values import text_of
from incumbent.model.words import said

_WORTH_SAYING = 3
"""The fewest words that must be left of a note for it to be shown."""


class CutItem(NamedTuple):
    """A note or a turn without the dead values that it repeats."""

    value: Any
    cuts: list[tuple[int, int]]
    quoted: list[str]
    """The facts out of office whose values it repeats, by id."""
    is_left: bool = True
    """Whether it still says something."""


def shown_value(
    page: Page, name: str, value: Any, dead: DeadValueIndex, counts: Counts = in_passing
) -> GuardedValue | None:
    """A note or signal without dead values; None if nothing else is left of it."""
    if not dead:
        return GuardedValue(value, [], [])
    shown = _without(name, value, dead, counts)
    page.omissions.extend(Omission("quotes a dead value", i, name) for i in shown.quoted)
    return GuardedValue(shown.value, shown.cuts, []) if shown.is_left else None


def _without(name: str, value: Any, dead: DeadValueIndex, counts: Counts) -> CutItem:
    """A value with this name, without dead values."""
    if not dead:
        return CutItem(value, [], [])
    shown = guarded(value, name, dead, counts)
    named = mentions(name, "", dead, counts)
    quoted = list(dict.fromkeys(mention.fact.id for mention in (*shown.found, *named)))
    is_left = not named and (not shown.found or says_more(text_of(value), shown.found))
    return CutItem(shown.value, shown.cuts, quoted, is_left)


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
        note, against = doubts_within(item, material)
        quoted = sorted({*item.stated, *(one.id for one in against)})
        line = Line(WORKING_SET, text + note, quoted=tuple(quoted))
        if not is_told(against, page.facts_shown) or not page.put(
            line, item=key, place=(places[key],)
        ):
            page.leave_out(item=key)


def _item_text(page: Page, item: WorkingItem, material: Material) -> str | None:
    """A note as it may be shown; None if it must be left out."""
    shown = cut_item(item, material.dead, material.gone)
    page.omissions.extend(Omission("quotes a dead value", i, item.key) for i in shown.quoted)
    return item_line(item.key, shown.value, shown.cuts) if shown.is_left else None


def cut_item(
    item: WorkingItem, dead: DeadValueIndex, gone: Mapping[str, Sequence[DeadValue]]
) -> CutItem:
    """A note or a turn without dead values, and without what it stated and is gone."""
    stated = [fact_id for fact_id in sorted(item.stated) if fact_id in gone]
    own = [value for fact_id in stated for value in gone[fact_id]]
    certain = {value.words for value in own}

    def counts(value: DeadValue, present: set[str], before: str) -> bool:
        return value.words in certain or in_passing(value, present, before)

    spotted = {spot.fact_id for spot in item.spots}
    for fact_id in stated:
        if fact_id in spotted:
            continue
        its = dead.others(gone[fact_id])
        if not guarded(item.value, "", its, lambda *_: True).found:
            # It said in its own words what is no longer so; there is no telling where.
            return CutItem(item.value, [], [fact_id], is_left=False)
    shown = _without(item.key, item.value, dead.after(own) if own else dead, counts)
    return _spotted(item, shown, own) if shown.is_left else shown


def _spotted(item: WorkingItem, shown: CutItem, gone: Sequence[DeadValue]) -> CutItem:
    """A note without the places where it states, in any words, a fact that is gone."""
    if not isinstance(shown.value, str) or not item.spots:
        return shown
    dead = {(one.fact.id, one.text) for one in gone}
    spots = [spot for spot in item.spots if not spot.fact_id or (spot.fact_id, spot.text) in dead]
    if not spots:
        return shown
    named = dict.fromkeys(spot.fact_id for spot in spots if spot.fact_id)
    cuts = _merged([*shown.cuts, *((spot.start, spot.end) for spot in spots)])
    left = len(said(shown.value)) - sum(len(said(shown.value[a:b])) for a, b in cuts)
    return CutItem(shown.value, cuts, [*shown.quoted, *named], is_left=left >= _WORTH_SAYING)


def _merged(cuts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order; overlapping ones are merged."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
