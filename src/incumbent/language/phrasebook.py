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
from itertools import accumulate
from typing import NamedTuple

_CLITIC = r"['’](?:s|d|ll|re|ve|m)\b"
_TOKEN = re.compile(
    rf"<[^<>]{{0,200}}>|{_CLITIC}|n['’]t\b"
    rf"|[^\W_]+(?:(?!{_CLITIC})(?:[-./@&'’]|[,:](?=\d))[^\W_]+)*|([^\w\s])\1*",
    re.IGNORECASE,
)
_NEGATED = "n't"
_ENDING = "~"
_NUMBER = "#"
_GAPS = {"..": r"(?:[\w'][^ ]* ){0,6}?", "...": r"(?:[^ ;]+ ){0,30}?"}
_ANY = r"[\w'][^ ]*"
_REMEMBERED = 100_000
QUOTES = frozenset({'"', "“", "”"})
_LONG_QUOTATION = 4

Classes = Mapping[str, Sequence[str]]


class Word(NamedTuple):
    """A word or a mark as phrases are compared with it, and where it stands."""

    said: str
    start: int
    end: int


class Spelling(dict[str, tuple[str, ...]]):
    """The words that each piece of text stands for; worked out once, for most are old friends."""

    def __init__(self, listed: Mapping[str, str]) -> None:
        self._listed = {word: tuple(parts.split()) for word, parts in listed.items()}

    def __missing__(self, token: str) -> tuple[str, ...]:
        found = tuple(self._parts(token.lower().replace("’", "'")))
        if len(self) < _REMEMBERED:
            self[token] = found
        return found

    def _parts(self, token: str) -> Iterable[str]:
        if token[0] == "<" and len(token) > 2:
            return  # a tag is not a word
        if not token[0].isalnum() and token[0] == token[-1]:
            yield token[0]  # "!!!" is one mark
        elif token.endswith(_NEGATED) and len(token) > len(_NEGATED):
            stem = token.removesuffix(_NEGATED)
            yield from self._listed.get(stem, (stem,))
            yield _NEGATED
        else:
            yield from self._listed.get(token, (token,))


def words_of(text: str, spelling: Spelling) -> list[Word]:
    """The words of a text in one spelling: "don't", "do n't" and "dont" are the same two."""
    return [
        Word(said, *token.span())
        for token in _TOKEN.finditer(text)
        for said in spelling[token.group()]
    ]


def without_quotations(words: Sequence[Word]) -> Sequence[Word]:
    """Words with quoted sentences emptied: what others say shows nothing about the speaker.

    What a clause begins with is left, for it may be all that the clause says.
    """
    marks = [index for index, word in enumerate(words) if word.said in QUOTES]
    kept = list(words)
    for opened, closed in reversed(list(zip(marks[::2], marks[1::2], strict=False))):
        if opened and closed - opened > _LONG_QUOTATION:
            del kept[opened + 1 : closed]
    return kept


class Clause:
    """Words in a row, and the line of text in which phrases are looked for."""

    __slots__ = ("_places", "line", "words")

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.line = " ".join([word.said for word in words]) + " "
        self._places: list[int] = []

    def place(self, index: int) -> int:
        """Where a word stands in the line."""
        if index and not self._places:
            self._places = list(accumulate((len(word.said) + 1 for word in self.words), initial=0))
        return self._places[index] if index else 0


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

    __slots__ = ("_items", "_pattern", "is_first")

    def __init__(self, written: str, classes: Classes) -> None:
        self.is_first = written.startswith("^ ")
        self._items = [_item(part, classes) for part in written.removeprefix("^ ").split()]
        self._pattern: re.Pattern[str] | None = None

    def found_in(self, line: str, place: int = 0) -> re.Match[str] | None:
        pattern = self._pattern or self._made()
        return pattern.match(line, place) if self.is_first else pattern.search(line, place)

    def _made(self) -> re.Pattern[str]:
        """The pattern, made on first use: most phrases are never needed."""
        start = "" if self.is_first else "(?<![^ ])"
        self._pattern = re.compile(start + "".join(item.pattern for item in self._items))
        return self._pattern

    def first(self) -> list[str]:
        """The words that it may begin with."""
        found: list[str] = []
        for item in self._items:
            found.extend(word.split()[0] for word in item.words)
            if item.is_needed:
                break
        return found

    def needed(self) -> list[str]:
        """Words of which a clause must have one, as few and as rare as can be; or none."""
        telling = [[w.split()[0] for w in item.words] for item in self._items if item.tells]
        return min(telling, key=_frequency, default=[])


def _frequency(words: Iterable[str]) -> float:
    """How often one of these words may turn up: the shorter a word, the more often."""
    return sum(len(word) ** -2 for word in words)


class Phrasebook:
    """Phrases by what they tell."""

    def __init__(self, listed: Sequence[Iterable[str]], classes: Classes) -> None:
        self._always: list[tuple[int, Phrase]] = []
        self._by_word: dict[str, list[tuple[int, Phrase]]] = defaultdict(list)
        for number, ways in enumerate(listed):
            for phrase in (Phrase(written, classes) for written in ways):
                self._add(number, phrase)

    def _add(self, number: int, phrase: Phrase) -> None:
        needed = phrase.needed()
        if not needed:
            self._always.append((number, phrase))
        for word in dict.fromkeys(needed):
            self._by_word[word].append((number, phrase))

    def found_in(self, clause: Clause) -> set[int]:
        """The numbers of the lists from which a clause has a phrase."""
        line = clause.line
        found = {number for number, phrase in self._always if phrase.found_in(line)}
        for word in {word.said for word in clause.words}:
            for number, phrase in self._by_word.get(word, ()):
                if number not in found and phrase.found_in(line):
                    found.add(number)
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
            hit = phrase.found_in(clause.line, clause.place(index))
            if hit is None:
                continue
            reach = index + hit.group().count(" ")
            if reach > after:
                name, after = kind, reach
        return name, after

    def begin(self, clause: Clause, index: int) -> bool:
        """Whether any of the phrases begins at a word."""
        return any(
            phrase.found_in(clause.line, clause.place(index))
            for _, phrase in self._by_word.get(clause.words[index].said, ())
        )


def class_table(listed: Mapping[str, str | list[str]]) -> dict[str, list[str]]:
    """Classes of words as a data file lists them: words with spaces between, or a list."""
    return {
        name: words.split() if isinstance(words, str) else list(words)
        for name, words in listed.items()
    }
