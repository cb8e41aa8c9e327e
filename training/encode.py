"""Encoding: scenes as arrays of numbers, so that training needs nothing but numpy and torch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from incumbent.reading.learned.model import BECOMES
from incumbent.reading.learned.pieces import Beside, Encoded, encode
from training.scenes import KnownText, Line, Place, Scene

_WORD = re.compile(r"\w+")
_BESIDE: Final = 0.1
"""What a word counts that is no value, in a statement of which nothing else is over."""
NOTHING: Final = -1


@dataclass
class Rows:
    """Scenes one after the other: pieces with what is right about each, and rows of places."""

    ids: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=lambda: [0])
    over: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)
    known: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Scene, place of the sign, what becomes of it, where the statement begins that does it."""
    news: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Scene, who asks, first and last piece of the new value."""
    grounds: list[tuple[int, int, int]] = field(default_factory=list)
    """Scene, where a line begins, where the line begins that it rests on (0 for none)."""
    firsts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    """Where the pieces of the turn begin and end in each scene."""

    def add(self, scene: Scene) -> None:
        """One more scene."""
        beside = [Beside(one.text, one.age) for one in scene.known]
        read = encode(scene.previous, scene.turn, beside)
        number, base = len(self.firsts), len(self.ids)
        size = len(read.ids)
        self.ids += read.ids
        for column in (self.over, self.kinds, self.cuts, self.tags):
            column += [NOTHING] * size
        self.weight += [0.0] * size
        self.begins.append(len(self.ids))
        self.firsts.append(read.turn_first)
        self.ends.append(read.turn_first + len(read.turn))
        for place, known in enumerate(scene.known[: len(read.signs)]):
            self._know(number, base, read, place, known)
        self._lines(number, base, read, scene)

    def _know(self, number: int, base: int, read: Encoded, place: int, known: KnownText) -> None:
        sign = read.signs[place]
        label = NOTHING if known.becomes is None else BECOMES.index(known.becomes)
        by = NOTHING
        if known.by is not None:
            here = read.in_turn((known.by, known.by + 1))
            by = here[0] if here else NOTHING
        self.known.append((number, sign, label, by))
        self._point(number, sign, read, known.new)
        if known.is_whole:
            for at in range(sign + 1, sign + 1 + len(read.knowns[place])):
                self.over[base + at], self.weight[base + at] = 0, _BESIDE
        for value in known.values:
            here = read.in_known(place, (value.start, value.end))
            for at in here:
                self.over[base + at] = int(value.is_over)
                self.weight[base + at] = 1 / len(here)
            if here:
                self._point(number, here[0], read, value.new)

    def _point(self, number: int, asker: int, read: Encoded, new: Place | None) -> None:
        if new is None:
            return
        span = (new.start, new.end)
        here = read.in_previous(span) if new.in_previous else read.in_turn(span)
        if here:
            self.news.append((number, asker, here[0], here[-1]))

    def _lines(self, number: int, base: int, read: Encoded, scene: Scene) -> None:
        starts = {line.start for line in scene.lines}
        if scene.tells_cuts and scene.lines:
            first = min(starts)
            for word in _WORD.finditer(scene.turn):
                here = read.in_turn(word.span())
                if here and word.start() > first:
                    self.cuts[base + here[0]] = int(word.start() in starts)
        for line in scene.lines:
            here = read.in_turn((line.start, line.end))
            for at in here:
                if line.kind is not None:
                    self.kinds[base + at] = line.kind
                    self.weight[base + at] = 1 / len(here)
                if line.tags is not None:
                    self.tags[base + at] = 0
            for start, end, tag in line.tags or ():
                for nth, at in enumerate(read.in_turn((start, end))):
                    self.tags[base + at] = 2 if tag == 1 and nth else tag
            if here and line.rests_on is not None:
                self._rest(number, here[0], read, line)

    def _rest(self, number: int, asker: int, read: Encoded, line: Line) -> None:
        target = 0
        if line.rests_on is not None and line.rests_on >= 0:
            there = read.in_turn((line.rests_on, line.rests_on + 1))
            if not there:
                return
            target = there[0]
        self.grounds.append((number, asker, target))


def arrays(scenes: Iterable[Scene]) -> dict[str, Any]:
    """Scenes as `training.train` reads them."""
    rows = Rows()
    sources: list[str] = []
    for scene in scenes:
        rows.add(scene)
        sources.append(scene.source)
    return {
        "ids": np.array(rows.ids, np.int16),
        "begins": np.array(rows.begins, np.int64),
        "over": np.array(rows.over, np.int8),
        "weight": np.array(rows.weight, np.float16),
        "kinds": np.array(rows.kinds, np.int8),
        "cuts": np.array(rows.cuts, np.int8),
        "tags": np.array(rows.tags, np.int8),
        "known": _table(rows.known, 4),
        "news": _table(rows.news, 4),
        "grounds": _table(rows.grounds, 3),
        "turns": np.array([rows.firsts, rows.ends], np.int16).T,
        "sources": np.array(sources),
    }


def _table(rows: Sequence[Sequence[int]], width: int) -> Any:
    return np.array(rows, np.int32).reshape(-1, width)


def save(path: Path, scenes: Iterable[Scene]) -> int:
    """Write scenes as `training.train` reads them, and tell how many there are."""
    made = arrays(scenes)
    np.savez_compressed(path, **made)
    return len(made["turns"])
