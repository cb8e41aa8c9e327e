"""Exports a trained detector to 8-bit ONNX.

    python -m training.export TRAINED.npz OUT.onnx

The table of words is taken as it is from the embedder that ships; the rest is rounded.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from incumbent.language.learned.kinds import CUTS, KINDS
from tools.eight_bits import MICROSOFT, WIDTH, Array, Encoder
from training.base import PARTS, TABLE, word_table

SPAN = 64


def renamed(trained: Mapping[str, Array]) -> dict[str, Array]:
    """The weights of the encoder under the names that they were published with."""
    found: dict[str, Array] = {
        "embeddings.position_embeddings.weight": trained["places.weight"],
        "embeddings.token_type_embeddings.weight": np.zeros((1, WIDTH), np.float32),
        "embeddings.LayerNorm.weight": trained["embedding_norm.weight"],
        "embeddings.LayerNorm.bias": trained["embedding_norm.bias"],
    }
    for name, value in trained.items():
        if name.startswith("layers."):
            _, layer, part, kind = name.split(".")
            found[f"encoder.layer.{layer}.{PARTS[part]}.{kind}"] = value
    return found


class Heads:
    """What the model says at the marks, on top of the encoder."""

    def __init__(self, encoder: Encoder, trained: Mapping[str, Array]) -> None:
        self._graph = encoder.graph
        self._trained = trained
        self._states = encoder.states()

    def model(self) -> bytes:
        """Word pieces of one text and the places of its marks in; a row for each mark out."""
        graph = self._graph
        text = graph.node("Squeeze", self._states, graph.constant("first", np.array([0])))
        at = graph.node("Gather", text, "marks")
        whole = graph.node("Gather", text, graph.constant("start", np.array([0])))
        zeros = graph.node("Mul", at, graph.constant("none", np.array(0, np.float32)))
        both = graph.node("Concat", at, graph.node("Add", zeros, whole), axis=1)
        hidden = graph.node("Gelu", self._linear(both, "hidden"), domain=MICROSOFT)
        classes, kinds, cuts = (self._linear(hidden, n) for n in ("classes", "kinds", "cuts"))
        asks = self._linear(at, "asks")
        halves = graph.constant("halves", np.array([SPAN, SPAN]))
        first, last = graph.nodes_of("Split", 2, asks, halves, axis=1)
        starts, ends = self._spans(first, text, "begins"), self._spans(last, text, "ends")
        return graph.model(
            "detector",
            {"ids": [1, "pieces"], "marks": ["marks"]},
            {
                classes: ["marks", 4],
                starts: ["marks", "pieces"],
                ends: ["marks", "pieces"],
                kinds: ["marks", len(KINDS)],
                cuts: ["marks", len(CUTS)],
            },
        )

    def _linear(self, x: str, name: str) -> str:
        graph = self._graph
        weight = graph.constant(f"{name}.weight", self._trained[f"{name}.weight"].T)
        bias = graph.constant(f"{name}.bias", self._trained[f"{name}.bias"])
        return graph.node("Add", graph.node("MatMul", x, weight), bias)

    def _spans(self, asks: str, text: str, name: str) -> str:
        graph = self._graph
        keys = graph.node("Transpose", self._linear(text, name), perm=[1, 0])
        scale = graph.constant(f"{name}.scale", np.array(SPAN**-0.5, np.float32))
        return graph.node("Mul", graph.node("MatMul", asks, keys), scale)


def exported(path: Path) -> bytes:
    """The ONNX model of trained weights; the same weights give the same bytes."""
    found = np.load(path)
    trained = {name: found[name].astype(np.float32) for name in found.files}
    weights = {**renamed(trained), TABLE: word_table()}
    return Heads(Encoder(weights, eight_bits=True), trained).model()


def main() -> None:
    parser = argparse.ArgumentParser(description="Export a trained detector to 8-bit ONNX.")
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    model = exported(options.trained)
    options.out.write_bytes(model)
    print(f"{hashlib.sha256(model).hexdigest()}  {len(model):,} bytes")


if __name__ == "__main__":
    main()
