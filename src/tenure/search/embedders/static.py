"""A table of word vectors distilled from MiniLM: a text is the weighted mean of its words."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from os import SEEK_CUR
from typing import Final
from zipfile import ZIP_STORED, ZipFile

import numpy as np
import numpy.typing as npt

from tenure.search.embedders.words import WEIGHTS, Words

_MOST_CHARACTERS = 8_192
# As many as can be added up in 32 bits: 127 × 8,191 (the largest scale) × 2,048 is below 2³¹.
_MOST_PIECES = 2_048

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
        for row, text in zip(rows, texts, strict=True):
            if pieces := self._words.pieces(text):
                # In whole numbers, so that neither order nor processor shows in the sum.
                total = (self._rows[pieces] * self._scales[pieces]).sum(axis=0, dtype=np.int32)
                length = math.sqrt(np.dot(total.astype(np.float64), total))
                if length:
                    row[:] = total / length
        return rows
