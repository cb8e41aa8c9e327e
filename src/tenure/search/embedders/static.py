"""A table of word vectors distilled from MiniLM: a text is the weighted mean of its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tenure.search.embedders.words import WEIGHTS, Words

_MOST_CHARACTERS = 8_192
# As many as can be added up in 32 bits: 127 × 8,191 (the largest scale) × 2,048 is below 2³¹.
_MOST_PIECES = 2_048


class Static:
    """No attention, no word order: some thirty times faster than the model it came from."""

    name: Final = "all-minilm-l6-v2/static/1"
    shares_batches: Final = False
    dimensions: Final = 256
    unrelated: Final = 0.3
    """Words alone are somewhat alike, whatever they are about."""

    def __init__(self) -> None:
        self._words = Words(most_characters=_MOST_CHARACTERS, most_pieces=_MOST_PIECES)
        with np.load(WEIGHTS / "static.npz") as stored:
            self._rows: npt.NDArray[np.int8] = stored["rows"]
            self._scales: npt.NDArray[np.int32] = stored["scales"].astype(np.int32)[:, None]

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row of length 1 per text; a row of zeros for a text that has no words."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if pieces := self._words.pieces(text):
                # In whole numbers, so that neither order nor processor shows in the sum.
                total = (self._rows[pieces] * self._scales[pieces]).sum(axis=0, dtype=np.int32)
                length = math.sqrt(np.dot(total.astype(np.float64), total))
                if length:
                    row[:] = total / length
        return rows
