"""The commands that hold systems against laws: eval conformance, isolation, asof, part of scope."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from incumbent.cli.declaring import command, flag, option, options
from incumbent.cli.progress import ProgressLine
from incumbent.cli.tables import print_json, show, table
from incumbent_eval.figures import Share, percent

if TYPE_CHECKING:
    from incumbent_eval.answering import AnswersReport
    from incumbent_eval.conformance import ConformanceReport
    from incumbent_eval.isolation import IsolationReport
    from incumbent_eval.systems import Maker

OURS = "incumbent"


@options()
class Chosen:
    """The systems, and the seed."""

    system: list[str] | None = option(
        "NAME", "A system by name, MODULE:NAME for one of yours, or all; repeatable.", shown=OURS
    )
    seed: int = option("N", "What everything is drawn from.", default=0)

    @property
    def makers(self) -> list[Maker]:
        """The maker of each system."""
        from incumbent_eval import choosing

        return choosing.makers(self.system)


@options()
class Trials(Chosen):
    """The systems and the seed, the number of processes, and the form of the output."""

    workers: int | None = option("N", "Processes.", shown="one for each core", min=1)
    json: bool = flag("Print one JSON document.")

    @property
    def options(self) -> dict[str, Any]:
        return {"seed": self.seed, "workers": self.workers or os.cpu_count() or 1}


FAILURES = option("N", "Print N that went wrong, with their contexts.", default=0, min=0)


@contextmanager
def _told() -> Iterator[ProgressLine]:
    """Progress on stderr while something runs."""
    telling = ProgressLine()
    try:
        yield telling
    finally:
        telling.close()


def _each(makers: Sequence[Maker], run: Callable[..., Any], **options: Any) -> list[Any]:
    """The reports of all systems, one after the other."""
    reports = []
    for maker in makers:
        with _told() as telling:
            reports.append(run(maker, progress=telling, **options))
    return reports


# conformance


@command(
    "eval conformance",
    "eval conformance --system incumbent --system memgine --failures 3",
    "eval conformance --system my_memory:MySystem --json",
)
def conformance(
    *,
    failures: int = FAILURES,
    trials: Trials,
) -> None:
    """Hold systems against the specification: its checklist, anti-patterns and test vectors.

    Each check is a law with a small scene of its own, on a fresh system. What a system cannot do
    is named, and not scored. Ends with code 1 where Incumbent fails a check.
    """
    from incumbent_eval import conformance as runner

    reports = _each(trials.makers, runner.run)
    if trials.json:
        print_json({"systems": [report.record() for report in reports]})
    else:
        show(*_conformance_account(reports, failures))
    _end(any(report.system == OURS and report.failures for report in reports))


def _conformance_account(
    reports: Sequence[ConformanceReport], failures: int
) -> Iterator[RenderableType]:
    groups = reports[0].groups
    yield table(
        ["checks passed", *(report.system for report in reports)],
        [
            *([group, *(_tally(report, group) for report in reports)] for group in groups),
            ["all", *(_tally(report, None) for report in reports)],
        ],
    )
    for report in reports:
        yield from _failed_checks(report, failures)


def _tally(report: ConformanceReport, group: str | None) -> str:
    from incumbent_eval.conformance import CheckOutcome

    counts = report.counted(group)
    tried = counts[CheckOutcome.PASSED] + counts[CheckOutcome.FAILED]
    cannot = f", {counts[CheckOutcome.CANNOT]} cannot" if counts[CheckOutcome.CANNOT] else ""
    return f"{counts[CheckOutcome.PASSED]} of {tried}{cannot}" if tried else cannot.strip(", ")


def _failed_checks(report: ConformanceReport, failures: int) -> Iterator[RenderableType]:
    if report.failures:
        yield f"\n{report.system} failed:"
        yield table(
            ["group", "check", "what is wrong"],
            [[r.check.group, r.check.name, " ".join(r.why.split())] for r in report.failures],
        )
    for result in report.failures[:failures]:
        yield f"\n## {report.system}: {result.check.name}"
        yield f"law:   {result.check.law}"
        yield f"wrong: {result.why}"
        if result.context is not None:
            yield result.context


# isolation


@command("eval isolation", "eval isolation --probes 500 --seed 7 --system my_memory:MySystem")
def isolation(
    *,
    probes: int = option("N", "How many.", default=2000, min=1),
    failures: int = FAILURES,
    trials: Trials,
) -> None:
    """Plant secrets at random, and see whether anybody comes by one that is not theirs.

    Organizations, people and sessions write, say and ask, and lay hands on what belongs to others.
    Every text that comes back is searched, and compared with that of a world without the others.
    Ends with code 1 where anything gets through to Incumbent.
    """
    from incumbent_eval import isolation as runner

    reports = _each(trials.makers, runner.run, probes=probes, **trials.options)
    if trials.json:
        told = [report.record() for report in reports]
        print_json({"seed": trials.seed, "systems": told})
    else:
        for report in reports:
            show(*_isolation_account(report, failures))
    _end(any(report.system == OURS and report.leaks for report in reports))


def _isolation_account(report: IsolationReport, failures: int) -> Iterator[RenderableType]:
    yield f"{report.system}: {len(report.leaks):,} leaks in {report.probes:,} probes"
    if report.cannot:
        yield f"no walls: {', '.join(report.cannot)}"
    if report.probes:
        own = f"{percent(report.own.value)} of {report.own.of:,}"
        yield f"own secrets found: {own}; texts compared: {report.compared:,}"
    if report.leaks:
        rows = sorted(report.by_road.items())
        yield table(["wall", "road", "leaks"], [[wall, road, f"{n:,}"] for (wall, road), n in rows])
    for leak in report.leaks[:failures]:
        yield f"\n## over the wall: {leak.wall}, by: {leak.road}"
        yield leak.what
    yield ""


# asof


@command("eval asof", "eval asof --questions 500 --seed 7 --failures 3")
def asof(
    *,
    questions: int = option("N", "How many.", default=2000, min=1),
    failures: int = FAILURES,
    trials: Trials,
) -> None:
    """Ask about the past: what was so at a time, and what was known at a time.

    Histories are drawn at random, with late arrivals, corrections, terms, plans, retractions and
    undos, and the right answers follow from them. Ends with code 1 where Incumbent gives a wrong
    one.
    """
    from incumbent_eval import asof as runner

    reports = _each(trials.makers, runner.run, questions=questions, **trials.options)
    if trials.json:
        told = [report.record() for report in reports]
        print_json({"seed": trials.seed, "systems": told})
    else:
        show(*_right_account(reports), *_mistakes(reports, failures))
    _end(any(report.system == OURS and report.mistakes for report in reports))


def _right_account(reports: Sequence[AnswersReport]) -> Iterator[RenderableType]:
    """The share of right answers by question and system."""
    kinds = sorted({kind for report in reports for kind in report.right})
    if kinds:
        yield table(
            ["right answers", *(report.system for report in reports)],
            [
                *([k, *(_share(r.right.get(k, Share())) for r in reports)] for k in kinds),
                ["all", *(_share(report.all) for report in reports)],
            ],
        )
    for report in reports:
        if report.cannot:
            yield f"{report.system} cannot: {', '.join(report.cannot)}"


def _share(share: Share) -> str:
    return f"{percent(share.value)} of {share.of:,}" if share.of else "–"


def _mistakes(reports: Sequence[AnswersReport], failures: int) -> Iterator[RenderableType]:
    for report in reports:
        for mistake in report.mistakes[:failures]:
            yield f"\n## {report.system}\n{mistake.told}"


# scope


def structured_scope(
    chosen: Chosen, ours: Maker, *, limit: int | None, workers: int
) -> list[AnswersReport]:
    """Drafts, suppositions and sessions: the part of `eval scope` that needs no data."""
    from incumbent_eval import scoped as runner

    makers = chosen.makers if chosen.system else [ours]
    questions = {} if limit is None else {"questions": limit}
    return _each(makers, runner.run, seed=chosen.seed, workers=workers, **questions)


def scoped_account(reports: Sequence[AnswersReport], failures: int) -> Iterator[RenderableType]:
    """The shares of questions in which each system went by the right value, and some mistakes."""
    yield from _right_account(reports)
    yield from _mistakes(reports, failures)


def is_wrong(reports: Sequence[AnswersReport]) -> bool:
    """Whether ours went by a wrong value anywhere."""
    return any(report.system == OURS and report.mistakes for report in reports)


def _end(failed: bool) -> None:
    if failed:
        raise typer.Exit(1)
