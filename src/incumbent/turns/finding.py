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

_WORD = re.compile(r"\w+(?:['’.-]\w+)*")
_ENOUGH: Final = 0.6
"""So much of what is named must be in a fact for the fact to be meant."""


@lru_cache(maxsize=2)
def _told(language: str = "en") -> tuple[frozenset[str], dict[str, str]]:
    told = data("requests", language)
    return frozenset(told["empty"].split()), dict(told["meaning"])


def meant(what: str, facts: Iterable[Fact]) -> list[Fact]:
    """The facts that words name, the best fit alone where one fits better than all others."""
    empty, meaning = _told()
    low = " ".join(what.lower().replace("’", "'").split())
    for phrase, key in meaning.items():
        if phrase in low:
            low = f"{low} {key}"
    asked = {stem(word) for word in _WORD.findall(low)} - {stem(word) for word in empty}
    if not asked:
        return []
    scored = [(score, fact) for fact in facts if (score := _score(asked, fact)) >= _ENOUGH]
    best = max((score for score, _ in scored), default=0.0)
    return [fact for score, fact in scored if score >= best - 1e-9]


def _score(asked: set[str], fact: Fact) -> float:
    """How much of what is asked for a fact has; its name counts before its words."""
    name = f"{fact.subject or ''} {fact.key.replace('_', ' ')}"
    named = {stem(word) for word in _WORD.findall(name.lower())}
    words = named | {stem(word) for word in _WORD.findall(text_of(fact.value).lower()[:2_000])}
    score = len(asked & words) / len(asked)
    return score + (0.3 if asked <= named else 0.0)
