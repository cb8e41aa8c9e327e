"""Measures a trained model on encoded examples that it was not taught.

    python -m training.measure TRAINED.npz FILE.npz ... [--shape teacher] [--words BASE.npz]

For relations: how well what is over is told from what stands, and for siblings how much of it is
found where so many of those that stand are hit. For kinds and cuts: the F1 of each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import numpy as np
import torch

from training.train import (
    FIRST_CUT,
    FIRST_KIND,
    KINDS,
    SHAPES,
    Array,
    Model,
    Pairs,
    best_f1,
    chances_of,
    macro_f1,
    probabilities,
)

LEAVE, REPLACE, RETRACT = 0, 1, 3
HIT: Final = (0.02, 0.05, 0.08, 0.15, 0.3)
"""Shares of the statements that stand, wrongly taken to be over."""
RIGHT: Final = (0.8, 0.9)


def loaded(path: Path, shape: str, words: Path | None) -> Model:
    """A model out of its weights; the table of words comes with what it began with."""
    found = dict(np.load(path))
    if "words.weight" not in found:
        if words is None:
            raise SystemExit(f"{path} has no table of words; name what it began with: --words")
        found["words.weight"] = np.load(words)["words.weight"]
    model = Model(0.0, SHAPES[shape])
    state = {name: torch.from_numpy(value.astype(np.float32)) for name, value in found.items()}
    model.load_state_dict(state)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    return model


def of_relations(over: Array, labels: Array) -> str:
    """How well what is over is told from what stands."""
    y = np.isin(labels, (REPLACE, RETRACT))
    f1, line, *_ = best_f1(over, y)
    order = np.argsort(-over)
    hits = y[order].cumsum()
    right = hits / np.arange(1, len(y) + 1)
    found = [max([*(hits[right >= share] / y.sum()), 0.0]) for share in RIGHT]
    average = (right * y[order]).sum() / max(1, y.sum())
    stands = over[labels == LEAVE]
    at = [float((over[y] >= np.quantile(stands, 1 - share)).mean()) for share in HIT]
    return (
        f"{len(y):,} ({y.sum():,} over): F1 {f1:.3f} from {line:.2f}, average precision "
        f"{average:.3f}, recall at .8 and .9 right {found[0]:.2f} {found[1]:.2f}; found where "
        + ", ".join(f"{s:.0%} stand: {r:.2f}" for s, r in zip(HIT, at, strict=True))
    )


def measured(model: Model, path: Path) -> None:
    """Print the figures of one file."""
    device = next(model.parameters()).device.type
    pairs = Pairs(path)
    labels = pairs.marks[:, 2]
    if labels.min() >= FIRST_KIND:
        head, width, first = (
            (4, 2, FIRST_CUT) if labels.min() >= FIRST_CUT else (3, KINDS, FIRST_KIND)
        )
        mean, each = macro_f1(chances_of(model, pairs, device, head, width), labels - first)
        print(f"{path.stem}: F1 {mean:.3f}", [round(one, 2) for one in each], flush=True)
        return
    classes, _ = probabilities(model, pairs, device)
    whole = pairs.marks[:, 1] == 0
    for name, chosen in (("values", ~whole), ("whole", whole)):
        if chosen.any():
            over = (classes[:, REPLACE] + classes[:, RETRACT])[chosen]
            print(f"{path.stem}, {name}: {of_relations(over, labels[chosen])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a trained model.")
    parser.add_argument("trained", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--shape", choices=SHAPES, default="shipped")
    parser.add_argument("--words", type=Path)
    options = parser.parse_args()
    model = loaded(options.trained, options.shape, options.words)
    for path in options.files:
        measured(model, path)


if __name__ == "__main__":
    main()
