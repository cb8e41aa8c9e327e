"""The results of evaluation runs, as tables for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from incumbent.cli.tables import table
from incumbent_eval import calibration
from incumbent_eval.calibration import Cut
from incumbent_eval.cases import CasesReport
from incumbent_eval.figures import Detection, Joint, Share, percent
from incumbent_eval.pairs import PairScore, PairsReport
from incumbent_eval.scope import ScopeReport
from incumbent_eval.statebench import SuiteReport
from incumbent_eval.targets import FigureTarget


def _joint_row(name: str, joint: Joint) -> list[str]:
    present, clean = Share(joint.present, joint.of).value, Share(joint.clean, joint.of).value
    return [name, *map(percent, (joint.joint, present, clean)), f"{joint.of:,}"]


def _detection_row(name: str, found: Detection) -> list[str]:
    return [name, *map(percent, (found.precision, found.recall, found.f1))]


def cases_account(report: CasesReport) -> Iterator[RenderableType]:
    """The figures of a file of dialogues, the baselines beneath."""
    yield f"{report.name}: {report.joint.of:,} cases in {report.dialogues:,} dialogues\n"
    yield table(
        ["context", "current and not stale", "current", "not stale", "cases"],
        [
            _joint_row("Incumbent", report.joint),
            *(_joint_row(f"  {kind}", joint) for kind, joint in sorted(report.slots.items())),
            _joint_row("last three user turns", report.last_turns),
            _joint_row("full transcript", report.transcript),
        ],
    )
    yield ""
    yield table(
        ["changes found", "precision", "recall", "F1"],
        [_detection_row("by turn", report.turns), _detection_row("by value", report.values)],
    )
    live = f"of {report.held.of:,} values live at the end"
    yield f"\nwrongly retired  {percent(report.retired.value)} {live}"
    yield f"held             {percent(report.held.value)} {live}"
    yield f"contested        {report.contested:,} of {report.dialogues:,} dialogues"
    if report.median_ms is not None:
        yield f"a turn           {report.median_ms:.1f} ms (median)"
    yield from _refusals(report.refused)
    yield ""


def _refusals(refused: Sequence[str]) -> Iterator[RenderableType]:
    if refused:
        yield f"{len(refused):,} turns could not be taken in; the first: {refused[0]}"


def cases_failures(report: CasesReport, count: int) -> Iterator[RenderableType]:
    """Some cases that went wrong, with the text that the model would have read."""
    for score in report.failures[:count]:
        case = score.case
        yield f"## {case.id}"
        yield f"query:   {case.query}"
        found = "found" if score.joint.present else "not found"
        yield f"current: {' | '.join(case.must_contain_any)} ({found})"
        yield f"stale:   {' | '.join(case.must_not_contain)} (found: {_listed(score.stale)})"
        yield f"{score.context}\n"


def _listed(parts: Sequence[str]) -> str:
    return " | ".join(parts) or "none"


def pairs_account(report: PairsReport) -> Iterator[RenderableType]:
    """The figures of a file of pairs, and the reliability of its probabilities."""
    yield f"{report.name}: {len(report.scores):,} pairs, {sum(report.gold):,} of them replaced"
    yield ""
    yield table(
        ["replaced", "threshold", "precision", "recall", "F1"],
        [_cut_row("at the best F1", report.best), _cut_row("at one half", report.even)],
    )
    spans = report.spans
    yield f"\naverage precision  {percent(report.average_precision)}"
    yield f"new value          {percent(spans.value)} of {spans.of:,} are where the model points"
    yield ""
    yield table(
        ["kind of pair", "taken for a change", "of"],
        [[kind, percent(s.value), f"{s.of:,}"] for kind, s in sorted(report.kinds.items())],
    )
    yield ""
    yield table(
        ["probability", "mean", "replaced", "pairs"],
        [
            [f"{b.low:.1f}–{b.high:.1f}", percent(b.said), percent(b.came), f"{b.count:,}"]
            for b in report.bins
        ],
    )
    yield "\nreplaced, by probability; the line is where each bar should end"
    yield "\n".join(calibration.bars(report.bins))
    above = percent(report.expected_error_above)
    yield f"\nexpected calibration error  {percent(report.expected_error)}"
    yield f"  without the lowest bin    {above}"
    yield ""


def _cut_row(name: str, cut: Cut) -> list[str]:
    found = cut.found
    shares = map(percent, (found.precision, found.recall, found.f1))
    return [name, f"{cut.threshold:.2f}", *shares]


def pairs_failures(report: PairsReport, count: int) -> Iterator[RenderableType]:
    """Some pairs that went wrong, the surest mistakes first."""
    for title, wrong in (
        ("wrongly taken for a change", report.false),
        ("a change that was missed", report.missed),
    ):
        for score in wrong[:count]:
            yield from _pair_lines(title, score)


def _pair_lines(title: str, score: PairScore) -> Iterator[RenderableType]:
    pair = score.pair
    yield f"## {pair.id}: {title} ({pair.kind}, {percent(score.chance)})"
    before, after = pair.statement[: pair.start], pair.statement[pair.end :]
    yield f"stated: {before}« {pair.value} »{after}"
    yield f"before: {pair.previous or '–'}"
    yield f"turn:   {pair.turn}"
    if pair.new:
        yield f"new:    {' | '.join(pair.new)}"
    yield f"points: {score.span or '–'}"
    yield ""


def scope_account(report: ScopeReport) -> Iterator[RenderableType]:
    """The figures for statements that claim nothing."""
    found = _detection_row("counterfactual", report.counterfactual)
    yield table(["", "precision", "recall", "F1"], [found])
    yield ""
    yield table(
        ["claims", "stored as real", "of"],
        [[label, percent(s.value), f"{s.of:,}"] for label, s in sorted(report.stored.items())],
    )


def scope_failures(report: ScopeReport, count: int) -> Iterator[RenderableType]:
    """Some sentences that went wrong, with their results."""
    for score in report.failures[:count]:
        yield f"\n## {score.id} ({score.label})"
        yield f"text:  {score.text}"
        if score.claim:
            yield f"claim: {score.claim}"
        yield f"kinds: {_listed(score.kinds)}"
        yield f"facts: {_listed(score.facts)}"


def suite_account(report: SuiteReport) -> Iterator[RenderableType]:
    """The figures of a suite by strategy, and by track."""
    names = list(report.tracks)
    yield f"StateBench {report.suite}\n"
    yield table(
        ["strategy", "joint", "mentioned", "not mentioned", "queries"],
        [
            *(_joint_row(name, report.total(name)) for name in names),
            _joint_row("(best choice of pieces)", report.ceiling),
        ],
    )
    yield ""
    yield table(
        ["joint by track", *names],
        [
            [track, *(percent(report.tracks[name][track].joint) for name in names)]
            for track in sorted({track for name in names for track in report.tracks[name]})
        ],
    )
    for name, why in report.failed.items():
        yield f"{name} could not be run: {why}"
    yield from _refusals(report.refused)
    yield ""


def suite_failures(report: SuiteReport, count: int) -> Iterator[RenderableType]:
    """Some queries that went wrong, with the text that the model would have read."""
    for score in report.failures[:count]:
        yield f"## {score.timeline} ({score.track})"
        yield f"query:     {score.prompt}"
        yield f"missing:   {_listed(score.missing)}"
        yield f"forbidden: {_listed(score.forbidden)}"
        yield f"{score.context}\n"


def targets_table(reached: Sequence[FigureTarget]) -> RenderableType:
    """Every target with its measured figure."""
    return table(
        ["measure", "target", "measured", ""],
        [
            [
                target.measure,
                f"{'≥' if target.at_least else '≤'} {percent(target.bound)}",
                percent(target.measured),
                target.word,
            ]
            for target in reached
        ],
    )
