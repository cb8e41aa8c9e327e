"""The text of each layer. Stored text is data: it stays on its own line, whatever it contains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple

from incumbent.context.quotes import Cuts, inline, name
from incumbent.context.said_lines import (
    COMPOSED,
    TimeNote,
    is_said,
    label_of,
    note_of,
    speaks_for_itself,
    start_of,
    told_value,
    without_label,
)
from incumbent.model.fact import Fact, MemoryType, Status
from incumbent.model.identity import Identity
from incumbent.model.records import TURN, Environment

IDENTITY = "Identity"
CONSTRAINTS = "Constraints"
STANDING = "Standing"
PERSONAL = "Facts"
ORGANIZATION = "Organization"
LEARNED = "Learned"
CONTESTED = "Contested"
RECALCULATE = "To recalculate"
DOUBTED = "Possibly outdated"
AHEAD = "Ahead"
UNKNOWN = "Not known"
HISTORY = "History"
SAID = "Said"
WORKING_SET = "Working set"
ENVIRONMENT = "Environment"
CUT = "Cut"

HEADINGS = {
    IDENTITY: "Identity",
    CONSTRAINTS: "Constraints (binding: never act against these)",
    STANDING: "Standing instructions and preferences",
    PERSONAL: "Facts",
    ORGANIZATION: "Facts of the organization",
    LEARNED: "Learned by this assistant",
    CONTESTED: "Contested (statements disagree: ask before relying on either)",
    RECALCULATE: "To recalculate (what these rest on has changed)",
    DOUBTED: "Possibly outdated (a later statement may have replaced these: "
    "ask before relying on them)",
    AHEAD: "Ahead (not so yet, only from the day given)",
    UNKNOWN: "Not known (say so rather than guess)",
    HISTORY: "History (past, no longer true)",
    SAID: "Said (in their words, oldest first; facts above say what holds now)",
    WORKING_SET: "Working set (this session)",
    ENVIRONMENT: "Environment",
    CUT: "",
}
"""The sections in the order in which they are rendered, with their headings. The mark at the end
that something was cut has none.

