"""Loosely: things, what is said of them and what hangs on what, in sentences put more freely.

Where no pattern fits a sentence as a whole, it may still name two things, say a value of one of
them, and have a word for what depends on what. That is enough, if the things are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from incumbent.language.cues import is_undone
from incumbent.language.frames import frame_again
from incumbent.language.lexicon import data, word_set
from incumbent.model.text_cache import remembered

_FLAGS = re.IGNORECASE | re.DOTALL
_END = " \t\n.!?;,:-–—"
_MOST_WORDS = 4
_LONGEST_VALUE = 6
_LONGEST_OPENING = 8
_WORD = re.compile(r"[\w&$€£%][\w&$€£%.'’-]*")
_OWNER = re.compile(
    r"(?i:the|our|my|your)$|(?!(?i:it|that|what|here|there|who|let|he|she|how|where|this)['’])[A-Z][\w-]*['’]s$"
)
_CONTRACTED = re.compile(
    r"(?:i|we|you|they|he|she|it|that|who|there)['’]\w+$|\w+n['’]t$", re.IGNORECASE
)
_AMOUNT = re.compile(r"[$€£\d]")
_OF = ("for", "of")


class Thing(NamedTuple):
    """A thing that a text names, and where."""

    name: str
    start: int
    end: int


class Clause(NamedTuple):
    """A thing with what is said of it, and where."""

    thing: Thing
    text: str
    start: int
    end: int
    verb: str
    value: str
    value_start: int


class _Patterns:
    def __init__(self, language: str) -> None:
        told = data("reasons", language)
        self.ending = word_set(told["ending"])
        self.records = word_set(told["records"])
        self.plain_openings = word_set(told["plain_openings"])
        self.no_things = word_set(told["no_things"])
        self.dependency = re.compile(rf"\b(?:{told['dependency']})\b", _FLAGS)
        value = rf"\s+(?P<value>\S.*?)(?=\s*[,;:]\s|\s+[-–—]\s|[.!?]*$|\s+(?:{told['breaking']})\b)"
        says = rf"(?P<says>(?:\s+(?:{told['adverbs']}))*\s+(?:{told['telling']}|being))"
        self.says = re.compile(rf"{says}{value}", _FLAGS)
        self.it_says = re.compile(
            rf"\b(?:it|they)(?P<says>(?:\s+(?:{told['adverbs']}))*\s+(?:{told['telling']})|['’]s)"
            rf"{value}",
            _FLAGS,
        )
        self.giving = re.compile(rf"(?:^|\s)(?:{told['giving']})\s*$", _FLAGS)
        self.drawing = re.compile(rf"\b(?:{told['drawing']})\b", _FLAGS)
        self.opening = re.compile(rf"(?:{told['opening']})\W*$", _FLAGS)
        self.advising = re.compile(rf"(?:{told['advising']})\b", _FLAGS)
        self.back = re.compile(rf"\b(?:{told['pointing']})\b", _FLAGS)
        self.no_value = re.compile(rf"(?:{told['no_value']})\b", _FLAGS)
        self.denying = re.compile(rf"(?:{told['denying']})\b", _FLAGS)
        self.removal = re.compile(rf"\b(?:{told['removal']})\b", _FLAGS)
        self.keeping_on = re.compile(rf"\b(?:{told['keeping_on']})\b", _FLAGS)


@lru_cache(maxsize=8)
def _patterns(language: str = "en") -> _Patterns:
    return _Patterns(language)


@remembered
def things(text: str) -> tuple[Thing, ...]:
    """The things that a text names: the, our, my or somebody's, and up to four words."""
    found: list[Thing] = []
    words = list(_WORD.finditer(text))
    index = 0
    while index < len(words):
        after = _noun(text, words, index + 1) if _OWNER.match(words[index].group()) else index + 1
        if after > index + 1:
            after = _about(text, words, after)
            start, end = words[index].start(), words[after - 1].end()
            name = text[start:end].rstrip(_END)
            if not _patterns().no_things.issuperset(name.lower().split()[1:]):
                found.append(Thing(name, start, start + len(name)))
        index = max(after, index + 1)
    return tuple(found)


def _noun(text: str, words: list[re.Match[str]], index: int) -> int:
    """The word after the last one of a noun that begins here."""
    ending, first = _patterns().ending, index
    while index < len(words) and index - first < _MOST_WORDS:
        word = words[index].group()
        apart = index > 0 and text[words[index - 1].end() : words[index].start()].strip()
        stops = word.lower().rstrip(".") in ending or word.lower() in _OF or _AMOUNT.match(word)
        if apart or stops or _OWNER.match(word) or _CONTRACTED.match(word):
            break
        index += 1
        if word[-1] in ".":
            break
    return index


