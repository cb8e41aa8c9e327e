"""What it costs to observe a turn, against embedding the very same turn in the same run.

Conversations are played on one core against files that hold so many facts already. Before each turn
is observed it is embedded by the default embedder, so that noise hits both, and sizes take turns.
Each round begins with fresh copies of the files and fills the blanks of the conversations anew.
What counts are the turns of people: an assistant's turn is hardly read, and has its own column.

The file has the ordinary durability, so every turn ends with a sync. The facts that a turn brings
are embedded and indexed within its time. Requests to forget are not among the turns: they rewrite
the file. Besides the clock there is the processor's time, which neither a slow disk nor others on
the machine can lengthen, and the time that the disk takes to write and sync as many bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

import tenure
from benchmarks import corpus, retrieval, turns
from benchmarks.figures import Target
from benchmarks.turns import Conversation, Turn
from tenure.evaluation.cases import read_dialogues
from tenure.observing import observer
from tenure.observing.situation import Situation
from tenure.search.embedders import load
from tenure.search.index import Index

ROOT = Path(__file__).resolve().parents[1]
SIZES = {"minilm": (100, 10_000), "static": (100, 10_000, 100_000)}
"""Facts per embedder. Growth is looked at with the quick one: with the other, whose time does not
depend on the number of facts, it would seem smaller."""
DEFAULT = "minilm"
ROUNDS = 5
BATCH = 250
DIALOGUES = 100
"""How many dialogues of a data set are played."""
SHORT, LONG, GIVEN = "conversations", "long session", "SGD"
HEADINGS = (
    "clock",
    "p95",
    "processor",
    "sync",
    "assistant's",
    "turns / s",
    "facts a turn",
    "kB",
    "first",
    "memory MB",
)
TAKEN = ("observing", "embedding", "syncing", "context")
_LOG = 4_096_000
_WARMING = 900_000

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


@dataclass
class Run:
    """What was measured on one file."""

    embedder: str
    size: int
    kind: str
    observing: Taken = field(default_factory=Taken)
    embedding: Taken = field(default_factory=Taken)
    """The same turns, embedded by the default embedder."""
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
            taken: Taken = getattr(self, name)
            if taken.clock:
                found[name] |= {"p50": taken.p50, "p95": taken.p95, "work": taken.work}
        return {**found, "ratio": self.ratio, "work": self.work, "per_second": self.per_second}

    @classmethod
    def told(cls, plain: dict[str, Any]) -> Run:
        """As the worker wrote it down."""
        return cls(**{**plain, **{name: Taken(**plain[name]) for name in TAKEN}})


# the benchmark's end


def measure(
    embedders: Sequence[str], sizes: Sequence[int] | None, data: Path | None, say: Say
) -> list[Run]:
    """Play the conversations, each embedder in a process of its own on one core."""
    folder = retrieval.folder_of(data)
    runs = []
    for embedder in embedders:
        chosen = sorted(sizes or SIZES[embedder])
        say(f"{embedder}: {', '.join(f'{size:,}' for size in chosen)} facts")
        given = str(folder) if folder is not None and embedder == DEFAULT else ""
        with tempfile.TemporaryDirectory(prefix="tenure-bench-") as name:
            found = _played(Path(name), embedder, given, chosen)
            for run in found:
                if run.kind == SHORT:
                    vars(run).update(_weighed(_base(Path(name), run.size), embedder))
        runs += found
    return runs


def _played(folder: Path, embedder: str, data: str, sizes: Sequence[int]) -> list[Run]:
    """What a process of its own, pinned to one core, measures."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    core = max(os.sched_getaffinity(0))
    arguments = (core, folder, embedder, data, *sizes)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.observing", *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **threads},
    )
    return [Run.told(run) for run in json.loads(done.stdout)]