Sections that change slowly come first, so that prompt caches hit; the clock comes last.
"""

CUT_MARK = "[cut]"
"""Stands where the budget cut the text."""

_SECTION_OF = {
    MemoryType.USER: PERSONAL,
    MemoryType.ORGANIZATIONAL: ORGANIZATION,
    MemoryType.CAPABILITY: LEARNED,
}

BY_TURN = frozenset({STANDING, PERSONAL, ORGANIZATION, LEARNED, DOUBTED})
"""The sections where what was said in one turn stands together, under its day."""

_UNAVAILABLE = "not available right now"
_CLOCK = re.compile(r"Current (?:date: \w+ \d{4}-\d\d-\d\d|time: \d\d:\d\d .*)")
_TURN = re.compile(rf'- "?{TURN}\d')

NO_ORGANIZATION = "default"
"""The organization of those who name none: a model has no use for it."""

# identity and environment


def identity_lines(identity: Identity) -> Iterator[str]:
    """The lines about the asker."""
    named = identity.user_name if identity.user_name != identity.user_id else None
    who = f"{name(named)} ({name(identity.user_id)})" if named else name(identity.user_id)
    yield f"User: {who}"
    title = identity.authority.title
    rung = identity.authority.rung
    yield f"Authority: {rung}" if title == rung else f"Authority: {name(title)} ({rung})"
    if identity.organization != NO_ORGANIZATION:
        yield f"Organization: {name(identity.organization)}"
    if identity.department:
        yield f"Department: {name(identity.department)}"
    if identity.permissions:
        yield f"Permissions: {', '.join(map(name, sorted(identity.permissions)))}"


def frame_lines(
    *, task: str | None, branch: tuple[str, str] | None, when: datetime | None, ahead: bool
) -> Iterator[str]:
    """The lines that set this session apart from plain reality: a task, a branch, a look at the
    past."""
    if task is not None:
        yield f"Task: {name(task)}"
    if branch is not None:
        scope, called = branch
        kind = "what-if" if scope == "hypothetical" else scope
        yield f"Branch: {kind} {name(called)} (nothing said in it is real until committed)"
    if when is not None:
        told = "ahead: everything here is as it should be" if ahead else "back: this is as it was"
        yield f"Looking {told} at {when:%Y-%m-%d %H:%M} UTC"


def signals(environment: Environment) -> Iterator[tuple[str, Any]]:
    """The signals of outside systems, each with its name."""
    if environment.location:
        yield "Location", environment.location
    yield from sorted(environment.external_data.items())


def signal_line(signal: str, value: Any, cuts: Cuts = ()) -> str:
    return f"{name(signal)}: {inline(value, cuts)}"


def other_environment_lines(environment: Environment) -> Iterator[tuple[str, str]]:
    """The failed providers and the clock, each with its name. The clock comes last because it
    always changes."""
    for failed in sorted(environment.unavailable):
        # The reason may quote what a provider said in its error; it is for people, not for models.
        yield failed, f"{name(failed)}: {_UNAVAILABLE}"
    now = environment.current_time
    # `quotable` knows these lines by how they read.
    yield "current_date", f"Current date: {now:%A} {environment.current_date.isoformat()}"
    yield "current_time", f"Current time: {now:%H:%M} {name(environment.timezone)}"


def environment_names(environment: Environment) -> Iterator[str]:
    """The names of the lines of the environment."""
    yield from (name for name, _ in signals(environment))
    yield from (name for name, _ in other_environment_lines(environment))


# facts


def section_of(fact: Fact, *, is_contested: bool = False, is_doubted: bool = False) -> str:
    """The section that a fact belongs to that is in office, or takes it later.

    A rule that is contested or in doubt binds all the same, and stays among the rules.
    """
    if fact.needs_review:
        return RECALCULATE
    if fact.status is Status.WAITING:
        return AHEAD
    if fact.is_constraint:
        return CONSTRAINTS
    if is_doubted:
        return DOUBTED
    if is_contested:
        return CONTESTED
    if fact.is_standing:
        return STANDING
    return _SECTION_OF[fact.memory_type]


def name_of(fact: Fact) -> str:
    """The matter of a fact: its key, and its subject if one is named."""
    if fact.is_unnamed:
        return f"what was said on {fact.timestamp:%Y-%m-%d}"
    key = name(fact.key)
    return f"{key} ({name(fact.subject)})" if fact.subject else key


def plain_line(
    fact: Fact, cuts: Cuts = (), zone: tzinfo = UTC, days: Sequence[TimeNote] = ()
) -> str:
    """A fact as it reads by itself. Its tokens in UTC, without days, are kept with the fact.

    What was said has its day, and its speaker where that is not the user.
    """
    mark, shown = _mark(fact), told_value(fact, cuts, days)
    if not is_said(fact):
        return f"- {mark}{name_of(fact)}: {shown}"
    end = COMPOSED if fact.source.composed else ""
    if speaks_for_itself(fact):
        # A key made of the words that it was first said in may say what is no longer so.
        return f"- {mark}{label_of(fact, zone)}: {shown}{end}"
    return f"- {mark}{name_of(fact)}: {shown}{note_of(fact, zone)}{end}"


def ahead_line(
    fact: Fact, now: datetime, cuts: Cuts = (), zone: tzinfo = UTC, days: Sequence[TimeNote] = ()
) -> str:
    """A fact that takes office later, with the day from which it holds."""
    mark, shown = _mark(fact), told_value(fact, cuts, days)
    since = start_of(fact, now, zone)
    said = note_of(fact, zone) if is_said(fact) else ""
    end = COMPOSED if fact.source.composed else ""
    if speaks_for_itself(fact):
        return f"- {mark}from {since}{said}: {shown}{end}"
    return f"- {mark}{name_of(fact)}: {shown} (from {since}){said}{end}"


def _mark(fact: Fact) -> str:
    """The kind of constraint, and its authority: a guest's rule must not look like policy."""
    if not fact.is_constraint or not fact.constraint_type:
        return ""
    kind = name(fact.constraint_type)
    return f"[{kind}] " if kind == fact.authority else f"[{kind}, {fact.authority}] "


def age_of(fact: Fact, now: datetime) -> str:
    """The age of a reading of a time-sensitive key, in words; "" for other facts."""
    if not fact.time_sensitive:
        return ""
    return f" (read {ago(now - fact.order)})"


def ago(age: timedelta) -> str:
    """An age in the largest unit of which there are two, rounded."""
    seconds = max(0.0, age.total_seconds())
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 1.9 * length:
            return f"{round(seconds / length)} {unit} ago"
    return "just now"


_SOURCES = {"conversation": "conversation", "system": "a system", "policy": "policy"}


def note_on(fact: Fact) -> str:
    """The provenance of a fact for the annotated style: id, date, source, authority."""
    parts = [f"id {name(fact.id)}", f"said {fact.timestamp:%Y-%m-%d}"]
    source = fact.source.name or fact.source.speaker or _SOURCES.get(fact.source.type)
    if source:
        parts.append(f"source {name(source)}")
    if fact.source.ref:
        parts.append(f"ref {name(fact.source.ref)}")
    parts.append(f"authority {fact.authority}")
    if fact.valid_until is not None:
        parts.append(f"valid until {fact.valid_until:%Y-%m-%d %H:%M} UTC")
    return f" [{'; '.join(parts)}]"


class Changed(NamedTuple):
    """A base that has changed, and its successor, if there is one."""

    base: Fact
    now: Fact | None = None


