"""Amending: where a statement surely changes one stretch of an earlier one, and only that.

"We need 40 desks by Friday." and then "No, 45 desks.": old and new are numbers of the same thing,
and the correction says nothing else. "The code is 70341, not 70314." names both. Where less is
certain, both statements stand as they were said.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from incumbent.model.fact import Part
from incumbent.reading.comparing import tokens
from incumbent.reading.form import Known, Span, Statement

_LONGEST: Final = 8
"""A correction that says more words than this may say more than one thing."""
_LOOSE: Final = frozenset({"term", "name"})
_NOT = re.compile(
    r"\b(?:not|instead of|rather than|and not|isn['’]t|wasn['’]t)\s+(?:the |a |an )?$", re.I
)


class Amendment(NamedTuple):
    """The stretch of a fact that changes, and the stretch of a statement that takes its place."""

    old: Span
    new: Span
    is_named: bool
    """Whether the statement names both."""


def amendment(known: Known, said: Statement, fillers: frozenset[str]) -> Amendment | None:
    """What a statement surely changes in something known, if it does."""
    if (found := _by_contrast(known, said)) is not None:
        return found
    if "correction" not in said.cues or len(said.text.split()) > _LONGEST:
        return None
    if _says_more(known, said, fillers):
        return None
    pairs = [
        (old, new)
        for old in known.parts
        for new in said.parts
        if _same_sort(old, new) and old.normal != new.normal
    ]
    olds = {id(old) for old, _ in pairs}
    news = {id(new) for _, new in pairs}
    if len(olds) != 1 or len(news) != 1:
        return None
    old, new = pairs[0]
    return Amendment((old.start, old.end), (new.start, new.end), is_named=False)


def _same_sort(old: Part, new: Part) -> bool:
    """Whether two values are of one kind and count the same thing."""
    if old.kind != new.kind or old.kind in _LOOSE:
        return False
    return not old.role or not new.role or old.role == new.role


def _by_contrast(known: Known, said: Statement) -> Amendment | None:
    """ "14, not 41": the statement itself has the old value, as what is not so."""
    for new in said.parts:
        for gone in said.parts:
            if gone is new or gone.kind != new.kind:
                continue
            before = said.text[max(0, gone.start - 24) : gone.start]
            if _NOT.search(before) is None:
                continue
            for old in known.parts:
                if old.kind == gone.kind and old.normal == gone.normal:
                    return Amendment((old.start, old.end), (new.start, new.end), is_named=True)
    return None


def _says_more(known: Known, said: Statement, fillers: frozenset[str]) -> bool:
    """Whether a statement has words that the known one does not, besides its values."""
    valued = [(part.start, part.end) for part in said.parts]
    own = {token.stem for token in tokens(known.text)}
    for token in tokens(said.text):
        inside = any(start <= token.start and token.end <= end for start, end in valued)
        if not inside and token.text.lower() not in fillers and token.stem not in own:
            return True
    return False


def amended(text: str, old: Span, new: str) -> str:
    """A statement with the stretch that changed in editorial brackets."""
    return f"{text[: old[0]]}[{new}]{text[old[1] :]}"
