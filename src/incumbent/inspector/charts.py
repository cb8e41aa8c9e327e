"""Charts: counts made into shares and columns, for pages to draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from incumbent.model.listings import VerdictCount
from incumbent.model.verdict import Outcome

_NEW = frozenset({Outcome.ESTABLISHED, Outcome.SHADOWED})
_REPLACED = frozenset({Outcome.SUPERSEDED, Outcome.REVERTED, Outcome.RETRACTED, Outcome.PROMOTED})
_MOST_COLUMNS = 90
HEIGHT = 100


@dataclass(frozen=True)
class Bar:
    """A line of a bar chart."""

    label: str
    count: int
    share: float
    """Of the longest, in percent."""


@dataclass(frozen=True)
class Column:
    """A stretch of days: what is new, what replaced or took back something, and the rest."""

    first: date
    last: date
    new: int
    replaced: int
    other: int

    @property
    def total(self) -> int:
        return self.new + self.replaced + self.other


@dataclass(frozen=True)
class Stacked:
    """A column as drawn: where it is, and its pieces from the ground up, in 0 to `HEIGHT`."""

    x: float
    width: float
    pieces: tuple[tuple[str, float, float], ...]
    """Name, top and height of each."""


def bars_of(counts: Iterable[tuple[str, int]]) -> list[Bar]:
    """Counts by name, the most first."""
    added: Counter[str] = Counter()
    for name, count in counts:
        added[name] += count
    most = max(added.values(), default=0)
    ordered = sorted(added.items(), key=lambda one: (-one[1], one[0]))
    return [Bar(name, count, round(100 * count / most, 2)) for name, count in ordered if count]


def columns_of(verdicts: Iterable[VerdictCount], until: date) -> list[Column]:
    """Verdicts by day, from the first that had any to `until`; by several days if they are many."""
    counts = list(verdicts)
    if not counts:
        return []
    first = min(one.day for one in counts)
    last = max(until, max(one.day for one in counts))
    wide = -(-((last - first).days + 1) // _MOST_COLUMNS)
    found = [[0, 0, 0] for _ in range(((last - first).days // wide) + 1)]
    for one in counts:
        kind = 0 if one.outcome in _NEW else 1 if one.outcome in _REPLACED else 2
        found[(one.day - first).days // wide][kind] += one.count
    return [
        Column(
            first + timedelta(days=i * wide),
            min(last, first + timedelta(days=(i + 1) * wide - 1)),
            *three,
        )
        for i, three in enumerate(found)
    ]


def stacked(columns: Sequence[Column]) -> list[Stacked]:
    """The columns as they are drawn, in a width of 100."""
    most = max((column.total for column in columns), default=0) or 1
    wide = 100 / max(len(columns), 1)
    return [
        Stacked(round(i * wide + wide * 0.1, 3), round(wide * 0.8, 3), _pieces(column, most))
        for i, column in enumerate(columns)
    ]


def _pieces(column: Column, most: int) -> tuple[tuple[str, float, float], ...]:
    found, ground = [], float(HEIGHT)
    for name, count in (
        ("new", column.new),
        ("replaced", column.replaced),
        ("other", column.other),
    ):
        if count:
            high = HEIGHT * count / most
            ground -= high
            found.append((name, round(ground, 3), round(high, 3)))
    return tuple(found)
