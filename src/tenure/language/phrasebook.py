"""Phrases that a data file lists, found among the words of a clause.

A phrase is written as the words it is made of, one pattern for each way to say it:

    i {adverb}* wish        words, and classes of words: {adverb} is any of them
    would|could be          any of several
    not? _ that             one that may be missing; any one word
    let us !say             not followed by
    ~ed and #               a word with this ending; a number
    .. and ...              a few words between; any words and marks between
    ^ and $                 the beginning and the end of the clause

Each phrase is looked for only in clauses that have a word it cannot do without, so that a book of
many phrases costs little more than one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

_TOKEN = re.compile(
    r"<[^<>]{0,200}>"  # a tag is not a word
    r"|\w+?(?=n['’]t\b)|n['’]t\b|['’](?:s|d|ll|re|ve|m)\b"
    r"|[^\W_]+(?:(?:[-./@&]|[,:](?=\d)|['’](?!(?:s|d|ll|re|ve|m)\b))[^\W_]+)*|([^\w\s])\1*",
    re.IGNORECASE,
)
_ENDING = "~"
_NUMBER = "#"
_GAPS = {"..": r"(?:[\w'][^ ]* ){0,6}?", "...": r"(?:[^ ;]+ ){0,30}?"}
_ANY = r"[\w'][^ ]*"
_MARK = re.compile(r"[^\w']")

Classes = Mapping[str, Sequence[str]]


class Word(NamedTuple):
    """A word or a mark as phrases are compared with it, and where it stands."""

    said: str
    start: int
    end: int

    @property
    def is_mark(self) -> bool:
        return bool(_MARK.match(self.said))


class Clause:
    """Words in a row, and the line of text in which phrases are looked for."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words

    @cached_property
    def line(self) -> str:
        return "".join([f"{word.said} " for word in self.words])

    @cached_property
    def places(self) -> list[int]:
        """Where each word stands in the line."""
        places, at = [], 0
        for word in self.words:
            places.append(at)
            at += len(word.said) + 1
        return places

    @cached_property
    def said(self) -> frozenset[str]:
        return frozenset([word.said for word in self.words])


def words_of(text: str, spellings: Mapping[str, Sequence[str]]) -> list[Word]:
    """The words of a text in one spelling: "don't", "do n't" and "dont" are the same two."""
    found: list[Word] = []
    for token in _TOKEN.finditer(text):
        said = token.group().lower().replace("’", "'")
        if said[0] == "<" and len(said) > 2:
            continue
        if token[1]:
            said = said[0]
        if parts := spellings.get(said):
            found.extend([Word(part, token.start(), token.end()) for part in parts])
        else:
            found.append(Word(said, token.start(), token.end()))
    return found


class _Item(NamedTuple):
    """One step of a phrase: words of which one must stand there."""

    words: tuple[str, ...]
    """None for a step that any word takes, or for one that is no word at all."""
    pattern: str
    is_needed: bool

    @property
    def tells(self) -> bool:
        """Whether a clause without any of its words cannot have the phrase."""
        return (
            self.is_needed
            and bool(self.words)
            and not any(word[0] in (_ENDING, _NUMBER) for word in self.words)
        )


def _item(written: str, classes: Classes) -> _Item:
    if written == "$":
        return _Item((), r"(?:[^\w' ] )*$", False)
    if written in _GAPS:
        return _Item((), _GAPS[written], False)
    if written[0] == "!" and len(written) > 1:
        return _Item((), f"(?!{_either(_choices(written[1:], classes))} )", False)
    repeated = written[-1] if written[-1] in "?*" and len(written) > 1 else ""
    words = _choices(written.removesuffix(repeated), classes)
    step = f"{_either(words)} "
    if repeated:
        return _Item(words, f"(?:{step}){'?' if repeated == '?' else '{0,4}'}", False)
    return _Item(words, step, True)


