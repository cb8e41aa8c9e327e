"""Discourse: how turns follow on each other: what is only tried out, and what was an aside."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.language.cues import Cues


def is_exploring(turns: Sequence[str]) -> bool:
    """Whether, after these turns, what is said is only tried out."""
    for text in reversed(turns):
        cues = Cues(text)
        if cues.is_in_earnest:
            return False
        if cues.explores:
            return True
    return False


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
