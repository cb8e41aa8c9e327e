"""The command that plays conversations as people write them: eval conversations."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

import incumbent
from incumbent.cli.advice import Second
from incumbent.cli.declaring import argument, command, option
from incumbent.cli.root import remark
from incumbent.cli.tables import print_json, show, table
from incumbent.model.errors import InvalidInput
from incumbent_eval.cli.evaluating import DATA, EvaluationRun
from incumbent_eval.figures import percent

if TYPE_CHECKING:
    from incumbent_eval.conversations.fates import FateFigures
    from incumbent_eval.conversations.play import QuestionScore
    from incumbent_eval.conversations.report import ConversationsReport

_FOLDER = "conversations"
_PEERS = ("langgraph", "mem0")


@command(
    "eval conversations DATA/conversations/life.txt",
    "eval conversations DATA/conversations --every 10 --failures 3",
    "eval conversations --data DATA --system none --json",
    "eval conversations DATA/conversations --llm openai:gpt-5-mini --every 20",
    "eval conversations DATA/conversations --requests FOLDER --every 20",
)
def conversations(
    files: list[Path] | None = argument(
        "FILE",
        "Files of conversations, or folders of them.",
        default=None,
        show_default="the folder conversations of the data",
    ),
    *,
    data: Path | None = DATA,
    system: list[str] | None = option(
        "NAME",
        "A system beside ours by name, or none; repeatable.",
        shown="langgraph and mem0, where installed",
    ),
    budget: int = option("TOKENS", "Of a context.", default=1500, min=1),
    every: int = option("K", "Only every K-th conversation of each file.", default=1, min=1),
    failures: int = option(
        "N",
        "Of each file, print N questions that went wrong with their contexts, and N each of "
        "wrong retirements, composed lines, values not live and lines wrongly kept.",
        default=0,
        min=0,
    ),
    requests: Path | None = option(
        "FOLDER",
        "Let a model read along that is asked by files: requests are written there, and "
        "answers read from there. Repeat the command until none is missing.",
        shown=False,
    ),
    second: Second,
    run: EvaluationRun,
) -> None:
    """Play conversations as people write them, and ask the next day what holds.

    A context is right where its live part says every current value and no dead one. Beside it
    stand the transcript as far as the budget goes, the last six turns, and other systems. Then
    what became of the values that hold and of those that are over. docs/evaluation.md has the
    format of the files and says what is counted.
    """
    from incumbent_eval.conversations import report as runner
    from incumbent_eval.conversations.requests import checked_folder

    names = _systems(system)
    folder = checked_folder(requests) if requests is not None else None
    reports = []
    for path in _files(files, data):
        with run.options() as options:
            options["settings"] = _reading(second, options["settings"], by_files=folder is not None)
            made = runner.run(
                path,
                budget=budget,
                systems=names,
                limit=run.limit,
                every=every,
                requests=folder,
                **options,
            )
            reports.append(made)
    if any(report.awaiting for report in reports):
        _tell_awaited(runner.total(reports), as_json=run.json)
        return
    if run.json:
        told = [{**one.record(), **(one.lists() if failures else {})} for one in reports]
        print_json({"reader": run.reader, "budget": budget, "files": told})
        return
    show(*_account(reports))
    for report in reports:
        show(*_failures(report, failures))


def _reading(second: Second, settings: incumbent.Settings, *, by_files: bool) -> incumbent.Settings:
    """Settings with the model that reads along; one that is asked by files has only its name."""
    if not by_files:
        return second.settings(settings, "inline")
    logging.getLogger("incumbent.llm").addHandler(logging.NullHandler())
    return replace(settings, llm=incumbent.LLM(second.llm) if second.llm else None)


def _tell_awaited(report: ConversationsReport, *, as_json: bool) -> None:
    """Say how many requests wait, and for what."""
    found = report.opinions
    asked, missing = (found.requests, found.awaited) if found is not None else (0, 0)
    if as_json:
        print_json({"requests": asked, "awaited": missing, "played": len(report.scores)})
        return
    show(
        f"{asked:,} requests written, {missing:,} answers missing: answer them and run the same "
        f"command again"
    )


def _files(files: Sequence[Path] | None, data: Path | None) -> list[Path]:
    from incumbent_eval import running
    from incumbent_eval.conversations.format import files_of

    if files:
        return files_of(files)
    folder = running.data_folder(data)
    if folder is None:
        raise InvalidInput(
            "give files of conversations, or the folder of the data sets with --data FOLDER or in "
            "INCUMBENT_BENCH_DATA"
        )
    if not (folder / _FOLDER).is_dir():
        raise InvalidInput(f"{folder} has no folder {_FOLDER}; give files of conversations")
    return files_of([folder / _FOLDER])


def _systems(wanted: Sequence[str] | None) -> list[str]:
    """As asked for, or the usual ones that are installed; what is missing is named."""
    from incumbent_eval import adapters

    if wanted is None:
        for name in _PEERS:
            why = adapters.missing(name)
            if why is not None:
                remark(f"{name} left out: {why}")
        return adapters.available(_PEERS)
    named = [name for name in dict.fromkeys(wanted) if name != "none"]
    for name in named:
        if name not in adapters.PEERS:
            known = ", ".join(adapters.PEERS)
            raise InvalidInput(f"--system {name!r} is not one of none, {known}")
        why = adapters.missing(name)
        if why is not None:
            raise adapters.PeerMissing(why)
    return named


# the figures


def _account(reports: Sequence[ConversationsReport]) -> Iterator[RenderableType]:
    """A row for each file in every table, and one for all of them."""
    from incumbent_eval.conversations.report import total

    rows = [*reports, total(reports)] if len(reports) > 1 else list(reports)
    others = list(dict.fromkeys(name for report in reports for name in report.beside))
    yield table(
        ["file", "conversations", "checks", "Incumbent", *others, "changed", "plain recall"],
        [_right(report, others) for report in rows],
    )
    yield ""
    yield table(
        ["values that hold", "of", "live", "demoted", "gone", "retired", "never kept"],
        [_fates(report.name, report.holding) for report in rows],
    )
    yield ""
    yield table(
        ["values that are over", "of", "live", "demoted", "gone", "retired", "never kept"],
        [_fates(report.name, report.over) for report in rows],
    )
    yield ""
    yield table(
        [
            "",
            "facts retired",
            "rightly",
            "wrongly",
            "lines",
            "composed",
            "marked so",
            "tokens",
            "turn, ms",
        ],
        [_made(report) for report in rows],
    )
    yield ""
    yield from _kinds(rows)
    yield from _opinions(rows)
    refused = [one for report in reports for one in report.refused]
    if refused:
        yield f"\n{len(refused):,} turns could not be taken in; the first: {refused[0]}"


def _right(report: ConversationsReport, others: Sequence[str]) -> list[str]:
    beside = report.beside
    return [
        report.name,
        f"{len(report.scores):,}",
        f"{report.joint.of:,}",
        percent(report.joint.joint),
        *(percent(beside[name].joint) if name in beside else "–" for name in others),
        percent(report.changed.joint),
        percent(report.plain.joint),
    ]


def _fates(name: str, fates: FateFigures) -> list[str]:
    counts = (fates.live, fates.demoted, fates.gone, fates.retired, fates.unkept)
    return [name, f"{fates.all:,}", *(percent(fates.share(count)) for count in counts)]


def _made(report: ConversationsReport) -> list[str]:
    retired = report.retirements
    tokens, spent = report.tokens, report.median_ms
    return [
        report.name,
        f"{retired.all:,}",
        f"{retired.right:,}",
        f"{retired.wrong:,}",
        f"{report.lines:,}",
        f"{len(report.composed):,}",
        f"{sum(line.is_marked for line in report.composed):,}",
        "–" if tokens is None else f"{tokens:.0f}",
        "–" if spent is None else f"{spent:.1f}",
    ]


def _kinds(rows: Sequence[ConversationsReport]) -> Iterator[RenderableType]:
    kinds = [report.kinds for report in rows]
    names = dict.fromkeys(kind for found in kinds for kind in found)
    yield table(
        ["became facts", *(report.name for report in rows)],
        [
            [name, *(percent(found[name].value) if name in found else "–" for found in kinds)]
            for name in names
        ],
    )


def _opinions(rows: Sequence[ConversationsReport]) -> Iterator[RenderableType]:
    """What came of the answers of a model that read along."""
    told = [(row.name, row.opinions) for row in rows if row.opinions is not None]
    if not told:
        return
    words = ("accepted", "agreed", "dropped")
    yield ""
    yield table(
        ["proposals of the model", *words, "turns without"],
        [
            [name, *(f"{one.outcomes.get(word, 0):,}" for word in words), f"{one.failed:,}"]
            for name, one in told
        ],
    )


# what went wrong


def _failures(report: ConversationsReport, count: int) -> Iterator[RenderableType]:
    """Some of all that went wrong, with what the model would have read."""
    for score in report.failures[:count]:
        yield f"\n## {report.name}, {score.conversation}: {score.question.text}"
        yield f"missing: {' | '.join(_missing(score)) or 'none'}"
        yield f"dead:    {' | '.join(score.stale) or 'none'}"
        yield score.context
    for wrong in report.wrong_retirements[:count]:
        yield f"\n## {report.name}, {wrong.conversation}: wrongly retired ({wrong.rule})"
        yield f"turn:    {wrong.turn}"
        yield f"retired: {wrong.retired}"
        yield f"by:      {wrong.successor or 'nothing'}"
        yield f"lost:    {' | '.join(wrong.lost)}"
    for line in report.composed[:count]:
        yield f"\n## {report.name}, {line.conversation}: nobody said this"
        yield line.line
        yield from (f"turn:    {text}" for text in line.sources)
    for stray in report.stray[:count]:
        yield f"\n## {report.name}, {stray.conversation}: holds, and is {stray.fate}"
        yield f"{stray.value}: {stray.line}"
    dropped = report.opinions.dropped[:count] if report.opinions is not None else ()
    for proposal in dropped:
        yield f"\n## {report.name}, a proposal of the model: {proposal}"
    for kept in report.kept[:count]:
        yield f"\n## {report.name}, {kept.conversation}: kept ({kept.kind})"
        yield f"line:    {kept.line}"
        yield f"fact:    {kept.fact}"


def _missing(score: QuestionScore) -> Iterator[str]:
    """What is missing; what the context has outside its live part is marked."""
    from incumbent_eval.spoken import SpokenText

    said = SpokenText(score.context)
    for value in score.missing:
        yield f"{value} (not live)" if said.says(value) else value
