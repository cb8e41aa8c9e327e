"""Where a sentence falls into clauses that may be of different kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tenure.language.lexicon import DEFAULT_LANGUAGE, data, word_set
from tenure.language.phrasebook import QUOTES, Clause, Openings, Word, class_table

_STRONG = frozenset({";", "—", "–"})
_WEAK = frozenset({",", ":"})
_MARKS = frozenset({",", ";", "—", "–", "-", ".", "!", "?", "…", ":", "(", ")"})


class Piece(NamedTuple):
    """Words of a sentence, from one to before another."""

    first: int
    core: int
    """The first of them that does more than tie it to what was said before."""
    after: int
    breaks: bool = True
    """Whether it stands on its own feet: what was supposed before it no longer reaches it."""
    is_dependent: bool = False
    """Whether it is only a part of what the next one says: "if we win", "when we land"."""
    kind: str = ""
    cue: str = ""
    """What it is if it is a mere opening."""


class Clauses:
    """How a language joins clauses."""

    def __init__(self, language: str) -> None:
        told = data("statements", language)
        classes = class_table(told["classes"])
        joins = told["clauses"]
        self._free = Openings(told["openings"]["free"], classes)
        self._set_off = Openings(told["openings"]["set_off"], classes)
        self._kinds: dict[str, str] = told["openings"]["kinds"]
        self._leads = Openings({"lead": classes["lead"]}, classes)
        self._starts = Openings({"start": joins["starts"]}, classes)
        self._joined_starts = Openings({"start": joins["joined_starts"]}, classes)
        self._joining = word_set(joins["joining"])
        self._breaking = word_set(joins["breaking"])
        self._conjunctions = frozenset(classes["conjunction"])
        self._prepositions = frozenset(classes["preposition"])

    def pieces(self, words: Sequence[Word]) -> list[Piece]:
        """The openings of a sentence, and then its clauses."""
        clause = Clause(words)
        found, first = self._openings(clause)
        core, breaks = self._core(clause, first), True
        at, quoted = core + 1, _is_open(words[: core + 1])
        while at < len(words):
            quoted ^= words[at].said in QUOTES
            if not quoted and self._begins(clause, at):
                found.append(self._piece(words, first, core, at, breaks))
                first, core, breaks = at, self._core(clause, at), self._breaks(words[at].said)
                at = core
            at += 1
        if first < len(words):
            found.append(self._piece(words, first, core, len(words), breaks))
        return found

    def _core(self, clause: Clause, index: int) -> int:
        while index < len(clause.words):
            name, after = self._leads.longest(clause, index)
            if not name:
                break
            index = after
        return index

    def _piece(
        self, words: Sequence[Word], first: int, core: int, after: int, breaks: bool
    ) -> Piece:
        dependent = core < after and (
            words[core].said in self._conjunctions or self._introduces(words[core:after])
        )
        return Piece(first, core, after, breaks, dependent)

    def _introduces(self, words: Sequence[Word]) -> bool:
        """Whether words before a comma only say of what or when the rest is: "On Friday, ..."."""
        if words[-1].said != ",":
            return False
        return len(words) == 2 or words[0].said in self._prepositions

    def _openings(self, clause: Clause) -> tuple[list[Piece], int]:
        """What the sentence opens with, and where the rest begins."""
        found: list[Piece] = []
        words = clause.words
        index = 0
        while (core := self._core(clause, index)) < len(words):
            name, after = self._free.longest(clause, core)
            other, end = self._set_off.longest(clause, core)
            if end > after and self._is_set_off(clause, end):
                name, after = other, end
            if not name:
                break
            while after < len(words) and words[after].said in _MARKS:
                after += 1
            found.append(Piece(index, core, after, kind=self._kinds[name], cue=name))
            index = after
        return found, index

    def _is_set_off(self, clause: Clause, index: int) -> bool:
        if index >= len(clause.words) or clause.words[index].said in _MARKS:
            return True
        return self._starts.begin(clause, index)

    def _begins(self, clause: Clause, at: int) -> bool:
        """Whether a clause begins here."""
        words = clause.words
        said = words[at].said
        if said in _STRONG or (said == "-" and self._is_spaced(words, at)):
            return True
        joined = said in self._joining and at + 1 < len(words)
        if joined and self._joined_starts.begin(clause, at + 1):
            return True
        if not joined and words[at - 1].said not in _WEAK:
            return False
        return self._starts.begin(clause, at + joined)

    def _breaks(self, said: str) -> bool:
        return said in _STRONG or said == "-" or said in self._breaking

    def _is_spaced(self, words: Sequence[Word], at: int) -> bool:
        after = words[at + 1].start if at + 1 < len(words) else words[at].end + 1
        return words[at].start > words[at - 1].end and after > words[at].end


def _is_open(words: Sequence[Word]) -> bool:
    """Whether a quotation has begun and not ended."""
    return sum(word.said in QUOTES for word in words) % 2 == 1


@lru_cache(maxsize=8)
def clauses(language: str = DEFAULT_LANGUAGE) -> Clauses:
    return Clauses(language)
