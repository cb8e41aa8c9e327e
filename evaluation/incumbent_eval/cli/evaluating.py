"""The commands that measure on recorded text: eval cases, pairs, scope."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import incumbent
from incumbent.cli.declaring import CommandGroup, argument, command, flag, option, options
from incumbent.cli.options import DEFAULT_EMBEDDER, Common
from incumbent.cli.progress import ProgressLine
from incumbent.cli.tables import print_json, show
from incumbent.model.errors import InvalidInput
from incumbent.settings import READERS
from incumbent_eval.cli import systems
from incumbent_eval.cli.systems import FAILURES

if TYPE_CHECKING:
    from incumbent_eval.cases import CasesReport
    from incumbent_eval.pairs import PairsReport
    from incumbent_eval.scope import ScopeReport

DEFAULT_READER = "default"
_DATA_HELP = "The folder that holds the data sets, or INCUMBENT_BENCH_DATA."
GROUP = CommandGroup(
    "eval",
    """Measure on recorded conversations: what is current, what is stale, what was not meant.

\b
Examples:
  incumbent eval all --data DATA --json run.json
  incumbent eval report run.json --html page.html
  incumbent eval cases DATA/sgd/cases_dev.jsonl.gz --failures 3
  incumbent eval conversations DATA/conversations --every 10
  incumbent eval pairs DATA/sgd/pairs_dev.jsonl.gz --failures 3
  incumbent eval scope DATA/scope
  incumbent eval statebench --data DATA --reader rules

