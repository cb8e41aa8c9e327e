"""Phrases to be looked for in running words, all of them in one walk from each word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

What = TypeVar("What")

_DEEP = 64
"""Phrases that begin with as many of the same words are told apart one by one."""
_FEW = 4
_END = None
"""Where a node has the phrases that end, or are told apart, there; no word is None."""


class Phrases(Generic[What]):
    """Phrases, each with what it stands for.

    What is looked at for a word of a text does not grow with how many phrases there are. One of
    more words than are told apart at once counts also where a text has only its beginning.
    """

    def __init__(self) -> None:
        self._root: dict[Any, Any] = {}

    def add(self, words: Sequence[str], what: What) -> None:
        node = self._root
        for word in words[:_DEEP]:
            node = node.setdefault(word, {})
        node.setdefault(_END, []).append((words, what))

    def firsts(self) -> set[str]:
        """The words that phrases begin with."""
        return self._root.keys() - {_END}

    def at(self, spoken: Sequence[str], place: int) -> Iterator[tuple[int, What]]:
        """The phrases that running words have at a place, the longest first, each with how many
        of the words are its own."""
        node = self._root
        met: list[list[tuple[Sequence[str], What]]] = []
        for index in range(place, min(len(spoken), place + _DEEP)):
            if spoken[index] not in node:
                break
            node = node[spoken[index]]
            if _END in node:
                met.append(node[_END])
        for ends in reversed(met):
            yield from _ending(ends, spoken, place)


def _ending(
    ends: list[tuple[Sequence[str], What]], spoken: Sequence[str], place: int
) -> Iterator[tuple[int, What]]:
    longer = [one for one in ends if len(one[0]) > _DEEP]
    if len(longer) > _FEW:
        # Too many to tell apart: whichever it is, it does not reach beyond the end.
        yield from ((len(spoken) - place, what) for _, what in longer)
    else:
        agreed = ((_agreed(words, spoken, place), what) for words, what in longer)
        yield from sorted(agreed, key=lambda one: -one[0])
    yield from ((len(words), what) for words, what in ends if len(words) <= _DEEP)


def _agreed(words: Sequence[str], spoken: Sequence[str], place: int) -> int:
    """How many words of a phrase stand at a place, one after the other."""
    count = 0
    for word, there in zip(words, spoken[place : place + len(words)], strict=False):
        if word != there:
            break
        count += 1
    return count
