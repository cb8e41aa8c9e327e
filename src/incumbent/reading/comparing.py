"""Comparing two sentences: what both say, and the stretches in which they differ.

"Madame du Barry is a citizen of France" and "Vijay Mallya is a citizen of India" differ in two
places, so they are of two people. "The payments service belongs to Team Falcon" and "… to Team
Heron" differ in one, at the end: what a thing is said to be. Whether it can be both is for others
to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Final

from incumbent.language.lexicon import data, word_set
from incumbent.language.tokens import stem

_TOKEN = re.compile(r"[\w$€£%@#]+(?:[.,:/'’-][\w%]+)*|[^\W\s]")
_FRAME: Final = 2
"""So many words that tell something must be the same in two that say values of one thing."""
_SHORT_VALUE: Final = 6
_MOST: Final = 60
"""So many words of a sentence are compared; nothing that long is said twice in the same words."""


@dataclass(frozen=True)
class Token:
    """A word of a sentence, and where it is."""

    text: str
    start: int
    end: int

    @cached_property
    def stem(self) -> str:
        return stem(self.text.lower().replace("’", "'"))


@dataclass(frozen=True)
class Slot:
    """A stretch in which two sentences differ."""

    old: str
    new: str
    old_start: int
    old_end: int
    new_start: int
    new_end: int
    is_first: bool
    """Whether nothing that tells something stands before it in both."""
    is_last: bool


@dataclass(frozen=True)
class Comparison:
    """How two sentences differ."""

    slots: tuple[Slot, ...]
    """Stretches that each says otherwise; what only one of them has is in none."""
    shared: int
    """How many words that tell something both have, in the same order."""
    of_old: int
    of_new: int
    """How many such words each has."""

    @property
    def share(self) -> float:
        """How much of what the earlier one says is said again."""
        return self.shared / max(1, self.of_old)

    @property
    def is_same(self) -> bool:
        """Whether both say the same in the same words."""
        return not self.slots and self.shared == self.of_old == self.of_new

    @property
    def adds_nothing(self) -> bool:
        """Whether the later one says nothing that the earlier one has no place for."""
        return self.of_new - self.shared == sum(len(_telling(slot.new)) for slot in self.slots)

    @property
    def one_slot(self) -> Slot | None:
        """The stretch that is otherwise, where all else that is said is the same."""
        if len(self.slots) != 1 or self.shared < 1:
            return None
        slot = self.slots[0]
        rest = self.of_old - len(_telling(slot.old))
        return slot if self.shared >= max(1, rest) else None


@lru_cache(maxsize=2)
def fillers(language: str = "en") -> frozenset[str]:
    """Words that change nothing of what is said: "the", "now", "actually"."""
    return word_set(data("comparing", language)["fillers"])


def tokens(text: str) -> list[Token]:
    """The words of a sentence that tell something."""
    found = [
        Token(one.group(), one.start(), one.end())
        for one in _TOKEN.finditer(text)
        if one.group()[0].isalnum() or one.group()[0] in "$€£#@"
    ]
    return found[:_MOST]


def _telling(text: str) -> list[Token]:
    return [one for one in tokens(text) if one.text.lower() not in fillers()]


def compared(old: str, new: str) -> Comparison:
    """How a later sentence differs from an earlier one."""
    a, b = _telling(old), _telling(new)
    matcher = SequenceMatcher(None, [t.stem for t in a], [t.stem for t in b], autojunk=False)
    slots = []
    shared = 0
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal":
            shared += a1 - a0
        elif kind == "replace":
            slots.append(
                Slot(
                    old[a[a0].start : a[a1 - 1].end],
                    new[b[b0].start : b[b1 - 1].end],
                    a[a0].start,
                    a[a1 - 1].end,
                    b[b0].start,
                    b[b1 - 1].end,
                    is_first=a0 == 0,
                    is_last=a1 == len(a),
                )
            )
    return Comparison(tuple(slots), shared, len(a), len(b))


@lru_cache(maxsize=2)
def _predicates(language: str = "en") -> tuple[frozenset[str], frozenset[str]]:
    told = data("predicates", language)
    return (
        frozenset(map(stem, told["several"].split())),
        frozenset(map(stem, told["single"].split())),
    )


def restates(how: Comparison, old: str, new: str) -> bool:
    """Whether the later one says another value in the same words, of what has one at a time."""
    slot = how.one_slot
    if slot is None or not slot.is_last or not how.adds_nothing or how.shared < _FRAME:
        return False
    both = {one.stem for one in tokens(old)} & {one.stem for one in tokens(new)}
    several, single = _predicates()
    return bool(both & single) and not both & several and len(slot.new.split()) <= _SHORT_VALUE
