"""`make bench`: what Tenure costs on top of the database it stands on.

Every figure is a ratio against bare `sqlite3` doing the same work in the same run, because
machines differ and are noisy. Bare means: the very rows that Tenure wrote, in the same tables with
the same indexes, put into a fresh file by a plain loop of INSERTs with the same transactions and
the same durability; for reading, one SELECT by the full address on the same file. For the batch
load there is also the barest loop there is: as many rows in a table of an id, a key and a value
with one index. What lies between the two is what history, provenance and look-ups weigh.

    python -m benchmarks                      1k, 10k and 100k facts
    python -m benchmarks --sizes 1000         a quick look
    python -m benchmarks --json out.json      the figures for programs
"""

from __future__ import annotations

import argparse
import json
import platform
import sqlite3
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import engine
from benchmarks.figures import Figures, Target, targets_of

SIZES = (1_000, 10_000, 100_000)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    options = parser.parse_args()
    console = Console()
    progress = Console(stderr=True)
    console.print(
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.machine()}, durability full (a sync per commit)"
    )
    runs: dict[int, Figures] = {}
    for size in sorted(options.sizes):
        with tempfile.TemporaryDirectory(prefix="tenure-bench-") as folder:
            progress.print(f"{size:,} facts ...", style="dim")
            runs[size] = measure(Path(folder), size)
    console.print(costs(runs))
    for size, run in runs.items():
        console.print(
            f"{size:,}: as many rows in a lean table take {run.lean_batch:.1f} µs a fact; "
            f"batch load is {run.batch / run.lean_batch:.1f}× that"
        )
    found = targets_of(runs)
    console.print(verdicts(found))
    if options.json:
        options.json.write_text(
            json.dumps({size: vars(figures) for size, figures in runs.items()}, indent=2) + "\n"
        )
    return 0


def measure(folder: Path, size: int) -> Figures:
    """All figures for one size, ours and bare side by side."""
    ours = folder / "ours.db"
    theirs = folder / "bare.db"
    batch, bare_batch, lean_batch = engine.loads(ours, theirs, folder / "lean.db", size)
    single, bare_single = engine.single_writes(ours, theirs, folder / "rows.db")
    current, bare_select = engine.reads(ours, size)
    return Figures(
        batch=batch,
        bare_batch=bare_batch,
        lean_batch=lean_batch,
        single=single,
        bare_single=bare_single,
        current=current,
        bare_select=bare_select,
        peak_mb=engine.peak_memory(ours, size),
        file_mb=ours.stat().st_size / 1e6,
    )


def costs(runs: dict[int, Figures]) -> Table:
    table = Table(title="Microseconds per operation, Tenure / bare sqlite3 (ratio)")
    for heading in ("facts", "batch load", "single durable write", "current()"):
        table.add_column(heading, justify="right")
    table.add_column("open + one read, peak MB", justify="right")
    table.add_column("file MB", justify="right")
    for size, run in runs.items():
        table.add_row(
            f"{size:,}",
            pair(run.batch, run.bare_batch),
            pair(run.single, run.bare_single),
            pair(run.current, run.bare_select),
            f"{run.peak_mb:.0f}",
            f"{run.file_mb:.1f}",
        )
    return table


def pair(ours: float, theirs: float) -> str:
    return f"{ours:.1f} / {theirs:.1f}  ({ours / theirs:.2f}×)"


def verdicts(found: list[Target]) -> Table:
    table = Table(title="Targets")
    for heading in ("what", "measured", "target", ""):
        table.add_column(heading)
    for target in found:
        met = target.measured <= target.ceiling
        table.add_row(
            target.what,
            f"{target.measured:.2f} {target.unit}",
            f"≤ {target.ceiling:g} {target.unit}",
            "met" if met else "MISSED",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
