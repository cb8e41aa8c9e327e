"""A sheet: what is known of a fact before anything is asked. Its line, its terms and its place in
time depend on nothing but the fact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from math import ceil
from typing import NamedTuple

from incumbent.context.document import OVER_BUDGET, Omission
from incumbent.context.rendering import plain_line, section_of
from incumbent.context.said_lines import is_said, speaks_for_itself
from incumbent.model.fact import Fact, Status
from incumbent.model.values import text_of

Terms = Callable[[str], Sequence[str]]
"""The terms of a name or a short text, each once."""

Stands = tuple[bool, str, str, datetime, int, tuple[int, int], str]
"""The place of a fact in its section: a sentence or not, subject, key, moment, turn, span, id."""

SAME = 0.8
"""The share of their words that two texts have in common if one repeats the other."""
_COMPARED = 4_000
"""Characters of two texts that are compared."""
_UNKNOWN = 1 << 40


class Wording(NamedTuple):
    """The words of a fact's value, as repetitions are told by."""

    words: frozenset[str]
    numbers: frozenset[str]
    signs: tuple[int, ...]
    """The numbers with some of the words, as hashes: two texts that have enough in common share
    one of these."""

    def repeats(self, other: Wording) -> bool:
        """Whether nearly all words and all numbers of two texts are the same."""
        if not self.words or self.numbers != other.numbers:
            return False
        shared = len(self.words & other.words)
        return shared >= SAME * (len(self.words) + len(other.words) - shared)


class Sheet:
    """A fact with what follows from it alone."""

    __slots__ = (
        "_line",
        "_over_budget",
        "_section",
        "_stands",
        "_terms",
        "_wording",
        "about",
        "comes_first",
        "fact",
        "is_bare",
        "is_said",
        "length",
        "named",
        "time",
    )

    def __init__(self, fact: Fact, terms: Terms) -> None:
        self.fact = fact
        self.time = fact.order
        self.named = tuple([term for term in terms(fact.key) if not term.isdigit()])
        """The words of its key, without numbers."""
        self.about: Sequence[str] = terms(fact.subject) if fact.subject else ()
        is_simple = isinstance(fact.value, str | int | float)
        self.length = len(text_of(fact.value)) + len(fact.key) if is_simple else _UNKNOWN
        """The characters of its key and its value; very many if those are not simply told."""
        self.is_said = is_said(fact)
        self.comes_first = fact.comes_first
        self.is_bare = not (fact.causes or fact.time_sensitive) and fact.status is Status.OFFICE
        """Whether its line says nothing but the fact, unless others speak against it."""
        self._terms = terms
        self._line: str | None = None
        self._over_budget: Omission | None = None
        self._section: str | None = None
        self._stands: Stands | None = None
        self._wording: Wording | None = None

    @property
    def line(self) -> str:
        """The line of the fact as it reads by itself, in UTC."""
        if self._line is None:
            self._line = plain_line(self.fact)
        return self._line

    @property
    def section(self) -> str:
        """The section of the fact where nothing is said against it."""
        if self._section is None:
            self._section = section_of(self.fact)
        return self._section

    @property
    def stands(self) -> Stands:
        """Its place in its section: named facts by subject and key, then what was said, oldest
        first. No question changes it."""
        if self._stands is None:
            fact = self.fact
            is_sentence = speaks_for_itself(fact)
            subject, key = ("", "") if is_sentence else (fact.subject or "", fact.key)
            said = (fact.source.turn_index or 0, fact.source.span or (0, 0))
            self._stands = (is_sentence, subject, key, fact.timestamp, *said, fact.id)
        return self._stands

    @property
    def over_budget(self) -> Omission:
        """The account of the fact where there is no room for it."""
        if self._over_budget is None:
            self._over_budget = Omission(OVER_BUDGET, self.fact.id)
        return self._over_budget

    @property
    def wording(self) -> Wording:
        if self._wording is None:
            self._wording = _worded(frozenset(self._terms(text_of(self.fact.value)[:_COMPARED])))
        return self._wording


def _worded(words: frozenset[str]) -> Wording:
    """Rare words are long: by those, few texts are taken for repetitions that are none."""
    numbers = frozenset([word for word in words if any(map(str.isdigit, word))])
    spare = len(words) - ceil(SAME * len(words) - 1e-9)
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return Wording(words, numbers, tuple(hash((numbers, word)) for word in ordered[: spare + 1]))
