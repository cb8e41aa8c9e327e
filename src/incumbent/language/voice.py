"""Voice: which words of a turn are its speaker's own, said straight out.

People quote, paste, forward and retell what others say, and say what they do not want. Nothing may
be erased, taken back or ended by such words. So whatever would do that asks here first:

    voice = Voice(turn)
    voice.manner(start, end)    how the words from start to end are said

A stretch is OWN if the words in it that end something (or, where there are none, its first words)
are shown in no quotation, introduced by nobody else, told of nobody else, and neither denied, only
supposed, nor asked about. In doubt they are not. What the words ask for is not looked at here.

All that is decided by the words of one turn. The classes of words that it takes are in
`data/<language>/voice.toml`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from incumbent.language.lexicon import DEFAULT_LANGUAGE, WordSets, data
from incumbent.language.reading import Sentence, blocks, sentences
from incumbent.language.shown import Span, shown

_WORD = re.compile(r"\d[\d:.,]*\w*|[^\W_]+(?:['’-][^\W_]+)*|['’][a-z]+|[:;,?!—–-]")
_CLITIC = re.compile(r"(?<=\w)('(?:m|d|re|ve|ll))$")
_MOST_ACTS = 12
"""Who uses more words than this to end something in one breath is not understood."""
_SHORT = 3
"""A name or a state has no more words than this."""
_AFTERWARDS = 7
"""How many words there may be in "..., the customer wrote" """
_APOSTROPHE = "'"
_DASHES = frozenset("—–-")


class Manner(StrEnum):
    """In which way words are said."""

    OWN = "own"
    QUOTED = "quoted"
    """Shown, as somebody's words: in quotation marks, in a fence, as a forwarded mail."""
    INTRODUCED = "introduced"
    """Said after a colon that does not announce the speaker's own words: "Translate this: ..."."""
    REPORTED = "reported"
    """Told as what somebody else said or wants."""
    DENIED = "denied"
    SUPPOSED = "supposed"
    ASKED = "asked"


_TOLD = Manner.REPORTED


class _Words(WordSets):
    """The classes of words of a language."""

    def __init__(self, language: str) -> None:
        told = data("voice", language)
        ending = sorted((*told["ending"]["several"], *told["ending"]["phrases"].split()), key=len)
        either = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in reversed(ending))
        self.ending = re.compile(
            rf"(?<!\w)(?<!\w['’])(?:{either.replace(_APOSTROPHE, '[’' + _APOSTROPHE + ']')})(?!\w)",
            re.IGNORECASE,
        )
        self.of_others = _phrases(told["saying"]["phrases"])
        self.denials = _phrases(told["denying"]["phrases"])
        self.harmless = _phrases(told["denying"]["harmless"])
        self.suppositions = _phrases(told["supposing"]["phrases"])
        self.polite = _phrases(told["supposing"]["polite"])
        sections = ("ending", "announcing", "saying", "denying", "supposing", "asking", "breaking")
        super().__init__({k: v for name in sections for k, v in told[name].items()})


def _phrases(listed: Sequence[str]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, sorted(listed, key=len, reverse=True)))
    return re.compile(rf"(?<![\w'])(?:{either})(?![\w'])")


@lru_cache(maxsize=8)
def _words(language: str = DEFAULT_LANGUAGE) -> _Words:
    return _Words(language)