_PROBE = """
import json, resource, sys, time, tenure
from benchmarks import turns

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6

memory = tenure.open(sys.argv[1], settings=tenure.Settings(embedder=sys.argv[2]))
session = memory.session(user_id="bench", organization="acme")
empty, first = peak(), None
for number in range(turns.conversations()):
    for turn in turns.conversation(number, 1):
        begin = time.perf_counter()
        session.observe(turn.text, speaker=turn.speaker)
        first = first or (time.perf_counter() - begin) * 1e3
print(json.dumps({"memory_empty_mb": empty, "memory_mb": peak(), "first": first}))
"""


def _weighed(path: Path, embedder: str) -> dict[str, float]:
    """What a fresh process takes that does nothing but observe."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, str(path), embedder],
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
    for heading in ("embedder", "facts", "played", *HEADINGS):
        table.add_column(heading, justify="left" if heading in ("embedder", "played") else "right")
    for run in runs:
        table.add_row(run.embedder, f"{run.size:,}", run.kind, *_cells(run))
    return table


def _cells(run: Run) -> list[str]:
    ours, bare, count = run.observing, run.embedding, len(run.observing.clock)
    return [
        f"{ours.p50:.1f} / {bare.p50:.1f}  ({run.ratio:.1f}×)",
        f"{ours.p95:.1f}",
        f"{ours.work:.1f} / {bare.work:.1f}  ({run.work:.1f}×)",
        f"{run.syncing.p50:.2f}",
        f"{run.context.p50:.1f}",
        f"{run.per_second:,.0f}",
        f"{run.facts / count:.2f}",
        f"{run.written / count / 1e3:.0f}",
        f"{run.first:,.0f}" if run.first else "",
        f"{run.memory_mb:,.0f} ({run.memory_empty_mb:,.0f})" if run.memory_mb else "",
    ]


def explained() -> str:
    """How the columns are to be read."""
    return (
        "Turns of people, each embedded by the default embedder before it is observed. clock and "
        "processor: medians, a turn / its embedding. sync: as many bytes, put into a plain file "
        "and synced. turns / s: of everybody. first: the first turn of a process, which reads "
        "language data and embedder. memory: at its peak after all the conversations, and before "
        "any turn."
    )


def remarks(runs: Sequence[Run]) -> list[str]:
    """What the table has no room for."""
    found = []
    for run in runs:
        if run.parts:
            parts = ", ".join(f"{part} {ms:.2f}" for part, ms in run.parts.items())
            found.append(
                f"{run.embedder} at {run.size:,}, {run.kind}, ms of the processor on average: "
                f"{parts}"
            )
    found += [
        f"{run.embedder} at {run.size:,}, {run.kind}: turn by turn, {run.each:.1f}× the embedding "
        f"of that turn"
        for run in runs
        if run.embedder == DEFAULT
    ]
    return found


def targets_of(runs: Sequence[Run]) -> list[Target]:
    """The project's targets, for what was run."""
    found = []
    for run in runs:
        if run.embedder == DEFAULT and run.size == 10_000:
            what = f"{DEFAULT}: a turn / embedding it at 10,000, {run.kind}"
            found.append(Target(what, run.ratio, 8))
            found.append(Target(f"{what}, processor", run.work, 8))
    for embedder in dict.fromkeys(run.embedder for run in runs):
        for kind in (SHORT, LONG):
            ours = {r.size: r.observing for r in runs if (r.embedder, r.kind) == (embedder, kind)}
            if 100 in ours and 100_000 in ours:
                few, many = ours[100], ours[100_000]
                what = f"{embedder}: a turn at 100,000 / at 100, {kind}"
                found.append(Target(what, many.p50 / few.p50, 2))
                found.append(Target(f"{what}, processor", many.work / few.work, 2))
    return found


# the worker's end


def _base(folder: Path, size: int) -> Path:
    return folder / f"base-{size}.db"


def _open(path: Path, embedder: str) -> tenure.Memory:
    return tenure.open(path, settings=tenure.Settings(embedder=embedder))


