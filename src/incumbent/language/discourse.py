"""Discourse: how turns follow on each other: what is only tried out, and what was an aside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from incumbent.language.cues import Cues
from incumbent.language.lexicon import DEFAULT_LANGUAGE, data
from incumbent.search.analysis import name_terms, terms


def asides(turns: Sequence[str]) -> set[int]:
    """The turns that belong to asides which are over: from where somebody turned to something
    else, up to where they came back."""
    found: set[int] = set()
    began: int | None = None
    for index, text in enumerate(turns):
        cues = Cues(text)
        if began is not None and cues.comes_back:
            found.update(range(began, index))
            began = None
        elif began is None and cues.turns_aside:
            began = index
    return found


@lru_cache(maxsize=32)
def _words(name: str, language: str = DEFAULT_LANGUAGE) -> frozenset[str]:
    """A class of words about what lies on a desk, as terms."""
    return frozenset(terms(data("desk", language)[name]))


def telling(asked: Collection[str]) -> set[str]:
    """Of the terms of a question, those that name something; none for "What now?"."""
    return set(asked) - _words("going_on")


def is_standing(key: str) -> bool:
    """Whether a note of that name says what the session is about, whatever is asked."""
    return not _words("standing").isdisjoint(name_terms(key))


def is_said(key: str) -> bool:
    """Whether a note of that name is a turn of a conversation."""
    return name_terms(key)[:1] != () and name_terms(key)[0] in _words("turns")