def review_line(
    fact: Fact, changed: Sequence[Changed], *, with_value: bool = False, cuts: Cuts = ()
) -> str:
    """A fact whose base changed: named beside that base, its value withheld unless asked for."""
    names = sorted({_told(one) for one in changed})
    because = f", because {' and '.join(names)}" if names else ""
    if with_value:
        return (
            f"- {name_of(fact)}: was {_marked_off(fact.value, cuts)}, not to be relied on{because}"
        )
    return f"- {name_of(fact)}: not known, recalculate{because}"


def _told(changed: Changed) -> str:
    now = f" (now {inline(changed.now.value)})" if changed.now is not None else ""
    return f"{name_of(changed.base)} changed{now}"


class Rival(NamedTuple):
    """A statement that contradicts a fact in office and was too weak to retire it."""

    fact: Fact
    cuts: Cuts = ()
    """The spans that must not be shown."""


MOST_RIVALS = 3
"""The most statements against a fact that are quoted beside it; of more, the number is told."""


def contested_note(rivals: Sequence[Rival]) -> str:
    """The note beside a contested fact: the statements against it, and their dates."""
    told = "; ".join(
        f"{_marked_off(rival.fact.value, rival.cuts)} was said on {rival.fact.timestamp:%Y-%m-%d}"
        for rival in rivals[:MOST_RIVALS]
    )
    more = len(rivals) - MOST_RIVALS
    return f" [contested: {told}{f'; and {more} more' if more > 0 else ''}]"


def _marked_off(value: Any, cuts: Cuts = ()) -> str:
    """A value within a sentence, in quotes so that its end can be seen."""
    shown = inline(value, cuts)
    plain = isinstance(value, str) and not shown.startswith(('"', "«"))
    return f'"{shown}"' if plain else shown


class Unknown(NamedTuple):
    """A matter whose last fact was retracted or has expired."""

    fact: Fact
    key: str
    """Its name: the key of the fact, or those of its words that are not dead."""

    @property
    def name(self) -> str:
        key, subject = name(self.key), self.fact.subject
        return f"{key} ({name(subject)})" if subject else key


def unknown_line(unknown: Unknown) -> str:
    fact = unknown.fact
    if fact.status is Status.RETRACTED:
        when = f" on {fact.ended_at:%Y-%m-%d}" if fact.ended_at else ""
        return f"- {unknown.name}: what was known was taken back{when}"
    when = f" on {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    return f"- {unknown.name}: what was known expired{when}"


NOTHING_FOUND = "- nothing on record matches this question"


def history_line(fact: Fact, zone: tzinfo = UTC) -> str:
    """An earlier fact, with its start and end."""
    start, end = fact.started_at, fact.until
    brief = start is not None and end is not None and start.date() == end.date()
    form = "%Y-%m-%d %H:%M" if brief else "%Y-%m-%d"
    began, ended = (f"{moment:{form}}" if moment else "?" for moment in (start, end))
    called = label_of(fact, zone) if speaks_for_itself(fact) else name_of(fact)
    return f"- {called}: {inline(fact.value)} ({began} to {ended}, {fact.status})"


def item_line(key: str, value: Any, cuts: Cuts = ()) -> str:
    return f"- {name(key)}: {inline(value, cuts)}"


def said_line(label: str, text: str, cuts: Cuts = ()) -> str:
    """A passage on one line, under its day and its speaker."""
    return f"- {label}: {inline(text.translate(_BREAKS), cuts)}"


_BREAKS = dict.fromkeys(map(ord, "\n\r\t"), " ")
"""Each for one character, so that cuts stay where they are."""
_LEFT_OUT = re.compile(r"- (?:1 more fact was|\d+ more facts were) left out for lack of room")


def left_out_line(count: int) -> str:
    """Tells a model that facts were left out."""
    facts = "1 more fact was" if count == 1 else f"{count} more facts were"
    return f"- {facts} left out for lack of room"


def quotable(section: str, text: str | None) -> str:
    """The part of a line that may repeat a statement. The asker, the clock, the names of signals
    and turns, and our own notes on statements and on missing facts are left out."""
    if text is None or section == IDENTITY or (section == UNKNOWN and text == NOTHING_FOUND):
        return ""
    if _LEFT_OUT.fullmatch(text):
        return ""
    if section == ENVIRONMENT:
        is_ours = _CLOCK.fullmatch(text) or text.endswith(f": {_UNAVAILABLE}")
        return "" if is_ours else text.partition(": ")[2]
    if section == WORKING_SET:
        return text.partition(": ")[2] if _TURN.match(text) else text
    return without_label(text)


def heading_line(section: str) -> str:
    """The heading of a section; "" where it has none."""
    return f"# {HEADINGS[section]}" if HEADINGS[section] else ""


def render(lines: Sequence[tuple[str, str]]) -> str:
    """Lines under the headings of their sections, a blank line between sections."""
    parts: list[str] = []
    section = None
    for current, text in lines:
        if current != section:
            opening = [heading_line(current)] if HEADINGS[current] else []
            parts.extend(["", *opening] if parts else opening)
            section = current
        parts.append(text)
    return "\n".join(parts)
