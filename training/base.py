"""The weights that training starts from, for the machine that trains.

    python training/base.py MINILM.onnx LAYERS.npz OUT.npz

The table of words is the one that ships with Tenure, in 8 bits, as the detector will have it too.
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import numpy_helper

TABLE = "embeddings.word_embeddings.weight"


def main() -> None:
    model, layers, out = sys.argv[1:4]
    stored = {t.name: t for t in onnx.load(model).graph.initializer}
    rows = numpy_helper.to_array(stored[TABLE]).astype(np.float32)
    scales = numpy_helper.to_array(stored[f"{TABLE}.scales"])
    found = {**np.load(layers), "words.weight": (rows * scales).astype(np.float32)}
    np.savez(out, **found)


if __name__ == "__main__":
    main()
