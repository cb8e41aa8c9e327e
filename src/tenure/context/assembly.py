"""Assembly: which lines go into a context, in what order, within the budget.

Identity, environment, facts up to a share of what remains, then the working set in the rest. The
ceiling holds for the rendered text, headings and separators included, for every budget from 0 up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tenure.context.document import OVER_BUDGET, Context, Line, Omission
from tenure.context.guard import (
    Counts,
    DeadValue,
    DeadValueIndex,
    GuardedValue,
    dead_values,
    guarded,
    mentions,
    says_more,
)
from tenure.context.judging import in_passing, within_fact
from tenure.context.page import Page
from tenure.context.ranking import Ranked
from tenure.context.reach import is_longer, longest_line
from tenure.context.rendering import (
    ENVIRONMENT,
    HISTORY,
    IDENTITY,
    MOST_RIVALS,
    NOTHING_FOUND,
    UNKNOWN,
    WORKING_SET,
    Changed,
    Rival,
    Unknown,
    age_of,
    contested_note,
    environment_names,
    history_line,
    identity_lines,
    item_line,
    left_out_line,
    note_on,
    other_environment_lines,
    plain_line,
    review_line,
    section_of,
    signal_line,
    signals,
    unknown_line,
)
from tenure.context.request import Request
from tenure.context.tokens import Count
from tenure.model.fact import Fact
from tenure.model.identity import Identity
from tenure.model.records import Environment, WorkingItem
from tenure.model.values import text_of
from tenure.model.words import said

_TOKENS_A_LINE = 12
_WORTH_SAYING = 3
"""How many words have to be left of a note for it to be shown."""


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a context is made of: already visible, valid, in scope and ranked."""

    identity: Identity
    environment: Environment
    frame: Sequence[str]
    """What sets the session apart from plain reality: a task, a branch, a look at the past."""
    facts: Sequence[Ranked]
    working_set: Sequence[WorkingItem] = ()
    """What is shown of this session's desk if there is room, in the order it was put there."""
    foremost: Sequence[str] = ()
    """The keys of these, what matters most first; the newest first where nothing is said."""
    changed: Mapping[str, Sequence[Changed]] = field(default_factory=dict)
    """For each fact that needs review, what it rests on that has changed."""
    contested: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    """For each fact that is contested, the statements that say otherwise, newest first."""
    unknown: Sequence[Unknown] = ()
    """Matters that the query asks for, on which the last word was taken back or ran out."""
    unanswered: bool = False
    """Whether nothing at all was found that the query could be about."""
    past: Sequence[Fact] = ()
    """What was true before, for those who ask for history."""
    dead: DeadValueIndex = field(default_factory=DeadValueIndex)
    """Values that no fact in office holds, as far as anything here could repeat them."""
    gone: Mapping[str, Sequence[DeadValue]] = field(default_factory=dict)
    """Facts out of office that notes say they stated, with what only those say."""
    omissions: Sequence[Omission] = ()
    is_common: Callable[[str], bool] = bool
    """Whether a word is used for many things."""
    seq: int = 0
    """The last entry of the log that was known."""


def assemble(
    material: Material, request: Request, *, share: float, at: datetime, count: Count
) -> Context:
    """Build a context. Pure: the same material gives the same bytes."""
    page = Page(request.budget, count)
    page.omissions.extend(material.omissions)
    page.add_first(IDENTITY, [*identity_lines(material.identity), *material.frame])
    if not page.is_cut:
        _add_environment(page, material)
        ceiling = page.used + int((request.budget - page.used) * share)
        _add_facts(page, material, request, ceiling, at)
        _add_unknown(page, material)
        if request.history:
            _add_history(page, material)
        _add_working_set(page, material)
    else:
        _account_for_all(page, material)
    context = page.finish(request, at=at, seq=material.seq, identity=material.identity)
    return _with_disputes(context, material)


def _with_disputes(context: Context, material: Material) -> Context:
    """Account for the statements whose dispute with a fact the text does not tell of."""
    shown = {line.fact_id for line in context.lines}
    untold = [
        Omission("contested", rival.id)
        for fact_id, rivals in material.contested.items()
        for rival in (rivals[MOST_RIVALS:] if fact_id in shown else rivals)
    ]
    return replace(context, omissions=(*context.omissions, *untold)) if untold else context


