"""Filling: values drawn for the slots of a record, and put into the holes of its templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from training.content import HOLE, Record, Template
from training.values import Said

Values = Mapping[str, Said]
_TRIES = 30
_ALIKE = 0.12
"""How often a new value differs from the old one in a digit only."""
_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*", re.IGNORECASE)
_NTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")


@dataclass
class Text:
    """A text that is put together, and where the values are in it."""

    text: str = ""
    spots: dict[str, tuple[int, int]] = field(default_factory=dict)

    def shifted(self, before: str, after: str = "") -> Text:
        """The same with something before it, and after it."""
        by = len(before)
        return Text(
            before + self.text + after, {s: (a + by, b + by) for s, (a, b) in self.spots.items()}
        )


def fill(template: Template, values: Values, old: Values, r: Random) -> Text:
    """A template with values in its holes."""
    out, spots, done = "", {}, 0
    for hole in HOLE.finditer(template.text):
        out += template.text[done : hole.start()]
        slot, is_old = hole.group(1), hole.group(2)
        value = r.choice((old if is_old else values)[slot])
        if not out and value[0].islower() and r.random() < 0.7:
            value = value[0].upper() + value[1:]
        if not is_old:
            spots[slot] = (len(out), len(out) + len(value))
        out += value
        done = hole.end()
    return Text(out + template.text[done:], spots)


def draw(record: Record, r: Random, other_than: Values | None = None) -> dict[str, Said]:
    """A value for each slot, different from others if these are given."""
    found: dict[str, Said] = {}
    taken: dict[str, set[str]] = {}
    for slot, maker in record.slots.items():
        used = taken.setdefault(record.kinds[slot], set())
        if other_than is not None:
            used |= set(map(plainly, other_than[slot]))
        for attempt in range(_TRIES):
            alike = other_than is not None and attempt == 0 and r.random() < _ALIKE
            value = misread(other_than[slot], r) if alike and other_than else maker(r)
            if used.isdisjoint(map(plainly, value)):
                break
        used |= set(map(plainly, value))
        found[slot] = value
    return found


def misread(value: Said, r: Random) -> Said:
    """A value that differs from another in one digit, if it has any."""
    plain = r.choice(value)
    digits = [at for at, character in enumerate(plain) if character.isdigit()]
    if not digits:
        return value
    at = r.choice(digits)
    other = r.choice("123456789")
    return (f"{plain[:at]}{other}{plain[at + 1 :]}",)


def plainly(said: str) -> str:
    """What two values that may be the same have in common."""
    if hit := _WEEKDAY.search(said):
        return hit.group(1).lower()
    if hit := _NTH.search(said):
        return hit.group(1)
    return said.lower().replace(",", "")
