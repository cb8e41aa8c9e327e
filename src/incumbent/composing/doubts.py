"""The facts in doubt that a context could show, and the turns that say nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from incumbent.composing.inquiry import Inquiry
from incumbent.composing.working_set import SelectedItems
from incumbent.context.document import Omission
from incumbent.context.passages import says_besides
from incumbent.engine.doubts import doubters
from incumbent.model.fact import Fact
from incumbent.model.records import WorkingItem
from incumbent.model.values import text_of
from incumbent.rules.scope import View


class DoubtsFound(NamedTuple):
    """What is in doubt, and by what."""

    by: dict[str, list[Fact]]
    """For each fact in doubt, the statements that put it there, newest first."""
    set_back: frozenset[str]
    """Those of them that are not to be relied on: a rule binds until somebody has settled it."""


def doubts_about(
    inquiry: Inquiry, facts: Iterable[Fact], items: Sequence[WorkingItem]
) -> DoubtsFound:
    """The doubts about these facts and about those that these turns stated."""
    lens, reader = inquiry.lens, inquiry.reader
    known = {fact.id: fact for fact in facts}
    stated = {fact_id for item in items for fact_id in item.states}.difference(known)
    if stated:
        known |= lens.by_ids(reader, sorted(stated))
    found = doubters(reader, lens, known.values())
    return DoubtsFound(found, frozenset(i for i in found if not known[i].is_constraint))


def standing(doubts: DoubtsFound, view: View) -> DoubtsFound:
    """The doubts that are left without the statements that step aside for others here."""
    aside = {fact.id for fact, _ in (*view.shadowed, *view.overruled)}
    if not aside:
        return doubts
    left = {i: [one for one in those if one.id not in aside] for i, those in doubts.by.items()}
    by = {i: those for i, those in left.items() if those}
    return DoubtsFound(by, doubts.set_back.intersection(by))


def only_states(item: WorkingItem, doubts: DoubtsFound) -> bool:
    """Whether all that a turn states is in doubt, and it says nothing besides."""
    if not item.states or not doubts.set_back.issuperset(item.states):
        return False
    told = [(spot.start, spot.end) for spot in item.spots if spot.fact_id in doubts.set_back]
    return not told or not says_besides(text_of(item.value), told)


def without_doubted(desk: SelectedItems, doubts: DoubtsFound) -> SelectedItems:
    """A desk without the turns that only state what is in doubt: that has a section of its own."""
    if not doubts.set_back:
        return desk
    out = {item.key: item.states for item in desk.items if only_states(item, doubts)}
    told = [Omission("doubted", fact_id, key) for key, states in out.items() for fact_id in states]
    return desk._replace(
        items=[item for item in desk.items if item.key not in out],
        foremost=[key for key in desk.foremost if key not in out],
        omissions=[*desk.omissions, *told],
    )
