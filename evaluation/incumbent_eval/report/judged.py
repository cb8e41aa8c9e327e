"""A suite end to end, put into a section of a report."""

from __future__ import annotations

from incumbent_eval.judging import DECISION, LOWER_IS_BETTER, MEASURES, JudgedReport, Spread
from incumbent_eval.report.document import Cell, Section, Table, share_of
from incumbent_eval.statebench import OURS


def of_judged(report: JudgedReport) -> Section:
    """The judgement of the suite's own judge on a model's answers from each system's contexts."""
    names = [OURS, *(name for name in report.systems if name != OURS)]
    tracks = sorted({track for name in names for track in report.tracks[name]})
    runs = "one run" if report.seeds == 1 else f"{report.seeds} runs: mean ± standard deviation"
    columns = [f"{name} (less is better)" if name in LOWER_IS_BETTER else name for name in MEASURES]
    refused: list[list[Cell]] = [[name, count] for name, count in report.refused.items()]
    failed: list[list[Cell]] = [[name, f"it failed: {why}"] for name, why in report.failed.items()]
    return Section(
        name=f"answers-{report.suite}",
        title=f"StateBench {report.suite}, end to end",
        about=(
            f"{report.model} answers {report.queries:,} queries from each system's context; the "
            f"suite's judge decides ({report.judge}). {runs.capitalize()}."
        ),
        tables=[
            Table(
                ["system", *columns],
                [
                    [name, *(_cell(report.systems[name].get(m), report.queries) for m in MEASURES)]
                    for name in names
                ],
                charted=1 + MEASURES.index(DECISION),
            ),
            Table(
                ["track", *names],
                [
                    [track, *(_cell(report.tracks[name].get(track)) for name in names)]
                    for track in tracks
                ],
                title="Decision accuracy, by track",
            ),
            *([Table(["system", "prompts not taken by the server"], refused)] if refused else []),
            *([Table(["left out", "why"], failed)] if failed else []),
        ],
        record=report.record(),
    )


def _cell(spread: Spread | None, of: int | None = None) -> Cell:
    if spread is None:
        return None
    return share_of(spread.mean, of, spread.deviation)