class Voice:
    """The words of one turn, by whose they are and how they are meant."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._words = _words()

    def manner(self, start: int = 0, end: int | None = None) -> Manner:
        """In which way a stretch is said: the first way, if it is several, that is not OWN."""
        end = len(self.text) if end is None else end
        if self.is_shown(start, end):
            return Manner.QUOTED
        acts = list(islice(self._words.ending.finditer(self.text, start, end), _MOST_ACTS + 1))
        plain = [act.span() for act in acts if self._span_at(act.start()) is None]
        if len(acts) > _MOST_ACTS or (acts and not plain):
            return Manner.QUOTED
        for place in plain or [(self._first(start, end),) * 2]:
            manner = self._manner_at(*place)
            if manner is not Manner.OWN:
                return manner
        return Manner.OWN

    def is_retold(self, start: int, end: int) -> bool:
        """Whether a stretch is shown, or introduced as what somebody else said: "he wrote: ..."."""
        if self.is_shown(start, end):
            return True
        begin = self._around(start, start).start
        within = any(r.start <= begin < r.end and r.manner is _TOLD for r in self._introductions)
        return within or self._introduction(begin, end) is _TOLD

    def _introduction(self, start: int, end: int) -> Manner | None:
        """How the words of a stretch are introduced by others of it, before a colon."""
        return _introduced(_said(self._own(start, end)), self._words)

    def is_shown(self, start: int, end: int) -> bool:
        """Whether a stretch is shown as somebody's words from beginning to end."""
        within = self.text[start:end]
        end -= len(within) - len(within.rstrip(" \t\r\n.,;:!?)"))
        start += len(within) - len(within.lstrip(" \t\r\n(-*•"))
        span = self._span_at(start)
        return span is not None and span.end >= end

    def _span_at(self, place: int) -> Span | None:
        index = bisect_right(self._shown, (place, len(self.text) + 1)) - 1
        span = self._shown[index] if index >= 0 else None
        return span if span is not None and place < span.end else None

    @cached_property
    def _shown(self) -> list[Span]:
        return shown(self.text)

    @cached_property
    def _sentences(self) -> list[Sentence]:
        return [sentence for block in blocks(self.text) for sentence in sentences(block)]

    def _first(self, start: int, end: int) -> int:
        """Where the words of a stretch begin that are not shown."""
        while start < end and (span := self._span_at(start)) is not None:
            start = span.end
        return min(start, end)

    def _manner_at(self, start: int, end: int) -> Manner:
        """How the words at a place are said, by what stands around them."""
        begin, close = self._around(start, end)
        for reach in self._introductions:
            if reach.start <= begin < reach.end:
                return reach.manner
        before = _said(self._own(begin, start))
        rest = _said(self._own(end, close))
        return _judged(before, _said(self.text[start:end]), rest, self._words)

    def _around(self, start: int, end: int) -> Span:
        """The sentence that holds a place."""
        index = bisect_right(self._sentences, start, key=lambda one: one.start) - 1
        if index < 0:
            return Span(0, len(self.text))
        sentence = self._sentences[index]
        return Span(sentence.start, max(sentence.end, end))

    def _own(self, start: int, end: int) -> str:
        """A stretch with a space for what is shown in it."""
        pieces, at = [], start
        while at < end:
            span = self._span_at(at)
            if span is None:
                index = bisect_right(self._shown, (at, len(self.text) + 1))
                stop = self._shown[index].start if index < len(self._shown) else end
                pieces.append(self.text[at : min(stop, end)])
                at = max(min(stop, end), at + 1)
            else:
                pieces.append(" ")
                at = span.end
        return "".join(pieces)

    @cached_property
    def _introductions(self) -> list[_Reach]:
        """From where to where sentences stand in the reach of an earlier "he wrote:"."""
        found: list[_Reach] = []
        for sentence in self._sentences:
            if found and sentence.start < found[-1].end:
                continue
            manner = self._introduction(sentence.start, sentence.end)
            is_open = sentence.text.rstrip()[-1:] == ":"
            if manner is None or (manner is Manner.INTRODUCED and not is_open):
                continue
            gap = self.text.find("\n\n", sentence.end)
            end = len(self.text) if is_open or gap < 0 else gap
            found.append(_Reach(sentence.end, end, manner))
        return found


class _Reach(NamedTuple):
    start: int
    end: int
    manner: Manner


def _said(text: str) -> list[str]:
    """The words and marks of a text, in one spelling."""
    said: list[str] = []
    for word in _WORD.findall(text.lower().replace("’", _APOSTROPHE)):
        said.extend(_CLITIC.sub(r" \1", word).split() if _APOSTROPHE in word else (word,))
    return said


def _introduced(words: Sequence[str], known: _Words) -> Manner | None:
    """How it is said what stands after a colon; None where that, or none, announces it."""
    strange = False
    for index, word in enumerate(words):
        strange |= word[0].isalnum() and word not in known.announcing
        if strange and word == ":":
            opening = words[:index]
            if _denies(opening, known):
                return Manner.DENIED
            if opening[0] in known.topics and not _reports(opening, known):
                return None  # "about the fee: ..." goes on in the same voice
            return Manner.REPORTED if _reports(opening, known) else Manner.INTRODUCED
    return None


def _judged(before: list[str], act: list[str], rest: list[str], known: _Words) -> Manner:
    manner = _introduced(before, known)
    if manner is not None:
        is_state = manner is Manner.INTRODUCED and before[-1] == ":" and len(rest) < _SHORT
        if not (is_state and known.states.issuperset(act)):
            return manner
        before = []
    elif ":" in before:
        before = before[len(before) - before[::-1].index(":") :]
    before = _after_break(before, known)
    if _supposes(before, rest, known):
        return Manner.SUPPOSED
    if _denies(before, known) and not known.denied_itself.issuperset(act):
        return Manner.DENIED
    if _reports(before, known) or _reports_after(rest, known):
        return Manner.REPORTED
    if _asks(before, rest, known):
        return Manner.ASKED
    if before and before[-1] in known.infinitive and known.leading.isdisjoint(before):
        return Manner.REPORTED  # "the request is to delete it" names it, and does not make it
    return Manner.OWN


