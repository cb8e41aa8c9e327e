"""Relating: how likely it is that a turn puts something out of date that was said before.

Each thing that a turn may be about is read beside the turn by the model. What the model says of it
is weighed with what the words show: whether both say one thing of the same subject or speak of
two, whether there can be several of it, whether a correction was announced. Small trees, learned
from conversations that the model was not taught (`trees`), make one chance of all this.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from incumbent.language.lexicon import data
from incumbent.language.stances import Opposition, opposition
from incumbent.language.tokens import stem
from incumbent.model.fact import Part
from incumbent.reading.comparing import compared, tokens

FEATURES: Final = (
    "whole",
    "a value of it",
    "likeliest",
    "said again",
    "one slot at the end",
    "one slot before the end",
    "two subjects",
    "likeness",
    "same but for the end, one at a time",
    "same but for the end, several",
    "same but for the end",
    "correction",
    "opposed",
    "several",
    "single",
    "age",
    "here",
    "here, and alike",
    "like value",
    "by itself",
)
VALUE_FEATURES: Final = (
    "value",
    "whole",
    "likeliest of it",
    "likeliest of all",
    "another like it is said",
    "the model points at one",
    "said again",
    "here",
    "right before",
    "two subjects",
    "several",
    "shared",
    "likeness",
    "alone",
    "correction",
    "by itself",
)
"""What is known of one value of something that a turn may be about."""
_NO_VALUE: Final = (0.0,) * len(VALUE_FEATURES)
MEASURES: Final = (
    "words before",
    "words now",
    "words shared",
    "telling words before",
    "telling words now",
    "stretches that differ",
    "values",
    "things it may be about",
    "lead",
)
"""How long both are, how they differ, and how far it is ahead of the next likeliest."""
_ODDS = 1e-3
_LONGEST = 400
_FRAME: Final = 2
"""So many words must both have in common to say the same of a thing."""
_SHORT_VALUE: Final = 5


@dataclass(frozen=True)
class Pairing:
    """Something that was said, beside what is said now."""

    old: str
    new: str
    """The statement of the turn that is likest to it."""
    over: float
    """How likely the model holds it to be over."""
    value_over: float
    """How likely it holds one of its values to be."""
    likeness: float
    age: int
    is_here: bool
    corrects: bool
    old_parts: tuple[Part, ...] = ()
    new_parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Valued:
    """One value of something that was said, beside what is said now."""

    part: Part
    over: float
    """How likely the model holds it to be over."""
    points_at: Part | None
    """The value of its kind that the model takes for the new one."""


@lru_cache(maxsize=2)
def _predicates(language: str = "en") -> tuple[frozenset[str], frozenset[str]]:
    told = data("predicates", language)
    return (
        frozenset(map(stem, told["several"].split())),
        frozenset(map(stem, told["single"].split())),
    )


def features(
    pairs: Sequence[Pairing], values: Sequence[Sequence[Valued]]
) -> list[tuple[float, ...]]:
    """What a turn may be about as numbers: FEATURES of each, VALUE_FEATURES of its value that is
    over most likely, and MEASURES."""
    scores = [one.over for one in pairs]
    ranked = sorted(scores, reverse=True)
    most = max((one.over for of in values for one in of), default=0.0)
    found = []
    for pair, of in zip(pairs, values, strict=True):
        is_first = pair.over >= ranked[0]
        next_best = ranked[1] if is_first and len(ranked) > 1 else ranked[0]
        told = value_features(pair, of, most)
        best = max(told, key=lambda row: row[0], default=_NO_VALUE)
        lead = 0.0 if is_first and len(ranked) == 1 else pair.over - next_best
        found.append((*_row(pair, is_first), *best, *_measures(pair, len(of), len(pairs)), lead))
    return found


def _measures(pair: Pairing, values: int, known: int) -> tuple[float, ...]:
    how = compared(pair.old[:_LONGEST], pair.new[:_LONGEST])
    words = (len(pair.old.split()), len(pair.new.split()))
    said = (how.shared, how.of_old, how.of_new, len(how.slots))
    return tuple(map(float, (*words, *said, values, known)))


def _row(one: Pairing, likeliest: bool) -> tuple[float, ...]:
    how = compared(one.old[:_LONGEST], one.new[:_LONGEST])
    slot = how.one_slot
    is_same_frame = slot is not None and slot.is_last and how.adds_nothing
    several, single = _shared_predicates(one)
    denied = opposition(one.new[:_LONGEST], one.old[:_LONGEST])
    return (
        _odds(one.over),
        _odds(one.value_over),
        float(likeliest),
        how.share,
        float(slot is not None and slot.is_last),
        float(slot is not None and not slot.is_last),
        float(len(how.slots) > 1 and how.slots[0].is_first),
        one.likeness,
        float(is_same_frame and single and not several),
        float(is_same_frame and several and not single),
        float(is_same_frame),
        float(one.corrects),
        {Opposition.SURE: 1.0, Opposition.LIKELY: 0.5}.get(denied, 0.0),
        float(several),
        float(single),
        math.log1p(one.age),
        float(one.is_here),
        how.share if one.is_here else 0.0,
        float(_like_value(one)),
        1.0,
    )


def value_features(pair: Pairing, values: Sequence[Valued], most: float) -> list[tuple[float, ...]]:
    """The values of something that was said as numbers, in the order of VALUE_FEATURES. `most` is
    how likely that value of all is over which most likely is."""
    how = compared(pair.old[:_LONGEST], pair.new[:_LONGEST])
    again = {part.normal for part in pair.new_parts}
    best = max((one.over for one in values), default=0.0)
    several, single = _shared_predicates(pair)
    return [
        (
            _odds(one.over),
            _odds(pair.over),
            float(one.over >= best),
            float(one.over >= most),
            float(any(_is_like(one.part, new) for new in pair.new_parts)),
            float(one.points_at is not None),
            float(one.part.normal in again),
            float(pair.is_here),
            float(pair.is_here and pair.age == 0),
            float(len(how.slots) > 1 and how.slots[0].is_first),
            float(several and not single),
            how.share,
            pair.likeness,
            float(len(values) == 1),
            float(pair.corrects),
            1.0,
        )
        for one in values
    ]


def _is_like(old: Part, new: Part) -> bool:
    return old.kind == new.kind and old.normal != new.normal and old.kind not in ("term", "name")


def restates(one: Pairing) -> bool:
    """Whether the later one says another value in the same words, of what has one at a time."""
    how = compared(one.old[:_LONGEST], one.new[:_LONGEST])
    slot = how.one_slot
    if slot is None or not slot.is_last or not how.adds_nothing or how.shared < _FRAME:
        return False
    several, single = _shared_predicates(one)
    return single and not several and len(slot.new.split()) <= _SHORT_VALUE


def _shared_predicates(one: Pairing) -> tuple[bool, bool]:
    """Whether words that both have tell that there can be several of it, or one at a time."""
    both = {t.stem for t in tokens(one.old[:_LONGEST])} & {
        t.stem for t in tokens(one.new[:_LONGEST])
    }
    several, single = _predicates()
    return bool(both & several), bool(both & single)


def _like_value(one: Pairing) -> bool:
    """Whether both have a value of one kind that is not the same."""
    return any(_is_like(a, b) for a in one.old_parts for b in one.new_parts)


def _odds(chance: float) -> float:
    chance = min(max(chance, _ODDS), 1 - _ODDS)
    return math.log(chance / (1 - chance))


def value_chances(
    pair: Pairing, values: Sequence[Valued], most: float, weights: Sequence[float]
) -> list[float]:
    """How likely each value of something that was said is over."""
    return [_chance(row, weights) for row in value_features(pair, values, most)]


def _chance(row: Sequence[float], weights: Sequence[float]) -> float:
    return 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, row, strict=True))))
