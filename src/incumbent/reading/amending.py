"""Amending: where a statement surely changes one stretch of an earlier one, and only that.

"We need 40 desks by Friday." and then "No, 45 desks.": old and new are numbers of the same thing,
and the correction says nothing else. "The code is 70341, not 70314." names both. Where less is
certain, both statements stand as they were said.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from incumbent.language.lexicon import data
from incumbent.model.fact import Part
from incumbent.reading import thresholds
from incumbent.reading.comparing import fillers, stems_of, tokens
from incumbent.reading.form import Known, Span, Statement

_LONGEST: Final = 8
"""A correction that says more words than this may say more than one thing."""
_COUNTED: Final = frozenset({"quantity", "money", "percent", "duration"})
"""Kinds of values that have a number and what is counted."""
_LOOSE: Final = frozenset({"term", "name"})
_NOT = re.compile(
    r"\b(?:not|instead of|in place of|rather than|and not|isn['’]t|wasn['’]t|no longer|was|were|"
    r"used to be|formerly|previously|before|from|replac(?:es|ed|ing)|away from|dropped|scrap|bye|"
    r"goodbye|farewell(?: to)?|"
    r"said|told you(?: it was)?|wrote)\s+(?:(?:the|a|an|at|on|with|for|it was) )*$",
    re.I,
)
"""What stands before a value that is not so any more."""
_OVER = re.compile(
    r"\s*(?:(?:is|are) (?:history|over|out|off|wrong|outdated|no longer (?:right|valid|current))|"
    r"no longer\b|out,|→|->|=>|to\b|became|has become|earlier\b|before\b|like i said)",
    re.I,
)
"""What stands behind one."""


_BRACKETED: Final = re.compile(r"\[[^\[\]]*\]")


class Amendment(NamedTuple):
    """The stretch of a fact that changes, and the stretch of a statement that takes its place."""

    old: Span
    new: Span
    is_named: bool
    """Whether the statement names both."""


def amendment(known: Known, said: Statement) -> Amendment | None:
    """What a statement surely changes in something known, if it does."""
    found = _by_contrast(known, said) or _in_words(known, said)
    if found is not None:
        return found
    if "correction" not in said.cues or len(said.text.split()) > _LONGEST:
        return None
    if _says_more(known, said):
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
    olds = [(old, gone) for old in known.parts for gone in said.parts if _is_same(old, gone)]
    for old, gone in olds:
        if not is_set_aside(said.text, gone) or not _of_one_thing(known, said, old):
            continue
        news = [
            one
            for one in said.parts
            if one.kind in (gone.kind, old.kind)
            and one.normal != gone.normal
            and not _overlap(one, gone)
        ]
        if len({one.normal for one in news}) == 1:
            new = news[-1]
            return Amendment((old.start, old.end), (new.start, new.end), is_named=True)
    return None


def _in_words(known: Known, said: Statement) -> Amendment | None:
    """ "Not green, blue.": the old one, in plain words, stands once in what was said just now."""
    if not known.is_here or known.age >= thresholds.JUST or len(said.text.split()) > _LONGEST:
        return None
    for form in _contrasts():
        found = form.fullmatch(said.text.strip())
        if found is None:
            continue
        places = list(re.finditer(rf"(?<!\w){re.escape(found['old'])}(?!\w)", known.text, re.I))
        is_new = found["new"].lower() not in known.text.lower()
        if len(places) == 1 and is_new and not _is_refused(known, places[0].start()):
            shift = len(said.text) - len(said.text.lstrip())
            start, end = found.span("new")
            return Amendment(places[0].span(), (start + shift, end + shift), is_named=True)
    return None


def _is_refused(known: Known, start: int) -> bool:
    """Whether what was said denies the old one already: "it is not green"."""
    return _NOT.search(known.text[:start]) is not None


@lru_cache(maxsize=2)
def _contrasts(language: str = "en") -> tuple[re.Pattern[str], ...]:
    told = data("comparing", language)["contrasts"]
    return tuple(re.compile(form, re.IGNORECASE) for form in told)


def _is_same(old: Part, gone: Part) -> bool:
    """Whether a value is the old one, or its number: "10", of "10 km"."""
    if gone.kind == "number" and old.kind in _COUNTED:
        return re.match(rf"{re.escape(gone.text)}(?![\w.,:])", old.text) is not None
    return old.kind == gone.kind and old.normal == gone.normal and old.kind != "term"


def _overlap(one: Part, other: Part) -> bool:
    return one.start < other.end and other.start < one.end


def is_set_aside(text: str, gone: Part) -> bool:
    """Whether a value is named as what is not so any more."""
    before = text[max(0, gone.start - 40) : gone.start]
    return _NOT.search(before) is not None or _OVER.match(text, gone.end) is not None


def _of_one_thing(known: Known, said: Statement, old: Part) -> bool:
    """Whether both have a word in common besides the values, or one is all of what is known."""
    own = _words_beside(known.text, known.parts)
    if not own or own & _words_beside(said.text, said.parts):
        return True
    others = {(one.kind, one.normal) for one in known.parts if one is not old}
    return any((one.kind, one.normal) in others for one in said.parts if one.kind != "term")


def _words_beside(text: str, parts: tuple[Part, ...]) -> set[str]:
    empty = fillers()
    return {
        token.stem
        for token in tokens(text)
        if token.text.lower() not in empty
        and not any(part.start <= token.start and token.end <= part.end for part in parts)
    }


def _says_more(known: Known, said: Statement) -> bool:
    """Whether a statement has words that the known one does not, besides its values."""
    valued = [(part.start, part.end) for part in said.parts]
    own = stems_of(known.text)
    for token in tokens(said.text):
        inside = any(start <= token.start and token.end <= end for start, end in valued)
        if not inside and token.text.lower() not in fillers() and token.stem not in own:
            return True
    return False


def amended(text: str, old: Span, new: str) -> str:
    """A statement with the stretch that changed in editorial brackets, one pair of them.

    Brackets of an earlier change stay around what is left of it.
    """
    start, end = old
    first = last = ""
    for found in _BRACKETED.finditer(text):
        opened, closed = found.start() + 1, found.end() - 1
        if opened < start and end < closed:
            return f"{text[:start]}{new}{text[end:]}"
        if opened < start <= closed:
            first = "] "
        elif start <= opened <= end:
            start = min(start, opened - 1)
        if start < opened <= end < closed:
            last = " ["
        elif opened <= end <= closed:
            end = max(end, closed + 1)
    before, behind = text[:start], text[end:]
    before = before.rstrip() if first else before
    return f"{before}{first}[{new}]{last}{behind.lstrip() if last else behind}"