def _after_break(words: list[str], known: _Words) -> list[str]:
    """What follows on the last word that only joins it to what was said before."""
    for index in range(len(words) - 1, -1, -1):
        if words[index] == ";" or (words[index] in known.breaking and index):
            return words[index + 1 :]
    return words


def _line(words: Sequence[str]) -> str:
    return " ".join(words)


def _supposes(before: list[str], rest: list[str], known: _Words) -> bool:
    lines = [known.polite.sub(" ", _line(words)) for words in (before, rest)]
    first, last = (line.split() for line in lines)
    if any(known.suppositions.search(line) for line in lines):
        return True
    if not known.supposing.isdisjoint((*first, *last)) or not known.later.isdisjoint(last):
        return True
    maybe = [index for index, word in enumerate(first) if word in known.tentative]
    around = (word for index in maybe for word in first[max(0, index - 1) : index + 3])
    return bool(maybe) and known.wishing.isdisjoint(around)


def _denies(words: Sequence[str], known: _Words) -> bool:
    words = known.harmless.sub(" ", _line(words)).split()
    if words and words[0] in known.answer and words[1:2] == [","]:
        words = words[2:]  # it answers what was said before
    found = [index for index, word in enumerate(words) if _is_denial(word, known)]
    if not found:
        return known.denials.search(_line(words)) is not None
    last = found[-1]
    tail = words[last + 1 :]
    # "We do not need it, cancel it": what is denied has been said before the comma.
    told = not known.told_of.isdisjoint(words[:last])
    apart = [i for i, word in enumerate(tail) if word == "," or word in _DASHES]
    return not (told and apart and apart[0] > 0 and len(tail) - apart[-1] <= _SHORT)


def _is_denial(word: str, known: _Words) -> bool:
    return word in known.denying or word.endswith("n't")


def _reports(words: Sequence[str], known: _Words) -> bool:
    """Whether words tell of what somebody else says, or of what was only heard."""
    if known.of_others.search(_line(words)):
        return True
    for index, word in enumerate(words[:-1]):
        mine = index and words[index - 1] in known.mine
        if word in known.nouns and words[index + 1] in known.between and not mine:
            return True
    return any(
        word in known.hearing or (word in known.saying and not _is_by_speaker(words, index, known))
        for index, word in enumerate(words)
    )


def _is_by_speaker(words: Sequence[str], index: int, known: _Words) -> bool:
    """Whether the subject of a verb is the one who speaks, and not as the one who is told."""
    at = index - 1
    while at >= 0 and words[at] in known.between:
        at -= 1
    if at < 0 or words[at] not in known.own:
        return False
    is_told = not known.passive.isdisjoint(words[at + 1 : index])
    return not is_told or words[index].endswith("ing")


def _reports_after(words: list[str], known: _Words) -> bool:
    """Whether it is told afterwards whose words they were: "..., the customer wrote"."""
    marks = [i for i, word in enumerate(words) if word == "," or word in _DASHES]
    tail = words[marks[-1] + 1 :] if marks else []
    tail = [word for word in tail if word[0].isalnum()]
    if not tail or len(tail) > _AFTERWARDS or known.own.intersection(tail[:2]):
        return False
    # "..., and tell Tom" asks for more; "..., says Tom" and "..., he wrote" tell whose words it is.
    return any(
        word in known.saying and (f"{word}s" not in known.saying) for word in (*tail[:1], *tail[1:])
    )


def _asks(before: list[str], rest: list[str], known: _Words) -> bool:
    asked = "?" in rest
    lead = [word for word in before if word[0].isalnum() or word[0] == _APOSTROPHE]
    opens = lead[:1] and lead[0] in known.openings and lead[1:2] and lead[1] in known.persons
    for index, word in enumerate(lead):
        if word in known.requests and known.fillers.issuperset(lead[index + 1 :]):
            return asked and not known.requested.issuperset(lead[index + 1 : index + 2])
    if asked and not opens:
        return known.please.isdisjoint((*before, *rest))
    return bool(opens) or bool(lead and lead[0] in known.questions and "," not in before)
