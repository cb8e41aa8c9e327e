"""How far one file goes: very many facts of one person, of one address, of many people and of many
organizations, and very many organizations.

Each store is filled (`scale_fill`, which copies what is beyond 100,000 facts) and then opened by a
process of its own, which makes the calls and tells the processor's time and the most memory it had.
What grows is seen from the same run: every figure stands beside the one of the smallest size.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from benchmarks.figures import Target
from benchmarks.scale_fill import FILLED, written_of
from benchmarks.scale_probe import FEWEST, KINDS, PORTION, Taken

SIZES = (10_000, 100_000)
MOST_MEMORY = 200.0
"""Megabytes with 100,000 facts and one context."""
_SMALL = 100_000
_GROWTH = 2.0
_PAST = 3.0
_TITLES = {
    "facts": "Facts of one person",
    "history": "Facts of one address, each in the place of the last",
    "organizations": "Organizations with a fact each",
    "people": f"Facts of one organization, {PORTION:,} of each person, of at least {FEWEST} people",
    "store": f"Facts of one store, {PORTION:,} of each organization, of at least {FEWEST}",
}
Say = Callable[[str], None]


@dataclass
class ScaleReport:
    """What the calls took, by kind and size."""

    taken: dict[str, dict[int, Taken]] = field(default_factory=dict)
    written: dict[str, dict[int, int]] = field(default_factory=dict)
    """How many were written through the API; the others are copies of them."""

    def plain(self) -> dict[str, Any]:
        """For programs."""
        return {
            kind: {
                str(size): {**one, "written through the API": self.written[kind][size]}
                for size, one in runs.items()
            }
            for kind, runs in self.taken.items()
        }


def measure(say: Say, sizes: Sequence[int], kinds: Sequence[str] = tuple(KINDS)) -> ScaleReport:
    """Fill a store of each kind and size, and ask it."""
    report = ScaleReport()
    for kind in kinds:
        for size in sorted(sizes):
            say(f"{kind}: {size:,}")
            with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder:
                path = Path(folder) / "scale.db"
                begun = time.monotonic()
                FILLED[kind](path, size)
                written = written_of(kind, size)
                say(
                    f"  filled in {time.monotonic() - begun:,.0f} s: {written:,} through the API, "
                    f"{size - written:,} copied within the file"
                )
                report.written.setdefault(kind, {})[size] = written
                report.taken.setdefault(kind, {})[size] = probed(kind, path, size)
    return report


def probed(kind: str, path: Path, size: int) -> Taken:
    """What a fresh process tells of a store."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale_probe", kind, str(path), str(size)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: Taken = json.loads(done.stdout)
    return {**found, "file MB": path.stat().st_size / 1e6}


# telling


def tables(report: ScaleReport) -> Iterator[Table]:
    """A table for each kind, a row for each call."""
    for kind, runs in report.taken.items():
        table = Table(title=f"{_TITLES[kind]}: processor ms (× the smallest), or MB")
        table.add_column("")
        for size in runs:
            copied = size - report.written[kind][size]
            heading = f"{size:,}" + (f" ({copied:,} copied)" if copied else "")
            table.add_column(heading, justify="right")
        first = next(iter(runs.values()))
        for name in first:
            cells = [_cell(name, one[name], first[name]) for one in runs.values()]
            table.add_row(name, *cells)
        yield table


def _cell(name: str, value: float, first: float) -> str:
    if "MB" in name or value == first:
        return f"{value:,.1f}"
    return f"{value:,.1f} ({value / first if first else 0:.1f}×)"


def targets_of(report: ScaleReport) -> list[Target]:
    """What should not grow, and the memory of a large store."""
    found: list[Target] = []
    for kind, runs in report.taken.items():
        least, most = min(runs), max(runs)
        steady = ("put", "current()", "context", "history page")
        for name in [name for name in steady if name in runs[most] and most > least]:
            growth = runs[most][name] / runs[least][name]
            found.append(Target(f"{kind}: {name}, {least:,} to {most:,}", growth, _GROWTH))
        if "past" in runs[most]:
            ratio = runs[most]["past"] / runs[most]["context"]
            found.append(Target(f"{kind}: a past context against a present one", ratio, _PAST))
        fitting = [size for size in runs if size <= _SMALL]
        if fitting:
            size, name = max(fitting), "peak MB, one context"
            found.append(Target(f"{kind}: memory at {size:,}", runs[size][name], MOST_MEMORY, "MB"))
    return found
