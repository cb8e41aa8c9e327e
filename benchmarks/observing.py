"""What it costs to observe a turn, against embedding the very same turn in the same run.

Conversations are played on one core against files that hold so many facts already. Before each turn
is observed it is embedded by the default embedder, so that noise hits both, and sizes take turns.
Each round begins with fresh copies of the files and fills the blanks of the conversations anew.
What counts are the turns of people: an assistant's turn is hardly read, and has its own column.

With the default embedder and 10,000 facts both readers have their turn: the rules, and the rules
with the model that ships, which is the default. Each memory has a model of its own, so that none
profits from what another has read. What one read of the model takes is measured beside: the turn,
after the last one of the person. Elsewhere it is the default, or, where growth is looked at, rules.

The file has the ordinary durability, so every turn ends with a sync. The facts that a turn brings
are embedded and indexed within its time. Requests to forget are not among the turns: they rewrite
the file. Besides the clock there is the processor's time, without the waiting for disk and core
that a busy machine brings, and the time that it takes to write and sync as many bytes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks.figures import Target
from incumbent_eval.running import data_folder

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"minilm": (100, 10_000), "static": (100, 10_000, 100_000)}
"""Facts per embedder. Growth is looked at with the quick one: with the other, whose time does not
depend on the number of facts, it would seem smaller. The same goes for the model."""
DEFAULT = "minilm"
USUAL = 10_000
"""The size at which the readers are compared."""
DEFAULT_READER, RULES = "default", "rules"
CASES = Path("sgd") / "cases_dev.jsonl.gz"
MOST_RULES, MOST, MOST_TAIL = 8, 12, 40
"""How many times the embedding of a turn it may take: rules alone; the median, and 95 % of turns,
where the model reads."""
EARLIER = 120
"""How many conversations a person has had who is no stranger."""
SHORT, LONG, REGULAR, GIVEN = "sessions", "long session", f"after {EARLIER}", "SGD"
"""What is played: conversations of a dozen turns or two; all of them in one session, counted from
where its desk is full; those of somebody who had many like them; dialogues of a data set."""
HEADINGS = (
    "clock",
    "processor",
    "p95",
    "a read",
    "sync",
    "assistant",
    "turns/s",
    "brings",
    "kB",
    "first",
    "MB",
)
TAKEN = ("observing", "embedding", "reading", "syncing", "context")

Say = Callable[[str], None]


@dataclass
class Taken:
    """What was taken by the turns of people, or by something else in their stead. Milliseconds."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def add(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        self.clock.append((end[0] - begin[0]) * 1e3)
        self.processor.append((end[1] - begin[1]) * 1e3)

    @property
    def p50(self) -> float:
        return statistics.median(self.clock)

    @property
    def p95(self) -> float:
        return float(np.percentile(self.clock, 95))

    @property
    def work(self) -> float:
        """The median of the processor's time."""
        return statistics.median(self.processor)

    @property
    def most_work(self) -> float:
        """What the processor's time stays under for 95 % of the turns."""
        return float(np.percentile(self.processor, 95))

    def plain(self) -> dict[str, float]:
        """For a JSON file."""
        names = ("p50", "p95", "work", "most_work")
        return {name: getattr(self, name) for name in names} if self.clock else {}


