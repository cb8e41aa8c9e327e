"""What `crowd` measures, and what it is held against."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.crowds import ANEW, BARE, KINDS, OURS
from benchmarks.figures import Target

WRITES, CONTEXTS = "writes", "contexts"
SHARES = (0.5, 0.95, 0.99)


@dataclass
class Crowd:
    """What some clients of one system got done together."""

    system: str
    kind: str
    clients: int
    times: list[float]
    """Seconds of every call, ordered."""
    per_second: float

    @classmethod
    def of(cls, system: str, kind: str, done: Sequence[list[float]]) -> Crowd:
        """From the times that each client took for its calls."""
        rate = sum(len(times) / sum(times) for times in done if times)
        return cls(system, kind, len(done), sorted(one for times in done for one in times), rate)

    @property
    def what(self) -> str:
        return f"{self.kind}, {self.clients} client{'s' if self.clients > 1 else ''}"

    def ms(self, share: float) -> float:
        """Milliseconds that this share of the calls took at most."""
        if len(self.times) < 2:
            return 1e3 * sum(self.times)
        cuts = statistics.quantiles(self.times, n=100, method="inclusive")
        return 1e3 * cuts[round(share * 100) - 1]

    def plain(self) -> dict[str, Any]:
        """The figures for programs."""
        return {
            "system": self.system,
            "kind": self.kind,
            "clients": self.clients,
            "calls": len(self.times),
            "per_second": self.per_second,
            "ms": {f"p{share * 100:g}": self.ms(share) for share in SHARES},
        }


class Holding(NamedTuple):
    """What a system held when it was measured, and what came back from it."""

    organizations: int
    facts: int
    """Of each organization."""
    asked: int
    answered: int
    """How often the fact asked about was in what came back."""
    given: float
    """How many facts came back on average."""


class Growth(NamedTuple):
    """The median milliseconds of one organization's contexts, alone and beside all others."""

    alone: float
    beside: float
    others: int


@dataclass
class Report:
    """Everything that was measured."""

    organizations: int
    facts: int
    seconds: float
    """How long each run took."""
    growth: Growth | None = None
    crowds: list[Crowd] = field(default_factory=list)
    holdings: dict[str, Holding] = field(default_factory=dict)
    indexed: dict[str, float] = field(default_factory=dict)
    """How many seconds it took to make the index of a peer, over all that it holds."""
    missing: dict[str, str] = field(default_factory=dict)
    """Why a system has no figures, or not all of them."""

    def of(self, system: str) -> dict[tuple[str, int], Crowd]:
        return {(one.kind, one.clients): one for one in self.crowds if one.system == system}

    def plain(self) -> dict[str, Any]:
        """The figures for programs."""
        return {
            "organizations": self.organizations,
            "facts": self.facts,
            "seconds": self.seconds,
            "growth": self.growth._asdict() if self.growth else None,
            "crowds": [one.plain() for one in self.crowds],
            "holdings": {name: held._asdict() for name, held in self.holdings.items()},
            "indexed": self.indexed,
            "missing": self.missing,
        }


def targets_of(report: Report) -> list[Target]:
    """At least half of what the bare statements of a write get done, and 60 % of those of a
    context that reads everything; ahead of every peer; and contexts that are not slowed down by
    what others hold.

    Of the statements that a context still sends there may be next to none, and no share is asked.
    """
    ours = report.of(OURS)
    found = []
    for system in KINDS:
        if system == OURS:
            continue
        ceiling = {BARE: 2.0, ANEW: 1 / 0.6}.get(system, 1.0)
        for name, crowd in report.of(system).items():
            if (system, crowd.kind) == (BARE, CONTEXTS):
                continue
            ratio = crowd.per_second / ours[name].per_second
            found.append(Target(f"{crowd.what}: {system} / ours", ratio, ceiling))
    if report.growth is not None:
        ratio = report.growth.beside / report.growth.alone
        what = f"context beside {report.growth.others} organizations as large / alone"
        found.append(Target(what, ratio, 2))
    return found
