"""Assembly: which lines go into a context, in what order, within the budget.

Identity, environment, facts up to a share of what remains, then the working set in the rest. The
ceiling holds for the rendered text, headings and separators included, for every budget from 0 up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from incumbent.context.document import OVER_BUDGET, Context, Line, Omission
from incumbent.context.doubt_lines import (
    doubt_note,
    is_set_back,
    is_told,
    speaks_against,
)
from incumbent.context.fact_lines import contested_text, fact_text, quoted_in, review_text
from incumbent.context.material import Material
from incumbent.context.notes import add_working_set, shown_value
from incumbent.context.page import Page
from incumbent.context.passages import add_passages, room_for_passages
from incumbent.context.ranking import Ranked, first_of
from incumbent.context.reach import longest_line
from incumbent.context.rendering import (
    BY_TURN,
    ENVIRONMENT,
    HISTORY,
    IDENTITY,
    MOST_RIVALS,
    NOTHING_FOUND,
    UNKNOWN,
    age_of,
    environment_names,
    history_line,
    identity_lines,
    item_line,
    left_out_line,
    note_on,
    other_environment_lines,
    section_of,
    signal_line,
    signals,
    unknown_line,
)
from incumbent.context.request import Request
from incumbent.context.said_lines import TurnOfLine, turn_of
from incumbent.context.tokens import Count
from incumbent.model.fact import Fact
from incumbent.model.values import is_longer, text_of

_SHORTEST_LINE = 5
"""Tokens; where fewer are left, no fact is tried again."""
_TOKENS_OF_HEADINGS = 60
"""What the headings after the facts take, and the line that tells of what was left out."""


def assemble(
    material: Material, request: Request, *, share: float, at: datetime, count: Count
) -> Context:
    """Build a context. Pure: the same material gives the same bytes."""
    page = Page(request.budget, count)
    page.omissions.extend(material.omissions)
    page.add_first(IDENTITY, [*identity_lines(material.identity), *material.frame])
    if not page.is_cut:
        _add_environment(page, material)
        ceiling = _room_for_facts(page, material, request, share)
        _add_facts(page, material, request, ceiling, at)
        _add_unknown(page, material)
        if request.history:
            _add_history(page, material)
        add_working_set(page, material)
        add_passages(page, material)
        _add_more(page, material, request, at)
    else:
        _account_for_all(page, material)
    context = page.finish(request, at=at, seq=material.seq, identity=material.identity)
    return _with_disputes(context, material)


def _with_disputes(context: Context, material: Material) -> Context:
    """Account for the disputes about a fact that the text does not show."""
    if not material.contested:
        return context
    shown = {line.fact_id for line in context.lines}
    untold = [
        Omission("contested", rival.id)
        for fact_id, rivals in material.contested.items()
        for rival in (rivals[MOST_RIVALS:] if fact_id in shown else rivals)
    ]
    return replace(context, omissions=(*context.omissions, *untold)) if untold else context


def _account_for_all(page: Page, material: Material) -> None:
    """Leave everything out as over budget: even the identity does not fit."""
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
        shown = shown_value(page, name, value, material.dead)
        line = None if shown is None else signal_line(name, shown.value, shown.cuts)
        if line is not None and not page.put(Line(ENVIRONMENT, line), ceiling=room, item=name):
            page.leave_out(item=name)
    for name, text in other_environment_lines(material.environment):
        if not page.put(Line(ENVIRONMENT, text), item=name):
            page.leave_out(item=name)


def _add_facts(
    page: Page, material: Material, request: Request, ceiling: int, at: datetime
) -> None:
    profile = request.profile
    facts = list(material.facts)
    if profile.reviews == "omit":
        out = [ranked.fact.id for ranked in facts if ranked.fact.needs_review]
        page.omissions.extend(Omission("needs review", fact_id) for fact_id in out)
        facts = [ranked for ranked in facts if not ranked.fact.needs_review]
        out = [ranked.fact.id for ranked in facts if is_set_back(ranked.fact, material)]
        page.omissions.extend(Omission("doubted", fact_id) for fact_id in out)
        facts = [ranked for ranked in facts if not is_set_back(ranked.fact, material)]
    keeps = profile.keeping(facts)
    order, first = first_of(facts, ceiling - page.used)
    others: list[int] = []
    aside, add = material.aside, _adding(page, material, request, at)
    for place in order:
        ranked = facts[place]
        fact_id = ranked.fact.id
        if aside and fact_id in aside and not ranked.sheet.comes_first:
            page.omissions.append(Omission("irrelevant", fact_id))
            continue
        if not keeps[place]:
            others.append(place)
            continue
        # A rule may use the room that is meant for notes: it comes before them.
        most = request.budget if place in first else ceiling
        if not add(ranked, most):
            page.omissions.append(ranked.sheet.over_budget)
    # What holds and has little to do with the query takes a share of what is left over.
    most = page.used + int(max(0, ceiling - page.used) * profile.spare)
    for place in others:
        if not add(facts[place], most):
            page.omissions.append(Omission("irrelevant", facts[place].fact.id))


def _room_for_facts(page: Page, material: Material, request: Request, share: float) -> int:
    """How far facts may fill the page: up to their share, and what passages and notes leave."""
    kept = room_for_passages(page, material)
    of_right = page.used + int((request.budget - page.used - kept) * share)
    if request.history:
        return of_right
    longest = longest_line(request.budget)
    lines = [
        *(item_line(item.key, item.value) for item in material.working_set),
        *(unknown_line(unknown) for unknown in material.unknown),
    ]
    if any(len(line) > longest for line in lines):
        return of_right
    needed = sum(page.count(f"{line}\n") for line in lines)
    return max(of_right, request.budget - needed - kept - _TOKENS_OF_HEADINGS)


def _adding(
    page: Page, material: Material, request: Request, at: datetime
) -> Callable[[Ranked, int], bool]:
    """Adds the line of a fact at its place, if it fits.

    Most facts read by themselves, and of most memories nothing is dead. Their lines and what these
    cost are known, so that nothing is worked out for them.
    """
    if request.style != "plain" or material.dead:
        return partial(_add_fact, page, material, request, at)
    others = {*material.contested, *material.doubted, *material.days}
    is_utc = material.zone is UTC

    def add(ranked: Ranked, ceiling: int) -> bool:
        fact, score, _, _, tokens, _, sheet, _ = ranked
        if (
            not sheet.is_bare
            or fact.id in others
            or tokens is None
            or (sheet.is_said and not is_utc)
        ):
            return _add_fact(page, material, request, at, ranked, ceiling)
        section = sheet.section
        if not page.has_room(section, tokens, ceiling):
            return False
        line = Line(section, sheet.line, fact.id, score, ranked.parts, (fact.source,))
        page.place(line, tokens, sheet.stands, turn=_turn_of(fact, section, material))
        return True

    return add


def _add_fact(
    page: Page,
    material: Material,
    request: Request,
    at: datetime,
    ranked: Ranked,
    ceiling: int,
) -> bool:
    """Add the line of a fact at its place, if it fits."""
    fact = ranked.fact
    against = speaks_against([fact.id], material)
    if is_set_back(fact, material) and not is_told(against, page.facts_shown):
        return False
    is_plain = _reads_by_itself(fact, material, request)
    if is_plain and _is_known_to_be_too_long(page, ranked, material, ceiling):
        return False
    if fact.needs_review:
        text, tokens = review_text(fact, material, request), None
    else:
        text = fact_text(page, ranked, material)
        tokens = ranked.tokens if text == ranked.sheet.line else None
        if fact.time_sensitive:
            text, tokens = text + age_of(fact, at), None
        if rivals := material.contested.get(fact.id):
            text, tokens = text + contested_text(rivals, material), None
        if against:
            text, tokens = text + doubt_note(against, material), None
    if request.style == "annotated":
        text, tokens = text + note_on(fact), None
    section = ranked.sheet.section if is_plain else _section_among(fact, material)
    line = Line(
        section,
        text,
        fact.id,
        ranked.score,
        ranked.parts,
        (fact.source,),
        () if is_plain else quoted_in(fact, material),
    )
    turn = _turn_of(fact, section, material)
    return page.put(line, tokens, ceiling=ceiling, place=ranked.sheet.stands, turn=turn)


def _turn_of(fact: Fact, section: str, material: Material) -> TurnOfLine | None:
    """The turn under whose day the line of a fact may stand."""
    return turn_of(fact, material.zone) if section in BY_TURN else None


def _reads_by_itself(fact: Fact, material: Material, request: Request) -> bool:
    """Whether the line of a fact says nothing but the fact: no age, no doubt, no note."""
    return (
        request.style == "plain"
        and not fact.causes
        and not fact.time_sensitive
        and fact.id not in material.contested
        and fact.id not in material.doubted
    )


def _section_among(fact: Fact, material: Material) -> str:
    is_contested, is_doubted = fact.id in material.contested, fact.id in material.doubted
    return section_of(fact, is_contested=is_contested, is_doubted=is_doubted)


def _is_known_to_be_too_long(page: Page, ranked: Ranked, material: Material, ceiling: int) -> bool:
    """Whether a fact that reads by itself is too long, by the token count kept with it. This saves
    rendering most of the facts that are left out."""
    if ranked.tokens is None or page.has_room(ranked.sheet.section, ranked.tokens, ceiling):
        return False
    return not material.dead or not material.dead.may_be_in(text_of(ranked.fact.value))


def _add_unknown(page: Page, material: Material) -> None:
    for unknown in material.unknown:
        line = Line(UNKNOWN, unknown_line(unknown), unknown.fact.id)
        if not page.put(line, item=unknown.key):
            page.leave_out(item=unknown.key)
    if material.unanswered:
        page.add(UNKNOWN, NOTHING_FOUND)
    if missing := len(_without_room(page)):
        page.say_so(UNKNOWN, left_out_line(missing))


def _without_room(page: Page) -> set[str]:
    """The facts that did not fit."""
    out = {one.fact_id for one in page.omissions if one.reason == OVER_BUDGET}
    return {fact_id for fact_id in out if fact_id is not None}


def _add_more(page: Page, material: Material, request: Request, at: datetime) -> None:
    """Give facts the room that nothing else has taken."""
    missing = _without_room(page)
    if not missing or page.budget - page.used < _SHORTEST_LINE:
        return
    add = _adding(page, material, request, at)
    waiting = [one for one in material.facts if one.fact.id in missing]
    added = {one.fact.id for one in waiting if add(one, request.budget)}
    if not added:
        return
    kept = [one for one in page.omissions if one.fact_id not in added]
    page.omissions[:] = dict.fromkeys(kept)
    left = len(missing) - len(added)
    page.say_so(UNKNOWN, left_out_line(left) if left else "")


def _add_history(page: Page, material: Material) -> None:
    for fact in material.past:
        if is_longer(fact.value, longest_line(page.budget - page.used)):
            page.leave_out(fact.id)
            continue
        line = Line(HISTORY, history_line(fact, material.zone), fact.id, sources=(fact.source,))
        if not page.put(line):
            page.leave_out(fact.id)