def _account_for_all(page: Page, material: Material) -> None:
    """Where even the identity does not fit, everything else is over budget."""
    for name in environment_names(material.environment):
        page.leave_out(item=name)
    for ranked in material.facts:
        page.leave_out(ranked.fact.id)
    for item in material.working_set:
        page.leave_out(item=item.key)


def _add_environment(page: Page, material: Material) -> None:
    for name, value in signals(material.environment):
        # One signal may not crowd out everything else, however large it is.
        room = page.used + (page.budget - page.used) // 4
        if is_longer(value, longest_line(room - page.used)):
            page.leave_out(item=name)
            continue
        shown = _shown(page, name, value, material.dead)
        line = None if shown is None else signal_line(name, shown.value, shown.cuts)
        if line is not None and not page.put(Line(ENVIRONMENT, line), ceiling=room, item=name):
            page.leave_out(item=name)
    for name, text in other_environment_lines(material.environment):
        if not page.put(Line(ENVIRONMENT, text), item=name):
            page.leave_out(item=name)


def _shown(
    page: Page, name: str, value: Any, dead: DeadValueIndex, counts: Counts = in_passing
) -> GuardedValue | None:
    """A note or signal without dead values; None where nothing else would be left of it."""
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


def _add_facts(
    page: Page, material: Material, request: Request, ceiling: int, at: datetime
) -> None:
    profile = request.profile
    facts = list(material.facts)
    if profile.reviews == "omit":
        out = [ranked.fact.id for ranked in facts if ranked.fact.needs_review]
        page.omissions.extend(Omission("needs review", fact_id) for fact_id in out)
        facts = [ranked for ranked in facts if not ranked.fact.needs_review]
    best = max((ranked.score for ranked in facts), default=0.0)
    ordered, binding = _binding_first(facts, page.used, ceiling)
    for place, ranked in ordered:
        fact = ranked.fact
        if not profile.keeps(ranked, place, best):
            page.omissions.append(Omission("irrelevant", fact.id))
        else:
            # A rule may use the room that is meant for notes: it comes before them.
            most = request.budget if ranked.fact.id in binding else ceiling
            _add_fact(page, ranked, material, request, most, at)


def _binding_first(
    facts: Sequence[Ranked], used: int, ceiling: int
) -> tuple[list[tuple[int, Ranked]], set[str]]:
    """The facts with their places, as many constraints first as take half the room for facts.

    To leave out a rule that is being broken is the worst a context can do.
    """
    room = (ceiling - used) // 2
    first, rest = [], []
    for place, ranked in enumerate(facts):
        if ranked.fact.is_constraint and room > 0 and not ranked.fact.needs_review:
            room -= ranked.tokens or _TOKENS_A_LINE
            first.append((place, ranked))
        else:
            rest.append((place, ranked))
    return [*first, *rest], {ranked.fact.id for _, ranked in first}


def _add_fact(
    page: Page,
    ranked: Ranked,
    material: Material,
    request: Request,
    ceiling: int,
    at: datetime,
) -> None:
    fact = ranked.fact
    if _is_known_to_be_too_long(page, ranked, material, request, ceiling):
        page.leave_out(fact.id)
        return
    if fact.needs_review:
        text, tokens = _review_text(fact, material, request), None
    else:
        cut = _fact_text(page, fact, material)
        text, tokens = (plain_line(fact), ranked.tokens) if cut is None else (cut, None)
        if fact.time_sensitive:
            text, tokens = text + age_of(fact, at), None
        if rivals := material.contested.get(fact.id):
            text, tokens = text + _contested_text(rivals, material), None
    if request.style == "annotated":
        text, tokens = text + note_on(fact), None
    line = Line(
        section=section_of(fact, is_contested=fact.id in material.contested),
        text=text,
        fact_id=fact.id,
        score=ranked.score,
        parts=ranked.parts,
        sources=(fact.source,),
        quoted=_quoted_in(fact, material),
    )
    if not page.put(line, tokens, ceiling=ceiling):
        page.leave_out(fact.id)