The data are public and not part of Incumbent; docs/evaluation.md says where they are from, what
their lines look like and how every figure is counted.
""",
    (
        "incumbent_eval.cli.talked",
        "incumbent_eval.cli.answered",
        "incumbent_eval.cli.gating",
        "incumbent_eval.cli.suites",
        "incumbent_eval.cli.systems",
        "incumbent_eval.cli.repairing",
        "incumbent_eval.cli.reports",
    ),
)


@options()
class Effort:
    """The amount to run, and the number of processes."""

    limit: int | None = option("N", "Only the first N of each file.", shown="all", min=1)
    workers: int | None = option("N", "Processes.", shown="one for each core", min=1)

    @property
    def processes(self) -> int:
        """The number of processes."""
        return self.workers or os.cpu_count() or 1

    @contextmanager
    def telling(self) -> Iterator[dict[str, Any]]:
        """The arguments of every runner, with progress told on stderr while it runs."""
        telling = ProgressLine()
        try:
            yield {"workers": self.processes, "progress": telling}
        finally:
            telling.close()


@options()
class Work(Effort):
    """The effort, and the form of the output."""

    json: bool = flag("Print one JSON document.")


@options()
class Fed(Effort):
    """The work of runs that feed a memory, and the settings of that memory."""

    embedder: str = option(
        "NAME",
        "What finds facts by meaning: minilm, static or none.",
        default=DEFAULT_EMBEDDER,
        env="INCUMBENT_EMBEDDER",
    )
    reader: str = option(
        "NAME",
        "What reads turns: default (rules and the model that ships) or rules.",
        default=DEFAULT_READER,
    )

    @property
    def settings(self) -> incumbent.Settings:
        """The settings of the memories of the run."""
        if self.reader not in READERS:
            known = ", ".join(READERS)
            raise InvalidInput(f"--reader {self.reader!r} is not one of {known}")
        return replace(Common(embedder=self.embedder).settings, reader=self.reader)

    @contextmanager
    def options(self) -> Iterator[dict[str, Any]]:
        """The arguments of the runners that feed a memory."""
        settings = self.settings
        with self.telling() as options:
            yield {"settings": settings, **options}


@dataclass(frozen=True)
class EvaluationRun(Fed, Work):
    """All options of a run."""


DATA = option("FOLDER", _DATA_HELP, shown=False)


# cases


@command(
    "eval cases DATA/sgd/cases_dev.jsonl.gz",
    "eval cases DATA/sgd/cases_dev.jsonl.gz --limit 50 --failures 3",
    "eval cases one.jsonl two.jsonl --workers 2 --json",
    "eval cases DATA/sgd/cases_dev.jsonl.gz --reader rules",
)
def cases(
    files: list[Path] = argument("FILE", "Files of cases."),
    *,
    failures: int = FAILURES,
    run: EvaluationRun,
) -> None:
    """Feed dialogues, ask about the present, and look for current and stale values.

    Each file holds JSON Lines, packed with gzip or not: a dialogue with what changes in it, a
    query, and what its context must and must not say. Beside the figures of Incumbent stand those
    of the full transcript and of the last three turns of the user.
    """
    reports = [_run_cases(path, run) for path in files]
    if run.json:
        print_json({"reader": run.reader, "files": [report.record() for report in reports]})
        return
    from incumbent_eval.cli import measured

    for report in reports:
        show(*measured.cases_account(report), *measured.cases_failures(report, failures))


def _run_cases(path: Path, run: EvaluationRun) -> CasesReport:
    from incumbent_eval import cases as runner

    with run.options() as options:
        return runner.run(path, limit=run.limit, **options)


# pairs


@command(
    "eval pairs DATA/sgd/pairs_dev.jsonl.gz",
    "eval pairs DATA/multiwoz/cases_val.jsonl.gz --failures 3 --plot reliability.svg",
)
def pairs(
    file: Path = argument("FILE", "A file of pairs, or of cases."),
    *,
    failures: int = option(
        "N", "Print N wrongly taken for a change, and N changes missed.", default=0, min=0
    ),
    plot: Path | None = option(
        "FILE.svg", "Draw the reliability of the probabilities.", shown=False
    ),
    work: Work,
) -> None:
    """Let the model that ships read pairs: does a turn replace an earlier value?

    A line of JSON has old (a statement with one value between « and »), new (the turn, behind
    "previous turn ¦ " where there is one) and y (1 where the value is replaced). Of a file of
    cases, every value that a user has said is held against every later turn of the user.
    """
    if plot is not None and not plot.absolute().parent.is_dir():
        raise InvalidInput(f"--plot {plot}: there is no folder {plot.parent}; make it first")
    report = _run_pairs(file, work)
    if plot is not None:
        _draw(report, plot)
    if work.json:
        print_json(report.record())
        return
    from incumbent_eval.cli import measured

    show(*measured.pairs_account(report), *measured.pairs_failures(report, failures))


def _run_pairs(path: Path, work: Work) -> PairsReport:
    from incumbent_eval import pairs as runner

    with work.telling() as options:
        return runner.run(path, limit=work.limit, **options)


def _draw(report: PairsReport, path: Path) -> None:
    from incumbent_eval import calibration

    try:
        path.write_text(calibration.svg(report.bins, report.name), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--plot {path} cannot be written: {error}") from None


# scope


@command("eval scope", "eval scope DATA/scope --failures 5")
def scope(
    folder: Path | None = argument(
        "FOLDER", "A folder of sentences.", default=None, show_default="none"
    ),
    *,
    failures: int = FAILURES,
    chosen: systems.Chosen,
    run: EvaluationRun,
) -> None:
    """Tell what holds here from what does not: drafts, suppositions, other sessions.

    Episodes are drawn at random, and the right answers follow from them. With a folder also what
    is claimed from what is only said: it reads counterfactual_*.jsonl.gz (text, label) and
    commitment_*.jsonl.gz (text, claim, label). Ends with code 1 where Incumbent goes by a wrong
    value.
    """
    from incumbent_eval.ours import IncumbentSystem

    report = _run_scope(folder, run) if folder is not None else None
    ours = partial(IncumbentSystem, run.settings)
    workers = run.workers or os.cpu_count() or 1
    structured = systems.structured_scope(chosen, ours, limit=run.limit, workers=workers)
    if run.json:
        told = [one.record() for one in structured]
        said = report.record() if report is not None else {}
        print_json({"reader": run.reader, **said, "seed": chosen.seed, "structured": told})
    else:
        show(*systems.scoped_account(structured, failures))
        if report is not None:
            from incumbent_eval.cli import measured

            show("", *measured.scope_account(report), *measured.scope_failures(report, failures))
    if systems.is_wrong(structured):
        raise typer.Exit(1)


def _run_scope(folder: Path, run: EvaluationRun) -> ScopeReport:
    from incumbent_eval import scope as runner

    if not folder.is_dir():
        raise InvalidInput(
            f"there is no folder {folder}; give the one with commitment_dev.jsonl.gz"
        )
    with run.options() as options:
        return runner.run(folder, limit=run.limit, **options)
