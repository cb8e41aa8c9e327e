"""What a clause is for, told by its words: cues, and the kind of statement that they make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from incumbent.language.lexicon import DEFAULT_LANGUAGE, data
from incumbent.language.phrasebook import (
    Clause,
    Openings,
    Phrasebook,
    Spelling,
    Word,
    class_table,
    without_quotations,
    words_of,
)

_LONGEST_LABEL = 30


class Kind(StrEnum):
    """What a statement does."""

    ASSERTION = "assertion"
    REQUEST = "request"
    COMMITMENT = "commitment"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    DRAFT = "draft"
    RETRACTION = "retraction"
    CONFIRMATION = "confirmation"
    REPORT = "report"
    SMALL_TALK = "small_talk"
    VERBATIM = "verbatim"


@dataclass(frozen=True, slots=True)
class _Cue:
    """When a cue decides what a clause is."""

    name: str
    kind: Kind | None
    plain: bool
    without: frozenset[str]

    def fits(self, found: Iterable[str], *, inverted: bool) -> bool:
        return not (self.plain and inverted) and self.without.isdisjoint(found)


class Moods:
    """The cues of a language."""

    def __init__(self, language: str) -> None:
        told = data("statements", language)
        classes = class_table(told["classes"])
        tables: list[dict[str, Any]] = told["cues"]
        self._cues = [
            _Cue(
                table["name"],
                Kind(table["kind"]) if "kind" in table else None,
                table.get("order") == "plain",
                frozenset(table.get("without", ())),
            )
            for table in tables
        ]
        # Cues go by their place here, because two tables may give the same one.
        self._book = Phrasebook([table.get("phrases", ()) for table in tables], classes)
        self._asking = {place for place, table in enumerate(tables) if table.get("asked")}
        self._spelling = Spelling(told["spellings"])
        self._inverted = Openings({"inverted": told["clauses"]["inverted"]}, classes)
        self._labels = {
            word: Kind(kind) for kind, listed in told["labels"].items() for word in listed.split()
        }
        self._auxiliaries = frozenset(classes["aux"])
        self._persons = frozenset(classes["person"])

    def words(self, text: str) -> list[Word]:
        return words_of(text, self._spelling)

    def label(self, text: str) -> Kind | None:
        """What a sentence says that it is, before a colon."""
        head, colon, _ = text[:_LONGEST_LABEL].partition(":")
        words = head.lower().split() if colon else []
        return next((self._labels[w] for w in (*words[:1], *words[-1:]) if w in self._labels), None)

    def is_personal(self, word: Word) -> bool:
        """Whether a word names the speaker, or the one spoken to."""
        return word.said in self._persons

    def kind(
        self, words: Sequence[Word], *, asked: bool, last: bool
    ) -> tuple[Kind, tuple[str, ...]]:
        """The kind of a clause, and the cues that it has, the one that decided first.

        A question mark at the end of a sentence goes for its last clause, and for others that
        begin with a verb as questions do.
        """
        if not any(word.said[0].isalnum() for word in words):
            return Kind.SMALL_TALK, ()
        clause = Clause(without_quotations(words))
        inverted = self._inverted.begin(clause, 0)
        asked = inverted or (asked and (last or words[0].said in self._auxiliaries))
        places = self._book.found_in(clause)
        if asked:
            places |= self._asking
        cues = [self._cues[place] for place in sorted(places)]
        found = [cue.name for cue in cues]
        for cue in cues:
            if cue.kind and cue.fits(found, inverted=inverted):
                return cue.kind, tuple(dict.fromkeys((cue.name, *found)))
        return Kind.ASSERTION, tuple(found)


@lru_cache(maxsize=8)
def moods(language: str = DEFAULT_LANGUAGE) -> Moods:
    return Moods(language)
