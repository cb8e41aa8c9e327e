"""Phrases to be found in running words, all of them in one walk from each word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

What = TypeVar("What")

_DEEP = 64
"""Phrases that share so many first words are compared one by one."""
_FEW = 4
_END = None
"""The key in a node for the phrases that end there, or are compared one by one from there. No word
is None."""


class Phrases(Generic[What]):
    """Phrases, each with the thing it stands for.

    The work for a word of a text does not grow with the number of phrases. A phrase that is too
    long to be compared at once also counts if a text has only its beginning.
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
        """The phrases that running words have at a place, the longest first, each with the number
        of its words."""
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
    """The number of words of a phrase that stand at a place, one after the other."""
    count = 0
    for word, there in zip(words, spoken[place : place + len(words)], strict=False):
        if word != there:
            break
        count += 1
    return count
