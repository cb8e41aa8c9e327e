"""The figures of `contexts`, for reading."""

from __future__ import annotations

import statistics

from rich.table import Table

from benchmarks.contexts import Run, Side, fastest_peer, held_most
from benchmarks.peers import KINDS

HEADINGS = (
    "written / s",
    "p50 ms",
    "p95 ms",
    "processor ms",
    "first ms",
    "after a write ms",
    "answered",
    "tokens",
    "memory MB",
    "file MB",
)


def explained() -> str:
    """What the systems do for their figures, and how the columns are to be read."""
    lines = [f"  {name}: {kind.about}" for name, kind in KINDS.items()]
    return "\n".join(
        [
            "Same facts, same questions, same embedder, one core, asked in turn. What each gives:",
            *lines,
            "written / s: findable at once, embedding included (for the peers: added, at the speed "
            "of whole batches). first: the first question after loading. answered: the fact asked "
            "about is in what came back. memory: of the whole process, and of it before any fact.",
        ]
    )


def side_by_side(side: Side) -> Table:
    """One row per size and system."""
    table = Table(title=f"Contexts and searches, embedder {side.embedder}")
    table.add_column("facts", justify="right")
    table.add_column("system")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    sizes = sorted({run.size for run in side.runs})
    for size in sizes:
        runs = {run.system: run for run in side.runs if run.size == size}
        present = [runs[name] for name in KINDS if name in runs and runs[name].times]
        for run in present:
            table.add_row(f"{size:,}", run.system, *_cells(run), end_section=run is present[-1])
    return table


def _cells(run: Run) -> list[str]:
    return [
        f"{run.written_per_s:,.0f}",
        f"{run.p50:,.1f}",
        f"{run.p95:,.1f}",
        f"{run.processor:,.1f}",
        f"{run.first:,.0f}",
        f"{statistics.median(run.after_write):,.1f}" if run.after_write else "",
        f"{run.right}/{len(run.times)}",
        f"{run.tokens:,.0f}" if run.tokens is not None else "",
        f"{run.memory_mb:,.0f} ({run.memory_empty_mb:,.0f})",
        f"{run.file_mb:,.1f}",
    ]


def remarks(side: Side) -> list[str]:
    """What the table has no room for."""
    found = []
    for run in side.of("bare").values():
        parts = ", ".join(f"{part} {ms:.2f}" for part, ms in run.parts.items())
        found.append(f"bare at {run.size:,}, ms: {parts} (choosing words is not counted)")
    found += [
        f"{run.system} at {run.size:,}, processor's ms by phase: {told(run.phases)}"
        for run in side.runs
        if run.phases
    ]
    if side.pace is not None and side.of("incumbent"):
        found.append(
            f"{side.embedder}: {side.pace.embedding:,.0f} texts/s embedded alone, "
            f"{side.pace.writing:,.0f} facts/s written with it in the same run, "
            f"{side.pace.texts_per_fact:.2f} texts embedded for each"
        )
    fastest, ours = fastest_peer(side), side.of("incumbent")
    found += [
        f"{run.system} at {run.size:,}, the most it held: {run.p50 / ours[run.size].p50:.1f}× our "
        f"time{' (the fastest of them there)' if run is fastest else ''}"
        for run in held_most(side)
        if run.size in ours
    ]
    found += [f"{run.system} at {run.size:,}: {run.missing}" for run in side.runs if run.missing]
    return found


def told(phases: dict[str, float]) -> str:
    return ", ".join(f"{phase} {ms:.2f}" for phase, ms in sorted(phases.items(), key=_most_first))


def _most_first(phase: tuple[str, float]) -> float:
    return -phase[1]
