"""Labels: who speaks, where a turn of several people's talk opens with it: "[Ann (Support)]:"."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAMES = r"[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3}"
_OFFICE = r"[^\W\d_][^()\n]{1,39}"  # and not a time, as chats have that are pasted in
_IN_BRACKETS = rf"\[(?P<within>{_NAMES})(?: \((?P<office>{_OFFICE})\))?\]:"
_WITH_ROLE = rf"(?P<name>{_NAMES}) \((?P<role>{_OFFICE})\):"
_LABEL = re.compile(rf"[^\w\[]*(?:\[[\w ]{{1,30}}\] )?(?:{_IN_BRACKETS}|{_WITH_ROLE})\s")


class Voice(NamedTuple):
    """Who speaks, by the label of a turn, and where what they say begins."""

    name: str
    role: str
    end: int


def voice_of(text: str) -> Voice | None:
    """Whose turn it is, if it says so."""
    found = _LABEL.match(text)
    if found is None:
        return None
    name = found.group("within") or found.group("name")
    return Voice(name, found.group("office") or found.group("role") or "", found.end())


def without_label(text: str) -> str:
    """What a turn or a statement says, without who says it."""
    voice = voice_of(text)
    return text[voice.end :] if voice is not None else text


def label_end(text: str) -> int:
    """Where what is said begins."""
    voice = voice_of(text)
    return voice.end if voice is not None else 0
