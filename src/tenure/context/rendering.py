"""How each layer reads. Stored text is data: whatever it contains, it stays on its own line."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from tenure.model.fact import Fact, MemoryType, Status
from tenure.model.identity import Identity
from tenure.model.records import Environment, WorkingItem
from tenure.model.values import text_of

GONE = "[no longer current]"
"""Stands where a dead value was taken out of a text."""

IDENTITY = "Identity"
CONSTRAINTS = "Constraints"
PERSONAL = "Facts"
ORGANIZATION = "Organization"
LEARNED = "Learned"
RECALCULATE = "To recalculate"
UNKNOWN = "Not known"
HISTORY = "History"
WORKING_SET = "Working set"
ENVIRONMENT = "Environment"

HEADINGS = {
    IDENTITY: "Identity",
    CONSTRAINTS: "Constraints (binding: never act against these)",
    PERSONAL: "Facts",
    ORGANIZATION: "Facts of the organization",
    LEARNED: "Learned by this assistant",
    RECALCULATE: "To recalculate (what these rest on has changed)",
    UNKNOWN: "Not known (say so rather than guess)",
    HISTORY: "History (past, no longer true)",
    WORKING_SET: "Working set (this session)",
    ENVIRONMENT: "Environment",
}
"""The sections in the order in which they are rendered, with their headings.

What changes slowly comes first, so that prompt caches hit; the clock comes last.
"""

_SECTION_OF = {
    MemoryType.USER: PERSONAL,
    MemoryType.ORGANIZATIONAL: ORGANIZATION,
    MemoryType.CAPABILITY: LEARNED,
}

# Anything that could end a line, hide text or turn its direction, and lone combining marks.
_UNRULY = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2028\u2029"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)
# Delimiters of prompts and chats. They never appear as such: inside quotes they are escaped.
_ROLES = (
    "system|assistant|user|human|developer|tool|function|context|facts?|memory|instructions?|"
    "documents?|data|polic(?:y|ies)|constraints?|prompt|thinking|s"
)
_DELIMITER = re.compile(
    rf"<\s*\|?\s*/?\s*(?:{_ROLES})\b|<\|[^|]{{0,40}}\|>|<\||\|>|`{{3,}}|~{{3,}}|<</?\w+>>"
    r"|\[/?(?:INST|SYS|SYSTEM|USER|ASSISTANT|CONTEXT|RESTRICTED|SCOPE)\b",
    re.IGNORECASE,
)
# What could be taken for the frame around the data instead of data: headings, list marks, our own
# markers, the names of speakers, and words addressed to a model. Such text is put in quotes.
_FRAME = re.compile(
    r"^\s*(?:#{1,6}\s|[-*+>|]\s|\d+[.)]\s|={3,}|-{3,}|\*{3,})|(?:^|\s)#{2,}\s"
    r"|\[(?:cut|policy|budget|deadline|capacity|binding|no longer current|erased|id )"
    rf"|(?:^|[\"'(\[{{*_>.;!?\n-]\s*)(?:{_ROLES}|important|note to (?:the )?(?:model|ai))\s*:"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:previous|prior|above|earlier|"
    r"instructions?|rules?|polic(?:y|ies)|constraints?)\b"
    r"|\byou (?:are now|must now|are no longer|have been)\b|\bnew instructions?\b"
    r"|\bnot known, recalculate\b|\bnever act against\b"
    r'|^".*"$',
    re.IGNORECASE,
)


Cuts = Sequence[tuple[int, int]]
"""Spans of a value's text that must not be shown, in order."""


# A name, a number, an address of the net: nothing in it that any of the patterns below looks for.
_SURELY_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/-]*\Z")


def inline(value: Any, cuts: Cuts = ()) -> str:
    """A value on one line. Text that could be taken for anything but data is shown in quotes.

    Inside the quotes whatever hides or turns text, or closes somebody's frame, is escaped.
    """
    text = text_of(value)
    if not cuts and _SURELY_PLAIN.match(text):
        return text
    kept = [text]
    for start, end in reversed(cuts):
        kept[0:1] = [kept[0][:start], kept[0][end:]]
    if not isinstance(value, str):
        return GONE.join(map(_escaped, kept))
    if not text or text != text.strip() or _UNRULY.search(text) or _is_frame(text):
        said = (json.dumps(part, ensure_ascii=False)[1:-1] for part in kept)
        return f'"{GONE.join(map(_escaped, said))}"'
    return GONE.join(kept)


def _is_frame(text: str) -> bool:
    if _FRAME.search(text) or _DELIMITER.search(text):
        return True
    if text.isascii():
        return False
    plain = unicodedata.normalize("NFKC", text)
    return plain != text and bool(_FRAME.search(plain) or _DELIMITER.search(plain))


def _escaped(text: str) -> str:
    """Text without the characters that hide or turn it, and without delimiters."""
    text = _UNRULY.sub(lambda found: _code(found.group()), text)
    return _DELIMITER.sub(lambda found: _code(found.group()[0]) + found.group()[1:], text)


