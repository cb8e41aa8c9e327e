"""The command that measures the reader before and after a change: eval gate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import incumbent
from incumbent.cli.declaring import command, option
from incumbent.cli.root import remark
from incumbent.cli.tables import show, table
from incumbent.model.errors import InvalidInput
from incumbent_eval.cli.evaluating import DATA, Fed
from incumbent_eval.figures import percent

if TYPE_CHECKING:
    from incumbent_eval.reading_gate import GateFigure

_COLUMNS = ("figure", "value", "n", "seconds")


@command(
    "eval gate --data DATA --every 5 --json before.json",
    "eval gate --data DATA --every 5 --json after.json --against before.json",
    "eval gate --only siblings/home --only siblings/several",
    "eval gate --only factconsolidation --factcon Conflict_Resolution.json --limit 20",
)
def gate(
    *,
    data: Path | None = DATA,
    training: Path = option(
        "FOLDER", "The folder with siblings and conversations of ours.", default=Path("training")
    ),
    factcon: Path | None = option(
        "FILE", "Conflict_Resolution.json of MemoryAgentBench.", shown="leave it out"
    ),
    only: list[str] | None = option(
        "NAME",
        "A part by its name: siblings, unrelated, shown, conversations, factconsolidation, "
        "repair, statebench, cases or cost; or a file of one: siblings/home; repeatable.",
        shown="all",
    ),
    every: int = option("N", "Only every N-th conversation of each file.", default=1, min=1),
    json_file: Path | None = option(
        "FILE",
        "Write the figures there, and what went wrong one by one.",
        "--json",
        shown="nowhere",
    ),
    against: Path | None = option(
        "FILE",
        "Hold the figures against those that an earlier run wrote with --json.",
        shown="nothing",
    ),
    run: Fed,
) -> None:
    """Measure the reader, the harm first: run it before and after every change.

    Statements that stand and must not be touched come first, then changes that must be found,
    then conversations, lists of facts, repair, public dialogues, and what a turn costs. A file
    that is missing gets a row that says so. The JSON file is written anew after each part.
    """
    from incumbent_eval import reading_gate, running

    reading_gate.check(only or ())
    before = _earlier(against)
    if json_file is not None and not json_file.absolute().parent.is_dir():
        raise InvalidInput(f"--json {json_file}: there is no folder {json_file.parent}; make it")
    made: list[GateFigure] = []
    with run.options() as options:
        plan = reading_gate.GatePlan(
            training,
            running.data_folder(data),
            factcon,
            tuple(only or ()),
            every,
            run.limit,
            **options,
        )
        begin = perf_counter()
        for name, figures in reading_gate.measured(plan):
            made += figures
            spent, begin = perf_counter() - begin, perf_counter()
            remark(f"{name}: {len(figures):,} figures, {spent:.0f} s")
            if json_file is not None:
                asked = {"reader": run.reader, "embedder": run.embedder, "every": every}
                _write(json_file, {**asked, "limit": run.limit}, made, plan.wrong)
    columns = [*_COLUMNS, "before", "difference"] if against is not None else list(_COLUMNS)
    show(table(columns, list(_rows(made, before, len(columns)))))


def _earlier(path: Path | None) -> dict[str, GateFigure]:
    from incumbent_eval.reading_gate import earlier_figures

    if path is None:
        return {}
    try:
        return earlier_figures(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InvalidInput(f"--against {path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"--against {path} cannot be read: {error}") from None


def _write(
    path: Path, asked: Mapping[str, Any], figures: Sequence[GateFigure], wrong: Mapping[str, Any]
) -> None:
    document = {
        "version": incumbent.__version__,
        **asked,
        "figures": [figure.record() for figure in figures],
        "wrong": wrong,
    }
    try:
        path.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"--json {path} cannot be written: {error}") from None


def _rows(
    figures: Sequence[GateFigure], before: Mapping[str, GateFigure], width: int
) -> Iterator[list[str]]:
    for figure in figures:
        spent = "" if figure.seconds is None else f"{figure.seconds:.1f}"
        row = [figure.name, _told(figure), f"{figure.of:,}" if figure.of else "", spent]
        yield [*row, *_compared(figure, before.get(figure.name))][:width]


def _compared(figure: GateFigure, before: GateFigure | None) -> list[str]:
    """The earlier value and the difference; of a sample of another size, with that size."""
    if before is None or before.value is None:
        return ["–", ""]
    told = _told(before) if before.of == figure.of else f"{_told(before)} of {before.of:,}"
    return [told, "" if figure.value is None else _difference(figure, figure.value - before.value)]


def _told(figure: GateFigure) -> str:
    from incumbent_eval.reading_gate import FigureUnit

    if figure.value is None:
        return figure.note or "–"
    match figure.unit:
        case FigureUnit.SHARE:
            return percent(figure.value)
        case FigureUnit.COUNT:
            return f"{figure.value:,.0f}"
        case FigureUnit.TIMES:
            return f"{figure.value:.2f} x"
        case FigureUnit.MS:
            return f"{figure.value:.1f} ms"


def _difference(figure: GateFigure, change: float) -> str:
    from incumbent_eval.reading_gate import FigureUnit

    if figure.unit is FigureUnit.SHARE:
        return f"{100 * change:+.1f}" if round(change, 4) else "="
    if figure.unit is FigureUnit.COUNT:
        return f"{change:+,.0f}" if change else "="
    return f"{change:+.2f}"