def _choices(written: str, classes: Classes) -> tuple[str, ...]:
    if written == "_":
        return ()
    found: list[str] = []
    for name in written.split("|"):
        found.extend(classes[name[1:-1]] if name[:1] == "{" else [name])
    return tuple(found)


def _either(words: Sequence[str]) -> str:
    if not words:
        return _ANY
    told = [_word(word) for word in words]
    return told[0] if len(told) == 1 else f"(?:{'|'.join(told)})"


def _word(written: str) -> str:
    if written == _NUMBER:
        return r"\d[^ ]*"
    if written[0] == _ENDING:
        return rf"\w+[^\We]{re.escape(written[1:])}"  # "fixed" ends in -ed, "need" and "red" do not
    return re.escape(written)


class Phrase:
    """One way to say something."""

    def __init__(self, written: str, classes: Classes) -> None:
        self.is_first = written.startswith("^ ")
        self._items = [_item(part, classes) for part in written.removeprefix("^ ").split()]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Made on first use: most phrases are never needed."""
        start = "" if self.is_first else "(?<![^ ])"
        return re.compile(start + "".join(item.pattern for item in self._items))

    def found_in(self, clause: Clause, place: int = 0) -> re.Match[str] | None:
        find = self._pattern.match if self.is_first else self._pattern.search
        return find(clause.line, place)

    def first(self) -> list[str]:
        """The words that it may begin with."""
        found: list[str] = []
        for item in self._items:
            found.extend(word.split()[0] for word in item.words)
            if item.is_needed:
                break
        return found

    def needed(self) -> list[str]:
        """Words of which a clause must have one, as few and as long as can be; or none."""
        telling = [[w.split()[0] for w in item.words] for item in self._items if item.tells]
        return min(telling, key=lambda words: (len(words), -min(map(len, words))), default=[])


class Phrasebook:
    """Phrases by what they tell."""

    def __init__(self, listed: Mapping[str, Iterable[str]], classes: Classes) -> None:
        self._always: list[tuple[str, Phrase]] = []
        self._by_word: dict[str, list[tuple[str, Phrase]]] = defaultdict(list)
        for name, ways in listed.items():
            for phrase in (Phrase(written, classes) for written in ways):
                self._add(name, phrase)

    def _add(self, name: str, phrase: Phrase) -> None:
        needed = phrase.needed()
        if not needed:
            self._always.append((name, phrase))
        for word in dict.fromkeys(needed):
            self._by_word[word].append((name, phrase))

    def found_in(self, clause: Clause) -> set[str]:
        """The names of what a clause says by its phrases."""
        found: set[str] = set()
        for name, phrase in self._always:
            if name not in found and phrase.found_in(clause):
                found.add(name)
        for word in clause.said & self._by_word.keys():
            for name, phrase in self._by_word[word]:
                if name not in found and phrase.found_in(clause):
                    found.add(name)
        return found


class Openings:
    """Phrases that something may begin with, by what they tell."""

    def __init__(self, listed: Mapping[str, Iterable[str]], classes: Classes) -> None:
        self._by_word: dict[str, list[tuple[str, Phrase]]] = defaultdict(list)
        for name, ways in listed.items():
            for written in ways:
                phrase = Phrase(f"^ {written}", classes)
                for word in dict.fromkeys(phrase.first()):
                    self._by_word[word].append((name, phrase))

    def longest(self, clause: Clause, index: int) -> tuple[str, int]:
        """The phrase that takes up most words from a word on, and the word after it."""
        name, after = "", index
        for kind, phrase in self._by_word.get(clause.words[index].said, ()):
            hit = phrase.found_in(clause, clause.places[index])
            if hit is None:
                continue
            reach = index + hit.group().count(" ")
            if reach > after:
                name, after = kind, reach
        return name, after


def class_table(listed: Mapping[str, str | list[str]]) -> dict[str, list[str]]:
    """Classes of words as a data file lists them: words with spaces between, or a list."""
    return {
        name: words.split() if isinstance(words, str) else list(words)
        for name, words in listed.items()
    }