def _code(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


# identity and environment


def identity_lines(identity: Identity) -> Iterator[str]:
    """Who is asking."""
    named = identity.user_name if identity.user_name != identity.user_id else None
    who = f"{inline(named)} ({inline(identity.user_id)})" if named else inline(identity.user_id)
    yield f"User: {who}"
    title = identity.authority.title
    rung = identity.authority.rung
    yield f"Authority: {rung}" if title == rung else f"Authority: {inline(title)} ({rung})"
    yield f"Organization: {inline(identity.organization)}"
    if identity.department:
        yield f"Department: {inline(identity.department)}"
    if identity.permissions:
        yield f"Permissions: {', '.join(inline(name) for name in sorted(identity.permissions))}"


def signals(environment: Environment) -> Iterator[tuple[str, Any]]:
    """What outside systems say, each with its name."""
    if environment.location:
        yield "Location", environment.location
    yield from sorted(environment.external_data.items())


def signal_line(name: str, value: Any, cuts: Cuts = ()) -> str:
    return f"{inline(name)}: {inline(value, cuts)}"


def other_environment_lines(environment: Environment) -> Iterator[tuple[str, str]]:
    """What failed, and the clock, each with its name; the clock last, for it always changes."""
    for name in sorted(environment.unavailable):
        # The reason may quote what a provider said in its error; it is for people, not for models.
        yield name, f"{inline(name)}: not available right now"
    now = environment.current_time
    yield "current_date", f"Current date: {now:%A} {environment.current_date.isoformat()}"
    yield "current_time", f"Current time: {now:%H:%M} {inline(environment.timezone)}"


# facts


def section_of(fact: Fact) -> str:
    """The section that a fact in office belongs to."""
    if fact.needs_review:
        return RECALCULATE
    if fact.is_constraint:
        return CONSTRAINTS
    return _SECTION_OF[fact.memory_type]


def name_of(fact: Fact) -> str:
    """What a fact is about: its key, and whose where a subject is named."""
    key = inline(fact.key)
    return f"{key} ({inline(fact.subject)})" if fact.subject else key


def plain_line(fact: Fact, cuts: Cuts = ()) -> str:
    """A fact as it reads by itself. Its tokens are kept with the fact."""
    mark = (
        f"[{inline(fact.constraint_type)}] " if fact.is_constraint and fact.constraint_type else ""
    )
    return f"- {mark}{name_of(fact)}: {inline(fact.value, cuts)}"


def age_of(fact: Fact, now: datetime) -> str:
    """How old a reading of a time-sensitive key is, in words; "" for other facts."""
    if not fact.time_sensitive:
        return ""
    return f" (read {ago(now - fact.order)})"


def ago(age: timedelta) -> str:
    """An age in the largest unit that fits."""
    seconds = max(0, int(age.total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


_SOURCES = {"conversation": "conversation", "system": "a system", "policy": "policy"}


def note_on(fact: Fact) -> str:
    """Where a fact comes from, for the annotated style: id, date, source, authority."""
    parts = [f"id {fact.id}", f"said {fact.timestamp:%Y-%m-%d}"]
    source = fact.source.name or fact.source.speaker or _SOURCES.get(fact.source.type)
    if source:
        parts.append(f"source {inline(source)}")
    if fact.source.ref:
        parts.append(f"ref {inline(fact.source.ref)}")
    parts.append(f"authority {fact.authority}")
    if fact.valid_until is not None:
        parts.append(f"valid until {fact.valid_until:%Y-%m-%d %H:%M}")
    return f" [{'; '.join(parts)}]"


def review_line(fact: Fact, changed: Sequence[Fact], *, with_value: bool) -> str:
    """A fact whose base changed: named beside that base, its value withheld unless asked for."""
    names = sorted({name_of(base) for base in changed})
    because = f", because {' and '.join(names)} changed" if names else ""
    if with_value:
        return f"- {name_of(fact)}: was {inline(fact.value)}, not to be relied on{because}"
    return f"- {name_of(fact)}: not known, recalculate{because}"


def unknown_line(fact: Fact) -> str:
    """A matter on which the last word was taken back or has run out."""
    if fact.status is Status.RETRACTED:
        when = f" on {fact.ended_at:%Y-%m-%d}" if fact.ended_at else ""
        return f"- {name_of(fact)}: what was known was taken back{when}"
    when = f" on {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    return f"- {name_of(fact)}: what was known expired{when}"


NOTHING_FOUND = "- nothing on record matches this question"


def history_line(fact: Fact) -> str:
    """What was true before, with the dates between which it was."""
    start, end = fact.started_at, fact.until
    brief = start is not None and end is not None and start.date() == end.date()
    form = "%Y-%m-%d %H:%M" if brief else "%Y-%m-%d"
    began, ended = (f"{moment:{form}}" if moment else "?" for moment in (start, end))
    return f"- {name_of(fact)}: {inline(fact.value)} ({began} to {ended}, {fact.status})"


def item_line(item: WorkingItem, cuts: Cuts = ()) -> str:
    return f"- {inline(item.key)}: {inline(item.value, cuts)}"


def heading_line(section: str) -> str:
    return f"# {HEADINGS[section]}"


def render(lines: Sequence[tuple[str, str]]) -> str:
    """Lines under the headings of their sections, a blank line between sections."""
    parts: list[str] = []
    section = None
    for name, text in lines:
        if name != section:
            parts.append(f"\n{heading_line(name)}" if parts else heading_line(name))
            section = name
        parts.append(text)
    return "\n".join(parts)
