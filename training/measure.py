"""Measures what a model says of encoded scenes against what is right about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from training.batches import Scenes

HIT: Final = (0.02, 0.05, 0.08, 0.15)
"""Shares of the statements that stand, wrongly taken to be over."""
RIGHT: Final = (0.8, 0.9)
_GOES: Final = (1, 2)
_TOUCHED: Final = (1, 2, 3)
Array = npt.NDArray[Any]


def shares(logits: Array) -> Array:
    """The chances that scores of several answers stand for."""
    chances = np.exp(logits.astype(np.float64) - logits.max(-1, keepdims=True))
    return np.asarray(chances / chances.sum(-1, keepdims=True))


def of_over(chance: Array, over: Array) -> dict[str, float]:
    """How well what is over is told from what stands."""
    order = np.argsort(-chance)
    hits = over[order].cumsum()
    count = np.arange(1, len(over) + 1)
    right = hits / count
    all_of_them = max(1, int(over.sum()))
    found = [max([*(hits[right >= share] / all_of_them), 0.0]) for share in RIGHT]
    stands = chance[~over]
    at = [float((chance[over] >= np.quantile(stands, 1 - share)).mean()) for share in HIT]
    told = {
        "of": len(over),
        "over": int(over.sum()),
        "best F1": float((2 * hits / (count + all_of_them)).max()),
        "average precision": float((right * over[order]).sum() / all_of_them),
        **{f"recall at {share}": float(one) for share, one in zip(RIGHT, found, strict=True)},
        **{f"found at {share:.0%}": one for share, one in zip(HIT, at, strict=True)},
    }
    return {name: round(value, 3) for name, value in told.items()}


def values_of(scenes: Scenes) -> tuple[Array, Array]:
    """The pieces that are values, and of which value each is: neighbours with the same answer."""
    weight, over = scenes.columns["weight"], scenes.columns["over"]
    is_value = (over >= 0) & (weight > 0.11)
    starts = is_value & ~(np.r_[False, is_value[:-1]] & np.r_[False, over[1:] == over[:-1]])
    return np.flatnonzero(is_value), (np.cumsum(starts) - 1)[is_value]


def measured(scenes: Scenes, said: dict[str, Array]) -> dict[str, Any]:
    """The figures of one file, printed as well."""
    figures: dict[str, Any] = {}
    known = scenes.tables["known"]
    there = known[:, 2] >= 0
    if there.any():
        chances = shares(said["known"][there])
        label = known[there, 2]
        figures["whole"] = of_over(chances[:, _GOES].sum(-1), np.isin(label, _GOES))
        figures["touched"] = of_over(chances[:, _TOUCHED].sum(-1), np.isin(label, _TOUCHED))
        guess = chances.argmax(-1)
        figures["becomes F1"] = [_f1(guess == n, label == n) for n in range(chances.shape[1])]
    at, number = values_of(scenes)
    if len(at):
        odds = said["pieces"][at, 0].astype(np.float64)
        count = np.bincount(number)
        mean = np.bincount(number, odds) / count
        over = np.bincount(number, scenes.columns["over"][at]) > 0
        if over.any():
            figures["values"] = of_over(mean, over)
    for name, first, last in (("kinds", 1, 8), ("tags", 9, 14)):
        labels = scenes.columns[name]
        here = labels >= 0
        if here.any():
            guess = said["pieces"][here, first:last].argmax(-1)
            figures[f"{name} F1"] = [
                _f1(guess == n, labels[here] == n) for n in range(last - first)
            ]
    here = scenes.columns["cuts"] >= 0
    if here.any():
        figures["cuts F1"] = _f1(said["pieces"][here, 8] > 0, scenes.columns["cuts"][here] == 1)
    for name, told in figures.items():
        print(f"{scenes.name}, {name}: {told}", flush=True)
    return figures


def _f1(guess: Array, right: Array) -> float:
    both = int((guess & right).sum())
    either = int(guess.sum() + right.sum())
    return round(2 * both / either, 3) if either else 0.0
