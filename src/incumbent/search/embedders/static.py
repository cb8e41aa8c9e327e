"""A table of word vectors distilled from MiniLM: a text is the weighted mean of its words."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from os import SEEK_CUR
from typing import Final
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import numpy.typing as npt

from incumbent.search.embedders.words import WEIGHTS, Words

_MOST_CHARACTERS = 8_192
# As many as can be added up in 32 bits: 127 × 8,191 (the largest scale) × 2,048 is below 2³¹.
_MOST_PIECES = 2_048
# Of a text up to which many texts are added up piece by piece.
_FEW_PIECES = 64

_TABLE = WEIGHTS / "static.npz"
_NAME_LENGTHS = 26
"""Where the header of a file in an archive tells how long its two names are, 30 bytes in all."""


def _mapped(name: str) -> npt.NDArray[np.int8]:
    """An array of the table, read from the file as it is needed: processes share its memory."""
    with ZipFile(_TABLE) as archive, _TABLE.open("rb") as file:
        told = archive.getinfo(f"{name}.npy")
        assert told.compress_type == ZIP_STORED, "an array that is packed cannot be mapped"
        file.seek(told.header_offset + _NAME_LENGTHS)
        file.seek(sum(struct.unpack("<HH", file.read(4))), SEEK_CUR)
        np.lib.format.read_magic(file)
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
        # As a plain array: parts of a mapped one are made with more ado.
        return np.asarray(np.memmap(_TABLE, kind, "r", file.tell(), shape))


class Static:
    """No attention, no word order: some thirty times faster than the model it came from."""

    name: Final = "all-minilm-l6-v2/static/1"
    shares_batches: Final = False
    dimensions: Final = 256
    unrelated: Final = 0.3
    """Words alone are somewhat alike, whatever they are about."""

    def __init__(self) -> None:
        self._words = Words(most_characters=_MOST_CHARACTERS, most_pieces=_MOST_PIECES)
        with np.load(_TABLE) as stored:
            self._scales: npt.NDArray[np.int32] = stored["scales"].astype(np.int32)[:, None]
        self._rows: npt.NDArray[np.int8] = _mapped("rows")

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row of length 1 per text; a row of zeros for a text that has no words."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        cut = [self._words.pieces(text) for text in texts]
        worded = [index for index, pieces in enumerate(cut) if pieces]
        for portion in _portions(worded, cut):
            totals = self._totals([cut[index] for index in portion])
            lengths = [math.sqrt(np.dot(total, total)) or 1.0 for total in totals]
            rows[portion] = totals / np.array(lengths)[:, None]
        return rows

    def _totals(self, cut: list[list[int]]) -> npt.NDArray[np.float64]:
        """The sum of the vectors of each text's pieces, by their weights."""
        pieces = np.fromiter(chain.from_iterable(cut), np.intp)
        totals: npt.NDArray[np.int32]
        if len(cut) == 1:
            totals = self._weighted(pieces).sum(axis=0, dtype=np.int32, keepdims=True)
        else:
            lengths = np.fromiter(map(len, cut), np.intp, len(cut))
            totals = self._sums(pieces, lengths)
        return totals.astype(np.float64)

    def _weighted(self, pieces: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
        # In whole numbers, so that neither order nor processor shows in a sum.
        return self._rows[pieces] * self._scales[pieces]

    def _sums(
        self, pieces: npt.NDArray[np.intp], lengths: npt.NDArray[np.intp]
    ) -> npt.NDArray[np.int32]:
        """The sums of texts of so many pieces each."""
        starts = np.cumsum(lengths) - lengths
        if lengths.max() > _FEW_PIECES:
            return np.add.reduceat(self._weighted(pieces), starts, axis=0, dtype=np.int32)
        # Many short texts have the same pieces: each is weighed once. The first pieces of all texts
        # are added at once, then the second ones of those that have two, and so on.
        different, which = np.unique(pieces, return_inverse=True)
        weighted = self._weighted(different)
        order = np.argsort(-lengths, kind="stable")
        starts, longer = starts[order], np.cumsum(np.bincount(lengths)[::-1])[::-1]
        sums = np.zeros((len(lengths), self.dimensions), np.int32)
        for place in range(lengths.max()):
            texts = longer[place + 1]
            sums[:texts] += weighted.take(which[starts[:texts] + place], axis=0)
        totals = np.empty_like(sums)
        totals[order] = sums
        return totals


def _portions(indexes: list[int], cut: list[list[int]]) -> Iterator[list[int]]:
    """Texts in portions of not many more pieces than one long text has, to bound the memory."""
    portion: list[int] = []
    pieces = 0
    for index in indexes:
        portion.append(index)
        pieces += len(cut[index])
        if pieces >= _MOST_PIECES:
            yield portion
            portion, pieces = [], 0
    if portion:
        yield portion
