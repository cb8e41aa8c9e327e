"""Evaluations that make their own material, put into sections of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from incumbent_eval.adapters import OURS
from incumbent_eval.answering import AnswersReport
from incumbent_eval.conformance import CheckOutcome, ConformanceReport
from incumbent_eval.figures import Share
from incumbent_eval.isolation import IsolationReport
from incumbent_eval.repair import EpisodeForm, Half, RepairReport, Task
from incumbent_eval.report.document import Cell, Failure, Section, Table, cannot, counted
from incumbent_eval.report.sections import KEPT

Report = TypeVar("Report", ConformanceReport, IsolationReport, AnswersReport, RepairReport)

# conformance


def of_conformance(reports: Sequence[ConformanceReport]) -> Section:
    """The laws of the specification on every system."""
    checks = len(reports[0].results)
    rows: list[list[Cell]] = []
    for report in reports:
        passed, failed, not_tried = (report.counted()[outcome] for outcome in CheckOutcome)
        share = counted(Share(passed, passed + failed))
        rows.append([report.system, share, passed, failed, not_tried])
    return Section(
        name="conformance",
        title="Conformance",
        about=(
            f"{checks} checks of what the specification asks for, each on a fresh system. What a "
            "system does not claim to do is not tried on it."
        ),
        tables=[
            Table(
                ["system", "passed, of those tried", "passed", "failed", "cannot"],
                rows,
                charted=1,
            ),
            Table(
                ["group", *(report.system for report in reports)],
                [
                    [group, *(_group(report, group) for report in reports)]
                    for group in reports[0].groups
                ],
                title="Passed, by group",
            ),
        ],
        failures=[
            Failure(
                f"{report.system}: {result.check.name}",
                [("law", result.check.law), ("what happened", result.why)],
                result.context,
            )
            for report in _ours(reports)
            for result in report.failures[:KEPT]
        ],
        record={report.system: report.record() for report in reports},
    )


def _group(report: ConformanceReport, group: str) -> Cell:
    found = report.counted(group)
    tried = found[CheckOutcome.PASSED] + found[CheckOutcome.FAILED]
    return counted(Share(found[CheckOutcome.PASSED], tried)) if tried else cannot("")


def _ours(reports: Sequence[Report]) -> list[Report]:
    return [report for report in reports if report.system == OURS]


# isolation


def of_isolation(reports: Sequence[IsolationReport]) -> Section:
    """The planted secrets, and the leaks."""
    rows: list[list[Cell]] = [
        [
            report.system,
            len(report.leaks) if report.probes else cannot("keep anybody apart"),
            report.probes,
            counted(report.own),
            ", ".join(report.cannot) or "–",
        ]
        for report in reports
    ]
    return Section(
        name="isolation",
        title="Isolation",
        about=(
            "Secrets planted at random in organizations, with people, in sessions and drafts; then "
            "questions, and attempts on what is somebody else's. Nobody may come by a secret that "
            "is not theirs, on any road."
        ),
        tables=[
            Table(["system", "leaks", "probes", "own secrets found", "walls it has not"], rows)
        ],
        failures=[
            Failure(f"{leak.wall}: {leak.road}", [], leak.what)
            for report in _ours(reports)
            for leak in report.leaks[:KEPT]
        ],
        record={report.system: report.record() for report in reports},
    )


# as of, and scope


def of_asof(reports: Sequence[AnswersReport]) -> Section:
    """Answers about earlier times."""
    return Section(
        name="asof",
        title="As of an earlier time",
        about=(
            "Histories with late arrivals, corrections, terms, retractions and undos, asked for "
            "what was so, and what was known, at random times. The right answer is known exactly."
        ),
        tables=[_right(reports)],
        failures=_mistakes(reports),
        record={report.system: report.record() for report in reports},
    )


def of_scoped(reports: Sequence[AnswersReport]) -> Section:
    """The values that hold in each place, beside drafts, suppositions and the values of a
    session."""
    return Section(
        name="scope",
        title="Scope: drafts, suppositions and sessions",
        about=(
            "Values that are real, drafts, suppositions or a session's own, made real and taken "
            "back at random: does a context go by the value that holds there?"
        ),
        tables=[_right(reports)],
        failures=_mistakes(reports),
        record={report.system: report.record() for report in reports},
    )


def _mistakes(reports: Sequence[AnswersReport]) -> list[Failure]:
    return [
        Failure(mistake.asked, [], mistake.told)
        for report in _ours(reports)
        for mistake in report.mistakes[:KEPT]
    ]


def _right(reports: Sequence[AnswersReport]) -> Table:
    """The share of right answers of each system, in all and by kind of question."""
    kinds = sorted({kind for report in reports for kind in report.right})
    rows: list[list[Cell]] = []
    for report in reports:
        if report.all.of:
            shares = (report.right.get(kind, Share()) for kind in kinds)
            rows.append([report.system, counted(report.all), *map(counted, shares)])
        else:
            lacking = cannot(", ".join(report.cannot))
            rows.append([report.system, lacking, *(None for _ in kinds)])
    return Table(["system", "right", *kinds], rows, charted=1)


# repair


def of_repair(reports: Sequence[RepairReport]) -> Section:
    """The fate of a value when its base changes."""
    parts: Mapping[str, tuple[EpisodeForm, Half]] = {
        "Structured writes": (EpisodeForm.STRUCTURED, Half.KNOWN),
        "Plain language, in phrasings held out": (EpisodeForm.PLAIN, Half.HELD_OUT),
        "Plain language, in phrasings that were worked with": (EpisodeForm.PLAIN, Half.KNOWN),
    }
    return Section(
        name="repair",
        title="Repair",
        about=(
            "Made-up episodes in which something changes that other values rest on, with other "
            "talk between. Right is a context that says what holds now and nothing that no longer "
            "does."
        ),
        tables=[
            Table(
                ["task", *(report.system for report in reports)],
                [
                    [task.value, *(_repaired(report, form, half, task) for report in reports)]
                    for task in Task
                ],
                title=title,
            )
            for title, (form, half) in parts.items()
            if any(key[:2] == (form, half) for report in reports for key in report.shares)
        ],
        failures=[
            Failure(
                score.episode.id,
                [
                    part
                    for answer in score.answers
                    if not answer.is_right
                    for part in (
                        ("question", answer.question.text),
                        ("missing", " | ".join(answer.missing) or "none"),
                        ("stale, and there", " | ".join(answer.stale) or "none"),
                    )
                ],
                next((a.context for a in score.answers if not a.is_right), None),
            )
            for report in _ours(reports)
            for score in report.failures[:KEPT]
        ],
        record={report.system: report.record() for report in reports},
    )


def _repaired(report: RepairReport, form: EpisodeForm, half: Half, task: Task) -> Cell:
    share = report.shares.get((form, half, task))
    if share is not None:
        return counted(share)
    lacking = report.cannot.get((form, task))
    return cannot(", ".join(lacking)) if lacking else None