@dataclass
class Run:
    """What was measured on one file."""

    embedder: str
    size: int
    reader: str
    kind: str
    observing: Taken = field(default_factory=Taken)
    embedding: Taken = field(default_factory=Taken)
    """The same turns, embedded by the default embedder."""
    reading: Taken = field(default_factory=Taken)
    """The same turns, read once by the model; measured with the default reader."""
    syncing: Taken = field(default_factory=Taken)
    """As many bytes as the turn wrote, put into a plain file and synced."""
    context: Taken = field(default_factory=Taken)
    """The assistant's turns."""
    facts: int = 0
    """How many facts came of people's turns."""
    written: int = 0
    """How many bytes they wrote."""
    parts: dict[str, float] = field(default_factory=dict)
    """Where the time of a person's turn goes: means."""
    first: float = 0.0
    memory_mb: float = 0.0
    memory_empty_mb: float = 0.0

    @property
    def ratio(self) -> float:
        """What observing takes, in embeddings of the turn."""
        return self.observing.p50 / self.embedding.p50

    @property
    def work(self) -> float:
        """The same in the processor's time."""
        return self.observing.work / self.embedding.work

    @property
    def tail(self) -> float:
        """What a slow turn takes (p95), in embeddings of an ordinary one."""
        return self.observing.p95 / self.embedding.p50

    @property
    def tail_work(self) -> float:
        """The same in the processor's time."""
        return self.observing.most_work / self.embedding.work

    @property
    def each(self) -> float:
        """The same, turn by turn."""
        pairs = zip(self.observing.processor, self.embedding.processor, strict=True)
        return statistics.median(ours / bare for ours, bare in pairs)

    @property
    def per_second(self) -> float:
        """Turns of everybody."""
        taken = [*self.observing.clock, *self.context.clock]
        return len(taken) / sum(taken) * 1e3

    def plain(self) -> dict[str, Any]:
        """For a JSON file."""
        found = asdict(self)
        for name in TAKEN:
            found[name] |= getattr(self, name).plain()
        names = ("ratio", "work", "tail", "tail_work", "per_second")
        return {**found, **{name: getattr(self, name) for name in names}}

    @classmethod
    def told(cls, plain: dict[str, Any]) -> Run:
        """As the worker wrote it down."""
        return cls(**{**plain, **{name: Taken(**plain[name]) for name in TAKEN}})


def places(embedder: str, sizes: Sequence[int]) -> list[tuple[int, str]]:
    """What is played side by side: a number of facts, and a reader."""
    if embedder != DEFAULT:
        return [(size, RULES) for size in sizes]
    compared = USUAL if USUAL in sizes else sizes[-1]
    return [
        (size, reader)
        for size in sizes
        for reader in ((DEFAULT_READER, RULES) if size == compared else (DEFAULT_READER,))
    ]


# the benchmark's end


def measure(
    embedders: Sequence[str], sizes: Sequence[int] | None, data: Path | None, say: Say
) -> list[Run]:
    """Play the conversations, each embedder in a process of its own on one core."""
    folder = data_folder(data)
    runs = []
    for embedder in embedders:
        chosen = sorted(sizes or SIZES.get(embedder, SIZES[DEFAULT]))
        say(f"{embedder}: {', '.join(f'{size:,}' for size in chosen)} facts")
        has_cases = folder is not None and (folder / CASES).is_file()
        given = str(folder) if has_cases and embedder == DEFAULT else ""
        with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as name:
            found = _played(Path(name), embedder, given, chosen)
            for run in found:
                if run.kind == SHORT:
                    vars(run).update(_weighed(base(Path(name), run.size), run))
        runs += found
    return runs


def base(folder: Path, size: int) -> Path:
    """The file that holds so many facts."""
    return folder / f"base-{size}.db"


def _played(folder: Path, embedder: str, data: str, sizes: Sequence[int]) -> list[Run]:
    """What a process of its own, pinned to one core, measures."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    core = max(os.sched_getaffinity(0))
    arguments = (core, folder, embedder, data, *sizes)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.playing", *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **threads},
    )
    return [Run.told(run) for run in json.loads(done.stdout)]


_PROBE = """
import json, resource, sys, time, incumbent
from benchmarks import turns

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6

settings = incumbent.Settings(embedder=sys.argv[2], reader=sys.argv[3])
memory = incumbent.open(sys.argv[1], settings=settings)
session = memory.session(user_id="bench", organization="acme")
empty, first = peak(), None
for number in range(turns.conversations()):
    for turn in turns.conversation(number, 1):
        begin = time.perf_counter()
        session.observe(turn.text, speaker=turn.speaker)
        first = first or (time.perf_counter() - begin) * 1e3
print(json.dumps({"memory_empty_mb": empty, "memory_mb": peak(), "first": first}))
"""


def _weighed(path: Path, run: Run) -> dict[str, float]:
    """What a fresh process takes that does nothing but observe."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, str(path), run.embedder, run.reader],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def costs(runs: Sequence[Run]) -> Table:
    """One row per file and kind of conversation."""
    table = Table(title="Observing a turn, ms")
    for heading in ("embedder", "facts", "reader", "played", *HEADINGS):
        table.add_column(heading, justify="right" if heading in ("facts", *HEADINGS) else "left")
    for run in runs:
        table.add_row(run.embedder, f"{run.size:,}", run.reader, run.kind, *_cells(run))
    return table


def _cells(run: Run) -> list[str]:
    ours, bare, count = run.observing, run.embedding, len(run.observing.clock)
    return [
        f"{ours.p50:.1f} / {bare.p50:.1f} ({run.ratio:.1f}×)",
        f"{ours.work:.1f} / {bare.work:.1f} ({run.work:.1f}×)",
        f"{ours.p95:.0f} / {ours.most_work:.0f} ({run.tail:.0f}×, {run.tail_work:.0f}×)",
        f"{run.reading.work:.1f} ({run.reading.work / bare.work:.1f}×)"
        if run.reading.clock
        else "",
        f"{run.syncing.p50:.2f}",
        f"{run.context.p50:.1f}",
        f"{run.per_second:,.0f}",
        f"{run.facts / count:.2f}",
        f"{run.written / count / 1e3:.0f}",
        f"{run.first:,.0f}" if run.first else "",
        f"{run.memory_mb:,.0f} ({run.memory_empty_mb:,.0f})" if run.memory_mb else "",
    ]


def _read(run: Run) -> str:
    """What the model takes for one turn, in milliseconds and in embeddings of it."""
    if not run.reading.clock:
        return ""
    return f"{run.reading.work:.1f} ({run.reading.work / run.embedding.work:.1f}×)"


def explained() -> str:
    """How the columns are to be read."""
    return (
        "Turns of people, each embedded by the default embedder before it is observed. clock and "
        "processor: medians, a turn / its embedding. p95: clock / processor, and both in "
        "embeddings of a median turn. a read: one turn of the model, processor, and the same in "
        "embeddings of the turn. sync: as many bytes, "
        "put into a plain file and synced. assistant: the median of its turns. turns/s: of "
        "everybody. brings: facts per turn. kB: written per turn. first: the first turn of a "
        "process, which reads language data and embedder. MB: memory at its peak after all the "
        "conversations, and before any turn."
    )


def remarks(runs: Sequence[Run]) -> list[str]:
    """What the table has no room for."""
    found = []
    for run in runs:
        if run.parts:
            parts = ", ".join(f"{part} {ms:.2f}" for part, ms in run.parts.items())
            found.append(
                f"{run.embedder} at {run.size:,}, {run.reader}, {run.kind}, ms of the processor "
                f"on average: "
                f"{parts}"
            )
    found += [
        f"{run.embedder} at {run.size:,}, {run.reader}, {run.kind}: turn by turn, "
        f"{run.each:.1f}× the embedding of that turn"
        for run in runs
        if run.embedder == DEFAULT
    ]
    if not any(run.kind == GIVEN for run in runs):
        found.append(f"{GIVEN}: left out; give the folder with {CASES} as --data FOLDER")
    return found


def targets_of(runs: Sequence[Run]) -> list[Target]:
    """The project's targets, for what was run."""
    found = []
    for run in runs:
        if run.embedder == DEFAULT and run.size == USUAL:
            most = MOST_RULES if run.reader == RULES else MOST
            what = f"{run.reader}: a turn / embedding it at {USUAL:,}, {run.kind}"
            found.append(Target(what, run.ratio, most))
            found.append(Target(f"{what}, processor", run.work, most))
            if run.reader != RULES:
                found.append(Target(f"{what}, p95", run.tail, MOST_TAIL))
                found.append(Target(f"{what}, p95, processor", run.tail_work, MOST_TAIL))
    for embedder in dict.fromkeys(run.embedder for run in runs):
        for kind in (SHORT, LONG):
            ours = {r.size: r.observing for r in runs if (r.embedder, r.kind) == (embedder, kind)}
            if 100 in ours and 100_000 in ours:
                few, many = ours[100], ours[100_000]
                what = f"{embedder}: a turn at 100,000 / at 100, {kind}"
                found.append(Target(what, many.p50 / few.p50, 2))
                found.append(Target(f"{what}, processor", many.work / few.work, 2))
    return found
