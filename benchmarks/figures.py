"""What is measured, and what it is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Figures:
    """One size's figures: microseconds per operation, megabytes."""

    batch: float
    bare_batch: float
    lean_batch: float
    batch_processor: float
    """The processor's time: on a busy machine the clock contains waiting."""
    bare_batch_processor: float
    indexed: float
    bare_indexed: float
    indexed_processor: float
    bare_indexed_processor: float
    phases: dict[str, float]
    """Of a batch with the index, the processor's time."""
    single: float
    bare_single: float
    current: float
    bare_select: float
    peak_mb: float
    file_mb: float


class Target(NamedTuple):
    """A figure with the ceiling it should stay under."""

    what: str
    measured: float
    ceiling: float
    unit: str = "×"


def targets_of(runs: dict[int, Figures]) -> list[Target]:
    """The project's targets, for the sizes that were run."""
    found = []
    for size, run in runs.items():
        found.append(Target(f"batch load at {size:,}", run.batch / run.bare_batch, 2))
        found.append(
            Target(f"batch load with the index at {size:,}", run.indexed / run.bare_indexed, 4)
        )
        found.append(Target(f"single write at {size:,}", run.single / run.bare_single, 3))
    largest = max(runs)
    found.append(
        Target(f"current() at {largest:,}", runs[largest].current / runs[largest].bare_select, 3)
    )
    smallest = min(runs)
    if smallest != largest:
        for name in ("batch", "single", "current"):
            growth = getattr(runs[largest], name) / getattr(runs[smallest], name)
            found.append(Target(f"growth of {name}, {smallest:,} to {largest:,}", growth, 2))
    found.append(
        Target(f"open and read one of {largest:,}, peak memory", runs[largest].peak_mb, 120, "MB")
    )
    return found
