"""Kinds: what the model is handed to tell what a stretch of a turn is."""

from __future__ import annotations

import re
from typing import Final

from incumbent.language.speakers import is_machine

KINDS: Final = ("states", "chats", "asks", "supposes", "reports", "recalls", "orders")
"""What a stretch can be, in the order in which the model tells how likely each is."""
CUTS: Final = ("goes_on", "begins")
"""Whether a statement goes on with a word, or begins with it, in the same way."""
WORD: Final = re.compile(r"\w+")
_PERSON, _MACHINE = "person", "machine"


def role_of(speaker: str) -> str:
    """Who speaks, in a word; it stands where the turn stands when the model is asked otherwise."""
    return _MACHINE if is_machine(speaker) else _PERSON


def before(previous: str, turn: str) -> str:
    """What was said up to a stretch: the turn before, and this one as far as it goes."""
    return " ¦ ".join(part for part in (previous.strip(), turn.strip()) if part)
