"""Where a sentence falls into clauses that may be of different kinds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data, word_set
from incumbent.language.phrasebook import QUOTES, Clause, Openings, Word, class_table

_STRONG = frozenset({";", "—", "–"})
_WEAK = frozenset({",", ":"})
_DASHES = frozenset({"-", "—", "–"})
_ELLIPSES = frozenset({".", "…"})
_FEW, _MORE = 2, 3
"""So many words may be a statement; so many are surely more than an opening."""
_WH_REACH = 4
_PICTURES = ((0x2600, 0x26FF), (0x1F300, 0x1FAFF))
"""Where emoji stand among all characters; flags, arrows and ticks are written like words."""
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
    stands: bool = False
    """Whether it is a statement of its own, also beside one of the same kind."""
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
        self._own = Openings({"own": joins["own_starts"]}, classes)
        self._run_on = Openings({"start": joins["run_on_starts"]}, classes)
        self._asides = word_set(joins["asides"])
        self._held = word_set(joins["held"])
        self._wh = frozenset(classes["wh"])

    def pieces(self, words: Sequence[Word]) -> list[Piece]:
        """The openings of a sentence, and then its clauses."""
        clause = Clause(words)
        found, first = self._openings(clause)
        core, breaks, stands = self._core(clause, first), True, False
        last_dash = max((at for at in range(len(words)) if self._is_dash(words, at)), default=0)
        at = core + 1
        quoted = sum(word.said in QUOTES for word in words[:at]) % 2 == 1
        while at < len(words):
            quoted ^= words[at].said in QUOTES
            apart = not quoted and self._is_apart(clause, first, at, last_dash)
            if not quoted and (apart or self._begins(clause, at)):
                found.append(self._piece(words, first, core, at, breaks, stands))
                first, core, breaks = at, self._core(clause, at), self._breaks(words[at].said)
                at, stands = core, apart
            at += 1
        if first < len(words):
            found.append(self._piece(words, first, core, len(words), breaks, stands))
        return found

    def _is_apart(self, clause: Clause, first: int, at: int, last_dash: int) -> bool:
        """Whether what begins here is a statement of its own.

        Wrong cuts tear a value from its sentence, so both sides must be more than a few words.
        """
        words = clause.words
        said, before = words[at].said, words[at - 1]
        if not self._may_part(words, at):
            return False
        if said == ";":
            return _spoken(words[first:at], _FEW) and _spoken(words[at:], _FEW)
        if said in self._asides or said in _DASHES:
            # Two dashes set off what stands between them.
            if said in _DASHES and (at != last_dash or not _spoken(words[first:at], _MORE)):
                return False
            core = self._core(clause, at)
            held = before.said in self._held or before.said in self._asides
            return not held and core < len(words) and self._own.begin(clause, core)
        if not said[0].isalpha() or self._is_held(words, first, at):
            return False
        if _is_picture(before.said):
            return _spoken(words[first:at], _FEW) and _spoken(words[at:], _FEW)
        is_ellipsis = before.said in _ELLIPSES and (
            before.said == "…" or before.end - before.start > 1
        )
        return (
            is_ellipsis
            and said not in self._prepositions | self._conjunctions
            and _spoken(words[first:at], _MORE)
            and _spoken(words[at:], _MORE)
        )

    def _may_part(self, words: Sequence[Word], at: int) -> bool:
        """Whether a word or the mark before it is one that parts statements."""
        said, before = words[at].said, words[at - 1].said
        if said == ";" or said in self._asides or before in _ELLIPSES or _is_picture(before):
            return True
        return self._is_dash(words, at)

    def _is_held(self, words: Sequence[Word], first: int, at: int) -> bool:
        """Whether the last word before a place waits for more: "the code is ... 4471"."""
        for word in reversed(words[max(first, at - _WH_REACH) : at]):
            if word.said[0].isalnum():
                return word.said in self._held
        return True

    def _core(self, clause: Clause, index: int) -> int:
        while index < len(clause.words):
            name, after = self._leads.longest(clause, index)
            if not name:
                break
            index = after
        return index

    def _piece(
        self,
        words: Sequence[Word],
        first: int,
        core: int,
        after: int,
        breaks: bool,
        stands: bool,
    ) -> Piece:
        dependent = core < after and (
            words[core].said in self._conjunctions or self._introduces(words[core:after])
        )
        return Piece(first, core, after, breaks, dependent, stands)

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
        if said in _STRONG or self._is_dash(words, at) or self._runs_on(clause, at):
            return True
        joined = said in self._joining and at + 1 < len(words)
        if joined and self._joined_starts.begin(clause, at + 1):
            return True
        if not joined and words[at - 1].said not in _WEAK:
            return False
        return self._starts.begin(clause, at + joined)

    def _runs_on(self, clause: Clause, at: int) -> bool:
        """Whether a question begins here, although no mark stands before it."""
        words = clause.words
        if at < _FEW or not self._run_on.begin(clause, at) or words[at - 1].said in self._held:
            return False
        asked = words[max(0, at - _WH_REACH) : at]
        return self._wh.isdisjoint(word.said for word in asked)

    def _breaks(self, said: str) -> bool:
        return said in _STRONG or said == "-" or said in self._breaking

    def _is_dash(self, words: Sequence[Word], at: int) -> bool:
        """Whether a dash stands between words, and not in one."""
        if not at or words[at].said not in _DASHES:
            return False
        after = words[at + 1].start if at + 1 < len(words) else words[at].end + 1
        return words[at].start > words[at - 1].end and after > words[at].end


def _spoken(words: Sequence[Word], least: int) -> bool:
    """Whether there are at least so many words that are no marks."""
    for word in words:
        least -= word.said[0].isalnum()
        if least <= 0:
            return True
    return False


def _is_picture(said: str) -> bool:
    return any(low <= ord(said[0]) <= high for low, high in _PICTURES) or said[0] == "\ufe0f"


@lru_cache(maxsize=8)
def clauses(language: str = DEFAULT_LANGUAGE) -> Clauses:
    return Clauses(language)
