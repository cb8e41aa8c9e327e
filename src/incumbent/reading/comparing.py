"""Comparing two sentences: what both say, and the stretches in which they differ.

"Madame du Barry is a citizen of France" and "Vijay Mallya is a citizen of India" differ in two
places, so they are of two people. "The payments service belongs to Team Falcon" and "… to Team
Heron" differ in one, at the end: what a thing is said to be. Whether it can be both is for others
to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Final

from incumbent.language.lexicon import data, word_sets
from incumbent.language.tokens import stem

_TOKEN = re.compile(r"[\w$€£%@#]+(?:[.,:/'’-][\w%]+)*|[^\W\s]")
_LABEL: Final = re.compile(r"(?<=\w)(?::(?=\s)| ?=(?= ?\w))")
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


def fillers() -> frozenset[str]:
    """Words that change nothing of what is said: "the", "now", "actually"."""
    return word_sets("comparing").fillers


@lru_cache(maxsize=2)
def _wishing(language: str = "en") -> re.Pattern[str]:
    return re.compile(rf"{data('comparing', language)['wishing']}\b", re.IGNORECASE)


def without_wish(text: str, other: str) -> str:
    """A text with blanks for "would like to", unless the other wishes as well: whoever would like
    to cancel something says nothing of liking."""
    if _wishing().search(text) is None or _wishing().search(other) is not None:
        return text
    return _wishing().sub(lambda found: " " * len(found.group()), text)


def tokens(text: str) -> list[Token]:
    """The words of a sentence that tell something."""
    found = [
        Token(one.group(), one.start(), one.end())
        for one in _TOKEN.finditer(text)
        if one.group()[0].isalnum() or one.group()[0] in "$€£#@"
    ]
    return found[:_MOST]


def stems_of(text: str) -> frozenset[str]:
    """The words of a text as they are compared."""
    return frozenset(token.stem for token in tokens(text))


def _telling(text: str) -> list[Token]:
    return [one for one in tokens(text) if one.text.lower() not in fillers()]


def _aligned(text: str) -> list[Token]:
    """The words that tell something, and those that set what is said apart from what it is said
    of: "the fee of the club is $90" differs in two places from "the fee of the gym is $70"."""
    told = (*tokens(text), *(Token(":", *one.span()) for one in _LABEL.finditer(text)))
    kept = (one for one in told if one.text.lower() not in fillers() or _is_joint(one))
    return sorted(kept, key=lambda one: one.start)


def _is_joint(token: Token) -> bool:
    return token.text.lower() in word_sets("comparing").joints


def compared(old: str, new: str) -> Comparison:
    """How a later sentence differs from an earlier one."""
    old, new = without_wish(old, new), without_wish(new, old)
    a, b = _aligned(old), _aligned(new)
    matcher = SequenceMatcher(None, [t.stem for t in a], [t.stem for t in b], autojunk=False)
    first, last = _ends(a)
    slots = []
    shared = 0
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind == "equal":
            shared += sum(not _is_joint(one) for one in a[a0:a1])
        elif kind == "replace":
            slot = _slot(old, new, a[a0:a1], b[b0:b1])
            if slot is not None:
                slots.append(replace(slot, is_first=a0 <= first, is_last=a1 > last))
    return Comparison(tuple(slots), shared, _count(a), _count(b))


def _ends(found: Sequence[Token]) -> tuple[int, int]:
    """Which words that tell something are the first and the last."""
    places = [n for n, one in enumerate(found) if not _is_joint(one)]
    return (places[0], places[-1]) if places else (0, 0)


def _count(found: Sequence[Token]) -> int:
    return sum(not _is_joint(one) for one in found)


def _slot(old: str, new: str, a: Sequence[Token], b: Sequence[Token]) -> Slot | None:
    """A stretch that each says otherwise, without what joins it to the rest."""
    a, b = ([one for one in side if not _is_joint(one)] for side in (a, b))
    if not a or not b:
        return None
    begin, end = a[0].start, a[-1].end
    return Slot(old[begin:end], new[b[0].start : b[-1].end], begin, end, False, False)


@lru_cache(maxsize=2)
def _single(language: str = "en") -> frozenset[str]:
    return frozenset(map(stem, data("predicates", language)["single"].split()))


def restates(how: Comparison, old: str, new: str) -> bool:
    """Whether the later one says another value in the same words, of what has one at a time."""
    slot = how.one_slot
    if slot is None or not slot.is_last or not how.adds_nothing or how.shared < _FRAME:
        return False
    if len(slot.new.split()) > _SHORT_VALUE:
        return False
    words = word_sets("predicates")
    both = _lows(old) & _lows(new)
    if both & words.alone:
        return True
    return not _single().isdisjoint(map(stem, both)) and not both & words.several


def says_several(old: str, new: str) -> bool:
    """Whether both say something of which there can be several."""
    words, both = word_sets("predicates"), _lows(old) & _lows(new)
    return not both & words.alone and bool(both & words.several)


def _lows(text: str) -> set[str]:
    return {one.text.lower() for one in tokens(text)}
