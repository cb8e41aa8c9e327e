"""The guard: no dead value reaches a context by any road.

A dead value is one that only facts out of office hold. Wherever it occurs in running text (a note,
a signal, the text of another fact) it is cut out. Values are compared word by word, so that case,
punctuation and spacing hide nothing, and "123 Main St" is not "1234 Main St". Days, times and
amounts are also compared by their meaning: "March 3rd" is "2026-03-03".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from incumbent.context.forms import Lost, lost_in_part, lost_in_text, same_in_form
from incumbent.context.phrases import Phrases
from incumbent.model.fact import Fact, Part, Status
from incumbent.model.forms import Read, held_by, held_words, no_forms
from incumbent.model.invisible import without
from incumbent.model.text_cache import remembered
from incumbent.model.values import leaves, telling_parts
from incumbent.model.words import (
    LONGEST_SAYING,
    Word,
    Words,
    beginning,
    holdings,
    is_long,
    said,
    ways_of,
    ways_said,
)

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_BEFORE = re.compile(r"[$€£¥#+-]")
_AFTER = re.compile(r"[%€£°]")
_LOOK_BACK = 40


class Mention(NamedTuple):
    """A dead value in a text."""

    start: int
    end: int
    fact: Fact
    words: int = 1
    """The number of its words."""


class DeadValue(NamedTuple):
    """A value that only a fact out of office holds."""

    words: tuple[str, ...]
    text: str
    fact: Fact
    lost: Lost | None = None
    """The value in another form, if this is one. Then `words` is the word of that form."""
    also: Words = ()
    """The word of the form, if the text is a day, a time or an amount and nothing else."""

    @property
    def ways(self) -> tuple[Words, ...]:
        """The words of which a fact in office must hold some for this value to be right."""
        return (*held_by(self.words), *(held_by(self.also) if self.also else ()))


Sayings = tuple[Words, ...]


@remembered
def vocabulary(text: str) -> frozenset[str]:
    """The words of a text, in no order."""
    return frozenset(word for way in ways_said(text) for word in way)


def told_forms(text: str, read: Read) -> set[str]:
    """The words that stand for the values in a text."""
    return {word for form in read(text) for word in form.words}


def has_several_words(text: str) -> bool:
    """Whether a text has more than one word."""
    return len(said(text)) > 1


def dead_values(facts: Iterable[Fact], read: Read = no_forms) -> list[DeadValue]:
    """The values of facts out of office, each leaf of a list or an object by itself."""
    found: dict[tuple[str, ...], DeadValue] = {}
    formed: dict[tuple[str, ...], DeadValue] = {}
    for fact in facts:
        for text in _sayings(fact):
            for words in filter(None, ways_said(beginning(text))):
                if words not in found:
                    found[words] = DeadValue(words, text, fact, also=same_in_form(text, read))
        for lost in _lost(fact, read):
            # Most of them count only beside a word for their matter, so each matter has its own.
            place = (lost.word, fact.key, fact.subject or "")
            known = formed.get(place)
            if known is None or known.lost is None or (known.lost.beside and not lost.beside):
                formed[place] = DeadValue((lost.word,), lost.text, fact, lost)
    return [*found.values(), *formed.values()]


def _lost(fact: Fact, read: Read) -> Iterator[Lost]:
    """The values of a fact that may be written in another form."""
    for part in fact.parts:
        yield from lost_in_part(part, read)
    if not is_statement(fact):
        for text in _sayings(fact):
            yield from lost_in_text(text, read)


def _sayings(fact: Fact) -> Iterator[str]:
    """The texts of a fact: the values in a statement, or the leaves of any other value."""
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
    """Whether a part is a plain word that may or may not be a value."""
    return part.kind == "term" and part.role in ("np|", "is|")


class Spoken:
    """The words of some texts, to tell which values one of them can repeat."""

    def __init__(self, texts: Iterable[tuple[str, str]], read: Read = no_forms) -> None:
        """`texts` are pairs of a name and a text."""
        self._having: dict[str, int] = {}
        """For each word, the texts that have it: one bit for each text."""
        for number, (name, text) in enumerate(texts):
            forms = told_forms(name, read) | told_forms(text, read)
            for word in vocabulary(f"{name} {text}") | forms:
                self._having[word] = self._having.get(word, 0) | 1 << number

    def has_all(self, words: Sequence[str]) -> bool:
        """Whether one of the texts has all these words."""
        having = self._having.get(words[0], 0) if words else 0
        for word in words:
            having &= self._having.get(word, 0)
            if not having:
                return False
        return bool(having)

    def can_repeat(self, dead: DeadValue) -> bool:
        return is_unspaced(dead.text) or self.has_all(dead.words)

    def can_repeat_one(self, sayings: Sayings) -> bool:
        """Whether one of the texts can repeat one of the sayings of a fact."""
        return any(not words or self.has_all(words) for words in sayings)


def sayings(fact: Fact, read: Read = no_forms) -> Sayings:
    """Every saying of a fact, certain or possible, each in words.

    A text in a script without spaces gives a saying without words: any text may repeat it.
    """
    whole = (text for leaf in leaves(fact.value) for text in (leaf, *telling_parts(leaf)))
    texts = {*(part.text for part in fact.parts), *whole}
    found: set[Words] = set()
    for text in texts:
        found.update(((),) if is_unspaced(text) else ways_said(beginning(text)))
    found.update((lost.word,) for lost in _lost(fact, read))
    return tuple(found) if any(map(is_unspaced, texts)) else tuple(found - {()})


class DeadValueIndex:
    """Dead values, in order, to be found in many texts."""

    def __init__(
        self,
        dead: Iterable[DeadValue] = (),
        read: Read = no_forms,
        *,
        beside: DeadValueIndex | None = None,
    ) -> None:
        """`dead` are the values; those of another index may stand after them."""
        self._dead = tuple(dead)
        self._read = read
        self._beside = beside
        self._unspaced: list[DeadValue] = []
        self._phrases = Phrases[DeadValue]()
        self._formed: dict[str, list[DeadValue]] = {}
        for value in self._dead:
            if value.lost is not None:
                self._formed.setdefault(value.words[0], []).append(value)
            elif is_unspaced(value.text):
                self._unspaced.append(value)
            elif value.words:
                self._phrases.add(value.words, value)
        self._firsts = self._phrases.firsts()

    def others(self, dead: Iterable[DeadValue]) -> DeadValueIndex:
        """An index of other values, looked for in the same way."""
        return DeadValueIndex(dead, self._read)

    def beside(self, fact: Fact) -> DeadValueIndex:
        """An index without the values that a fact states itself, where they are shown on purpose:
        it contradicts what is known, or tells what is to come."""
        own = {way for one in dead_values([fact], self._read) for way in one.ways}
        return self.others(one for one in self if own.isdisjoint(one.ways))

    def after(self, dead: Iterable[DeadValue]) -> DeadValueIndex:
        """An index of other values, with these after them."""
        return DeadValueIndex(dead, self._read, beside=self)

    def __iter__(self) -> Iterator[DeadValue]:
        yield from self._dead
        if self._beside is not None:
            yield from self._beside

    def __bool__(self) -> bool:
        return bool(self._dead) or bool(self._beside)

    @property
    def indexes(self) -> Iterator[DeadValueIndex]:
        """This index and those beside it, each by itself."""
        yield self
        if self._beside is not None:
            yield from self._beside.indexes

    def may_be_in(self, text: str) -> bool:
        """Whether a text may have one of them. The answer is nearly always no, and comes
        quickly."""
        words = vocabulary(text) if self else frozenset[str]()
        return any(
            one._unspaced or not words.isdisjoint(one._firsts) or any(one.formed(text))
            for one in self.indexes
        )

    def formed(self, text: str) -> Iterator[tuple[int, int, DeadValue]]:
        """The spans of a text that have a value of the index, in any form."""
        if not self._formed:
            return
        for form in self._read(text):
            for word in form.words:
                yield from ((form.start, form.end, dead) for dead in self._formed.get(word, ()))

    def at(self, spoken: Sequence[str], place: int) -> Iterator[tuple[int, DeadValue]]:
        """The values at a place of running words, the longest first, each with its number of
        words."""
        return self._phrases.at(spoken, place)

    def unspaced_in(self, text: str) -> list[DeadValue]:
        """The values without words that a text may have."""
        if not self._unspaced:
            return []
        shown = without(text).text
        pairs = {shown[place : place + 2] for place in range(len(shown))}
        begin = ((value, without(value.text[:LONGEST_SAYING]).text) for value in self._unspaced)
        return [value for value, told in begin if len(told) < 2 or told[:2] in pairs]


def is_unspaced(text: str) -> bool:
    """Whether a text is in a script without spaces, in which words cannot be told apart."""
    return _UNSPACED.search(text, 0, LONGEST_SAYING) is not None


def held_values(facts: Iterable[Fact], read: Read = no_forms) -> set[Words]:
    """The values of facts in office. What a machine said of them holds none."""
    held: set[Words] = set()
    for fact in facts:
        if fact.source.by_machine:
            continue
        held |= holdings(fact.value, fact.parts)
        held |= held_words(fact.value, fact.parts, read)
    return held


def spaced(key: str) -> str:
    """A key as words."""
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", key)


Counts = Callable[[DeadValue, set[str], str], bool]
"""Decides whether a mention counts, by the value, the words around it, and the text before it."""


def mentions(text: str, name: str, dead: DeadValueIndex, counts: Counts) -> list[Mention]:
    """The mentions of dead values in a text with a name."""
    if not dead.may_be_in(text):
        return []
    present = {*vocabulary(text), *said(spaced(name))}
    found: list[Mention] = []
    for index in dead.indexes:
        found.extend(_in_other_forms(text, index, present, counts))
        for value in index.unspaced_in(text):
            found.extend(_unspaced(text, value, present, counts))
    # Within one mention no other is looked for, unless it may have to give way to another kind.
    skips = not found
    for words in ways_of(text):
        found.extend(_in_words(text, words, dead, present, counts, skips=skips))
    return _apart(found)


def _in_words(
    text: str,
    words: list[Word],
    dead: DeadValueIndex,
    present: set[str],
    counts: Counts,
    *,
    skips: bool,
) -> Iterator[Mention]:
    """The mentions of dead values in a text that is read as these words, word by word."""
    spoken = [word.said for word in words]
    for index in dead.indexes:
        place = 0
        while place < len(spoken):
            mention = _at(text, words, index.at(spoken, place), place, present, counts)
            if mention is not None:
                yield mention
            place += mention.words if mention is not None and skips else 1


def _in_other_forms(
    text: str, dead: DeadValueIndex, present: set[str], counts: Counts
) -> Iterator[Mention]:
    """The mentions of dead values in a text, in any form."""
    for start, end, value in dead.formed(text):
        if counts(value, present, text[max(0, start - _LOOK_BACK) : start]):
            yield Mention(start, end, value.fact, len(said(text[start:end])))


def _at(
    text: str,
    words: Sequence[Word],
    values: Iterable[tuple[int, DeadValue]],
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


def _unspaced(text: str, value: DeadValue, present: set[str], counts: Counts) -> Iterator[Mention]:
    """The mentions of a value in a text in a script without spaces."""
    shown = without(text)
    looked_for = without(value.text[:LONGEST_SAYING]).text
    begin = shown.text.find(looked_for) if looked_for else -1
    while begin >= 0:
        start, end = shown.span(begin, begin + len(looked_for))
        end = len(text) if is_long(value.text) else end
        if counts(value, present, text[max(0, start - _LOOK_BACK) : start]):
            yield Mention(start, end, value.fact)
        begin = shown.text.find(looked_for, begin + len(looked_for))


def _apart(found: list[Mention]) -> list[Mention]:
    """The longest of overlapping mentions, in order."""
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept
