"""`make bench`: what Incumbent costs, against bare tools and against others, in one run.

Every figure is held against something that does its work in the same run, because machines differ
and are noisy.

engine: against bare `sqlite3`. Bare means: the very rows that Incumbent wrote, in the same tables
with the same indexes, put into a fresh file by a plain loop of INSERTs with the same transactions
and the same durability; for reading, one SELECT by the full address on the same file. For the batch
load there is also the barest loop there is: as many rows in a table of an id, a key and a value
with one index. What lies between the two is what history, provenance and look-ups weigh. The batch
load is measured without the index, and with it and the `static` embedder, on the texts of contexts.
Then bare are the rows of facts, verdicts, index entries and postings, as Incumbent made them: bare
embeds nothing and takes no text apart. The phases of writing tell where the time of ours goes.

contexts: against the bare searches that a context is made of, and side by side with mem0,
LangGraph's stores and memgine, each as far as it gets.

observing: against embedding the very same turn.

crowd: many clients on one PostgreSQL server, against bare psycopg that sends the same statements,
and side by side with LangGraph's PostgresStore and mem0 on pgvector. Also what a context of one
organization costs alone in the database, and beside a hundred others.

service: 200 clients over HTTP, against as many threads that make the same calls in one process.

answering: contexts alone over HTTP, for each core that the service keeps busy.

hostile: the calls of one organization on a service, alone and beside another that does its worst.

pages: those of the inspector, against the calls of the API that they show.

proxy: requests through a proxy, against the same to the provider itself, which takes 300 ms.

neighbours: the nearest vectors of one organization among many, ranked in the process as Incumbent
does it, and by pgvector.

scale: very many facts of one person, of one address, of the people of one organization or of the
organizations of one file, and very many organizations: what calls take beside what they take at the
smallest size, and the memory of a process. Beyond 100,000 facts the files are filled by copies.

    python -m benchmarks                               everything
    python -m benchmarks engine --sizes 1000           a quick look at one part
    python -m benchmarks contexts --embedders static   one embedder only
    python -m benchmarks observing --data FOLDER       turns of dialogues there, beside our own
    python -m benchmarks crowd --organizations 3 --sizes 500 --seconds 2
    python -m benchmarks scale --sizes 10000 1000000 --kinds history
    python -m benchmarks scale --sizes 10000000 --kinds store people
    python -m benchmarks answering --embedders static --seconds 600
    python -m benchmarks --json out.json               the figures for programs

What is found, and how often a context is right, is measured by `incumbent eval`.
"""

from __future__ import annotations

import argparse
import json
import platform
import signal
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import (
    answering,
    contexts,
    crowd,
    engine,
    hostile,
    neighbour_tables,
    neighbours,
    observing,
    pages,
    proxy,
    scale,
    scale_probe,
    service,
    tables,
)
from benchmarks.crowds import report as crowd_report
from benchmarks.crowds import tables as crowd_tables
from benchmarks.figures import Figures, Target, targets_of
from benchmarks.peers import KINDS

PARTS = (
    "engine",
    "contexts",
    "observing",
    "crowd",
    "neighbours",
    "service",
    "answering",
    "hostile",
    "pages",
    "proxy",
    "scale",
)
SCALES = tuple(scale_probe.KINDS)
SYSTEMS = (*KINDS, *crowd.PEERS)
SIZES = (1_000, 10_000, 100_000)


