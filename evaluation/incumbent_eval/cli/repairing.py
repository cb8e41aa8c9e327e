"""The command that plays episodes in which things change: eval repair."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType

from incumbent.cli.declaring import command, option
from incumbent.cli.progress import ProgressLine
from incumbent.cli.tables import print_json, show, table
from incumbent_eval.cli.systems import FAILURES, OURS, Trials
from incumbent_eval.figures import percent

if TYPE_CHECKING:
    from incumbent_eval.repair import EpisodeForm, Half, RepairEpisode, RepairReport, Score, Task
    from incumbent_eval.systems import Maker

_EPISODES = 20


@command(
    "eval repair",
    "eval repair --episodes 5 --failures 3",
    "eval repair --system incumbent --system transcript --seed 7 --json",
)
def repair(
    *,
    episodes: int = option("N", "Of each task, in each form and half.", default=_EPISODES, min=1),
    failures: int = FAILURES,
    trials: Trials,
) -> None:
    """Play episodes in which values change, and ask for them and for what rests on them.

    Each episode is told in structured writes, and in plain language with dozens of turns about
    other things between, in phrasings that were worked with and in others that were held out.
    Right is a context that says what is so, and nothing stale. Ends with code 1 where Incumbent
    misses a structured one.
    """
    from incumbent_eval import repair as runner

    played = runner.episodes(episodes, trials.seed)
    workers = trials.workers or os.cpu_count() or 1
    reports = [_played(maker, played, workers) for maker in trials.makers]
    if trials.json:
        told = [report.record() for report in reports]
        print_json({"seed": trials.seed, "episodes": episodes, "systems": told})
    else:
        show(*_account(reports))
        for report in reports:
            show(*_failures(report, failures))
    if any(report.system == OURS and _misses_structured(report) for report in reports):
        raise typer.Exit(1)


def _played(maker: Maker, played: Sequence[RepairEpisode], workers: int) -> RepairReport:
    from incumbent_eval import repair as runner

    system = maker()
    name = system.name
    system.close()
    telling = ProgressLine()
    try:
        return runner.run(name, maker, played, workers=workers, progress=telling)
    finally:
        telling.close()


def _misses_structured(report: RepairReport) -> bool:
    from incumbent_eval.repair import EpisodeForm

    return any(score.episode.form is EpisodeForm.STRUCTURED for score in report.failures)


def _account(reports: Sequence[RepairReport]) -> Iterator[RenderableType]:
    """The shares by task, each form and half in a column of its system."""
    from incumbent_eval.repair import EpisodeForm, Half, Task

    columns = (
        ("structured", EpisodeForm.STRUCTURED, Half.KNOWN),
        ("plain, worked with", EpisodeForm.PLAIN, Half.KNOWN),
        ("plain, held out", EpisodeForm.PLAIN, Half.HELD_OUT),
    )
    for report in reports:
        rows = [
            [task.value, *(_cell(report, form, half, [task]) for _, form, half in columns)]
            for task in Task
        ]
        rows.append(["all", *(_cell(report, form, half, Task) for _, form, half in columns)])
        yield table([report.system, *(name for name, _, _ in columns)], rows)
        yield from _lacking(report)
        yield ""


def _cell(report: RepairReport, form: EpisodeForm, half: Half, tasks: Iterable[Task]) -> str:
    share = report.share(form, half, tuple(tasks))
    return f"{percent(share.value)} of {share.of:,}" if share.of else "–"


def _lacking(report: RepairReport) -> Iterator[RenderableType]:
    for (form, task), what in report.cannot.items():
        yield f"{report.system} cannot ({form}, {task}): {', '.join(what)}"


def _failures(report: RepairReport, count: int) -> Iterator[RenderableType]:
    for score in report.failures[:count]:
        yield from _failure(report.system, score)


def _failure(system: str, score: Score) -> Iterator[RenderableType]:
    yield f"## {system}: {score.episode.id}"
    for step in score.episode.steps:
        yield f"  {step.told}"
    for answer in score.answers:
        if not answer.is_right:
            yield f"asked:   {answer.question.text}"
            yield f"missing: {' | '.join(answer.missing) or 'none'}"
            yield f"stale:   {' | '.join(answer.stale) or 'none'}"
            yield f"{answer.context}\n"
