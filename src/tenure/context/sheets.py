"""Sheets: what is known of a fact before anything is asked, worked out once and kept.

A context goes through hundreds of facts, mostly the same ones as the last context. Their lines,
their terms and their place in time depend on nothing but the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

from tenure.context.rendering import plain_line, section_of
from tenure.context.said_lines import is_said
from tenure.model.fact import Fact, Status
from tenure.model.text_cache import when_forgetting
from tenure.model.values import text_of

Terms = Callable[[str], Sequence[str]]
"""The terms of a name or a short text, each once."""

SAME = 0.8
"""The share of their words that two texts have in common if one repeats the other."""
_COMPARED = 4_000
"""Characters of two texts that are compared."""
_MOST = 8_192
_UNKNOWN = 1 << 40
_LONG = 4_096
"""Characters; the sheet of a longer fact is not worth the memory."""


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
        "_section",
        "_terms",
        "_wording",
        "about",
        "fact",
        "is_bare",
        "is_said",
        "is_special",
        "length",
        "named",
        "newest",
        "oldest",
        "time",
    )

    def __init__(self, fact: Fact, terms: Terms) -> None:
        self.fact = fact
        self.time = fact.order
        self.newest = (-self.time.timestamp(), fact.id)
        """Sorts facts, the newest first."""
        self.oldest = (self.time, fact.id)
        self.named = tuple([term for term in terms(fact.key) if not term.isdigit()])
        """The words of its key, without numbers."""
        self.about: Sequence[str] = terms(fact.subject) if fact.subject else ()
        self.is_special = fact.time_sensitive or fact.is_constraint
        """Whether its score depends on more than its match and its name."""
        self.length = len(fact.value) + len(fact.key) if isinstance(fact.value, str) else _UNKNOWN
        """The characters of its key and its value; very many if those are not simply told."""
        self.is_said = is_said(fact)
        self.is_bare = not (fact.causes or fact.time_sensitive) and fact.status is Status.OFFICE
        """Whether its line says nothing but the fact, unless others speak against it."""
        self._terms = terms
        self._line: str | None = None
        self._section: str | None = None
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
    def wording(self) -> Wording:
        if self._wording is None:
            self._wording = _worded(frozenset(self._terms(text_of(self.fact.value)[:_COMPARED])))
        return self._wording


class Sheets:
    """The sheets of the facts that were looked at lately. Each is good for one very fact.

    A store hands out the same object for a fact as long as its row stays as it is; where it does
    not, a sheet is made anew. So nothing can be told of one fact from the sheet of another, and
    who may see a fact is none of a sheet's business.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._kept: dict[str, Sheet] = {}
        when_forgetting(self.forget)

    def forget(self) -> None:
        """Drop all sheets: they have people's words."""
        self._kept = {}

    def __call__(self, fact: Fact) -> Sheet:
        kept = self._kept
        sheet = kept.get(fact.id)
        if sheet is None or sheet.fact is not fact:
            sheet = Sheet(fact, self._terms)
            if isinstance(fact.value, str) and len(fact.value) <= _LONG:
                if len(kept) >= _MOST:
                    kept.clear()
                kept[fact.id] = sheet
        return sheet

    def of(self, facts: Sequence[Fact]) -> list[Sheet]:
        """The sheets of these facts."""
        kept = self._kept
        found = [kept.get(fact.id) for fact in facts]
        return [
            sheet if sheet is not None and sheet.fact is fact else self(fact)
            for sheet, fact in zip(found, facts, strict=True)
        ]


def _worded(words: frozenset[str]) -> Wording:
    """Rare words are long: by those, few texts are taken for repetitions that are none."""
    numbers = frozenset([word for word in words if any(map(str.isdigit, word))])
    spare = len(words) - ceil(SAME * len(words) - 1e-9)
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return Wording(words, numbers, tuple(hash((numbers, word)) for word in ordered[: spare + 1]))
