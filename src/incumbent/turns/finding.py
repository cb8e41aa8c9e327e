"""Finding: which facts the words of a request mean: "my phone number", "that I have diabetes"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from incumbent.language.lexicon import data
from incumbent.language.tokens import stem
from incumbent.model.fact import Fact
from incumbent.model.values import text_of
from incumbent.reading.ties import topic
from incumbent.turns.situation import sentence_of

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_OWNER = re.compile(r"(\w+)['’]s$")
_EVERYTHING = re.compile(r"(?:all|everything|anything|whatever)\b", re.IGNORECASE)
_AND = re.compile(r",? and (?=(?:my|our|the) )", re.IGNORECASE)
_READ: Final = 2_000
_MOST: Final = 3
"""Where more facts than this fit the name of one thing, it is not known which is meant."""


@lru_cache(maxsize=2)
def _told(language: str = "en") -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    told = data("requests", language)
    same: dict[str, frozenset[str]] = {}
    for line in told["same"]:
        family = frozenset(map(stem, line.split()))
        for word in family:
            same[word] = same.get(word, frozenset()) | family
    return frozenset(told["empty"].split()), same


def meant(what: str, facts: Iterable[Fact], *, by_name: bool = False) -> list[Fact]:
    """The facts that words name: those that have every word of it, and of these the ones whose
    very name it is. `by_name` asks for those alone."""
    several = _AND.split(what)
    if len(several) > 1:
        known = list(facts)
        found = [fact for one in several for fact in meant(one, known, by_name=by_name)]
        return list({fact.id: fact for fact in found}.values())
    asked = _asked(what)
    if not asked:
        return []
    fits = [fact for fact in facts if _has_all(asked, fact)]
    if _EVERYTHING.match(what) is not None:
        return fits
    named = [fact for fact in fits if _is_named(asked, fact)]
    if named or by_name:
        return named
    return fits if len(fits) <= _MOST else []


def _asked(what: str) -> frozenset[str]:
    """The words that tell something, each by its stem."""
    low = what.lower().replace("’", "'")
    words = [_OWNER.sub(r"\1", word) for word in _WORD.findall(low)]
    return frozenset(stem(word) for word in words if word not in _told()[0])


def _kin(word: str) -> frozenset[str]:
    return _told()[1].get(word, frozenset((word,)))


def _has_all(asked: frozenset[str], fact: Fact) -> bool:
    """Whether a fact has all words, or others for the same, and is of nobody else."""
    text = f"{fact.key.replace('_', ' ')} {text_of(fact.value)}"[:_READ].lower().replace("’", "'")
    words, owners = set(), set()
    for word in _WORD.findall(f"{fact.subject or ''} {text}"):
        owner = _OWNER.search(word)
        if owner is not None and owner[1] not in ("it", "that", "there", "he", "she", "what"):
            owners.add(stem(owner[1]))
        words.add(stem(_OWNER.sub(r"\1", word)))
    if fact.subject is not None:
        owners |= {stem(word) for word in _WORD.findall(fact.subject.lower())[:1]}
    if owners and owners.isdisjoint(asked):
        return False
    return all(not _kin(word).isdisjoint(words) for word in asked)


def _is_named(asked: frozenset[str], fact: Fact) -> bool:
    """Whether words are the name of what a fact is about, and of nothing less or more."""
    sentence = sentence_of(fact)[0]
    thing = frozenset(_OWNER.sub(r"\1", word) for word in topic(sentence))
    thing = thing - _told()[0]
    if not thing or thing >= frozenset(map(stem, _WORD.findall(sentence.lower()))):
        return False
    covered = all(not _kin(word).isdisjoint(thing) for word in asked)
    return covered and all(not _kin(word).isdisjoint(asked) for word in thing)