def _about(text: str, words: list[re.Match[str]], index: int) -> int:
    """The same with whose it is: "for the offsite"."""
    if index + 1 >= len(words) or words[index].group().lower() not in _OF:
        return index
    owned = _OWNER.match(words[index + 1].group())
    after = _noun(text, words, index + 2 if owned else index + 1)
    return after if after > index + (2 if owned else 1) else index


def clauses(text: str) -> list[Clause]:
    """The clauses of a text that say of a thing what it is."""
    found = []
    for thing in things(text):
        says = _patterns().says.match(text, thing.end)
        if says is None or _patterns().no_value.match(says.group("value")):
            continue
        if 0 < len(says.group("value").split()) <= _LONGEST_VALUE:
            verb = says.group("says").replace(" being", " is")
            value = says.group("value").rstrip(_END)
            told = f"{thing.name}{verb} {value}"
            at = says.start("value")
            found.append(Clause(thing, told, thing.start, says.end(), verb.strip(), value, at))
    return found


def depends(text: str) -> bool:
    """Whether a text has a word for what follows from what."""
    return _patterns().dependency.search(text) is not None


def reason_of(text: str, one: Clause, two: Clause) -> Clause | None:
    """Which of two clauses gives the reason for the other, if one does."""
    patterns = _patterns()
    before, between = text[: one.start], text[one.end : two.start]
    if patterns.giving.search(between):
        return two
    if patterns.giving.search(before) or patterns.drawing.search(between):
        return one
    return None


def relation_in(text: str) -> tuple[str, ...]:
    """The things that a sentence says what was just said follows from, if it says only that."""
    named = things(text)
    if not named or clauses(text) or values(text) or not depends(text):
        return ()
    return tuple(thing.name for thing in named) if _patterns().back.search(text) else ()


def gives_reason(text: str, clause: Clause) -> bool:
    """Whether a word stands before a clause that makes it the reason for something else."""
    return _patterns().giving.search(text[: clause.start]) is not None


def said_of_it(text: str) -> tuple[str, int, int] | None:
    """What a text says of "it", without that word, and where."""
    last = list(_patterns().it_says.finditer(text))[-1:]
    found = last[0] if last else None
    if found is None or len(found.group("value").split()) > _LONGEST_VALUE:
        return None
    verb = " is" if found.group("says") in ("'s", "’s") else found.group("says")
    return f"{verb} {found.group('value').rstrip(_END)}", found.start(), found.end()


def follows_dependency(text: str, thing: Thing) -> bool:
    """Whether a thing is what something is said to follow from: a word for that goes before it."""
    before = text[max(0, thing.start - 40) : thing.start]
    return depends(re.split(r"[,;:]", before)[-1])


def only_opens(text: str) -> bool:
    """Whether words before a clause only open it, and limit it to no case."""
    words = text.split()
    if not words:
        return True
    if len(words) > _LONGEST_OPENING or _without_records(things(text)) or values(text):
        return False
    if depends(text) or _patterns().drawing.search(text):
        return False  # it says that what follows was concluded
    if _patterns().opening.fullmatch(text.strip()):
        return True
    first = words[0].lower().strip(",")
    limits = first in _OF or (
        first in _patterns().ending and first not in _patterns().plain_openings
    )
    return not limits and text.rstrip()[-1] in ",:"


def denies(text: str) -> bool:
    """Whether words before a clause say what is not so, or no longer: "scratch Malmo"."""
    return _patterns().denying.match(text.strip()) is not None


def pair_in(text: str) -> tuple[str, str] | None:
    """The one thing and the one value with a form of its own that a text names."""
    named = things(text)
    if len(named) != 1:
        return None
    first, last = named[0].start, named[0].end
    told = [value for value, start, end in values(text) if end <= first or start >= last]
    return (named[0].name, told[0]) if len(told) == 1 else None


def values(text: str) -> list[tuple[str, int, int]]:
    """The values of a text that have a form of their own, and where they stand."""
    return [(p.text, p.start, p.end) for p in frame_again(text).parts if p.kind != "term"]


def removed(text: str) -> str | None:
    """The thing that a sentence takes off the record, or asks to be taken off."""
    patterns = _patterns()
    found = patterns.removal.search(text)
    if found is None or patterns.keeping_on.search(text):
        return None
    if is_undone(text, found.start()) and not patterns.advising.match(text):
        return None
    if any(patterns.removal.search(told.text) is None for told in clauses(text)):
        return None  # it says what is so
    named = things(text)
    kept = _without_records(named)
    return kept[0].name if len(kept) == 1 and not values(text) else None


def _without_records(named: Iterable[Thing]) -> list[Thing]:
    """Without what things are only kept in: "your notes", "the list"."""
    records = _patterns().records
    return [thing for thing in named if thing.name.split()[-1].lower() not in records]
