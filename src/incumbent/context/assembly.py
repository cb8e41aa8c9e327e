"""Assembly: which lines go into a context, in what order, within the budget.

Identity, environment, facts up to a share of what remains, then the working set in the rest. The
ceiling holds for the rendered text, headings and separators included, for every budget from 0 up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from incumbent.context.cuts import guarded
from incumbent.context.document import OVER_BUDGET, Context, Line, Omission
from incumbent.context.doubt_lines import doubt_note, doubted_line, is_set_back
from incumbent.context.guard import (
    DeadValue,
    mentions,
)
from incumbent.context.material import Material
from incumbent.context.mention_rules import in_passing, within_fact
from incumbent.context.notes import add_working_set, shown_value
from incumbent.context.page import Page
from incumbent.context.passages import add_passages, room_for_passages
from incumbent.context.quotes import Cuts
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
    Changed,
    Rival,
    age_of,
    ahead_line,
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
from incumbent.context.request import Request
from incumbent.context.said_lines import TimeNote, TurnOfLine, is_said, turn_of
from incumbent.context.sheets import Sheet
from incumbent.context.tokens import Count
from incumbent.model.fact import Fact, Status
from incumbent.model.values import is_longer, text_of

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
    is_plain = _reads_by_itself(fact, material, request)
    if is_plain and _is_known_to_be_too_long(page, ranked, material, ceiling):
        return False
    if fact.needs_review:
        text, tokens = _review_text(fact, material, request), None
    else:
        text = _fact_text(page, ranked, material)
        tokens = ranked.tokens if text == ranked.sheet.line else None
        if fact.time_sensitive:
            text, tokens = text + age_of(fact, at), None
        if rivals := material.contested.get(fact.id):
            text, tokens = text + _contested_text(rivals, material), None
        if doubters := material.doubted.get(fact.id):
            text, tokens = text + doubt_note(doubters, material), None
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
        () if is_plain else _quoted_in(fact, material),
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


def _review_text(fact: Fact, material: Material, request: Request) -> str:
    changed = [_told(one, material) for one in material.changed.get(fact.id, ())]
    if request.profile.reviews != "show":
        return review_line(fact, changed)

    def counts(value: DeadValue, present: set[str], before: str) -> bool:
        return value.fact.id != fact.id and in_passing(value, present, before)

    shown = guarded(fact.value, fact.key, material.dead, counts)
    return review_line(fact.evolve(value=shown.value), changed, with_value=True, cuts=shown.cuts)


def _quoted_in(fact: Fact, material: Material) -> tuple[str, ...]:
    """The facts that the line of one names besides: the bases that changed, and what they are, or
    what was said against it and what puts it in doubt."""
    told = [_told(one, material) for one in material.changed.get(fact.id, ())]
    bases = [one for changed in told for one in changed if one is not None]
    against = [*material.contested.get(fact.id, ()), *material.doubted.get(fact.id, ())[:1]]
    named = [*(bases if fact.needs_review else ()), *against]
    return tuple(dict.fromkeys(one.id for one in named))


def _contested_text(rivals: Sequence[Fact], material: Material) -> str:
    """The statements against a fact."""
    shown = []
    for rival in rivals:
        judged = within_fact(rival, material.is_common)
        value = guarded(rival.value, rival.key, material.dead.beside(rival), judged)
        shown.append(Rival(rival.evolve(value=value.value), value.cuts))
    return contested_note(shown)


def _told(changed: Changed, material: Material) -> Changed:
    """The successor of a base, without its text if that repeats a dead value: the successor has a
    line of its own."""
    now = changed.now
    if now is None or not material.dead:
        return changed
    judged = within_fact(now, material.is_common)
    repeats = guarded(now.value, now.key, material.dead, judged).found
    return changed._replace(now=None) if repeats else changed


def _fact_text(page: Page, ranked: Ranked, material: Material) -> str:
    """A fact with dead values cut out of its text, and its time words followed by their days."""
    fact = ranked.fact
    if not material.dead:
        return _in_words(fact, (), material, ranked.sheet)
    judged = within_fact(fact, material.is_common)
    dead = material.dead.beside(fact) if fact.status is Status.WAITING else material.dead
    shown = guarded(fact.value, fact.key, dead, judged)
    if not shown.found:
        return _in_words(fact, shown.cuts, material, ranked.sheet)
    page.omissions.extend(
        Omission("quotes a dead value", fact_id, fact.key)
        for fact_id in dict.fromkeys(mention.fact.id for mention in shown.found)
    )
    return _in_words(fact.evolve(value=shown.value), shown.cuts, material)


def _in_words(fact: Fact, cuts: Cuts, material: Material, sheet: Sheet | None = None) -> str:
    """The line of a fact; `sheet` is its sheet where the fact is as it was said."""
    days, zone = _days_of(fact, material), material.zone
    if fact.status is Status.WAITING:
        return ahead_line(fact, material.environment.current_time, cuts, zone, days)
    if is_set_back(fact, material):
        return doubted_line(fact, cuts, zone, days)
    if sheet is not None and not cuts and not days and (zone is UTC or not is_said(fact)):
        return sheet.line
    return plain_line(fact, cuts, zone, days)


def _days_of(fact: Fact, material: Material) -> list[TimeNote]:
    """The days that the time words of a fact mean, but for such as are dead values."""
    notes, dead = material.days.get(fact.id), material.dead
    return [
        note
        for note in notes or ()
        # However little it has to do with the matter: nothing is lost with our own word.
        if not mentions(note.text, "", dead, lambda *_: True)
    ]


def _add_unknown(page: Page, material: Material) -> None:
    for unknown in material.unknown:
        line = Line(UNKNOWN, unknown_line(unknown), unknown.fact.id)
        if not page.put(line, item=unknown.key):
            page.leave_out(item=unknown.key)
    if material.unanswered:
        page.add(UNKNOWN, NOTHING_FOUND)
    out = [one.fact_id for one in page.omissions if one.reason == OVER_BUDGET]
    missing = len(out) - out.count(None)
    if missing:
        page.say_so(UNKNOWN, left_out_line(missing))


def _add_history(page: Page, material: Material) -> None:
    for fact in material.past:
        if is_longer(fact.value, longest_line(page.budget - page.used)):
            page.leave_out(fact.id)
            continue
        line = Line(HISTORY, history_line(fact, material.zone), fact.id, sources=(fact.source,))
        if not page.put(line):
            page.leave_out(fact.id)
