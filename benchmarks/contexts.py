"""Contexts side by side: Incumbent, the searches it is made of, and what others offer.

Everybody stores the same facts, embeds with the same embedder and is asked the same questions,
one after the other in turn, on one core. Vectors of the facts are computed once and handed to the
peers, and the time that took is added to theirs; Incumbent computes its own as it writes. Questions
are embedded live by everybody. What comes back differs: see what each of them does.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpus
from benchmarks.figures import Target
from benchmarks.peers import KINDS
from benchmarks.peers.client import ROOT, Client, PeerFailed, available
from benchmarks.peers.handover import read_rows
from benchmarks.peers.port import Embedder

BATCH = 250
SIZES = {"static": (1_000, 10_000, 100_000, 1_000_000), "minilm": (1_000, 10_000, 100_000)}
"""Facts per embedder. The good one would take most of an hour for a million on one core."""
PACED = {"static": 20_000, "minilm": 3_000}
"""How many facts the writing target is measured on."""
LIMIT_S = 300.0
"""Loading from one size to the next may take a peer this long."""
LIMIT_MB = 6_000.0
ASKING_S = 60.0
"""Asking stops here, though not before a dozen answers."""
FEWEST = 12
AFTER_WRITES = 10
SPARE = 2_000_000
"""Numbers from here on are facts that are written between questions."""

Say = Callable[[str], None]


@dataclass
class Run:
    """What one system showed at one size. Times are milliseconds."""

    system: str
    size: int
    written_per_s: float = 0.0
    first: float = 0.0
    times: list[float] = field(default_factory=list)
    processor: float = 0.0
    """The median of the processor's time: on a busy machine the clock contains waiting."""
    after_write: list[float] = field(default_factory=list)
    right: int = 0
    tokens: float | None = None
    memory_mb: float = 0.0
    memory_empty_mb: float = 0.0
    file_mb: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    """What the phases of a context take, of ours."""
    missing: str | None = None
    """Why there are no figures."""

    @property
    def p50(self) -> float:
        return statistics.median(self.times)

    @property
    def p95(self) -> float:
        return float(np.percentile(self.times, 95))

    def plain(self) -> dict[str, Any]:
        """For a JSON file."""
        found = asdict(self)
        if self.times:
            found |= {"p50": self.p50, "p95": self.p95}
        return found


@dataclass
class Pace:
    """Facts per second of the embedder alone, and of writing with that embedder."""

    embedding: float
    writing: float
    texts_per_fact: float
    """One, unless texts were remembered: then the two do not compare."""


@dataclass
class Side:
    """All runs with one embedder."""

    embedder: str
    runs: list[Run] = field(default_factory=list)
    pace: Pace | None = None

    def of(self, system: str) -> dict[int, Run]:
        """The runs of a system that gave figures, by size."""
        return {run.size: run for run in self.runs if run.system == system and run.times}

    def plain(self) -> dict[str, Any]:
        """For a JSON file."""
        pace = asdict(self.pace) if self.pace else None
        return {"pace": pace, "runs": [run.plain() for run in self.runs]}


