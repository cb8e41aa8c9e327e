"""Batches: encoded scenes on the device that trains, perhaps with what teachers say of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]
Batch = dict[str, torch.Tensor]
COLUMNS = ("over", "kinds", "cuts", "tags", "weight")
TABLES = {"known": 4, "news": 4, "grounds": 3}


def softly(paths: Sequence[Path]) -> dict[str, Array]:
    """The mean of what some teachers say of a file."""
    told = [dict(np.load(path)) for path in paths]
    names = told[0] if told else ()
    mean = {n: np.mean([one[n] for one in told], axis=0, dtype=np.float32) for n in names}
    return {n: np.asarray(one, np.float16) for n, one in mean.items()}


class Scenes:
    """An encoded file on the device that trains, perhaps with what teachers say of it."""

    def __init__(self, path: Path, soft: Sequence[Path] = (), device: str = "cpu") -> None:
        self.name, self.device = path.stem, device
        with np.load(path) as found:
            self.ids, self.begins = found["ids"], found["begins"]
            self.columns = {name: found[name] for name in COLUMNS}
            self.tables = {name: found[name] for name in TABLES}
            self.turns = found["turns"]
        count = len(self.turns)
        self.first = {
            n: np.searchsorted(t[:, 0], np.arange(count + 1)) for n, t in self.tables.items()
        }
        told = softly([folder / f"{self.name}.soft.npz" for folder in soft])
        there = {"ids": self.ids, "turns": self.turns, **self.columns, **self.tables}
        there |= {f"soft_{name}": array for name, array in told.items()}
        self._there = {name: torch.from_numpy(one).to(device) for name, one in there.items()}

    def __len__(self) -> int:
        return len(self.turns)

    def batch(self, chosen: Sequence[int]) -> Batch:
        """Some scenes as the model reads them."""
        rows = np.array(chosen, np.int64)
        sizes = self.begins[rows + 1] - self.begins[rows]
        length = -(-int(sizes.max()) // 16) * 16
        begin, size = self._sent(self.begins[rows]), self._sent(sizes)
        where = torch.arange(length, device=self.device)[None]
        inside = where < size[:, None]
        at = torch.where(inside, begin[:, None] + where, 0)
        there = self._there
        made = {
            "ids": there["ids"][at].long() * inside,
            "weight": there["weight"][at].float() * inside,
        }
        for name in COLUMNS[:-1]:
            made[name] = torch.where(inside, there[name][at].long(), -1)
        if "soft_pieces" in there:
            made["soft"] = there["soft_pieces"][at].float()
        for name in TABLES:
            first, last = self.first[name][rows], self.first[name][rows + 1]
            numbers = self._sent(_ranges(first, last))
            table = there[name][numbers].long()
            table[:, 0] = self._sent(np.repeat(np.arange(len(rows)), last - first))
            made[name] = table
            if name == "known" and "soft_known" in there:
                made["soft_known"] = there["soft_known"][numbers].float()
        made["turn"] = there["turns"][self._sent(rows)].long()
        return made

    def _sent(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def batches(self, tokens: int, rng: np.random.Generator | None) -> Iterator[list[int]]:
        """Scenes of about one length together, in a new order each time."""
        order = np.arange(len(self))
        if rng is not None:
            rng.shuffle(order)
        lengths = np.diff(self.begins)
        pool = 4_000
        found: list[list[int]] = []
        for begin in range(0, len(order), pool):
            part = order[begin : begin + pool]
            part = part[np.argsort(lengths[part], kind="stable")]
            here: list[int] = []
            for n in part.tolist():
                if here and (len(here) + 1) * lengths[n] > tokens:
                    found.append(here)
                    here = []
                here.append(n)
            found.append(here)
        if rng is not None:
            rng.shuffle(found)
        yield from found


def _ranges(first: Array, last: Array) -> Array:
    """All numbers of some ranges, one after the other."""
    sizes = last - first
    begins = np.repeat(first - np.r_[0, sizes.cumsum()[:-1]], sizes)
    return np.asarray(begins + np.arange(int(sizes.sum())), np.int64)
