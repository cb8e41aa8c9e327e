"""Encoders as ONNX graphs, in 8 bits: what the embedder and the readers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
Weights = Mapping[str, npt.NDArray[np.float32]]

LAYERS, HEADS, WIDTH, POSITIONS = 6, 12, 384, 256
EPSILON = 1e-12
DISTANCES = "encoder.relative_attention_bias"
"""What the distance between two words adds to how much they look at each other: a row for each
distance that there can be, a column for each head. Only larger encoders have it."""
MICROSOFT = "com.microsoft"
# 7 of the 8 bits: processors without VNNI add pairs of products in 16 bits, and pairs of full
# 8-bit weights overflow there. This way the sums are the same on all of them.
WEIGHT_LIMIT = 64


NIBBLE, BLOCK = 7, 16
"""The largest of signed 4-bit numbers, and how many of them in a row have a scale of their own."""

Shapes = Mapping[str, list[str | int]]
"""The names of inputs or outputs, with their dimensions."""


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

    def model(self, name: str, inputs: Shapes, outputs: Shapes) -> bytes:
        """The finished model, with whole numbers in and fractions out."""
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(n, TensorProto.INT64, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
            self.constants,
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        return bytes(model.SerializeToString(deterministic=True))


def quantised(matrix: Array, limit: int, axis: int) -> tuple[Array, Array]:
    """Signed 8-bit numbers up to a limit, and the scales of what remains after an axis."""
    scales = np.maximum(np.abs(matrix).max(axis, keepdims=True), 1e-12) / limit
    return np.rint(matrix / scales).astype(np.int8), scales.astype(np.float32)


def halved(table: Array) -> tuple[Array, Array]:
    """Signed 4-bit numbers, each beside the one half a row on in a byte, and the scales of every
    few columns."""
    blocks = table.reshape(len(table), -1, BLOCK)
    scales = np.maximum(np.abs(blocks).max(-1, keepdims=True), 1e-5) / NIBBLE
    scales = scales.astype(np.float16)
    levels = np.clip(np.rint(blocks / scales.astype(np.float32)), -NIBBLE, NIBBLE) + 8
    low, high = np.split(levels.astype(np.uint8).reshape(table.shape), 2, axis=1)
    return low | high << 4, scales


def in_four_bits(table: Array) -> Array:
    """A table as it is once it has been in 4 bits."""
    packed, scales = halved(np.asarray(table, np.float32))
    levels = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    blocks = levels.reshape(len(table), -1, BLOCK) * scales.astype(np.float32)
    return np.asarray(blocks.reshape(table.shape), np.float32)


class Encoder:
    """Writes an encoder into a graph, in 8 bits or as it was."""

    def __init__(
        self,
        weights: Weights,
        *,
        eight_bits: bool,
        layers: int = LAYERS,
        epsilon: float = EPSILON,
        positions: int = POSITIONS,
        four_bit_words: bool = False,
    ) -> None:
        self._weights = weights
        self._eight_bits = eight_bits
        self._layers = layers
        self._epsilon = epsilon
        self._positions = positions
        self._four_bit_words = four_bit_words
        self._near = ""
        self.graph = Graph()

    def states(self) -> str:
        """What the model makes of each word piece of the input `ids`."""
        x = self._embeddings()
        if DISTANCES in self._weights:
            self._near = self._distances()
        for layer in range(self._layers):
            x = self._layer(x, f"encoder.layer.{layer}.")
        return x

    def _distances(self) -> str:
        """What the distances between all words of the input add, for each head."""
        graph = self.graph
        length = graph.node("Squeeze", graph.node("Shape", "ids", start=1, end=2))
        first, one = (graph.constant(n, np.array(v)) for n, v in (("nearest", 0), ("next", 1)))
        places = graph.node("Range", first, length, one)
        ahead, behind = (graph.constant(f"axis{n}", np.array([n])) for n in (0, 1))
        apart = graph.node(
            "Sub",
            graph.node("Unsqueeze", places, ahead),
            graph.node("Unsqueeze", places, behind),
        )
        row = graph.node("Add", apart, graph.constant("middle", np.array(self._positions - 1)))
        near = graph.node("Gather", graph.constant("near", self._weights[DISTANCES]), row)
        return graph.node("Transpose", near, perm=[2, 0, 1])

    def _embeddings(self) -> str:
        graph, name = self.graph, "embeddings.word_embeddings.weight"
        table = self._weights[name]
        if self._four_bit_words:
            words = self._half_words(name, table)
        elif self._eight_bits:
            rows, scales = quantised(table, 127, axis=1)
            found = graph.node("Gather", graph.constant(name, rows), "ids")
            scale = graph.node("Gather", graph.constant(f"{name}.scales", scales), "ids")
            words = graph.node("Mul", graph.node("Cast", found, to=TensorProto.FLOAT), scale)
        else:
            words = graph.node("Gather", graph.constant(name, table), "ids")
        kinds = self._weights["embeddings.token_type_embeddings.weight"]
        told = self._weights["embeddings.position_embeddings.weight"]
        places = told[: self._positions] + kinds[0]
        zero = graph.constant("zero", np.array([0], np.int64))
        length = graph.node("Shape", "ids", start=1, end=2)
        placed = graph.node("Slice", graph.constant("places", places), zero, length, zero)
        return self._norm(graph.node("Add", words, placed), "embeddings.LayerNorm")

    def _half_words(self, name: str, table: Array) -> str:
        graph = self.graph
        packed, scales = halved(table)
        found = graph.node("Gather", graph.constant(name, packed), "ids")
        low = graph.node("BitwiseAnd", found, graph.constant("low", np.array(15, np.uint8)))
        four = graph.constant("four", np.array(4, np.uint8))
        high = graph.node("BitShift", found, four, direction="RIGHT")
        both = graph.node("Concat", low, high, axis=2)
        levels = graph.node("Cast", both, to=TensorProto.FLOAT)
        middle = graph.constant("centre", np.array(8, np.float32))
        blocks = graph.constant("blocks", np.array([0, 0, -1, BLOCK]))
        apart = graph.node("Reshape", graph.node("Sub", levels, middle), blocks)
        scale = graph.node("Gather", graph.constant(f"{name}.scales", scales), "ids")
        wide = graph.node("Cast", scale, to=TensorProto.FLOAT)
        joined = graph.constant("row", np.array([0, 0, table.shape[1]]))
        return graph.node("Reshape", graph.node("Mul", apart, wide), joined)

    def _layer(self, x: str, layer: str) -> str:
        attended = self._attention(x, f"{layer}attention.self.")
        x = self._norm(
            self.graph.node("Add", self._linear(attended, f"{layer}attention.output.dense"), x),
            f"{layer}attention.output.LayerNorm",
        )
        wide = self.graph.node(
            "Gelu", self._linear(x, f"{layer}intermediate.dense"), domain=MICROSOFT
        )
        return self._norm(
            self.graph.node("Add", self._linear(wide, f"{layer}output.dense"), x),
            f"{layer}output.LayerNorm",
        )

    def _attention(self, x: str, name: str) -> str:
        if self._near:
            return self._attention_by_distance(x, name)
        graph, parts = self.graph, ("query", "key", "value")
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

    def _attention_by_distance(self, x: str, name: str) -> str:
        graph = self.graph
        width = self._weights[f"{name}query.weight"].shape[0]
        heads = self._weights[DISTANCES].shape[1]
        apart = graph.constant(f"{name}apart", np.array([0, 0, heads, width // heads]))
        query, key, value = (
            graph.node("Reshape", self._linear(x, f"{name}{part}"), apart)
            for part in ("query", "key", "value")
        )
        seen = graph.node(
            "MatMul",
            graph.node("Transpose", query, perm=[0, 2, 1, 3]),
            graph.node("Transpose", key, perm=[0, 2, 3, 1]),
        )
        scale = graph.constant(f"{name}scale", np.array((width // heads) ** -0.5, np.float32))
        weighed = graph.node("Add", graph.node("Mul", seen, scale), self._near)
        told = graph.node(
            "MatMul",
            graph.node("Softmax", weighed, axis=-1),
            graph.node("Transpose", value, perm=[0, 2, 1, 3]),
        )
        joined = graph.constant(f"{name}joined", np.array([0, 0, width]))
        return graph.node("Reshape", graph.node("Transpose", told, perm=[0, 2, 1, 3]), joined)

    def _linear(self, x: str, name: str) -> str:
        graph, matrix = self.graph, self._weights[f"{name}.weight"].T
        bias = graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        if not self._eight_bits:
            return graph.node("Add", graph.node("MatMul", x, graph.constant(name, matrix)), bias)
        rows, scales = quantised(matrix, WEIGHT_LIMIT, axis=0)
        weight = graph.constant(name, rows)
        scale = graph.constant(f"{name}.scales", scales[0])
        return graph.node("DynamicQuantizeMatMul", x, weight, scale, "", bias, domain=MICROSOFT)

    def _norm(self, x: str, name: str) -> str:
        gain = self.graph.constant(f"{name}.weight", self._weights[f"{name}.weight"])
        bias = self.graph.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        return self.graph.node("LayerNormalization", x, gain, bias, axis=-1, epsilon=self._epsilon)
