"""The commands that measure on recorded text: eval cases, pairs, scope."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import incumbent
from incumbent.cli.options import DEFAULT_EMBEDDER, Common
from incumbent.cli.progress import ProgressLine
from incumbent.cli.root import command
from incumbent.cli.tables import print_json, show
from incumbent.model.errors import InvalidInput
from incumbent.settings import READERS
from incumbent_eval.cli import repairing, systems

if TYPE_CHECKING:
    from incumbent_eval.cases import CasesReport
    from incumbent_eval.pairs import PairsReport
    from incumbent_eval.scope import ScopeReport

DEFAULT_READER = "default"
_DATA_HELP = "The folder that holds the data sets, or INCUMBENT_BENCH_DATA."
_ABOUT = """Measure on recorded conversations: what is current, what is stale, what was not meant.

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
"""


@dataclass(frozen=True)
class Effort:
    """The amount to run, and the number of processes."""

    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Only the first N of each file.", show_default="all"),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Processes.", show_default="one for each core"),
    ] = None

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


@dataclass(frozen=True)
class Work(Effort):
    """The effort, and the form of the output."""

    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False


@dataclass(frozen=True)
class Fed(Effort):
    """The work of runs that feed a memory, and the settings of that memory."""

    embedder: Annotated[
        str,
        typer.Option(
            envvar="INCUMBENT_EMBEDDER",
            metavar="NAME",
            help="What finds facts by meaning: minilm, static or none.",
        ),
    ] = DEFAULT_EMBEDDER
    reader: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What reads turns: default (rules and the model that ships) or rules.",
        ),
    ] = DEFAULT_READER

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


Failures = Annotated[
    int, typer.Option(metavar="N", min=0, help="Print N that went wrong, with their contexts.")
]
Data = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help=_DATA_HELP, show_default=False),
]


# cases


def cases(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of cases.")],
    *,
    failures: Failures = 0,
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


def pairs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of pairs, or of cases.")],
    *,
    failures: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Print N wrongly taken for a change, and N changes missed."
        ),
    ] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.svg",
            help="Draw the reliability of the probabilities.",
            show_default=False,
        ),
    ] = None,
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


def scope(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", help="A folder of sentences.", show_default="none"),
    ] = None,
    *,
    failures: Failures = 0,
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


def register(app: typer.Typer) -> None:
    """Add this group of commands to the command line."""
    # They take the options from here.
    from incumbent_eval.cli import answered, gating, reports, suites, talked

    group = typer.Typer(
        name="eval",
        help=_ABOUT,
        no_args_is_help=True,
        rich_markup_mode=None,
        context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    )
    command(
        group,
        "cases",
        cases,
        [
            "eval cases DATA/sgd/cases_dev.jsonl.gz",
            "eval cases DATA/sgd/cases_dev.jsonl.gz --limit 50 --failures 3",
            "eval cases one.jsonl two.jsonl --workers 2 --json",
            "eval cases DATA/sgd/cases_dev.jsonl.gz --reader rules",
        ],
    )
    command(
        group,
        "pairs",
        pairs,
        [
            "eval pairs DATA/sgd/pairs_dev.jsonl.gz",
            "eval pairs DATA/multiwoz/cases_val.jsonl.gz --failures 3 --plot reliability.svg",
        ],
    )
    command(group, "scope", scope, ["eval scope", "eval scope DATA/scope --failures 5"])
    talked.register(group)
    answered.register(group)
    gating.register(group)
    suites.register(group)
    systems.register(group)
    repairing.register(group)
    reports.register(group)
    app.add_typer(group, name="eval")
