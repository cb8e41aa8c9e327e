"""Judging mentions: whether the words of a dead value stand in a text because of that value."""

from __future__ import annotations

import re
from collections.abc import Callable

from incumbent.context.forms import FUNCTION_WORDS, Lost
from incumbent.context.guard import DeadValue, is_unspaced, spaced
from incumbent.model.fact import Fact
from incumbent.model.words import said

_LOOKING_BACK = re.compile(
    r"\b(was|were|had been|used to be|formerly|previous(?:ly)?|prior|before|earlier|old|former|ex|"
    r"once|until|instead of|rather than|no longer|not|from|replac\w+|chang\w+ from|moved from)"
    r"\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)


def is_telling(dead: DeadValue) -> bool:
    """Whether a value is recognizable by itself: "25%", "blue" or "4711", but not "3" or "yes"."""
    if dead.lost is not None:
        return not dead.lost.is_doubtful and is_telling(_as_words(dead, dead.lost))
    if not dead.words:
        return False
    if is_unspaced(dead.text):
        return len(dead.text.strip()) > 1
    if len(dead.words) > 1:
        measured = any(word[0].isdigit() for word in dead.words)
        return sum(map(len, dead.words)) > (3 if measured else 4)
    word = dead.words[0]
    if any(map(str.isdigit, word)):
        return len(word) > 2 or not dead.text.strip().isalnum()
    return len(word) > 3


def is_distinctive(dead: DeadValue, is_common: Callable[[str], bool]) -> bool:
    """Whether these words are used for this value only. This is stricter than `is_telling`.

    A fact may well mention Berlin although somebody no longer lives there.
    """
    if dead.lost is not None:
        plain = _as_words(dead, dead.lost)
        return dead.lost.is_exact and is_telling(dead) and is_distinctive(plain, is_common)
    if len(dead.words) > 1:
        return is_telling(dead) and not (
            len(dead.words) == 2 and all(len(word) < 4 for word in dead.words)
        )
    word = dead.words[0]
    if any(map(str.isdigit, word)):
        return len(word) > 3
    return len(word) > 3 and not is_common(word)


def _as_words(dead: DeadValue, lost: Lost) -> DeadValue:
    """A value of another form, judged as if it were repeated word by word."""
    return DeadValue((lost.number,) if lost.number else said(dead.text), dead.text, dead.fact)


def _is_sign(dead: DeadValue) -> bool:
    """Whether a value is recognizable beside its matter: a day or a time always is."""
    if dead.lost is not None and not dead.lost.number:
        return True
    return is_telling(dead if dead.lost is None else _as_words(dead, dead.lost))


def topic(fact: Fact) -> set[str]:
    """The words that name what a fact is about."""
    named = said(f"{spaced(fact.key)} {fact.subject or ''}")
    return {word for word in named if len(word) > 1 and word not in FUNCTION_WORDS}


def in_passing(value: DeadValue, present: set[str], before: str) -> bool:
    """Whether a mention in a note or a signal counts: nearly always, because those say little else.

    A short value such as "3" or "no" counts only beside a word for its matter: otherwise innocent
    text would be cut.
    """
    return is_telling(value) or _is_near(value, present)


def _is_near(value: DeadValue, present: set[str]) -> bool:
    """Whether a word for the matter of a value is present, or a word that was said with it."""
    if value.lost is None:
        return bool(topic(value.fact) & present)
    if value.lost.is_counting:
        return bool(value.lost.beside & present)
    return bool((topic(value.fact) | value.lost.beside) & present)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def within_fact(
    fact: Fact, is_common: Callable[[str], bool]
) -> Callable[[DeadValue, set[str], str], bool]:
    """The judge of mentions in the text of a fact in office.

    A fact in office is true now, and may use words of its predecessor; it is cut only where it
    looks back ("was ..."). In other facts, words that people use for many things count only if the
    matter is the same. What is said of somebody stays whole who holds another matter no more: who
    is chief executive no longer is still a citizen.
    """

    def counts(value: DeadValue, present: set[str], before: str) -> bool:
        if (value.fact.key, value.fact.subject) == (fact.key, fact.subject):
            return _is_sign(value) and bool(_LOOKING_BACK.search(before))
        is_of_it = fact.is_unnamed and not before.strip() and not _has_digit(value.text)
        if is_distinctive(value, is_common) and not is_of_it:
            return True
        linked = value.fact.id in fact.depends_on or _is_near(value, topic(fact) | present)
        return linked and _is_sign(value)

    return counts
