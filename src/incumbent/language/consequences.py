"""Consequences: where a sentence gives a reason, and says with a value what follows from it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.frames import frame_of
from incumbent.language.lexicon import DEFAULT_LANGUAGE, data

_LONGEST = 400


class Consequence(NamedTuple):
    """A reason and what follows from it, each as a stretch of the sentence."""

    base: tuple[int, int]
    then: tuple[int, int]
    is_named: bool = False
    """Whether the reason is only named, and has no value: "based on the distance"."""


class _Following(NamedTuple):
    between: re.Pattern[str]
    opening: re.Pattern[str]


@lru_cache(maxsize=8)
def _patterns(language: str = DEFAULT_LANGUAGE) -> _Following:
    told = data("reasons", language)["following"]
    return _Following(
        re.compile(told["between"], re.IGNORECASE), re.compile(told["opening"], re.IGNORECASE)
    )


def consequence(sentence: str) -> Consequence | None:
    """A sentence cut into its reason and what follows; None unless both have a value.

    Without values on both sides, "so" mostly only goes on with a story.
    """
    if len(sentence) > _LONGEST:
        return None
    opened = _patterns().opening.match(sentence)
    if opened is not None:
        base = opened.span("base")
        found = Consequence(base, opened.span("then"), not _has_value(sentence[slice(*base)]))
        if found.is_named:
            is_thing = opened.group("name") is not None and _has_value(opened.group("then"))
            return found if is_thing else None
    else:
        cut = _patterns().between.search(sentence)
        if cut is None:
            return None
        found = Consequence((0, cut.start()), (cut.end(), len(sentence)))
    both = (found.base, found.then)
    return found if all(_has_value(sentence[start:end]) for start, end in both) else None


def _has_value(text: str) -> bool:
    return any(part.kind not in ("term", "name") for part in frame_of(text).parts)
