"""Targets: the bounds for the figures, and whether a run met them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from incumbent_eval.answering import AnswersReport
from incumbent_eval.cases import CasesReport
from incumbent_eval.conformance import CheckOutcome as Kept
from incumbent_eval.conformance import ConformanceReport
from incumbent_eval.figures import Share, rounded
from incumbent_eval.isolation import IsolationReport
from incumbent_eval.pairs import PairsReport
from incumbent_eval.repair import EpisodeForm, Half, RepairReport, Task
from incumbent_eval.retrieval import RetrievalReport, mean_of
from incumbent_eval.scope import ScopeReport
from incumbent_eval.statebench import OURS, SuiteReport

RIVAL = "memgine"
"""The baseline that our joint figure is held against."""
_NAMES = {"cases_dev": "SGD dev", "cases_val": "MultiWOZ val", "pairs_dev": "SGD dev"}
_FLOORS = {"cases_dev": 0.35, "cases_val": 0.30}
"""The floor for the rules alone."""
_CURRENT = {"cases_dev": 0.70, "cases_val": 0.60}
"""The floor with the model."""
_FLOOR_RETIRED, _RETIRED = 0.02, 0.01
_PAIRS = {"pairs_dev": 0.88, "cases_val": 0.70}
_COUNTERFACTUAL = 0.80
_NOT_MEANT = 0.15
_MEANT = 0.60
_JOINT = {"v1.0 dev": 0.62, "v2.0.0": 0.95}
_AWAY = 0.03
"""The most that a copy in other words may differ from the original: more means that the suite was
known."""
_ABSENT = 0.95
_SILENT = (
    "cf_temporal_validity",
    "cf_commitment_status",
    "cf_dependency_validity",
    "dependency_chain",
)
"""Tracks in which every other system mentions a forbidden phrase."""
_REPAIRED = {Task.CASCADE: 0.80, Task.ABSENCE: 0.80, Task.DELETION: 0.90, Task.RECALL: 0.90}
_RANKED, _AHEAD = "LoCoMo @10", 0.15


@dataclass(frozen=True)
class FigureTarget:
    """One figure with its bound. `measured` is None if the run has no such figure."""

    measure: str
    bound: float | None
    measured: float | None
    at_least: bool = True

    @property
    def met(self) -> bool | None:
        """Whether the bound was kept; None if there is no figure or no bound."""
        if self.measured is None or self.bound is None:
            return None
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    @property
    def word(self) -> str:
        """The result for people: met, missed, or left out."""
        return {True: "met", False: "missed", None: "left out"}[self.met]

    def record(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "at_least" if self.at_least else "at_most": rounded(self.bound),
            "measured": rounded(self.measured),
            "met": self.met,
        }


def of_cases(report: CasesReport, *, is_learned: bool = True) -> Iterator[FigureTarget]:
    """The targets of a file of dialogues. A file without a target of ours has the second alone."""
    name = _NAMES.get(report.name, report.name)
    bound = (_CURRENT if is_learned else _FLOORS).get(report.name)
    if bound is not None:
        yield FigureTarget(f"{name}: current and not stale", bound, report.joint.joint)
    retired = _RETIRED if is_learned else _FLOOR_RETIRED
    yield FigureTarget(
        f"{name}: live values retired", retired, report.retired.value, at_least=False
    )


def of_pairs(report: PairsReport) -> Iterator[FigureTarget]:
    """The F1 of the model on pairs, at the best threshold for the file."""
    bound = _PAIRS.get(report.name)
    if bound is not None:
        name = _NAMES.get(report.name, report.name)
        yield FigureTarget(f"{name}: F1 of pairs", bound, report.best.found.f1)


def of_scope(report: ScopeReport) -> Iterator[FigureTarget]:
    """The targets for statements that claim nothing."""
    if report.counterfactual != type(report.counterfactual)():
        yield FigureTarget("counterfactual F1", _COUNTERFACTUAL, report.counterfactual.f1)
    if report.stored:
        not_meant = sum(
            (report.stored.get(label, Share()) for label in ("uncommitted", "committed_false")),
            Share(),
        )
        meant = report.stored.get("committed_true", Share())
        yield FigureTarget(
            "uncommitted or denied, stored", _NOT_MEANT, not_meant.value, at_least=False
        )
        yield FigureTarget("committed, stored", _MEANT, meant.value)


def of_suite(report: SuiteReport, copy: SuiteReport | None = None) -> Iterator[FigureTarget]:
    """Our joint figure against its target, the rival in the same run, and a copy."""
    name, ours = f"StateBench {report.suite}", report.total(OURS).joint
    if report.suite in _JOINT:
        yield FigureTarget(f"{name}: joint", _JOINT[report.suite], ours)
    yield FigureTarget(f"{name}: joint, against {RIVAL}", report.total(RIVAL).joint, ours)
    if copy is not None:
        copied = copy.total(OURS).joint
        away = None if ours is None or copied is None else abs(copied - ours)
        yield FigureTarget(f"{name}: joint, away from it on a perturbed copy", _AWAY, away, False)
    tracks = report.tracks.get(OURS, {})
    for track in _SILENT:
        if track in tracks:
            clean = Share(tracks[track].clean, tracks[track].of)
            yield FigureTarget(f"{name}, {track}: must-not-mention absent", _ABSENT, clean.value)


def of_conformance(report: ConformanceReport) -> Iterator[FigureTarget]:
    """Every check must pass: a law that holds now and then is none."""
    kept = report.counted()[Kept.PASSED]
    yield FigureTarget("conformance: checks passed", 1.0, Share(kept, len(report.results)).value)


def of_isolation(report: IsolationReport) -> Iterator[FigureTarget]:
    """No leak at all."""
    leaks = Share(len(report.leaks), report.probes)
    yield FigureTarget("isolation: leaks, of probes", 0.0, leaks.value, at_least=False)


def of_asof(report: AnswersReport) -> Iterator[FigureTarget]:
    """Every answer must be right, since it follows from the writes."""
    yield FigureTarget("as of: answers right", 1.0, report.all.value)


def of_scoped(report: AnswersReport) -> Iterator[FigureTarget]:
    """Every answer must be right here too."""
    yield FigureTarget("scope: contexts that go by the value that holds", 1.0, report.all.value)


def of_repair(report: RepairReport) -> Iterator[FigureTarget]:
    """All structured episodes; in plain language, by task, in phrasings held out."""
    structured = report.share(EpisodeForm.STRUCTURED, Half.KNOWN, tuple(Task))
    yield FigureTarget("repair, structured: every task", 1.0, structured.value)
    for task, bound in _REPAIRED.items():
        share = report.share(EpisodeForm.PLAIN, Half.HELD_OUT, (task,))
        yield FigureTarget(f"repair, in plain language: {task.value}", bound, share.value)


def of_retrieval(report: RetrievalReport) -> Iterator[FigureTarget]:
    """The ranking against BM25, and budgets that are never exceeded."""
    ours, theirs = (mean_of(report.ranking.get(n, {}), _RANKED) for n in (OURS, "bm25"))
    bound = None if theirs is None else theirs + _AHEAD
    yield FigureTarget(f"{_RANKED}: evidence, 15 points over BM25", bound, ours)
    told = report.systems.get(OURS)
    if told is not None:
        over = Share(told.over, len(told.tokens)).value
        yield FigureTarget("retrieval: contexts over their budget", 0.0, over, at_least=False)