def measure(
    embedder: str, sizes: list[int], systems: list[str], say: Say, limit: float = LIMIT_S
) -> Side:
    """Fill every system to each size in turn, and ask all of them at each."""
    side = Side(embedder)
    with tempfile.TemporaryDirectory(prefix="incumbent-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        say(f"{embedder}: writing with indexing, against the embedder alone")
        side.pace = _pace(
            folder / "pace", embedder, "incumbent" if "incumbent" in systems else "bare"
        )
        vectors = _vectors(embedder, max(sizes), say)
        table = _Table(side, folder, vectors, stack, limit)
        for system in systems:
            table.seat(system)
        for size in sorted(sizes):
            say(f"{embedder}: {size:,} facts")
            table.fill(size, say)
            table.ask(size)
    return side


class _Table:
    """The systems that still take part, with how far each is filled."""

    def __init__(
        self, side: Side, folder: Path, vectors: Path, stack: ExitStack, limit: float
    ) -> None:
        self._limit = limit
        self._side = side
        self._folder = folder
        self._vectors = vectors
        self._stack = stack
        self._clients: dict[str, Client] = {}
        self._filled: dict[str, int] = {}
        self._rates: dict[str, float] = {}
        self._weights: dict[str, tuple[float, float]] = {}
        self._gone: dict[str, str] = {}

    def seat(self, system: str) -> None:
        """Start a system, or note why it cannot take part."""
        if not available(system):
            self._gone[system] = "not installed: run make bench, which sets up .venv-peers"
            return
        vectors = None if system.startswith("incumbent") else self._vectors
        try:
            client = Client(
                system, self._folder / str(len(self._clients)), self._side.embedder, vectors
            )
        except PeerFailed as error:
            self._gone[system] = str(error)
            return
        self._clients[system] = self._stack.enter_context(client)
        self._filled[system] = 0

    def fill(self, size: int, say: Say) -> None:
        """Load every system up to a size; those that cannot hold it leave, and say why."""
        for system, client in list(self._clients.items()):
            run = Run(system, size)
            reason = self._too_much(system, size)
            if reason is None:
                say(f"  loading {system}")
                try:
                    reason = self._load(client, run)
                except PeerFailed as error:
                    reason = str(error)
            if reason is not None:
                self._gone[system] = reason
                self._clients.pop(system).close()
            else:
                self._side.runs.append(run)
        for system, why in self._gone.items():
            self._side.runs.append(Run(system, size, missing=why))

    def _too_much(self, system: str, size: int) -> str | None:
        """Why loading up to a size is not even tried, judged by how it went so far."""
        if KINDS[system].ours:
            return None
        rate, weight = self._rates.get(system), self._weights.get(system)
        to_come = size - self._filled[system]
        if rate is not None and to_come / rate > self._limit:
            minutes = to_come / rate / 60
            return f"not attempted: loading {size:,} would take {minutes:,.0f} minutes or more"
        if weight is not None:
            empty, full = weight
            expected = empty + (full - empty) * size / max(self._filled[system], 1)
            if expected > LIMIT_MB:
                return (
                    f"not attempted: {size:,} would take about {expected / 1000:.0f} GB of memory"
                )
        return None

    def _load(self, client: Client, run: Run) -> str | None:
        system, start = client.system, self._filled[client.system]
        seconds, last = 0.0, 0.0
        for begin in range(start, run.size, BATCH):
            stop = min(begin + BATCH, run.size)
            last = client.do("load", start=begin, stop=stop)["seconds"]
            seconds += last
            self._filled[system] = stop
            if seconds > self._limit and not KINDS[system].ours and stop < run.size:
                return f"gave up at {stop:,} facts: loading took over {self._limit:.0f} s"
        self._rates[system] = BATCH / last if last else 1e9  # the latest batch: some slow down
        count = run.size - start
        if not system.startswith("incumbent") and system != "memgine" and self._side.pace:
            seconds += count / self._side.pace.embedding
        run.written_per_s = count / seconds
        return None

    def ask(self, size: int) -> None:
        """Put the questions for a size to everybody in turn."""
        runs = {run.system: run for run in self._side.runs if run.size == size and not run.missing}
        asked = corpus.questions(size)
        # Each is asked once: what is known of a question that was asked before is kept.
        opening, *others = corpus.further_questions(size) or asked
        for system, run in runs.items():
            weight = self._clients[system].do("weigh")
            run.first = self._clients[system].do("ask", number=opening.number)["seconds"] * 1e3
            run.memory_empty_mb = weight["memory_empty_mb"]
            run.file_mb = weight["file_mb"]
        answers: dict[str, list[dict[str, Any]]] = {system: [] for system in runs}
        spent = dict.fromkeys(runs, 0.0)
        for fact in asked:
            for system in runs:
                if spent[system] > ASKING_S and len(answers[system]) >= FEWEST:
                    continue
                begin = time.perf_counter()
                answers[system].append(self._clients[system].do("ask", number=fact.number))
                spent[system] += time.perf_counter() - begin
        for system, run in runs.items():
            _summarize(run, answers[system])
            if system.startswith("incumbent"):
                run.phases = self._phases(self._clients[system], others)
            self._after_writes(self._clients[system], run, asked)
            run.memory_mb = self._clients[system].do("weigh")["memory_mb"]
            self._weights[system] = (run.memory_empty_mb, run.memory_mb)

    def _phases(self, client: Client, asked: list[corpus.Fact]) -> dict[str, float]:
        spent = client.do("phases", numbers=[fact.number for fact in asked])["phases"]
        return {phase: seconds * 1e3 / len(asked) for phase, seconds in spent.items()}

    def _after_writes(self, client: Client, run: Run, asked: list[corpus.Fact]) -> None:
        """The time of a question right after a write: caches that a write empties show here."""
        # A system's own size tells which spare facts it has not been given yet.
        spare = SPARE + run.size
        for place in range(AFTER_WRITES):
            client.do("load", start=spare + place, stop=spare + place + 1)
            answer = client.do("ask", number=asked[place].number)
            run.after_write.append(answer["seconds"] * 1e3)


def _summarize(run: Run, answers: list[dict[str, Any]]) -> None:
    run.times = [answer["seconds"] * 1e3 for answer in answers]
    worked = [answer["processor"] * 1e3 for answer in answers]
    run.processor = statistics.median(worked)
    run.right = sum(answer["right"] for answer in answers)
    if answers[0]["tokens"] is not None:
        run.tokens = statistics.median(answer["tokens"] for answer in answers)
    if answers[0]["parts"]:
        run.parts = {
            part: statistics.median(answer["parts"][part] for answer in answers) * 1e3
            for part in answers[0]["parts"]
        }
        # What is outside the bare searches is not in their time either.
        left_out = [answer["parts"]["choosing"] / answer["seconds"] for answer in answers]
        run.times = [
            answer["seconds"] * (1 - share) * 1e3
            for answer, share in zip(answers, left_out, strict=True)
        ]
        run.processor = statistics.median(
            one * (1 - share) for one, share in zip(worked, left_out, strict=True)
        )


def _pace(folder: Path, embedder: str, system: str) -> Pace:
    """Write facts into a fresh file, and embed bare the very texts that were embedded for it."""
    batches = PACED.get(embedder, 3_000) // BATCH
    with Client(system, folder, embedder, None) as client:
        found = client.do("pace", batch=BATCH, batches=batches)
    texts = found["texts"] / batches
    return Pace(
        texts / statistics.median(found["embedding"]),
        BATCH / statistics.median(found["writing"]),
        texts / BATCH,
    )


def _vectors(embedder: str, count: int, say: Say) -> Path:
    """The file of vectors of the first facts, kept between runs: some embedders take minutes."""
    from incumbent.search.embedders import load

    model: Embedder = load(embedder)
    path = ROOT / "build" / "bench" / f"vectors-{corpus.SEED}-{embedder}.f32"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not _is_from(path, model):
        path.write_bytes(b"")
    have = path.stat().st_size // (model.dimensions * 4)
    with path.open("r+b") as file:
        file.seek(have * model.dimensions * 4)
        for start in range(have, count, 1_000):
            if start % 10_000 == 0:
                say(f"  vectors: {start:,} of {count:,}")
            texts = [fact.text for fact in corpus.facts(start, min(start + 1_000, count))]
            file.write(model.embed(texts).astype(np.float32).tobytes())
    return path


def _is_from(path: Path, model: Embedder) -> bool:
    """Whether a file begins with what this embedder makes of these facts today."""
    if not path.exists():
        return False
    facts = list(corpus.facts(0, 8))
    kept = read_rows(path, 0, len(facts), model.dimensions)
    made = model.embed([fact.text for fact in facts])
    return kept.shape == made.shape and bool(np.allclose(kept, made, atol=1e-3))


# what it is held against


def targets_of(sides: list[Side]) -> list[Target]:
    """The project's targets, for what was run."""
    found = []
    for side in sides:
        found += _speed_targets(side)
        if side.pace is not None and side.of("incumbent"):
            share = side.pace.embedding / side.pace.writing  # both per second, so times inverted
            found.append(
                Target(f"{side.embedder}: writing with indexing / embedding alone", share, 1 / 0.6)
            )
    return found


SHORT = {1_000: 5.0, 100_000: 1.5, 1_000_000: 0.4}
"""What a context of 1,000 tokens may take at a size, in times of the bare searches."""


def _speed_targets(side: Side) -> list[Target]:
    ours, bare, short = side.of("incumbent"), side.of("bare"), side.of("incumbent, 1,000 tokens")
    found = [
        Target(
            f"{side.embedder}: context of 1,000 tokens / bare searches at {size:,}, processor",
            short[size].processor / bare[size].processor,
            most,
        )
        for size, most in SHORT.items()
        if size in short and size in bare
    ]
    small = side.of("langgraph + sqlite")
    if 1_000 in short and 1_000 in small:
        what = f"{side.embedder}: context of 1,000 tokens / langgraph + sqlite at 1,000, processor"
        found.append(Target(what, short[1_000].processor / small[1_000].processor, 1.0))
    if 100_000 in ours and 100_000 in bare:
        ratio = ours[100_000].p50 / bare[100_000].p50
        found.append(Target(f"{side.embedder}: context / bare searches at 100,000", ratio, 3))
    fastest = fastest_peer(side)
    if fastest is not None and fastest.size in ours:
        what = f"{side.embedder}: context / {fastest.system} at {fastest.size:,}"
        found.append(Target(what, ours[fastest.size].p50 / fastest.p50, 1 / 5))
    if 10_000 in ours and 1_000_000 in ours:
        ratio = ours[1_000_000].p50 / ours[10_000].p50
        found.append(Target(f"{side.embedder}: context at 1,000,000 / at 10,000", ratio, 4))
    return found


def held_most(side: Side) -> list[Run]:
    """Each peer's run at the largest size it could hold."""
    peers = [name for name, kind in KINDS.items() if not kind.ours]
    return [runs[max(runs)] for name in peers if (runs := side.of(name))]


def fastest_peer(side: Side) -> Run | None:
    """Of the peers that held the most facts, the one that answers fastest."""
    return min(held_most(side), key=lambda run: (-run.size, run.p50), default=None)
