"""The guard: no dead value reaches a context by any road.

A dead value is one that only facts out of office hold. Wherever it turns up in running text (a
note, a signal, the text of another fact) it is taken out. Values are compared word by word, so
that case, punctuation and spacing hide nothing, and "123 Main St" is not "1234 Main St".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tenure.context.phrases import Phrases
from tenure.context.quoting import GONE
from tenure.model.fact import Fact, Part, Status
from tenure.model.remembering import remembered
from tenure.model.values import leaves, telling_parts, text_of
from tenure.model.words import (
    LONGEST_SAYING,
    WORD,
    Words,
    beginning,
    holdings,
    is_long,
    said,
    said_word,
)

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_BEFORE = re.compile(r"[$€£¥#+-]")
_AFTER = re.compile(r"[%€£°]")
_LOOK_BACK = 40
_HEADING = re.compile(r"[^.!?\n]*:\s*$")
_LOOKING_BACK = re.compile(
    r"\b(was|were|had been|used to be|formerly|previous(?:ly)?|prior|before|earlier|old|former|ex|"
    r"once|until|instead of|rather than|no longer|not|from|replac\w+|chang\w+ from|moved from)"
    r"\W+(?:\w+\W+){0,2}$",
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
    words: int = 1
    """How many words it takes up."""


class Dead(NamedTuple):
    """A value that only a fact out of office holds."""

    words: tuple[str, ...]
    text: str
    fact: Fact


Sayings = tuple[Words, ...]


def words_of(text: str) -> list[Word]:
    """The words of a text in the form in which they are compared."""
    return [Word(said_word(found.group()), *found.span()) for found in WORD.finditer(text)]


@remembered
def vocabulary(text: str) -> frozenset[str]:
    """The words of a text, in no order."""
    return frozenset(said(text))


def has_several_words(text: str) -> bool:
    """Whether a text has more than one word."""
    return len(said(text)) > 1


def dead_values(facts: Iterable[Fact]) -> list[Dead]:
    """The values of facts out of office, each leaf of a list or an object by itself."""
    found: dict[tuple[str, ...], Dead] = {}
    for fact in facts:
        for text in _sayings(fact):
            words = said(beginning(text))
            if words:
                found.setdefault(words, Dead(words, text, fact))
    return list(found.values())


def _sayings(fact: Fact) -> Iterator[str]:
    """What a fact says: of a statement the values in it, of anything else its leaves."""
    if is_statement(fact):
        # Words that only frame the values go on being used by whoever says more on the matter.
        ended = fact.status is Status.SUPERSEDED
        yield from (part.text for part in fact.parts if ended or not is_framing(part))
        return
    for leaf in leaves(fact.value):
        yield from (leaf, *telling_parts(leaf))


def is_statement(fact: Fact) -> bool:
    """Whether a fact is a statement with values in it rather than one value."""
    return bool(fact.parts) and not (len(fact.parts) == 1 and fact.parts[0].text == fact.value)


def is_framing(part: Part) -> bool:
    """Whether a part is a plain word that only may be a value."""
    return part.kind == "term" and part.role in ("np|", "is|")


class Spoken:
    """The words of some texts, to tell which values one of them can repeat at all."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._having: dict[str, int] = {}
        """For each word, the texts that have it: one bit for each text."""
        for number, text in enumerate(texts):
            for word in vocabulary(text):
                self._having[word] = self._having.get(word, 0) | 1 << number

    def has_all(self, words: Sequence[str]) -> bool:
        """Whether one of the texts has all these words."""
        having = self._having.get(words[0], 0) if words else 0
        for word in words:
            having &= self._having.get(word, 0)
            if not having:
                return False
        return bool(having)

    def can_repeat(self, dead: Dead) -> bool:
        return _is_unspaced(dead.text) or self.has_all(dead.words)

    def can_repeat_one(self, sayings: Sayings) -> bool:
        """The same for one of the things that a fact says."""
        return any(not words or self.has_all(words) for words in sayings)


def sayings(fact: Fact) -> Sayings:
    """All that a fact says, or could be taken to say, each in words.

    Where words cannot be told apart there are none, and a text may always have it.
    """
    whole = (text for leaf in leaves(fact.value) for text in (leaf, *telling_parts(leaf)))
    texts = {*(part.text for part in fact.parts), *whole}
    found = {() if _is_unspaced(text) else said(beginning(text)) for text in texts}
    return tuple(found) if any(map(_is_unspaced, texts)) else tuple(found - {()})


class Roll:
    """Dead values, in order, to be looked for in many texts."""

    def __init__(self, dead: Iterable[Dead] = (), *, beside: Roll | None = None) -> None:
        """With those of another roll beside them, which come after."""
        self._dead = tuple(dead)
        self._beside = beside
        self._unspaced = [value for value in self._dead if _is_unspaced(value.text)]
        self._phrases = Phrases[Dead]()
        for value in self._dead:
            if value.words and not _is_unspaced(value.text):
                self._phrases.add(value.words, value)
        self._firsts = self._phrases.firsts()

    def __iter__(self) -> Iterator[Dead]:
        yield from self._dead
        if self._beside is not None:
            yield from self._beside

    def __bool__(self) -> bool:
        return bool(self._dead) or bool(self._beside)

    @property
    def rolls(self) -> Iterator[Roll]:
        """This and those beside it, each by itself."""
        yield self
        if self._beside is not None:
            yield from self._beside.rolls

    def may_be_in(self, text: str) -> bool:
        """Whether a text may have one of them: nearly always not, which is quickly told."""
        words = vocabulary(text) if self else frozenset[str]()
        return any(not words.isdisjoint(one._firsts) or one._unspaced for one in self.rolls)

    def at(self, spoken: Sequence[str], place: int) -> Iterator[tuple[int, Dead]]:
        """The values at a place of running words, the longest first, with how many are theirs."""
        return self._phrases.at(spoken, place)

    def unspaced_in(self, text: str) -> list[Dead]:
        """The values without words, as far as a text may have them."""
        if not self._unspaced:
            return []
        pairs = {text[place : place + 2] for place in range(len(text))}
        return [value for value in self._unspaced if len(value.text) < 2 or value.text[:2] in pairs]