def main() -> int:
    options = parse()
    # Whoever is told to end leaves no server and no clients behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    console = Console(width=None if sys.stdout.isatty() else 150)
    console.print(
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.machine()}, durability full (a sync per commit)"
    )
    figures: dict[str, Any] = {}
    if "engine" in options.parts:
        figures["engine"] = run_engine(console, options)
    if "contexts" in options.parts:
        figures["contexts"] = run_contexts(console, options)
    if "observing" in options.parts:
        figures["observing"] = run_observing(console, options)
    if "crowd" in options.parts:
        figures["crowd"] = run_crowd(console, options)
    if "neighbours" in options.parts:
        figures["neighbours"] = run_neighbours(console, options)
    if "service" in options.parts:
        figures["service"] = run_service(console, options)
    if "answering" in options.parts:
        figures["answering"] = run_answering(console, options)
    if "hostile" in options.parts:
        figures["hostile"] = run_hostile(console, options)
    if "pages" in options.parts:
        figures["pages"] = run_pages(console, options)
    if "proxy" in options.parts:
        figures["proxy"] = run_proxy(console, options)
    if "scale" in options.parts:
        figures["scale"] = run_scale(console, options)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="how many facts")
    parser.add_argument("--embedders", nargs="+", default=list(contexts.SIZES), metavar="NAME")
    parser.add_argument(
        "--systems",
        nargs="+",
        default=list(SYSTEMS),
        choices=SYSTEMS,
        metavar="NAME",
        help=f"of contexts: {', '.join(KINDS)}; beside ours in crowd: {', '.join(crowd.PEERS)}",
    )
    parser.add_argument(
        "--limit",
        type=float,
        metavar="S",
        default=contexts.LIMIT_S,
        help="longest that a peer of contexts may take to load up to the next size",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help="how long the clients of crowd, service, answering and hostile call",
    )
    parser.add_argument(
        "--organizations",
        type=int,
        default=crowd.ORGANIZATIONS,
        metavar="N",
        help="how many organizations a server has",
    )
    parser.add_argument(
        "--kinds",
        nargs="+",
        default=list(SCALES),
        choices=SCALES,
        metavar="KIND",
        help=f"of scale: {', '.join(SCALES)}",
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="with sgd/")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {PARTS}")
    options.parts = options.parts or list(PARTS)
    return options


