"""Waiting: what is to be so once something else has become this.

"If the wall colour becomes crimson, then the reception changes to 11:20 am." names a thing that is
known, what it may become, and what another thing is then to be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from incumbent.model.fact import Part
from incumbent.reading.form import Claim, Span, Statement, StatementKind
from incumbent.reading.plainly import Names, values_beside, whole_value
from incumbent.reading.things import Thing, name_of, things

_LONGEST: Final = 300
_CASE: Final = (
    r"(?:if|when|whenever|once|after|in case|as soon as|should|in the event that|"
    r"wait (?:till|until|for)|the (?:day|moment|minute|instant)(?: that)?)"
)
_FIRST = re.compile(rf"(?:and |but |so |please |also )*{_CASE}\b ", re.IGNORECASE)
_LAST = re.compile(rf",? {_CASE} (?=(?:my|our|the|your) |[A-Z\d$€£])", re.IGNORECASE)
_THEN = re.compile(r", (?:and )?(?:then )?| (?:and )?then ", re.IGNORECASE)
_TURNS = re.compile(
    r"(?:becom|chang|switch|mov|turn|goes|go|went|is|will|would|run|set|use|take|be|cost|start)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\b(?:to become|becomes|become|changes to|change to|switches to|switch to|moves to|will be|be|"
    r"turns to|goes to|changed to|is|to|on|with) ([A-Za-z][\w-]*(?: [a-z][\w-]*){0,2})(?=[.,;!]|$)"
)


class _Side(NamedTuple):
    thing: Thing
    value: Span


def waits(said: Statement, known: Names) -> Statement | None:
    """A statement that waits for something, with what for and with the name of what is then so."""
    if len(said.text) > _LONGEST or said.text.rstrip().endswith("?"):
        return None
    for case, then in _sides(said.text):
        base = _side(said, case)
        awaits = name_of(base.thing.key, base.thing.subject) if base is not None else frozenset()
        if base is None or awaits not in known:
            continue
        made = _side(said, then)
        if made is None or made.thing[2:4] == base.thing[2:4]:
            continue
        forms = [one.normal for one in said.parts if (one.start, one.end) == base.value]
        becomes = tuple(dict.fromkeys((said.text[slice(*base.value)], *forms)))
        claim = _claim(said, made)
        kind = StatementKind.SUPPOSES
        return replace(said, kind=kind, claim=claim, term=None, awaits=awaits, becomes=becomes)
    return None


def _claim(said: Statement, made: _Side) -> Claim:
    """The name and the value of what is then so."""
    thing, (start, end) = made
    value, shift = said.text[start:end], said.start
    return Claim(thing.subject, thing.key, value, shift + start, shift + end, thing.is_own)


def _sides(text: str) -> list[tuple[Span, Span]]:
    """Where the case may stand, and what is then so."""
    found: list[tuple[Span, Span]] = []
    first = _FIRST.match(text)
    if first is not None:
        begin = first.end()
        found = [
            ((begin, one.start()), (one.end(), len(text))) for one in _THEN.finditer(text, begin)
        ]
    for one in _LAST.finditer(text):
        end = text.find(",", one.end())
        found.append(((one.end(), end if end > 0 else len(text)), (0, one.start())))
    return found


def _side(said: Statement, span: Span) -> _Side | None:
    """The one thing that a side names, and the one value it is to have."""
    begin, end = span
    text = said.text[begin:end]
    parts = [
        one._replace(start=one.start - begin, end=one.end - begin)
        for one in said.parts
        if one.start >= begin and one.end <= end
    ]
    named = things(text, parts)
    if len(named) != 1 or _TURNS.search(text) is None:
        return None
    (thing,) = named
    value = _value(text, parts, thing)
    if value is None:
        return None
    moved = thing._replace(start=thing.start + begin, end=thing.end + begin)
    return _Side(moved, (value[0] + begin, value[1] + begin))


def _value(text: str, parts: Sequence[Part], thing: Thing) -> Span | None:
    values = values_beside(text, parts, [(thing.start, thing.end)], None)
    if len(values) == 1:
        return whole_value(text, values[0])
    found = _WORDS.search(text, thing.end) if not values else None
    return (found.start(1), found.end(1)) if found is not None else None