def _is_known_to_be_too_long(
    page: Page, ranked: Ranked, material: Material, request: Request, ceiling: int
) -> bool:
    """Whether a fact would not fit, told by the tokens kept with it: most that are left out need
    not be put into words for that."""
    fact = ranked.fact
    if ranked.tokens is None or request.style != "plain":
        return False
    if fact.id in material.contested or fact.needs_review or fact.time_sensitive:
        return False
    if page.has_room(section_of(fact), ranked.tokens, ceiling):
        return False
    return not material.dead.may_be_in(text_of(fact.value))


def _review_text(fact: Fact, material: Material, request: Request) -> str:
    changed = [_told(one, material) for one in material.changed.get(fact.id, ())]
    if request.profile.reviews != "show":
        return review_line(fact, changed)

    def counts(value: DeadValue, present: set[str], before: str) -> bool:
        return value.fact.id != fact.id and in_passing(value, present, before)

    shown = guarded(fact.value, fact.key, material.dead, counts)
    return review_line(fact.evolve(value=shown.value), changed, with_value=True, cuts=shown.cuts)


def _quoted_in(fact: Fact, material: Material) -> tuple[str, ...]:
    """The facts that the line of one names besides: the bases that changed, and what they are, and
    what was said against it."""
    told = [_told(one, material) for one in material.changed.get(fact.id, ())]
    bases = [one for changed in told for one in changed if one is not None]
    named = [*(bases if fact.needs_review else ()), *material.contested.get(fact.id, ())]
    return tuple(dict.fromkeys(one.id for one in named))


def _contested_text(rivals: Sequence[Fact], material: Material) -> str:
    """What was said against a fact: here it is told on purpose, so only other values are dead."""
    shown = []
    for rival in rivals:
        own = {dead.words for dead in dead_values([rival])}
        others = material.dead.others(d for d in material.dead if d.words not in own)
        value = guarded(rival.value, rival.key, others, within_fact(rival, material.is_common))
        shown.append(Rival(rival.evolve(value=value.value), value.cuts))
    return contested_note(shown)


def _told(changed: Changed, material: Material) -> Changed:
    """What took a base's place, unless its text repeats a dead value: it has a line of its own."""
    now = changed.now
    if now is None or not material.dead:
        return changed
    judged = within_fact(now, material.is_common)
    repeats = guarded(now.value, now.key, material.dead, judged).found
    return changed._replace(now=None) if repeats else changed


def _fact_text(page: Page, fact: Fact, material: Material) -> str | None:
    """A fact with dead values cut out of its text; None where there is nothing to cut."""
    if not material.dead:
        return None
    judged = within_fact(fact, material.is_common)
    shown = guarded(fact.value, fact.key, material.dead, judged)
    if not shown.found:
        return None
    page.omissions.extend(
        Omission("quotes a dead value", fact_id, fact.key)
        for fact_id in dict.fromkeys(mention.fact.id for mention in shown.found)
    )
    return plain_line(fact.evolve(value=shown.value), shown.cuts)


def _add_unknown(page: Page, material: Material) -> None:
    for unknown in material.unknown:
        line = Line(UNKNOWN, unknown_line(unknown), unknown.fact.id)
        if not page.put(line, item=unknown.key):
            page.leave_out(item=unknown.key)
    if material.unanswered:
        page.add(UNKNOWN, NOTHING_FOUND)
    missing = sum(o.reason == OVER_BUDGET and o.fact_id is not None for o in page.omissions)
    if missing:
        page.say_so(UNKNOWN, left_out_line(missing))


def _add_history(page: Page, material: Material) -> None:
    for fact in material.past:
        if is_longer(fact.value, longest_line(page.budget - page.used)):
            page.leave_out(fact.id)
            continue
        line = Line(HISTORY, history_line(fact), fact.id, sources=(fact.source,))
        if not page.put(line):
            page.leave_out(fact.id)


def _add_working_set(page: Page, material: Material) -> None:
    """What matters most first, so that it is what fits; shown in the order they were put."""
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
    """A note as it may be shown; None where it has to stay out."""
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
    shown = _shown(page, item.key, item.value, dead, counts)
    if shown is None:
        return None
    return _spotted_line(page, item, shown, own)


def _spotted_line(
    page: Page, item: WorkingItem, shown: GuardedValue, gone: Sequence[DeadValue]
) -> str | None:
    """A note with the places cut out where it says, in whatever words, what is gone."""
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
    """Spans in order, those that overlap made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(cuts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