def _is_unspaced(text: str) -> bool:
    """Whether a text is in a script without spaces, in which words cannot be told apart."""
    return _UNSPACED.search(text, 0, LONGEST_SAYING) is not None


def held_values(facts: Iterable[Fact]) -> set[Words]:
    """What facts in office say."""
    return set[Words]().union(*(holdings(fact.value, fact.parts) for fact in facts))


def is_telling(dead: Dead) -> bool:
    """Whether a value can be told by itself: "25%", "blue" or "4711", but not "3" or "yes"."""
    if _is_unspaced(dead.text):
        return len(dead.text.strip()) > 1
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


def mentions(text: str, name: str, dead: Roll, counts: Counts) -> list[Mention]:
    """Where a text that goes by a name repeats dead values."""
    if not dead.may_be_in(text):
        return []
    words = words_of(text)
    spoken = [word.said for word in words]
    present = {*spoken, *said(_spaced(name))}
    found: list[Mention] = []
    for roll in dead.rolls:
        for value in roll.unspaced_in(text):
            found.extend(_unspaced(text, value, present, counts))
    # Within one mention no other is looked for, unless it may have to give way to another kind.
    skips = not found
    for roll in dead.rolls:
        place = 0
        while place < len(spoken):
            mention = _at(text, words, roll.at(spoken, place), place, present, counts)
            if mention is not None:
                found.append(mention)
            place += mention.words if mention is not None and skips else 1
    return _apart(found)


def _at(
    text: str,
    words: Sequence[Word],
    values: Iterable[tuple[int, Dead]],
    place: int,
    present: set[str],
    counts: Counts,
) -> Mention | None:
    """The longest of the values at a place that counts."""
    for width, value in values:
        start, end = words[place].start, words[place + width - 1].end
        if is_long(value.text) and width == len(value.words):
            width, end = len(words) - place, len(text)  # there may be more of it
        start -= bool(_BEFORE.match(text[max(0, start - 1) : start]))
        end += bool(_AFTER.match(text[end : end + 1]))
        if counts(value, present, text[max(0, start - _LOOK_BACK) : start]):
            return Mention(start, end, value.fact, width)
    return None


def _unspaced(text: str, value: Dead, present: set[str], counts: Counts) -> Iterator[Mention]:
    """Where a text in a script without spaces has a value."""
    looked_for = value.text[:LONGEST_SAYING]
    start = text.find(looked_for)
    while start >= 0:
        end = len(text) if is_long(value.text) else start + len(looked_for)
        if counts(value, present, text[max(0, start - _LOOK_BACK) : start]):
            yield Mention(start, end, value.fact)
        start = text.find(looked_for, end)


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

    def counts(value: Dead, present: set[str], before: str) -> bool:
        if (value.fact.key, value.fact.subject) == (fact.key, fact.subject):
            return is_telling(value) and bool(_LOOKING_BACK.search(before))
        if is_distinctive(value, is_common):
            return True
        linked = value.fact.id in fact.depends_on or bool(
            topic(value.fact) & (topic(fact) | present)
        )
        return linked and is_telling(value)

    return counts


class Guarded(NamedTuple):
    """A value as it may be shown: with spans to cut, or a list or an object with its texts cut."""

    value: Any
    cuts: list[tuple[int, int]]
    found: list[Mention]


def guarded(value: Any, name: str, dead: Roll, counts: Counts) -> Guarded:
    """A value that goes by a name, without the dead values in it."""
    if isinstance(value, str):
        found = mentions(value, name, dead, counts)
        return Guarded(value, [(mention.start, mention.end) for mention in found], found)
    found = []
    return Guarded(_cut(value, name, dead, counts, found), [], found)


def _cut(value: Any, name: str, dead: Roll, counts: Counts, found: list[Mention]) -> Any:
    """A value with its texts cut; what was found goes to the list."""
    if isinstance(value, dict):
        return {
            _cut(key, name, dead, counts, found): _cut(item, f"{name} {key}", dead, counts, found)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_cut(item, name, dead, counts, found) for item in value]
    if value is None or isinstance(value, bool):
        return value
    text = text_of(value)
    here = mentions(text, name, dead, counts)
    found.extend(here)
    for mention in reversed(here):
        text = f"{text[: mention.start]}{GONE}{text[mention.end :]}"
    return text if here else value


def says_more(text: str, found: Sequence[Mention]) -> bool:
    """Whether a text still says something once the mentions are taken out.

    What only leads up to one of them, with a colon, goes with it.
    """
    taken = sum(mention.words for mention in found)
    heading = _HEADING.match(text[: min((mention.start for mention in found), default=0)])
    taken += len(words_of(heading.group())) if heading is not None else 0
    return len(words_of(text)) - taken >= max(3, 2 * len(found))
