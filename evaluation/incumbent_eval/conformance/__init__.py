"""Conformance: the laws of the specification, tried on any system that speaks the protocol."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from incumbent_eval.conformance import (  # noqa: F401  they enter their checks when imported
    authority,
    budgets,
    reads,
    repair,
    scopes,
    specification,
    times,
    walls,
)
from incumbent_eval.conformance.checks import CHECKS, Check, Trial, Unmet
from incumbent_eval.systems import CannotDo, Maker, Progress, Refused, System

_ORDER = ("test vectors", "anti-patterns", "layers", "chains")
CHECKS.sort(key=lambda check: (*_ORDER, check.group).index(check.group))

__all__ = ["CHECKS", "Check", "ConformanceReport", "Outcome", "Result", "Trial", "Unmet", "run"]


class CheckOutcome(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    CANNOT = "cannot"


@dataclass(frozen=True)
class Result:
    """The result of one check on one system, and the reason if it failed or could not be tried."""

    check: Check
    outcome: CheckOutcome
    why: str = ""
    context: str | None = None

    def record(self) -> dict[str, Any]:
        told = {"check": self.check.name, "group": self.check.group, "outcome": self.outcome.value}
        if self.outcome is not CheckOutcome.PASSED:
            told |= {"law": self.check.law, "why": self.why}
        return told if self.context is None else {**told, "context": self.context}


@dataclass(frozen=True)
class ConformanceReport:
    """The results of every check on one system."""

    system: str
    results: tuple[Result, ...]

    def counted(self, group: str | None = None) -> Counter[CheckOutcome]:
        """The number of checks that passed, failed and could not be tried: in a group, or in
        all."""
        return Counter(r.outcome for r in self.results if group in (None, r.check.group))

    @property
    def groups(self) -> list[str]:
        """The groups of the checks, in their order."""
        return list(dict.fromkeys(result.check.group for result in self.results))

    @property
    def failures(self) -> list[Result]:
        return [result for result in self.results if result.outcome is CheckOutcome.FAILED]

    def record(self) -> dict[str, Any]:
        return {
            "system": self.system,
            **{outcome.value: self.counted()[outcome] for outcome in CheckOutcome},
            "checks": [result.record() for result in self.results],
        }


def run(
    maker: Maker, *, checks: Sequence[Check] = CHECKS, progress: Progress | None = None
) -> ConformanceReport:
    """Try every check on a fresh system of its own."""
    results, name = [], ""
    for done, check in enumerate(checks, start=1):
        system = maker()
        try:
            name = system.name
            results.append(_tried(check, system))
        finally:
            system.close()
        if progress is not None:
            progress(f"checks on {name}", done, len(checks))
    return ConformanceReport(name, tuple(results))


def _tried(check: Check, system: System) -> Result:
    lacking = check.missing(system.can)
    if lacking:
        return Result(check, CheckOutcome.CANNOT, f"it has no {', '.join(lacking)}")
    try:
        check.attempt(Trial(system))
    except CannotDo as error:
        return Result(check, CheckOutcome.CANNOT, f"it has no {error.ability}")
    except Unmet as error:
        return Result(check, CheckOutcome.FAILED, error.why, error.context)
    except Refused as error:
        return Result(check, CheckOutcome.FAILED, f"it refused: {error}")
    except Exception as error:  # whatever a system under evaluation may raise, the others go on
        return Result(check, CheckOutcome.FAILED, f"it broke: {type(error).__name__}: {error}")
    return Result(check, CheckOutcome.PASSED)
