"""Quotations: whether a text repeats other texts, in time that grows with its length."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from incumbent.model.values import bare

# Scripts that put no spaces between words; each of their characters is taken for a word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_SOLE = re.compile(rf"[{_UNSPACED}]")
_LONG = 64
"""Texts of more words are searched for one by one: a tree of all their words would take too much
memory, and there are never many of them."""


class Quotations:
    """Tells whether a text repeats one of some texts, in any spacing and punctuation.

    Whole words only, in any case, with or without accents. The words of all short texts form one
    tree with links back to the node where a broken-off match may go on (Aho and Corasick). So a
    text is read once, for any number of texts and near matches.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._onward: list[dict[str, int]] = [{}]
        self._back = [0]
        self._length = [0]
        """The number of words of the text that ends at a node; 0 if none does."""
        self._ending = [0]
        """The nearest node on the way back where a text ends."""
        self._long: list[str] = []
        self._signs: list[str] = []
        for text in dict.fromkeys(map(bare, texts)):
            words = _WORD.findall(text)
            if len(words) > _LONG:
                self._long.append(_run(words))
            elif words:
                self._add(words)
            elif text.strip():
                self._signs.append(text.strip())
        self._link()

    def __bool__(self) -> bool:
        return len(self._onward) > 1 or bool(self._long or self._signs)

    def found_in(self, text: str) -> bool:
        """Whether a text repeats one of them."""
        if not self:
            return False
        text = bare(text)
        found = list(_WORD.finditer(text))
        words = [one.group() for one in found]
        if any(
            _is_apart(text, found[last - length + 1].start(), found[last].end())
            for last, length in self.occurrences(words)
        ):
            return True
        run = _run(words) if self._long else ""
        return any(one in run for one in self._long) or any(
            _stands_alone(sign, text) for sign in self._signs
        )

    def occurrences(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """The occurrences of the short texts among words: the place of the last word, and the
        number of words."""
        node = 0
        for place, word in enumerate(words):
            while (onward := self._onward[node].get(word)) is None and node:
                node = self._back[node]
            node = onward or 0
            ending = node if self._length[node] else self._ending[node]
            while ending:
                yield place, self._length[ending]
                ending = self._ending[ending]

    def _add(self, words: Sequence[str]) -> None:
        node = 0
        for word in words:
            onward = self._onward[node].get(word)
            if onward is None:
                onward = self._onward[node][word] = len(self._onward)
                self._onward.append({})
                self._back.append(0)
                self._length.append(0)
                self._ending.append(0)
            node = onward
        self._length[node] = len(words)

    def _link(self) -> None:
        """Link every node to the node where a match that breaks off after it may go on, nearer ones
        first."""
        waiting = deque(self._onward[0].values())
        while waiting:
            node = waiting.popleft()
            back = self._back[node]
            self._ending[node] = back if self._length[back] else self._ending[back]
            for word, onward in self._onward[node].items():
                before = back
                while word not in self._onward[before] and before:
                    before = self._back[before]
                self._back[onward] = self._onward[before].get(word, 0)
                waiting.append(onward)


def _run(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether a stretch of words is no part of a longer word: of a name such as order_status, or,
    for a single character, of a word in a script without spaces."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    if end - start == 1 and _SOLE.match(text, start):
        return not (before.isalnum() or after.isalnum())
    return "_" not in (before, after)


def _stands_alone(sign: str, text: str) -> bool:
    """Whether signs that are no words stand in a text apart from any word."""
    start = text.find(sign)
    while start >= 0:
        before, after = text[start - 1 : start] if start else "", text[start + len(sign) :][:1]
        if not (before.isalnum() or after.isalnum()):
            return True
        start = text.find(sign, start + 1)
    return False
