"""How a fact reads in a context: without dead values, and beside what changed or speaks against
it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from incumbent.context.cuts import guarded
from incumbent.context.document import Omission
from incumbent.context.doubt_lines import doubted_line, is_set_back, speaks_against
from incumbent.context.guard import DeadValue, mentions
from incumbent.context.material import Material
from incumbent.context.mention_rules import in_passing, within_fact
from incumbent.context.page import Page
from incumbent.context.quotes import Cuts
from incumbent.context.ranking import Ranked
from incumbent.context.rendering import (
    Changed,
    Rival,
    ahead_line,
    contested_note,
    plain_line,
    review_line,
)
from incumbent.context.request import Request
from incumbent.context.said_lines import TimeNote, is_said
from incumbent.context.sheets import Sheet
from incumbent.model.fact import Fact, Status


def review_text(fact: Fact, material: Material, request: Request) -> str:
    changed = [_told(one, material) for one in material.changed.get(fact.id, ())]
    if request.profile.reviews != "show":
        return review_line(fact, changed)

    def counts(value: DeadValue, present: set[str], before: str) -> bool:
        return value.fact.id != fact.id and in_passing(value, present, before)

    shown = guarded(fact.value, fact.key, material.dead, counts)
    return review_line(fact.evolve(value=shown.value), changed, with_value=True, cuts=shown.cuts)


def quoted_in(fact: Fact, material: Material) -> tuple[str, ...]:
    """The facts that the line of one names besides: the bases that changed, and what they are, or
    what was said against it and what puts it in doubt."""
    told = [_told(one, material) for one in material.changed.get(fact.id, ())]
    bases = [one for changed in told for one in changed if one is not None]
    against = [*material.contested.get(fact.id, ()), *speaks_against([fact.id], material)]
    named = [*(bases if fact.needs_review else ()), *against]
    return tuple(dict.fromkeys(one.id for one in named))


def contested_text(rivals: Sequence[Fact], material: Material) -> str:
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


def fact_text(page: Page, ranked: Ranked, material: Material) -> str:
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
