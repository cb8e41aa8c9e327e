"""Exports a trained reader to 8-bit ONNX.

    python -m training.export TRAINED.npz OUT.onnx [--words BASE.npz]

The table of words is taken as it is from the embedder that ships, or from what a larger model began
with, in 4 bits; the rest is rounded.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch

from incumbent.reading.learned.pieces import MOST
from tools.eight_bits import DISTANCES, MICROSOFT, Array, Encoder
from training.base import PARTS, TABLE, word_table
from training.network import BECOMES, KINDS, SHAPES, TAGS, as_the_teacher_counts, bucket_of

TEACHER: Final = SHAPES["teacher"]
_PIECES: Final = 30522
"""So many word pieces there are; a larger model has signs of its own before them."""


def counted(words: Array) -> Array:
    """The table of words of a larger model, in the order of our word pieces."""
    ids = torch.arange(_PIECES)
    return np.asarray(words[as_the_teacher_counts(ids).numpy()], np.float32)


def distances(table: Array) -> Array:
    """What each distance between two words adds, from the furthest before on."""
    where = torch.arange(-(MOST - 1), MOST)
    return np.asarray(table[bucket_of(where).numpy()], np.float32)


def renamed(trained: Mapping[str, Array]) -> dict[str, Array]:
    """The weights of the encoder under the names that they were published with."""
    first = TEACHER.first_place if "distances.weight" in trained else 0
    places = trained["places.weight"][first : first + MOST]
    found: dict[str, Array] = {
        "embeddings.position_embeddings.weight": places,
        "embeddings.token_type_embeddings.weight": np.zeros((1, places.shape[1]), np.float32),
        "embeddings.LayerNorm.weight": trained["embedding_norm.weight"],
        "embeddings.LayerNorm.bias": trained["embedding_norm.bias"],
    }
    if "distances.weight" in trained:
        found[DISTANCES] = distances(trained["distances.weight"])
    for name, value in trained.items():
        if name.startswith("layers."):
            _, layer, part, kind = name.split(".")
            found[f"encoder.layer.{layer}.{PARTS[part]}.{kind}"] = value
    return found


class Heads:
    """What the model says of signs and pieces, on top of the encoder."""

    def __init__(self, encoder: Encoder, trained: Mapping[str, Array]) -> None:
        self._graph = encoder.graph
        self._trained = trained
        self._states = encoder.states()

    def model(self) -> bytes:
        """Pieces and the places of the signs in; what becomes of each statement, and what is to be
        said of each piece, out."""
        graph = self._graph
        text = graph.node("Squeeze", self._states, graph.constant("first", np.array([0])))
        at = graph.node("Gather", text, "signs")
        whole = graph.node("Gather", text, graph.constant("start", np.array([0])))
        zeros = graph.node("Mul", at, graph.constant("none", np.array(0, np.float32)))
        both = graph.node("Concat", at, graph.node("Add", zeros, whole), axis=1)
        hidden = graph.node("Gelu", self._linear(both, "hidden"), domain=MICROSOFT)
        width = self._trained["asks.weight"].shape[0]
        return graph.model(
            "reader",
            {"ids": [1, "pieces"], "signs": ["signs"]},
            {
                self._linear(hidden, "becomes"): ["signs", BECOMES],
                self._linear(text, "pieces"): ["pieces", 1 + KINDS + 1 + TAGS],
                self._linear(text, "asks"): ["pieces", width],
                self._linear(text, "keys"): ["pieces", width],
            },
        )

    def _linear(self, x: str, name: str) -> str:
        graph = self._graph
        weight = graph.constant(f"{name}.weight", self._trained[f"{name}.weight"].T)
        bias = graph.constant(f"{name}.bias", self._trained[f"{name}.bias"])
        return graph.node("Add", graph.node("MatMul", x, weight), bias)


def exported(path: Path, words: Path | None = None) -> bytes:
    """The ONNX model of trained weights; the same weights give the same bytes."""
    found = np.load(path)
    trained = {name: found[name].astype(np.float32) for name in found.files}
    table = word_table() if words is None else counted(np.load(words)["words.weight"])
    shape = SHAPES["shipped"] if words is None else TEACHER
    encoder = Encoder(
        {**renamed(trained), TABLE: table},
        eight_bits=True,
        layers=shape.layers,
        epsilon=shape.epsilon,
        positions=MOST,
        four_bit_words=words is not None,
    )
    return Heads(encoder, trained).model()


def main() -> None:
    parser = argparse.ArgumentParser(description="Export a trained reader to 8-bit ONNX.")
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--words", type=Path, help="what a larger model began with")
    options = parser.parse_args()
    model = exported(options.trained, options.words)
    options.out.write_bytes(model)
    print(f"{hashlib.sha256(model).hexdigest()}  {len(model):,} bytes")


if __name__ == "__main__":
    main()
