"""Said lines: who said a fact, on which day, and which days its time words mean.

All of it is our word about a statement and stands outside the statement: before its colon, or in
brackets after a phrase or at the end. Nothing in here is ever taken for somebody's words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo
from typing import NamedTuple

from incumbent.context.quotes import GONE, Cuts, inline, name
from incumbent.model.fact import Fact

NEXT = "→"
"""Stands between the pieces of a statement that was amended: what was said first, what then."""
COMPOSED = " (composed)"
"""Ends the line of a wording that nobody said so."""
UNDER = "  "
"""Opens the line of what was said in the same turn as the line above it, whose day it shares."""
_THE_USER = frozenset({"user", "human", "me"})
_OVER = "over"
_WHOLE = 5
"""A statement of fewer words is an answer, which needs to be told what it is about."""
_DAY = r"\d{4}-\d\d-\d\d"
_BY = r"(?: by [^()]{1,200})?"
_LABEL = re.compile(
    rf"(- (?:\[[^\]]{{1,80}}\] )?)"
    rf"(?:{_DAY}(?:, [^:]{{1,200}})?|from {_DAY}(?: \d\d:\d\d)?(?: \(said {_DAY}{_BY}\))?): "
)
_NOTES = re.compile(
    rf"(?: \(from {_DAY}(?: \d\d:\d\d)?\))?(?: \(said {_DAY}{_BY}\))?(?: \(composed\))?$"
)


class TimeNote(NamedTuple):
    """The day or days that a phrase within a fact's text means."""

    end: int
    """Where the phrase ends."""
    told: str
    """The days as they are shown: "4 March"."""
    days: str
    """The same days in full, to be compared: "2026-03-04"."""

    @property
    def text(self) -> str:
        """Every way in which the days could be said, to look for dead values in."""
        return f"{self.told}, {self.days}"


def is_said(fact: Fact) -> bool:
    """Whether a fact came from talk, and was not written under a name."""
    return (
        fact.is_unnamed or fact.source.turn_index is not None or fact.source.type == "conversation"
    )


def speaks_for_itself(fact: Fact) -> bool:
    """Whether a fact needs no name before it: it is a sentence, or it says its name itself."""
    if fact.is_unnamed:
        return True
    if fact.source.turn_index is None or not isinstance(fact.value, str):
        return False
    if (
        fact.predecessors
        and not fact.source.earlier
        and fact.value not in (fact.source.quote or "")
    ):
        return False  # it was written under this name, and a turn changed its value
    words = re.findall(r"\w+", fact.value.casefold())
    key = fact.key.split("_")
    if fact.key in words:
        return len(words) > 1  # "dog: We have a dog" says it twice
    if fact.multi_valued:
        return len(words) >= _WHOLE
    text = " ".join(words)
    return len(key) > 1 and 2 * sum(word in text for word in key) >= len(key)


def label_of(fact: Fact, zone: tzinfo) -> str:
    """What stands before a statement that speaks for itself: its day, and who if not the user."""
    speaker = _speaker(fact)
    day = day_of(fact.timestamp, zone).isoformat()
    return f"{day}, {speaker}" if speaker else day


def label_of_passage(speaker: str, at: datetime, zone: tzinfo) -> str:
    """What stands before a passage: its day, and who said it if not the user."""
    day = day_of(at, zone).isoformat()
    return day if speaker in _THE_USER else f"{day}, {name(speaker)}"


class TurnOfLine(NamedTuple):
    """The turn that a statement was said in, by what its lines have in common."""

    label: str
    number: int


def turn_of(fact: Fact, zone: tzinfo) -> TurnOfLine | None:
    """The turn of a statement that speaks for itself; None for other facts."""
    number = fact.source.turn_index
    if number is None or not speaks_for_itself(fact):
        return None
    return TurnOfLine(label_of(fact, zone), number)


def continued(line: str, label: str) -> str:
    """The line of a statement under another one of its turn: without the day and the speaker."""
    return UNDER + line.removeprefix(f"- {label}: ")


def note_of(fact: Fact, zone: tzinfo) -> str:
    """The same after a value that stands under a name."""
    speaker = _speaker(fact)
    day = day_of(fact.timestamp, zone).isoformat()
    return f" (said {day} by {speaker})" if speaker else f" (said {day})"


def _speaker(fact: Fact) -> str | None:
    said_by = fact.source.speaker
    return None if said_by is None or said_by in _THE_USER else name(said_by)


def day_of(moment: datetime, zone: tzinfo = UTC) -> date:
    """The day of a moment in a time zone; at the ends of the calendar, that of UTC."""
    try:
        return moment.astimezone(zone).date()
    except OverflowError:
        return moment.date()


def start_of(fact: Fact, now: datetime, zone: tzinfo) -> str:
    """From when on a fact holds that does not yet: the day, and where that is today, the time."""
    begins = fact.started_at or fact.valid_from
    day = day_of(begins, zone)
    if day != day_of(now, zone):
        return day.isoformat()
    return f"{day.isoformat()} {begins.astimezone(zone):%H:%M}"


def told_value(fact: Fact, cuts: Cuts, notes: Sequence[TimeNote]) -> str:
    """The value of a fact on one line, its time words followed by their days.

    Only in text that is shown as it was said: what is in quotes stays word for word.
    """
    value = fact.value
    if fact.source.earlier and isinstance(value, str) and GONE in value:
        value, cuts, notes = _with_our_marks(value, cuts, notes)
    if not notes or not isinstance(value, str) or inline(value) != value:
        return inline(value, cuts)
    shown, place = [], 0
    marks = [(start, end, GONE) for start, end in cuts]
    outside = (note for note in notes if not any(a < note.end <= b for a, b in cuts))
    marks += [(note.end, note.end, f" ({note.told})") for note in outside]
    for start, end, mark in sorted(marks):
        shown += [value[place:start], mark]
        place = end
    return "".join([*shown, value[place:]])


def _with_our_marks(
    text: str, cuts: Cuts, notes: Sequence[TimeNote]
) -> tuple[str, Cuts, Sequence[TimeNote]]:
    """An amended text with a word in the place of each mark, to be cut out. So the mark is ours,
    and the text is not taken for one in which somebody wrote it."""
    places = [one.start() for one in re.finditer(re.escape(GONE), text)]
    shorter = len(GONE) - len(_OVER)

    def moved(at: int) -> int:
        return at - shorter * sum(place < at for place in places)

    marks = [(moved(place), moved(place) + len(_OVER)) for place in places]
    all_cuts = sorted([*((moved(start), moved(end)) for start, end in cuts), *marks])
    return (
        text.replace(GONE, _OVER),
        all_cuts,
        [note._replace(end=moved(note.end)) for note in notes],
    )


def without_label(line: str) -> str:
    """A line without what we say of a statement in it: its day, its speaker, how it was made."""
    return _NOTES.sub("", _LABEL.sub(r"\1", line.removeprefix(UNDER), count=1))
