"""How a fact in doubt reads: with its day, and with what put it in doubt."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from datetime import UTC, tzinfo

from incumbent.context.cuts import guarded
from incumbent.context.material import Material
from incumbent.context.mention_rules import within_fact
from incumbent.context.quotes import Cuts, inline
from incumbent.context.rendering import name_of
from incumbent.context.said_lines import (
    COMPOSED,
    TimeNote,
    day_of,
    label_of,
    speaks_for_itself,
    told_value,
)
from incumbent.model.fact import Fact
from incumbent.model.records import WorkingItem
from incumbent.model.values import text_of

_MOST_TOLD = 12
"""Statements against a fact, each in doubt by the next. A fact with more of them is left out."""
_LONGEST_QUOTE = 400
"""A longer statement that puts a fact in doubt is named, never quoted in part."""


def is_set_back(fact: Fact, material: Material) -> bool:
    """Whether a fact stands among those in doubt. A rule binds until somebody has settled it."""
    return fact.id in material.doubted and not fact.is_constraint and not fact.needs_review


def speaks_against(fact_ids: Iterable[str], material: Material) -> list[Fact]:
    """The newest statement against each of these facts, the newest against that, and so on, until
    there are too many to tell."""
    found: dict[str, Fact] = {}
    wanted = list(fact_ids)
    while wanted and len(found) <= _MOST_TOLD:
        newest = {one.id: one for i in wanted for one in material.doubted.get(i, ())[:1]}
        wanted = sorted(newest.keys() - found.keys())
        found.update((i, newest[i]) for i in wanted)
    return list(found.values())


def is_told(against: Sequence[Fact], shown: Container[str]) -> bool:
    """Whether a context with these facts tells all that puts something in doubt: it is quoted in a
    note, or else has a line of its own."""
    return len(against) <= _MOST_TOLD and all(
        len(text_of(one.value)) <= _LONGEST_QUOTE or one.id in shown for one in against
    )


def doubts_within(item: WorkingItem, material: Material) -> tuple[str, list[Fact]]:
    """What stands beside a turn or a passage that states something in doubt, and the statements
    that say so. It may say itself what it puts in doubt."""
    stated = item.stated
    newest = {one.id: one for i in sorted(stated) for one in material.doubted.get(i, ())[:1]}
    outside = [newest[i] for i in newest if i not in stated]
    notes = [doubt_note([one], material) for one in outside]
    return "".join(notes), [*outside, *speaks_against([one.id for one in outside], material)]


def doubted_line(
    fact: Fact, cuts: Cuts = (), zone: tzinfo = UTC, days: Sequence[TimeNote] = ()
) -> str:
    """A fact in doubt, with the day it was said and the name that it goes by, where it has one."""
    name = "" if speaks_for_itself(fact) else f"{name_of(fact)}: "
    end = COMPOSED if fact.source.composed else ""
    return f"- {label_of(fact, zone)}: {name}{told_value(fact, cuts, days)}{end}"


def doubt_note(doubters: Sequence[Fact], material: Material) -> str:
    """What stands beside a fact in doubt: the newest statement against it, in quotes, and what
    stands beside that."""
    chain = [doubters[0]]
    while len(chain) < _MOST_TOLD and (more := material.doubted.get(chain[-1].id)):
        if more[0].order <= chain[-1].order:
            break
        chain.append(more[0])
    note = ""
    for one in reversed(chain):
        since, told = day_of(one.timestamp, material.zone), _told(one, material)
        note = f" (in doubt since {since}: {told}{note})"
    return note


def _told(statement: Fact, material: Material) -> str:
    """A statement against a fact, in quotes, or what it goes by where it is long."""
    text = text_of(statement.value)
    if len(text) > _LONGEST_QUOTE:
        return f"see {name_of(statement)}"
    judged = within_fact(statement, material.is_common)
    shown = guarded(text, statement.key, material.dead, judged)
    said = inline(shown.value, shown.cuts)
    if not said.startswith(('"', "«")):
        said = f"«{said}»" if '"' in said else f'"{said}"'
    return said if speaks_for_itself(statement) else f"{name_of(statement)}: {said}"
