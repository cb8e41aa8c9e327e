"""The command that plays conversations as people write them: eval conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from tenure.cli.root import command, complain
from tenure.cli.tables import print_json, show, table
from tenure.model.errors import InvalidInput
from tenure_eval.cli.evaluating import Data, EvaluationRun, Failures
from tenure_eval.figures import percent

if TYPE_CHECKING:
    from tenure_eval.conversations.report import ConversationsReport

_FOLDER = "conversations"
_PEERS = ("langgraph", "mem0")


def conversations(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Files of conversations, or folders of them.",
            show_default="conversations of the data folder",
        ),
    ] = None,
    *,
    data: Data = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A system beside ours by name, or none; repeatable.",
            show_default="langgraph and mem0, where installed",
        ),
    ] = None,
    budget: Annotated[int, typer.Option(metavar="TOKENS", min=1, help="Of a context.")] = 1500,
    every: Annotated[
        int, typer.Option(metavar="K", min=1, help="Only every K-th conversation of each file.")
    ] = 1,
    failures: Failures = 0,
    run: EvaluationRun,
) -> None:
    """Play conversations as people write them, and ask the next day what holds.

    A context is right where its live part says every current value and no dead one. Beside it
    stand the transcript as far as the budget goes, the last six turns, and other systems.
    docs/evaluation.md has the format of the files and what is counted.
    """
    from tenure_eval.conversations import report as runner

    names = _systems(system)
    reports = []
    for path in _files(files, data):
        with run.options() as options:
            reports.append(
                runner.run(
                    path, budget=budget, systems=names, limit=run.limit, every=every, **options
                )
            )
    if run.json:
        print_json({"detector": run.detector, "files": [one.record() for one in reports]})
        return
    show(*_account(reports))
    for report in reports:
        show(*_failures(report, failures))


def _files(files: Sequence[Path] | None, data: Path | None) -> list[Path]:
    from tenure_eval import running
    from tenure_eval.conversations.format import files_of

    if files:
        return files_of(files)
    folder = running.data_folder(data)
    if folder is None:
        raise InvalidInput(
            "give files of conversations, or the folder of the data sets with --data FOLDER or in "
            "TENURE_BENCH_DATA"
        )
    if not (folder / _FOLDER).is_dir():
        raise InvalidInput(f"{folder} has no folder {_FOLDER}; give files of conversations")
    return files_of([folder / _FOLDER])


def _systems(wanted: Sequence[str] | None) -> list[str]:
    """As asked for, or the usual ones that are installed; what is missing is named."""
    from tenure_eval import adapters

    if wanted is not None:
        named = [name for name in dict.fromkeys(wanted) if name != "none"]
        for name in named:
            if name not in adapters.PEERS:
                known = ", ".join(adapters.PEERS)
                raise InvalidInput(f"--system {name!r} is not one of none, {known}")
            why = adapters.missing(name)
            if why is not None:
                raise adapters.PeerMissing(why)
        return named
    for name in _PEERS:
        why = adapters.missing(name)
        if why is not None:
            complain(f"{name} left out: {why}", kind="note")
    return adapters.available(_PEERS)


def _account(reports: Sequence[ConversationsReport]) -> Iterator[RenderableType]:
    """The table: a row for each file."""
    others = list(dict.fromkeys(name for report in reports for name in report.beside))
    yield table(
        ["file", "conversations", "checks", "Tenure", *others, "changed", "plain recall"],
        [_row(report, others) for report in reports],
    )


def _row(report: ConversationsReport, others: Sequence[str]) -> list[str]:
    return [
        report.name,
        f"{report.conversations:,}",
        f"{report.joint.of:,}",
        percent(report.joint.joint),
        *(percent(report.beside[name].joint) if name in report.beside else "–" for name in others),
        percent(report.changed.joint),
        percent(report.plain.joint),
    ]


def _failures(report: ConversationsReport, count: int) -> Iterator[RenderableType]:
    """Some questions that went wrong, with what the model would have read."""
    for score in report.failures[:count]:
        yield f"\n## {report.name}, {score.conversation}: {score.question.text}"
        yield f"missing: {' | '.join(score.missing) or 'none'}"
        yield f"dead:    {' | '.join(score.stale) or 'none'}"
        yield score.context


def register(group: typer.Typer) -> None:
    """Add this command to `tenure eval`."""
    command(
        group,
        "conversations",
        conversations,
        [
            "eval conversations DATA/conversations/life.txt",
            "eval conversations DATA/conversations --every 10 --failures 3",
            "eval conversations --data DATA --system none --json",
        ],
    )
