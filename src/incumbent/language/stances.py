"""Stances: whether what is said affirms or denies, and in which state it says that a thing is.

"We support SSO" and "We don't support SSO" have all their values in common, and "approved" has no
value that "cancelled" replaces. What tells that one ends the other is that both say something of
the same thing which cannot both be so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, word_set
from incumbent.language.tokens import stem
from incumbent.model.text_cache import remembering

_LONGEST = 600
"""What is longer than this is compared by its beginning."""
_MOST_CLAUSES = 12
_CLAUSE_END = re.compile(r"[,;!?…—–]+|\.+(?=\s|$)|\s-\s|\bbut\b")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W_]+(?:['’-][^\W_]+)*")
_DENIED = "n't"
_TELLING = 2
"""Statements are about the same if they share so many words, and not only one."""
_LASTING = frozenset({"colour", "bond"})
_MOST_MORE = 3
"""A clause that says so much more than another one is about something else."""


class Opposition(IntEnum):
    """How surely one statement ends another."""

    NONE = 0
    LIKELY = 1
    SURE = 2


class State(NamedTuple):
    """A state that a thing is in, among others of which it has one at a time."""

    course: str
    name: str


@dataclass(frozen=True)
class Stance:
    """What a clause is about, and how it stands to that."""

    words: frozenset[str]
    """The stems of its telling words, but for those of its states."""
    persons: frozenset[str]
    states: frozenset[State]
    told: frozenset[str]
    """The stems of the words that tell its states."""
    denies: bool
    ends: bool
    """Whether it tells that something was so before."""
    points_back: bool

    @property
    def said(self) -> frozenset[str]:
        return self.words | self.told


class _StanceWords:
    """The words of a language by which stances are told."""

    def __init__(self, language: str) -> None:
        told = data("stances", language)
        self.denying = word_set(told["denying"])
        self.passed_over = word_set(told["passed_over"])
        self.persons = {
            word: name for name, words in told["persons"].items() for word in words.split()
        }
        self.ending = re.compile(rf"\b(?:{'|'.join(map(re.escape, told['ending']))})\b")
        self.states: dict[str, list[State]] = {}
        for course, names in told["states"].items():
            for name, ways in names.items():
                for way in ways:
                    self.states.setdefault(way, []).append(State(course, name))
        longest_first = sorted(self.states, key=len, reverse=True)
        self.state = re.compile(
            rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])"
        )


@lru_cache(maxsize=8)
def _words(language: str = DEFAULT_LANGUAGE) -> _StanceWords:
    return _StanceWords(language)


@remembering(4_096)
def stances(text: str) -> tuple[Stance, ...]:
    """The stances of a text, one for each clause that tells something."""
    found: list[Stance] = []
    for clause in _CLAUSE_END.split(text[:_LONGEST].lower().replace("’", "'")):
        if _WORD.search(clause) is None:
            continue
        one = _stance(clause)
        if one.points_back and found:
            one = _joined(found[-1], one)
        if one.said:
            found.append(one)
    return tuple(found[:_MOST_CLAUSES])


def _stance(clause: str) -> Stance:
    words = _words()
    states, told = set(), set()
    for way in words.state.finditer(clause):
        states.update(words.states[way.group()])
        told.update(way.group().split())
    spoken = _WORD.findall(clause)
    telling = [w for w in spoken if w not in words.passed_over and not _is_denial(w, words)]
    return Stance(
        frozenset(stem(word) for word in telling if word not in told),
        frozenset(words.persons[word] for word in spoken if word in words.persons),
        frozenset(states),
        frozenset(stem(word) for word in told if word not in words.passed_over),
        sum(_is_denial(word, words) for word in spoken) % 2 == 1,
        words.ending.search(clause) is not None,
        spoken[0] in ("it", "it's", "that", "they") or "it" in spoken,
    )


def _is_denial(word: str, words: _StanceWords) -> bool:
    return word in words.denying or word.endswith(_DENIED)


def _joined(before: Stance, one: Stance) -> Stance:
    """A clause that speaks of what the one before it named."""
    return replace(one, words=before.words | one.words, persons=before.persons | one.persons)


def _pairs(new: str, old: str) -> Iterator[tuple[Stance, Stance]]:
    """The clauses of a statement with those of an older one, but for those about others."""
    for ours, theirs in product(stances(new), stances(old)):
        if not (ours.persons and theirs.persons and ours.persons.isdisjoint(theirs.persons)):
            yield ours, theirs


def opposition(new: str, old: str) -> Opposition:
    """How surely a statement ends an older one, as far as denial and states tell."""
    found = (max(_by_denial(*pair), _by_state(*pair)) for pair in _pairs(new, old))
    return max(found, default=Opposition.NONE)


def changes_state(new: str, old: str) -> Opposition:
    """How surely a statement says that a thing is in another state than an older one says. What
    tells things apart as well is none: the red van, and the blue van."""
    found = (_by_state(*map(_passing, pair)) for pair in _pairs(new, old))
    return max(found, default=Opposition.NONE)


def _passing(stance: Stance) -> Stance:
    """A stance with the states alone that a thing passes through."""
    return replace(
        stance, states=frozenset(one for one in stance.states if one.course not in _LASTING)
    )


def contradicts(new: str, old: str) -> bool:
    """Whether a statement denies in the same words what an older one says, or affirms what it
    denies."""
    return any(_by_denial(*pair) is Opposition.SURE for pair in _pairs(new, old))


def _by_denial(new: Stance, old: Stance) -> Opposition:
    """One affirms what the other denies."""
    ours, theirs = new.said, old.said
    if new.denies == old.denies or not ours or not theirs:
        return Opposition.NONE
    if ours == theirs:
        return Opposition.SURE
    if theirs < ours:
        enough = len(theirs) >= _TELLING and len(ours - theirs) <= _MOST_MORE
        return Opposition.LIKELY if enough else Opposition.NONE
    enough = ours < theirs and (len(ours) >= _TELLING or new.ends)
    return Opposition.LIKELY if enough else Opposition.NONE


def _by_state(new: Stance, old: Stance) -> Opposition:
    """Both tell in which state a thing is, and it cannot be in both."""
    if not any(_exclude(new, one, old, other) for one in new.states for other in old.states):
        return Opposition.NONE
    shared = new.words & old.words
    if not shared:
        return Opposition.NONE
    if new.words == old.words:
        return Opposition.SURE
    within = new.words <= old.words or old.words <= new.words
    return Opposition.LIKELY if within or len(shared) >= _TELLING else Opposition.NONE


def _exclude(new: Stance, one: State, old: Stance, other: State) -> bool:
    if one.course != other.course:
        return False
    if one.name == other.name:
        return new.denies != old.denies
    return not new.denies and not old.denies