def _session(memory: tenure.Memory) -> tenure.Session:
    return memory.session(user_id="bench", organization="acme")


def fill(folder: Path, embedder: str, sizes: Sequence[int]) -> None:
    """Make a file of facts for each size."""
    path, stored = folder / "filling.db", 0
    for size in sorted(sizes):
        with _open(path, embedder) as memory:
            session = _session(memory)
            for start in range(stored, size, BATCH):
                session.write_many(
                    {"key": fact.key, "value": fact.value, "subject": fact.subject}
                    for fact in corpus.facts(start, min(start + BATCH, size))
                )
        stored = size
        shutil.copy(path, _base(folder, size))


class _Table:
    """The files of one embedder, on which conversations are played side by side."""

    def __init__(self, folder: Path, embedder: str, sizes: Sequence[int]) -> None:
        self._folder = folder
        self._embedder = embedder
        self._sizes = list(sizes)
        self._bare = load(DEFAULT)
        self._disk = _Disk(folder / "plain")
        self._seed = 0
        self.runs: dict[tuple[int, str], Run] = {}

    def play(self, rounds: int) -> None:
        """Play everything a few times, and once more to see where the time goes."""
        for number in range(rounds):
            with self._opened() as memories:
                for index in range(turns.conversations()):
                    for size in self._in_turn(number + index):
                        self._play(memories, size, SHORT, [self._anew(index)])
                for size in self._in_turn(number):
                    everything = map(self._anew, range(turns.conversations()))
                    self._play(memories, size, LONG, [list(chain.from_iterable(everything))])
        with self._opened() as memories:
            for size in self._sizes:
                written = [self._anew(index) for index in range(turns.conversations())]
                self.runs[size, SHORT].parts = dissected(memories[size], written)

    def play_given(self, data: Path, size: int) -> None:
        """Play dialogues of a data set."""
        dialogues = read_dialogues(data / "sgd" / "cases_dev.jsonl.gz")[:DIALOGUES]
        played = [[Turn(event.speaker, event.text) for event in d.events] for d in dialogues]
        with self._opened() as memories:
            self._play(memories, size, GIVEN, played)

    def _anew(self, index: int) -> Conversation:
        """A conversation as it was never played before."""
        self._seed += 1
        return turns.conversation(index, self._seed)

    def _in_turn(self, number: int) -> list[int]:
        start = number % len(self._sizes)
        return [*self._sizes[start:], *self._sizes[:start]]

    @contextmanager
    def _opened(self) -> Iterator[dict[int, tenure.Memory]]:
        """Fresh copies of the files, open and warm."""
        memories = {}
        for size in self._sizes:
            path = self._folder / f"played-{size}.db"
            shutil.copy(_base(self._folder, size), path)
            memories[size] = _open(path, self._embedder)
            for turn in turns.conversation(0, _WARMING + self._seed)[:4]:
                _session(memories[size]).observe(turn.text, speaker=turn.speaker)
        yield memories
        for size, memory in memories.items():
            memory.close()
            (self._folder / f"played-{size}.db").unlink()

    def _play(
        self,
        memories: dict[int, tenure.Memory],
        size: int,
        kind: str,
        played: Sequence[Conversation],
    ) -> None:
        run = self.runs.setdefault((size, kind), Run(self._embedder, size, kind))
        for conversation in played:
            session = _session(memories[size])
            for index, turn in enumerate(conversation):
                begin = _now()
                self._bare.embed([turn.text])
                embedded, before = _now(), _bytes_written()
                again = _now()
                observation = session.observe(turn.text, speaker=turn.speaker)
                observed = _now()
                written = _bytes_written() - before
                if kind == LONG and index < observer.WINDOW:
                    continue  # the desk is not full yet
                if turn.is_context:
                    run.context.add(again, observed)
                    continue
                run.embedding.add(begin, embedded)
                run.observing.add(again, observed)
                run.facts += len(observation.facts)
                run.written += written
                begin = _now()
                self._disk.write(written)
                run.syncing.add(begin, _now())


