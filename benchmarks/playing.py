"""Plays conversations on one core, and measures what each turn takes. Started by `observing`.

    python -m benchmarks.playing CORE FOLDER EMBEDDER DATA SIZE...

Leaves the files it filled in FOLDER, and writes what it measured to its output as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import incumbent
from benchmarks import corpus, turns
from benchmarks.observing import (
    CASES,
    DEFAULT,
    DEFAULT_READER,
    EARLIER,
    GIVEN,
    LONG,
    REGULAR,
    RULES,
    SHORT,
    Run,
    base,
    places,
)
from benchmarks.turns import Conversation, Turn
from incumbent.reading.learned.model import Model
from incumbent.reading.learned.pieces import Age, Beside
from incumbent.reading.offline import OfflineReader
from incumbent.search.embedders import load
from incumbent.search.index import Index
from incumbent.turns import observer, situation
from incumbent_eval.cases import read_dialogues

ROUNDS = 5
BATCH = 250
DIALOGUES = 96
"""How many dialogues of a data set are played."""
_LOG = 4_096_000
_WARMING = 900_000


Place = tuple[int, str]
"""How many facts there are, and which reader it is."""


def _open(path: Path, embedder: str, reader: str = RULES) -> incumbent.Memory:
    settings = incumbent.Settings(embedder=embedder, reader=_reader(reader))
    return incumbent.open(path, settings=settings)


def _reader(name: str) -> OfflineReader:
    """A reader with a model of its own, which remembers nothing that another has read."""
    return OfflineReader(None if name == RULES else Model())


def _session(memory: incumbent.Memory) -> incumbent.Session:
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
        shutil.copy(path, base(folder, size))


class _Table:
    """The files of one embedder, on which conversations are played side by side."""

    def __init__(self, folder: Path, embedder: str, sizes: Sequence[int]) -> None:
        self._folder = folder
        self._embedder = embedder
        self._places = places(embedder, sizes)
        self._model = Model()
        self._bare = load(DEFAULT)
        self._disk = _Disk(folder / "plain")
        self._seed = 0
        self.runs: dict[tuple[Place, str], Run] = {}

    def play(self, rounds: int) -> None:
        """Play everything a few times, and once more to see where the time goes."""
        for number in range(rounds):
            with self._opened() as memories:
                for index in range(turns.conversations()):
                    for place in self._in_turn(number + index):
                        self._play(memories[place], place, SHORT, self._anew(index))
            with self._opened() as memories:
                for place in self._in_turn(number):
                    everything = map(self._anew, range(turns.conversations()))
                    joined = list(chain.from_iterable(everything))
                    self._play(memories[place], place, LONG, joined)
        with self._opened() as memories:
            for place in self._places:
                written = [self._anew(index) for index in range(turns.conversations())]
                self.runs[place, SHORT].parts = dissected(memories[place], written)

    def play_regular(self, size: int) -> None:
        """Play the conversations of somebody who has said much of this before."""
        with self._opened(size) as memories:
            for index in range(EARLIER):
                for memory in memories.values():
                    session = _session(memory)
                    for turn in self._anew(index % turns.conversations()):
                        session.observe(turn.text, speaker=turn.speaker)
            for index in range(turns.conversations()):
                for place, memory in memories.items():
                    self._play(memory, place, REGULAR, self._anew(index))

    def play_given(self, data: Path, size: int) -> None:
        """Play dialogues of a data set, as many on each copy of a file as of our own."""
        dialogues = read_dialogues(data / CASES)[:DIALOGUES]
        for start in range(0, len(dialogues), turns.conversations()):
            with self._opened(size) as memories:
                for dialogue in dialogues[start : start + turns.conversations()]:
                    said = [Turn(event.speaker, event.text) for event in dialogue.events]
                    for place, memory in memories.items():
                        self._play(memory, place, GIVEN, said)

    def _anew(self, index: int) -> Conversation:
        """A conversation in words in which it was never played before."""
        self._seed += 1
        return turns.conversation(index, self._seed)

    def _in_turn(self, number: int) -> list[Place]:
        start = number % len(self._places)
        return [*self._places[start:], *self._places[:start]]

    @contextmanager
    def _opened(self, only: int | None = None) -> Iterator[dict[Place, incumbent.Memory]]:
        """Fresh copies of all files, or of one for each reader, open and warm."""
        memories = {}
        for place in self._places:
            size, reader = place
            if only not in (None, size):
                continue
            path = self._copy(place)
            shutil.copy(base(self._folder, size), path)
            memories[place] = _open(path, self._embedder, reader)
            session = _session(memories[place])
            for turn in turns.conversation(0, _WARMING + self._seed)[:4]:
                session.observe(turn.text, speaker=turn.speaker)
        yield memories
        for place, memory in memories.items():
            memory.close()
            self._copy(place).unlink()

    def _copy(self, place: Place) -> Path:
        return self._folder / f"played-{place[0]}-{place[1]}.db"

    def _play(
        self, memory: incumbent.Memory, place: Place, kind: str, played: Conversation
    ) -> None:
        run = self.runs.setdefault((place, kind), Run(self._embedder, *place, kind))
        session = _session(memory)
        for index, turn in enumerate(played):
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
            if place[1] == DEFAULT_READER and index:
                run.reading.add(*_read_once(self._model, played, index))
            run.embedding.add(begin, embedded)
            run.observing.add(again, observed)
            run.facts += len(observation.facts)
            run.written += written
            begin = _now()
            self._disk.write(written)
            run.syncing.add(begin, _now())


def _read_once(
    model: Model, played: Conversation, index: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """When the model begins and ends to read a turn, after the last one of the same person."""
    said = [turn.text for turn in played[:index] if not turn.is_context]
    previous = played[index - 1].text if played[index - 1].is_context else ""
    statement = said[-1] if said else previous
    begin = _now()
    model.read(previous, played[index].text, [Beside(statement, Age.JUST)])
    return begin, _now()


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


def dissected(memory: incumbent.Memory, played: Sequence[Conversation]) -> dict[str, float]:
    """Where the processor's time of a person's turn goes, in milliseconds on average."""
    watch = _Stopwatch()
    taken = 0
    with ExitStack() as stack:
        stack.enter_context(watch.on(OfflineReader, "read", "reading"))
        stack.enter_context(watch.on(situation, "looked_at", "looking up"))
        stack.enter_context(watch.on(Index, "keep", "indexing"))
        stack.enter_context(watch.on(Model, "pair", "the model"))
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
    core, name, embedder, data, *given = sys.argv[1:]
    os.sched_setaffinity(0, {int(core)})
    folder, sizes = Path(name), sorted(map(int, given))
    fill(folder, embedder, sizes)
    table = _Table(folder, embedder, sizes)
    table.play(ROUNDS)
    usual = 10_000 if 10_000 in sizes else sizes[-1]
    table.play_regular(usual)
    if data:
        table.play_given(Path(data), usual)
    print(json.dumps([asdict(run) for run in table.runs.values()]))


if __name__ == "__main__":
    main()
