"""What was said before, in a context: passages in the order of time, guarded, and nothing twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from incumbent.context.document import Line, Omission
from incumbent.context.doubt_lines import doubts_within, is_told
from incumbent.context.material import Material
from incumbent.context.notes import cut_item
from incumbent.context.page import Page
from incumbent.context.quotes import Cuts
from incumbent.context.rendering import SAID, said_line
from incumbent.model.records import WorkingItem
from incumbent.model.values import text_of
from incumbent.model.words import said

LEAST_NEW: Final = 0.3
"""The least share of the words of a passage that have to be new beside the facts that are shown."""
_FEWEST_NEW: Final = 4
_SHORTEST: Final = 12
"""Characters; a shorter text stands in many others by chance."""


def add_passages(page: Page, material: Material) -> None:
    """Add the passages that fit and say more than the facts do, the best first; they are shown
    oldest first. One that does not fit is passed over in silence: it is found, and not owed."""
    shown = page.facts_shown
    words = [text_of(one.fact.value) for one in material.facts if one.fact.id in shown]
    for one in material.passages:
        item = one.item
        left = cut_item(item, material.dead, material.gone)
        if not left.is_left or not _says_more(item, left.cuts, shown, words):
            continue
        note, against = doubts_within(item, material)
        if not is_told(against, shown):
            continue
        text = said_line(item.key, item.value, left.cuts) + note
        quoted = sorted({*item.stated, *(one.id for one in against)})
        line = Line(SAID, text, quoted=tuple(quoted))
        if page.put(line, place=one.place):
            cut = dict.fromkeys(left.quoted)
            page.omissions.extend(Omission("quotes a dead value", i, item.key) for i in cut)


def room_for_passages(page: Page, material: Material) -> int:
    """The tokens that passages need, up to their share of the room."""
    most = int((page.budget - page.used) * material.said_share)
    needed = 0
    for one in material.passages:
        tokens = page.count(f"{said_line(one.item.key, one.item.value)}\n")
        if needed + tokens <= most:
            needed += tokens
    return needed


def _says_more(item: WorkingItem, cuts: Cuts, shown: Collection[str], words: Iterable[str]) -> bool:
    """Whether a passage says more than the facts on the page, which it states or which have these
    words, beside what is cut."""
    told = [*cuts, *((s.start, s.end) for s in item.spots if s.fact_id in shown)]
    places = ((item.value.find(text), len(text)) for text in words if len(text) >= _SHORTEST)
    told += [(start, start + length) for start, length in places if start >= 0]
    return not told or says_besides(item.value, told, LEAST_NEW)


def says_besides(text: str, told: Collection[tuple[int, int]], least: float = 0.0) -> bool:
    """Whether a text says something outside these stretches: a number, or a few words that are at
    least this share of all."""
    new, after = 0, 0
    for start, end in (*sorted(told), (len(text), len(text))):
        between = text[after:start] if start > after else ""
        if any(map(str.isdigit, between)):
            return True
        new += len(said(between))
        after = max(after, end)
    return new >= max(_FEWEST_NEW, least * len(said(text)))
