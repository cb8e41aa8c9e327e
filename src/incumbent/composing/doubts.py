"""The facts in doubt that a context could show, and the turns that say nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from incumbent.composing.inquiry import Inquiry
from incumbent.composing.working_set import SelectedItems
from incumbent.context.document import Omission
from incumbent.context.passages import says_besides
from incumbent.engine.doubts import doubters
from incumbent.model.fact import Fact, Status
from incumbent.model.records import WorkingItem
from incumbent.model.values import text_of
from incumbent.rules.scope import View

_MOST_BASES: Final = 1_000
"""Enough of what facts rest on, for a chain that has no end."""


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
    direct: dict[str, list[Fact]] = {}
    around: dict[str, Fact] = {}
    more = known
    while more:
        met = more | _bases(inquiry, more)
        direct |= doubters(reader, lens, met.values())
        known.update(more)
        around.update(met)
        # What puts something in doubt may be in doubt itself.
        against = (one for fact_id in met for one in direct.get(fact_id, ()))
        more = {one.id: one for one in against if one.id not in known}
    found = _carried_on(direct, around)
    found = {fact_id: those for fact_id, those in found.items() if fact_id in known}
    return DoubtsFound(found, frozenset(i for i in found if not known[i].is_constraint))


def _bases(inquiry: Inquiry, known: Mapping[str, Fact]) -> dict[str, Fact]:
    """What these facts rest on, and what that rests on, as far as it is not among them."""
    found: dict[str, Fact] = {}
    wanted = {base for fact in known.values() for base in fact.depends_on}.difference(known)
    while wanted and len(found) < _MOST_BASES:
        more = inquiry.lens.by_ids(inquiry.reader, sorted(wanted))
        found |= more
        wanted = {base for fact in more.values() for base in fact.depends_on}
        wanted.difference_update(found, known)
    return found


def _carried_on(found: dict[str, list[Fact]], known: Mapping[str, Fact]) -> dict[str, list[Fact]]:
    """The doubts, carried on to what rests on something in doubt and was said before the doubt."""
    resting = [fact for fact in known.values() if fact.depends_on] if found else []
    found = dict(found)
    is_more = True
    while is_more:
        is_more = False
        for fact in resting:
            doubts = [one for base in fact.depends_on for one in found.get(base, ())]
            if fact.id not in found and (later := _since(fact, doubts)):
                found[fact.id] = later
                is_more = True
    return found


def _since(fact: Fact, doubts: Iterable[Fact]) -> list[Fact]:
    """The doubts that came after a fact was said, newest first."""
    if fact.status is not Status.OFFICE:
        return []
    later = {one.id: one for one in doubts if one.order > fact.order and one.id != fact.id}
    return sorted(later.values(), key=lambda one: (one.order, one.id), reverse=True)


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