def run_engine(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    runs: dict[int, Figures] = {}
    for size in sorted(options.sizes or SIZES):
        with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as folder:
            progress.print(f"{size:,} facts ...", style="dim")
            runs[size] = measure(Path(folder), size)
    console.print(costs(runs))
    for size, run in runs.items():
        console.print(
            f"{size:,}: as many rows in a lean table take {run.lean_batch:.1f} µs a fact; "
            f"batch load is {run.batch / run.lean_batch:.1f}× that"
        )
        console.print(
            f"{size:,}: the processor's µs a fact, batch load "
            f"{pair(run.batch_processor, run.bare_batch_processor)}, with the index "
            f"{pair(run.indexed_processor, run.bare_indexed_processor)}"
        )
        console.print(
            f"{size:,}: with the index, the processor's µs a fact by phase: "
            f"{tables.told(run.phases)}"
        )
    console.print(verdicts(targets_of(runs)))
    return {str(size): vars(figures) for size, figures in runs.items()}


def run_contexts(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    console.print(tables.explained(), highlight=False)
    sides = []
    for embedder in options.embedders:
        sizes = sorted(options.sizes or contexts.SIZES.get(embedder, SIZES))
        side = contexts.measure(
            embedder,
            sizes,
            [name for name in options.systems if name in KINDS],
            lambda text: progress.print(text, style="dim"),
            options.limit,
        )
        sides.append(side)
        console.print(tables.side_by_side(side))
        for remark in tables.remarks(side):
            console.print(remark, highlight=False)
    found = contexts.targets_of(sides)
    if found:
        console.print(verdicts(found))
    return {side.embedder: side.plain() for side in sides}


def run_observing(console: Console, options: argparse.Namespace) -> list[dict[str, Any]]:
    progress = Console(stderr=True)
    runs = observing.measure(
        options.embedders,
        options.sizes,
        options.data,
        lambda text: progress.print(text, style="dim"),
    )
    console.print(observing.explained(), highlight=False)
    console.print(observing.costs(runs))
    for remark in observing.remarks(runs):
        console.print(remark, highlight=False)
    found = observing.targets_of(runs)
    if found:
        console.print(verdicts(found))
    return [run.plain() for run in runs]


def run_crowd(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    report = crowd.measure(
        lambda text: progress.print(text, style="dim"),
        facts=max(options.sizes) if options.sizes else crowd.FACTS,
        organizations=options.organizations,
        seconds=options.seconds or crowd.SECONDS,
        peers=[name for name in options.systems if name in crowd.PEERS],
    )
    console.print(crowd_tables.explained(report), highlight=False)
    console.print(crowd_tables.calls(report))
    console.print(crowd_tables.holdings(report))
    for remark in crowd_tables.remarks(report):
        console.print(remark, highlight=False)
    console.print(verdicts(crowd_report.targets_of(report)))
    return report.plain()


def run_neighbours(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    found = neighbours.measure(
        lambda text: progress.print(text, style="dim"),
        organizations=options.organizations,
    )
    console.print(neighbour_tables.explained(found), highlight=False)
    console.print(neighbour_tables.searches(found))
    console.print(neighbour_tables.inserts(found))
    for remark in neighbour_tables.remarks(found):
        console.print(remark, highlight=False)
    return found.plain()


def run_service(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    report = service.measure(
        lambda text: progress.print(text, style="dim"),
        facts=max(options.sizes) if options.sizes else service.FACTS,
        seconds=options.seconds or service.SECONDS,
    )
    console.print(service.table(report))
    for remark in service.remarks(report):
        console.print(remark, highlight=False)
    console.print(verdicts(service.targets_of(report)))
    return report.plain()


def run_answering(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    found = answering.measure(
        lambda text: progress.print(text, style="dim"),
        facts=max(options.sizes) if options.sizes else service.FACTS,
        seconds=options.seconds or service.SECONDS,
        embedder=(options.embedders or ["minilm"])[0],
    )
    console.print(answering.table(found))
    for remark in answering.remarks(found):
        console.print(remark, highlight=False)
    console.print(verdicts(answering.targets_of(found)))
    return {one.load.name: one.plain() for one in found}


def run_hostile(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    found = {}
    for who in hostile.ATTACKS:
        report = hostile.measure(
            lambda text: progress.print(text, style="dim"),
            facts=max(options.sizes) if options.sizes else hostile.FACTS,
            seconds=options.seconds or hostile.SECONDS,
            who=who,
        )
        console.print(hostile.table(report))
        for remark in hostile.remarks(report):
            console.print(remark, highlight=False)
        console.print(verdicts(hostile.targets_of(report)))
        found[who] = report.plain()
    return found


def run_pages(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    report = pages.measure(
        lambda text: progress.print(text, style="dim"),
        facts=max(options.sizes) if options.sizes else pages.FACTS,
    )
    console.print(pages.table(report))
    console.print(verdicts(pages.targets_of(report)))
    return report.plain()


def run_proxy(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    report = proxy.measure(
        lambda text: progress.print(text, style="dim"),
        facts=max(options.sizes) if options.sizes else proxy.FACTS,
    )
    console.print(proxy.table(report))
    console.print(verdicts(proxy.targets_of(report)))
    return report.plain()


def run_scale(console: Console, options: argparse.Namespace) -> dict[str, Any]:
    progress = Console(stderr=True)
    report = scale.measure(
        lambda text: progress.print(text, style="dim"),
        options.sizes or scale.SIZES,
        options.kinds,
    )
    for table in scale.tables(report):
        console.print(table)
    console.print(verdicts(scale.targets_of(report)))
    return report.plain()


def measure(folder: Path, size: int) -> Figures:
    """All figures for one size, ours and bare side by side."""
    ours = folder / "ours.db"
    theirs = folder / "bare.db"
    batch, bare_batch, lean_batch = engine.loads(ours, theirs, folder / "lean.db", size)
    indexed, bare_indexed = engine.indexed_loads(folder / "i.db", folder / "bare-i.db", size)
    single, bare_single = engine.single_writes(ours, theirs, folder / "rows.db")
    current, bare_select = engine.reads(ours, size)
    return Figures(
        batch=batch.clock,
        bare_batch=bare_batch.clock,
        lean_batch=lean_batch.clock,
        batch_processor=batch.processor,
        bare_batch_processor=bare_batch.processor,
        indexed=indexed.clock,
        bare_indexed=bare_indexed.clock,
        indexed_processor=indexed.processor,
        bare_indexed_processor=bare_indexed.processor,
        phases=engine.phases_of_writing(folder / "i.db", size),
        single=single,
        bare_single=bare_single,
        current=current,
        bare_select=bare_select,
        peak_mb=engine.peak_memory(ours, size),
        file_mb=ours.stat().st_size / 1e6,
    )


def costs(runs: dict[int, Figures]) -> Table:
    table = Table(title="Microseconds per operation, Incumbent / bare sqlite3 (ratio)")
    headings = ("facts", "batch load", "with the index", "single durable write", "current()")
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column("open + one read, peak MB", justify="right")
    table.add_column("file MB", justify="right")
    for size, run in runs.items():
        table.add_row(
            f"{size:,}",
            pair(run.batch, run.bare_batch),
            pair(run.indexed, run.bare_indexed),
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
            f"≤ {target.ceiling:.3g} {target.unit}",
            "met" if met else "MISSED",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
