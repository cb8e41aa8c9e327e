"""all-MiniLM-L6-v2 in 8 bits, by onnxruntime on one core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import onnxruntime

from incumbent.search.embedders.words import WEIGHTS, Words

_CLS, _SEP = 101, 102
# What the model's positions reach, less its two marks, and the characters that surely hold them.
_MOST_PIECES = 254
_MOST_CHARACTERS = 2_048


class MiniLM:
    """A six-layer transformer: understands paraphrases, a few milliseconds a text."""

    name: Final = "all-minilm-l6-v2/int8/1"
    shares_batches: Final = False
    dimensions: Final = 384

    def __init__(self, *, threads: int = 1) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._words = Words(most_characters=_MOST_CHARACTERS, most_pieces=_MOST_PIECES)
        self._session = onnxruntime.InferenceSession(
            str(WEIGHTS / "minilm.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row of length 1 per text; a row of zeros for a text that has no words."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        # One text a run: the scales of the 8-bit activations are taken over the whole input, so
        # in a batch a text's vector would depend on its neighbours.
        for row, text in zip(rows, texts, strict=True):
            if pieces := self._words.pieces(text):
                ids = np.array([[_CLS, *pieces, _SEP]], np.int64)
                row[:] = self._session.run(None, {"ids": ids})[0][0]
        return rows
