"""MiniLM as an ONNX graph, in 8 bits: what the embedder and the detector have in common."""

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
MICROSOFT = "com.microsoft"
# 7 of the 8 bits: processors without VNNI add pairs of products in 16 bits, and pairs of full
# 8-bit weights overflow there. This way the sums are the same on all of them.
WEIGHT_LIMIT = 64


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


class Encoder:
    """Writes MiniLM into a graph, in 8 bits or as it was."""

    def __init__(self, weights: Weights, *, eight_bits: bool) -> None:
        self._weights = weights
        self._eight_bits = eight_bits
        self.graph = Graph()

    def states(self) -> str:
        """What the model makes of each word piece of the input `ids`."""
        x = self._embeddings()
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        return x

    def _embeddings(self) -> str:
        graph, name = self.graph, "embeddings.word_embeddings.weight"
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
        return self.graph.node("LayerNormalization", x, gain, bias, axis=-1, epsilon=EPSILON)
