"""What the figures are meant to reach, and whether a run did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tenure.evaluation.cases import CasesReport
from tenure.evaluation.figures import Share, rounded
from tenure.evaluation.pairs import PairsReport
from tenure.evaluation.scope import ScopeReport
from tenure.evaluation.statebench import OURS, SuiteReport

RIVAL = "memgine"
"""The baseline that our joint figure is held against."""
_NAMES = {"cases_dev": "SGD dev", "cases_val": "MultiWOZ val", "pairs_dev": "SGD dev"}
_FLOORS = {"cases_dev": 0.35, "cases_val": 0.30}
"""What the rules must reach alone."""
_CURRENT = {"cases_dev": 0.70, "cases_val": 0.60}
"""What must be reached with the model."""
_FLOOR_RETIRED, _RETIRED = 0.02, 0.01
_PAIRS = {"pairs_dev": 0.88, "cases_val": 0.70}
_COUNTERFACTUAL = 0.80
_NOT_MEANT = 0.15
_MEANT = 0.60


@dataclass(frozen=True)
class Target:
    """One figure with its bound. `measured` is None where the run had nothing to say about it."""

    measure: str
    bound: float | None
    measured: float | None
    at_least: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the bound was kept; None where there is no figure or no bound."""
        if self.measured is None or self.bound is None:
            return None
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @property
    def word(self) -> str:
        """The same for people: met, missed, or left out."""
        return {True: "met", False: "missed", None: "left out"}[self.met]

    def record(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "at_least" if self.at_least else "at_most": rounded(self.bound),
            "measured": rounded(self.measured),
            "met": self.met,
        }


def of_cases(report: CasesReport, *, is_learned: bool = True) -> Iterator[Target]:
    """The targets of a file of dialogues. A file we set no target for has the second alone."""
    name = _NAMES.get(report.name, report.name)
    bound = (_CURRENT if is_learned else _FLOORS).get(report.name)
    if bound is not None:
        yield Target(f"{name}: current and not stale", bound, report.joint.joint)
    retired = _RETIRED if is_learned else _FLOOR_RETIRED
    yield Target(f"{name}: live values retired", retired, report.retired.value, at_least=False)


def of_pairs(report: PairsReport) -> Iterator[Target]:
    """How well the model tells a change, at the threshold that is best for the file."""
    bound = _PAIRS.get(report.name)
    if bound is not None:
        name = _NAMES.get(report.name, report.name)
        yield Target(f"{name}: F1 of pairs", bound, report.best.found.f1)


def of_scope(report: ScopeReport) -> Iterator[Target]:
    """The targets of what is said without being claimed."""
    if report.counterfactual != type(report.counterfactual)():
        yield Target("counterfactual F1", _COUNTERFACTUAL, report.counterfactual.f1)
    if report.stored:
        not_meant = sum(
            (report.stored.get(label, Share()) for label in ("uncommitted", "committed_false")),
            Share(),
        )
        meant = report.stored.get("committed_true", Share())
        yield Target("uncommitted or denied, stored", _NOT_MEANT, not_meant.value, at_least=False)
        yield Target("committed, stored", _MEANT, meant.value)


def of_suite(report: SuiteReport) -> Iterator[Target]:
    """Our joint figure against that of the rival in the same run."""
    yield Target(
        f"StateBench {report.suite}: joint, against {RIVAL}",
        report.total(RIVAL).joint,
        report.total(OURS).joint,
    )
