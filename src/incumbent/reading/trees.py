"""Trees: one chance out of what the model says and what the words show.

Many small trees, each of which asks a few questions of a row of numbers and adds a little. They are
learned by `training.relate` and kept in `weights/weighing.npz`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

WEIGHTS: Final = Path(__file__).parent / "weights"


class Trees:
    """Trees that were learned. Safe to share between threads."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as found:
            self._feature = found["feature"].astype(np.int64)
            self._limit = found["limit"].astype(np.float64)
            self._next = found["next"].astype(np.int64)
            self._adds = found["adds"].astype(np.float64)
            self._roots = found["roots"].astype(np.int64)
            self._depth = int(found["depth"])
            self._base = float(found["base"])

    def chances(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """How likely each row of numbers is one of those that are looked for."""
        if not rows:
            return []
        x = np.array(rows, np.float64)
        at = np.tile(self._roots, (len(x), 1))
        for _ in range(self._depth):
            # A leaf leads to itself on both sides.
            is_more = np.take_along_axis(x, self._feature[at], 1) > self._limit[at]
            at = self._next[at, is_more.astype(np.int64)]
        scores = self._base + self._adds[at].sum(1)
        return [float(one) for one in 1 / (1 + np.exp(-scores))]


@lru_cache(maxsize=2)
def trees(folder: Path = WEIGHTS) -> Trees:
    """The trees that ship."""
    return Trees(folder / "weighing.npz")