class _Disk:
    """A file that is written from its start again and again, as a write-ahead log is."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(_LOG))
        self._file = os.open(path, os.O_RDWR)
        self._at = 0

    def write(self, count: int) -> None:
        """Put some bytes there, and wait until they are safe."""
        count = min(count, _LOG)
        if self._at + count > _LOG:
            self._at = 0
        os.pwrite(self._file, bytes(count), self._at)
        self._at += count
        os.fdatasync(self._file)


def _bytes_written() -> int:
    """By this process so far."""
    for line in Path("/proc/self/io").read_text().splitlines():
        if line.startswith("wchar:"):
            return int(line.split()[1])
    raise OSError("/proc/self/io does not tell what was written")


def _now() -> tuple[float, float]:
    """By the clock, and in the processor's time."""
    return time.perf_counter(), time.process_time()


class _Stopwatch:
    """Where time goes, by parts. What a part spends in another counts for the other alone."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._within = [0.0]

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._within.append(0.0)
        begin = time.process_time()
        try:
            yield
        finally:
            taken = time.process_time() - begin
            self.spent[name] += taken - self._within.pop()
            self._within[-1] += taken

    @contextmanager
    def on(self, owner: Any, attribute: str, name: str) -> Iterator[None]:
        """Time every call of a function."""
        watched = getattr(owner, attribute)

        def timed(*given: Any, **named: Any) -> Any:
            with self.part(name):
                return watched(*given, **named)

        setattr(owner, attribute, timed)
        try:
            yield
        finally:
            setattr(owner, attribute, watched)

    @contextmanager
    def on_writing(self, store: Any) -> Iterator[None]:
        """Time the beginning and the end of every transaction of a store."""
        watched = store.write

        @contextmanager
        def timed(organization: str) -> Iterator[Any]:
            with ExitStack() as stack:
                with self.part("beginning and committing"):
                    transaction = stack.enter_context(watched(organization))
                yield transaction
                with self.part("beginning and committing"):
                    stack.close()

        store.write = timed
        try:
            yield
        finally:
            store.write = watched


def dissected(memory: tenure.Memory, played: Sequence[Conversation]) -> dict[str, float]:
    """Where the processor's time of a person's turn goes, in milliseconds on average."""
    watch = _Stopwatch()
    taken = 0
    with ExitStack() as stack:
        stack.enter_context(watch.on(observer, "hear", "reading"))
        for look in ("__init__", "at_key", "sharing"):
            stack.enter_context(watch.on(Situation, look, "looking up"))
        stack.enter_context(watch.on(Index, "keep", "indexing"))
        stack.enter_context(watch.on(memory.index.embedder, "embed", "embedding facts"))
        stack.enter_context(watch.on_writing(memory.store))
        for conversation in played:
            session = _session(memory)
            for turn in conversation:
                if turn.is_context:
                    kept = dict(watch.spent)
                    session.observe(turn.text, speaker=turn.speaker)
                    watch.spent.clear()
                    watch.spent.update(kept)
                    continue
                with watch.part("deciding and storing"):
                    session.observe(turn.text, speaker=turn.speaker)
                taken += 1
    ordered = sorted(watch.spent.items(), key=lambda part: -part[1])
    return {name: seconds / taken * 1e3 for name, seconds in ordered}


def main() -> None:
    core, folder, embedder, data, *sizes = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    fill(Path(folder), embedder, [int(size) for size in sizes])
    table = _Table(Path(folder), embedder, [int(size) for size in sizes])
    table.play(ROUNDS)
    if data:
        table.play_given(Path(data), max(int(size) for size in sizes))
    print(json.dumps([asdict(run) for run in table.runs.values()]))


if __name__ == "__main__":
    main()
