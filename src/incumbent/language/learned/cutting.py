"""Cutting: where a new statement begins in a turn that is written without full stops.

"renting on elm street still mum wants me back in leeds" are two statements. Where signs tell, the
rules cut; where nothing does, the model is asked, word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Protocol

from incumbent.language.learned.encoding import Span
from incumbent.language.learned.kinds import WORD
from incumbent.language.lexicon import data, lexicon, word_set
from incumbent.language.things import is_linking

_SURE: Final = 0.6
_FEWEST: Final = 8
"""So many words in a row without a sign may be two statements."""
_SHORTEST: Final = 2
"""No statement is cut off with fewer words."""
_NAMED: Final = 3
"""So many words go with an article at most, the last of them before a verb."""
_AT_ONCE: Final = 60
_MOST_READINGS: Final = 12
_STRETCH = re.compile(r"[^.!?;:,\n]+")
_NOT_PROSE = re.compile(r"[`\"“”«»<>{}|=\\]")


class Cuts(Protocol):
    """A model that tells where statements begin."""

    def begins(self, turn: str, words: Sequence[Span]) -> tuple[float, ...]:
        """How likely a statement begins with each of these words."""
        ...


@lru_cache(maxsize=2)
def _words(name: str) -> frozenset[str]:
    return word_set(data("desk")[name])


def cut(text: str, model: Cuts) -> str:
    """A turn with a new line for the space before each word that a statement begins with.

    No character moves, so a place in the one is a place in the other.
    """
    if _NOT_PROSE.search(text):
        return text
    letters = list(text)
    for number, words in enumerate(_readings(text)):
        if number >= _MOST_READINGS:
            break
        start = words[0].start()
        spans = [(word.start() - start, word.end() - start) for word in words]
        chances = model.begins(text[start : words[-1].end()], spans)
        for place in _places(text, words, chances):
            letters[place - 1] = "\n"
    return "".join(letters)


def _readings(text: str) -> Iterator[list[re.Match[str]]]:
    """The words of a turn, some at a time, where any stretch may be several statements."""
    stretches = (WORD.findall(stretch) for stretch in _STRETCH.findall(text))
    if max(map(len, stretches), default=0) < _FEWEST:
        return
    words = list(WORD.finditer(text))
    for begin in range(0, len(words), _AT_ONCE):
        yield words[begin : begin + _AT_ONCE]


def _places(text: str, words: Sequence[re.Match[str]], chances: Sequence[float]) -> Iterator[int]:
    """Where the model sees statements begin, and the words do not speak against it."""
    last, is_open = 0, False
    for place, (word, chance) in enumerate(zip(words, chances, strict=True)):
        is_open = is_open or word.group().lower() in _words("opening")
        far = place - last >= _SHORTEST and len(words) - place >= _SHORTEST
        if chance < _SURE or not far or not _may_begin(text, word.start()):
            continue
        if _is_within_a_name(words, place):
            continue
        if is_open:
            is_open = False  # what follows from a condition goes with it
            continue
        last = place
        yield word.start()


def _is_within_a_name(words: Sequence[re.Match[str]], place: int) -> bool:
    """Whether a word may go on with what an article or a possessive opened just before: "the front
    desk contact", "the Rowan building"."""
    opens = lexicon().determiners
    if words[place].group().lower() in opens | lexicon().pronouns | lexicon().speaker:
        return False
    after = words[place + 1].group().lower() if place + 1 < len(words) else ""
    reach = _NAMED if is_linking(after) else _NAMED - 1
    return any(word.group().lower() in opens for word in words[max(0, place - reach) : place])


def _may_begin(text: str, place: int) -> bool:
    """Whether a statement may begin at a word: after a space, and not with what only joins."""
    found = WORD.match(text, place)
    is_apart = place > 1 and text[place - 1] == " " and text[place - 2].isalnum()
    return is_apart and found is not None and found.group().lower() not in _words("binding")
