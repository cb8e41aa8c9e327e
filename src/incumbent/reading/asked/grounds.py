"""Grounds: whether what a model writes was said, and where what it copied stands.

A wording of a model is kept only where every name, number, day and amount in it was said. What it
copied is matched loosely, since models mend typing, and kept exactly as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from difflib import SequenceMatcher
from functools import cache, cached_property
from importlib.resources import files
from typing import Final

from incumbent.language.values.comparing import same
from incumbent.language.values.finding import find
from incumbent.language.values.kinds import Value, ValueKind
from incumbent.reading.form import Span

_WORD = re.compile(r"\w+")
_NEARLY: Final = 0.84
"""So alike are two stretches of which one has a slip of the keys."""
_MOST_WINDOWS: Final = 400


@cache
def _openers() -> frozenset[str]:
    """The words that may open a sentence without having been said."""
    path = files("incumbent.reading.asked") / "prompts" / "openers.txt"
    return frozenset(path.read_text("utf-8").split())


class Grounds:
    """What was said, and what a wording may therefore hold. `said` has texts with their times.

    Of what was `shown` besides it may hold the names: whom "she" means stands in an earlier fact.
    """

    def __init__(self, said: Iterable[tuple[str, datetime]], shown: Iterable[str] = ()) -> None:
        self._said = tuple(said)
        self._shown = tuple(shown)

    def also(self, said: Iterable[tuple[str, datetime]]) -> Grounds:
        """The same with a little more."""
        return Grounds((*self._said, *said), self._shown)

    @cached_property
    def _words(self) -> frozenset[str]:
        return _bare(text for text, _ in self._said)

    @cached_property
    def _names(self) -> frozenset[str]:
        return self._words | frozenset(w for w in _bare(self._shown) if not _has_digit(w))

    @cached_property
    def _values(self) -> list[Value]:
        return [value for text, at in self._said for value in find(text, at)]

    def holds(self, wording: str, at: datetime) -> bool:
        """Whether every name, number, day and amount of a wording was said."""
        values = find(wording, at)
        said = [one for one in values if self._has(one)]
        if len(said) < len(values):
            return False
        return all(
            self._is_said(word.group().casefold())
            or any(one.start <= word.start() and word.end() <= one.end for one in said)
            or not _tells(word, wording)
            for word in _WORD.finditer(wording)
        )

    def _is_said(self, word: str) -> bool:
        """Whether a word was said, with an "s" behind it or without: "Joe's" is "joes" too."""
        return word in self._words or not {word, f"{word}s", word.removesuffix("s")}.isdisjoint(
            self._names
        )

    def _has(self, value: Value) -> bool:
        words = [word.casefold() for word in _WORD.findall(value.text)]
        if value.kind is ValueKind.NAME and all(len(w) == 1 or self._is_said(w) for w in words):
            return True  # a letter is what an apostrophe cuts off
        if self._words.issuperset(words):
            return True
        return any(same(value, one) for one in self._values)


def _bare(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _tells(word: re.Match[str], wording: str) -> bool:
    """Whether a word is a name or a number, as far as its letters show."""
    text = word.group()
    if _has_digit(text):
        return True
    if not text[0].isupper():
        return False
    before = wording[: word.start()].rstrip()
    opens = not before.rstrip("\"'«“(¿¡ ") or before.endswith((".", "!", "?", ":"))
    return not (opens and text.casefold() in _openers())


def placed(stretch: str, text: str) -> Span | None:
    """Where a text has a stretch, whole words of it: to the letter, else but for case, spaces and
    quotation marks, else but for a slip of the keys. None where that is not certain."""
    words = _WORD.findall(stretch)
    if not words:
        return None
    loose = r"[\W_]+".join(map(re.escape, words))
    for flags in (re.NOFLAG, re.IGNORECASE):
        found = [one.span() for one in re.finditer(rf"(?<!\w){loose}(?!\w)", text, flags)]
        if found:
            return _widened(found[0], stretch, text)
    return _nearly(words, text)


def _widened(span: Span, stretch: str, text: str) -> Span:
    """A place with the signs before and behind the words, where both have them: "$900", "15 %"."""
    start, end = span
    before = stretch[: len(stretch) - len(stretch.lstrip("$€£¥#@+-"))]
    behind = stretch[len(stretch.rstrip("%$€£¥")) :]
    if before and text[:start].endswith(before):
        start -= len(before)
    gap = len(text[end:]) - len(text[end:].lstrip(" "))
    if behind and text[end + gap :].startswith(behind):
        end += gap + len(behind)
    return start, end


def _nearly(words: list[str], text: str) -> Span | None:
    said = list(_WORD.finditer(text))
    wanted = " ".join(words).casefold()
    digits = [letter for letter in wanted if letter.isdigit()]
    best: tuple[float, Span] | None = None
    for first in range(min(len(said) - len(words) + 1, _MOST_WINDOWS)):
        window = said[first : first + len(words)]
        there = " ".join(word.group() for word in window).casefold()
        if [letter for letter in there if letter.isdigit()] != digits:
            continue
        alike = SequenceMatcher(None, wanted, there, autojunk=False).ratio()
        if alike >= _NEARLY and (best is None or alike > best[0]):
            best = alike, (window[0].start(), window[-1].end())
    return best[1] if best is not None else None
