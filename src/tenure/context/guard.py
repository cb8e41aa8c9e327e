"""The guard: no dead value reaches a context by any road.

A dead value is one that only facts out of office hold. Wherever it turns up in running text (a
note, a signal, the text of another fact) it is taken out. Values are compared word by word, so
that case, punctuation and spacing hide nothing, and "123 Main St" is not "1234 Main St".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from tenure.model.fact import Fact
from tenure.model.values import leaves, telling_parts

# Characters that show nothing must not keep two words from being compared, or hide one.
_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_WORD = re.compile(rf"\d+(?:[.,]\d+)+|[^\W_](?:[{_UNSEEN}]*[^\W_])*")
_INVISIBLE = re.compile(f"[{_UNSEEN}]")
_THOUSANDS = re.compile(r",(?=\d{3}(?:\D|$))")
_BEFORE = re.compile(r"[$€£¥#+-]")
_AFTER = re.compile(r"[%€£°]")
_LOOK_BACK = 40
_LOOKING_BACK = re.compile(
    r"\b(was|were|had been|used to be|formerly|previously|before|earlier|old|former|ex|once|until|"
    r"instead of|rather than|no longer|not|from|replac\w+|chang\w+ from|moved from)\W*$",
    re.IGNORECASE,
)


_CONNECTING = """
am an and are as at be by do for go has he her his if in is it its me my no not of on or our so the
to up us was we with you your
"""
_FUNCTION_WORDS = frozenset(_CONNECTING.split())


class Word(NamedTuple):
    """A word of a text, as it is compared, and where it stands."""

    said: str
    start: int
    end: int


class Mention(NamedTuple):
    """A dead value in a text."""

    start: int
    end: int
    fact: Fact


class Dead(NamedTuple):
    """A value that only a fact out of office holds."""

    words: tuple[str, ...]
    text: str
    fact: Fact


def words_of(text: str) -> list[Word]:
    """The words of a text in the form in which they are compared."""
    return [Word(_said(found.group()), *found.span()) for found in _WORD.finditer(text)]


@lru_cache(maxsize=32_768)
def _said(word: str) -> str:
    if word.isascii():
        folded = word.lower()
    else:
        folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", word)).casefold()
    return _THOUSANDS.sub("", folded) if folded[0].isdigit() else folded


def said(text: str) -> tuple[str, ...]:
    """What a value says: its words as they are compared."""
    return tuple(word.said for word in words_of(text))


def dead_values(facts: Iterable[Fact]) -> list[Dead]:
    """The values of facts out of office, each leaf of a list or an object by itself."""
    found: dict[tuple[str, ...], Dead] = {}
    for fact in facts:
        for leaf in leaves(fact.value):
            for text in (leaf, *telling_parts(leaf)):
                words = said(text)
                if words:
                    found.setdefault(words, Dead(words, text, fact))
    return list(found.values())


def held_values(facts: Iterable[Fact]) -> set[tuple[str, ...]]:
    """What facts in office say."""
    held = [leaf for fact in facts for leaf in leaves(fact.value)]
    return {said(text) for leaf in held for text in (leaf, *telling_parts(leaf))}


def is_telling(dead: Dead) -> bool:
    """Whether a value can be told by itself: "25%", "blue" or "4711", but not "3" or "yes"."""
    if len(dead.words) > 1:
        measured = any(word[0].isdigit() for word in dead.words)
        return sum(map(len, dead.words)) > (3 if measured else 4)
    word = dead.words[0]
    if any(map(str.isdigit, word)):
        return len(word) > 2 or not dead.text.strip().isalnum()
    return len(word) > 3


def is_distinctive(dead: Dead, is_common: Callable[[str], bool]) -> bool:
    """Whether nobody would use these words but for this value: stricter than telling.

    A fact may well speak of Berlin although somebody no longer lives there.
    """
    if len(dead.words) > 1:
        return is_telling(dead) and not (
            len(dead.words) == 2 and all(len(word) < 4 for word in dead.words)
        )
    word = dead.words[0]
    if any(map(str.isdigit, word)):
        return len(word) > 3
    return len(word) > 3 and not is_common(word)


def topic(fact: Fact) -> set[str]:
    """The words that name what a fact is about."""
    named = said(f"{_spaced(fact.key)} {fact.subject or ''}")
    return {word for word in named if len(word) > 1 and word not in _FUNCTION_WORDS}


def _spaced(key: str) -> str:
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", key)


Counts = Callable[[Dead, set[str], str], bool]
"""Decides on a mention by the value, the words around it, and the text that stands before it."""


def mentions(text: str, name: str, dead: Sequence[Dead], counts: Counts) -> list[Mention]:
    """Where a text that goes by a name repeats dead values."""
    if not dead:
        return []
    words = words_of(text)
    spoken = [word.said for word in words]
    present = {*spoken, *said(_spaced(name))}
    found: list[Mention] = []
    for value in dead:
        if not present.issuperset(value.words) or len(value.words) > len(spoken):
            continue
        width = len(value.words)
        first = value.words[0]
        for index in range(len(spoken) - width + 1):
            if spoken[index] != first or tuple(spoken[index : index + width]) != value.words:
                continue
            start, end = words[index].start, words[index + width - 1].end
            start -= bool(_BEFORE.match(text[max(0, start - 1) : start]))
            end += bool(_AFTER.match(text[end : end + 1]))
            if counts(value, present, text[max(0, start - _LOOK_BACK) : start]):
                found.append(Mention(start, end, value.fact))
    return _apart(found)


def _apart(found: list[Mention]) -> list[Mention]:
    """The longest of mentions that overlap, in order."""
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def in_passing(value: Dead, present: set[str], before: str) -> bool:
    """Whether a mention in a note or a signal counts: those say little else, so nearly always.

    A short value such as "3" or "no" counts only beside a word for what it was about: otherwise
    it would blot out innocent text.
    """
    return is_telling(value) or bool(topic(value.fact) & present)


def within_fact(
    fact: Fact, is_common: Callable[[str], bool]
) -> Callable[[Dead, set[str], str], bool]:
    """How mentions in the text of a fact in office are judged.

    The holder of an office says what is so now, and may use words that its predecessor used; only
    where it looks back ("was ...") is it cut. Elsewhere, words that people use for many things
    count only where the matter is the same.
    """
    about = topic(fact)

    def counts(value: Dead, present: set[str], before: str) -> bool:
        if (value.fact.key, value.fact.subject) == (fact.key, fact.subject):
            return is_telling(value) and bool(_LOOKING_BACK.search(before))
        if is_distinctive(value, is_common):
            return True
        linked = value.fact.id in fact.depends_on or bool(topic(value.fact) & (about | present))
        return linked and is_telling(value)

    return counts


def spans(found: Sequence[Mention]) -> list[tuple[int, int]]:
    """Where to cut."""
    return [(mention.start, mention.end) for mention in found]


def says_more(text: str, found: Sequence[Mention]) -> bool:
    """Whether a text still says something once the mentions are taken out."""
    taken = sum(len(words_of(text[mention.start : mention.end])) for mention in found)
    return len(words_of(text)) - taken >= max(3, 2 * len(found))
