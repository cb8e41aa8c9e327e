"""BM25 as in the textbooks: over lower-case words, nothing stemmed and nothing left out."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_K1, _B = 1.2, 0.75


def words(text: str) -> list[str]:
    """The words that a text is counted by."""
    return re.findall(r"\w+", text.lower())


class Bm25:
    """Texts that can be scored against a question."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [Counter(words(text)) for text in texts]
        self._seen = Counter(word for text in self._texts for word in text)
        lengths = [text.total() for text in self._texts]
        self._usual = sum(lengths) / len(lengths) if lengths else 0.0

    def scores(self, query: str) -> list[float]:
        """The score of each text for a question; 0 if they share no word."""
        asked = set(words(query))
        return [self._score(text, asked) for text in self._texts]

    def ranked(self, query: str) -> list[int]:
        """The places of the texts that share a word with a question, the best first."""
        scores = self.scores(query)
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        return [place for place in order if scores[place] > 0]

    def _score(self, text: Counter[str], asked: set[str]) -> float:
        ballast = _K1 * (1 - _B + _B * text.total() / (self._usual or 1.0))
        return sum(
            self._weight(word) * text[word] * (_K1 + 1) / (text[word] + ballast)
            for word in asked
            if text[word]
        )

    def _weight(self, word: str) -> float:
        seen = self._seen[word]
        return math.log(1 + (len(self._texts) - seen + 0.5) / (seen + 0.5))
