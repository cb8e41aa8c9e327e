"""Things: where a sentence names a thing that can have a value, and what of it says nothing.

"oh and my shopping bill comes to $3,790 btw" names the shopping bill; all but that and the amount
says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from incumbent.language.attributes import address_of, is_attribute_noun
from incumbent.language.lexicon import data, word_sets
from incumbent.language.tokens import stem
from incumbent.model.fact import Part
from incumbent.reading.form import Span

_WORD = re.compile(r"[\w$€£%]+(?:[-'’.,&][\w]+)*")
_OPENING: Final = frozenset({"my", "our", "the", "your"})
_OWN: Final = frozenset({"my", "your"})
_MOST_NOUN: Final = 4
_MOST_ABOUT: Final = 4
_ABOUT: Final = frozenset({"for", "of"})
_READ: Final = 600


class Thing(NamedTuple):
    """A thing that is named, by its address."""

    start: int
    end: int
    key: str
    subject: str | None
    is_own: bool


_words = partial(word_sets, "naming")


@lru_cache(maxsize=2)
def _several(language: str = "en") -> frozenset[str]:
    return frozenset(map(stem, data("predicates", language)["several"].split()))


def is_one_at_a_time(key: str) -> bool:
    """Whether there is one of a thing at a time, by the noun for it: an office is one of several,
    the head office is not."""
    words = key.split("_")
    return stem(words[-1]) not in _several() or not word_sets("predicates").alone.isdisjoint(words)


def words_of(text: str) -> list[re.Match[str]]:
    """The words of a text, where they are."""
    return list(_WORD.finditer(text[:_READ]))


def _low(word: re.Match[str]) -> str:
    return word.group().lower().replace("’", "'")


def lows(text: str) -> list[str]:
    """The words of a text in one spelling."""
    return [_low(word) for word in words_of(text)]


def is_owner(word: str) -> bool:
    """Whether a word is somebody's name in the possessive."""
    return word[:1].isupper() and word.replace("’", "'").endswith("'s")


def things(text: str, parts: Sequence[Part] = ()) -> list[Thing]:
    """The things that a text names, in order, none inside another."""
    words = words_of(text)
    taken = [(p.start, p.end) for p in parts if p.kind not in ("term", "name", "date", "number")]
    named = [(p.start, p.end) for p in parts if p.kind == "name"]
    found: list[Thing] = []
    place = 0
    while place < len(words):
        one = _thing_at(text, words, place, taken, named)
        if one is None:
            place += 1
            continue
        found.append(one)
        while place < len(words) and words[place].start() < one.end:
            place += 1
    return found


def _thing_at(
    text: str,
    words: Sequence[re.Match[str]],
    place: int,
    taken: Sequence[Span],
    named: Sequence[Span],
) -> Thing | None:
    first = words[place]
    is_possessive = is_owner(first.group()) and _low(first) not in _words().empty
    if _low(first) not in _OPENING and not is_possessive:
        return None
    end = _run(text, words, place + 1, _MOST_NOUN, taken)
    if end is None or _low(words[place + 1]) in _words().unfit:
        return None
    own = [_low(word) for word in words[place + 1 : end]]
    if not _can_be_named(own) or _is_name(words[place + 1].start(), words[end - 1].end(), named):
        return None
    last = words[end - 1].end()
    if end < len(words) - 1 and _low(words[end]) in _ABOUT and _joined(text, words, end):
        begin = end + 1
        begin += _low(words[begin]) in _OPENING
        about = _run(text, words, begin, _MOST_ABOUT, taken) if begin < len(words) else None
        if about is not None and begin > end + 1:
            last = words[about - 1].end()
    address = address_of(text[first.start() : last])
    if address is None:
        return None
    return Thing(first.start(), last, *address, is_own=_low(first) in _OWN)


def _can_be_named(own: Sequence[str]) -> bool:
    """Whether words make a noun that says something: no "old info", and no "aunt collects"."""
    words = _words()
    telling = [one for one in own if one not in words.empty and one not in words.changing]
    verbs = [one for one in own[1:] if one.endswith("s") and not one.endswith(("ss", "us", "is"))]
    is_one = bool(telling) or is_attribute_noun(own[-1])
    return is_one and not own[0][0].isdigit() and all(map(is_attribute_noun, verbs))


def _is_name(begin: int, end: int, named: Sequence[Span]) -> bool:
    """Whether what reads as a thing is somebody's or something's name: "the Orchard Room"."""
    return any(start <= begin and end <= stop for start, stop in named)


def _run(
    text: str, words: Sequence[re.Match[str]], begin: int, most: int, taken: Sequence[Span]
) -> int | None:
    """How far a name goes that begins at this word; None where it is none."""
    place = begin
    while place < len(words) and _joined(text, words, place):
        word = words[place]
        is_value = any(start <= word.start() < end for start, end in taken)
        if is_value or _low(word) in _words().ending or is_owner(word.group()):
            break
        place += 1
    return place if begin < place <= begin + most else None


def _joined(text: str, words: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a word follows on the one before it with nothing but a space between."""
    return text[words[place - 1].end() : words[place].start()] == " "


def name_of(key: str, subject: str | None) -> frozenset[str]:
    """The words of a name, as they are compared."""
    return frozenset(stem(word) for word in f"{subject or ''} {key.replace('_', ' ')}".split())


def _left(text: str, spans: Sequence[Span], also: frozenset[str]) -> Iterator[str]:
    words = _words()
    for word in words_of(text):
        if any(start < word.end() and word.start() < end for start, end in spans):
            continue
        low = _low(word)
        if low not in words.empty and low not in also and stem(low) not in also:
            yield low


def left_over(
    text: str, spans: Sequence[Span], *, changing: bool = False, also: frozenset[str] = frozenset()
) -> list[str]:
    """The words of a text outside these stretches that say something. Where it tells of a change,
    words for that are none of them."""
    return list(_left(text, spans, also | _words().changing if changing else also))


def tells_of_change(text: str) -> bool:
    """Whether a sentence has words for a change."""
    return _CHANGE.search(text) is not None


_CHANGE = re.compile(
    r"\b(?:now|no longer|instead|used to|these days|any ?more|went from|"
    r"mov(?:ed|ing) (?:from|away)|"
    r"chang(?:e|ed|es)|updat(?:e|ed)|correct(?:ion|ed)|switch(?:ed)?|scrap|scratch|dropped|wrong|old|"
    r"replac\w+|becomes?|became|bye|from today|effective|as of|previous|earlier|superse\w+|revised|"
    r"should be|in the end|turn(?:s|ed) out|set|newly|second look|gone with|new info)\b|"
    r"\bout, [^.]{1,40} in\b",
    re.IGNORECASE,
)
