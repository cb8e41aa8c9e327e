"""Evaluations on public data, put into sections of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from incumbent_eval.cases import CaseScore, CasesReport
from incumbent_eval.figures import Detection, Joint, Share
from incumbent_eval.pairs import PairScore, PairsReport
from incumbent_eval.report.document import (
    Cell,
    Failure,
    Section,
    Table,
    cannot,
    counted,
    share_of,
)
from incumbent_eval.retrieval import AT, BUDGETS, RetrievalReport, mean_of
from incumbent_eval.scope import ScopeReport
from incumbent_eval.statebench import OURS, QueryScore, SuiteReport

KEPT = 12
"""Failures of an evaluation that a report keeps."""
CEILING = "best choice of pieces"


def joint_row(name: str, joint: Joint) -> list[Cell]:
    """A system with its joint figure and both halves of it."""
    return [
        name,
        share_of(joint.joint, joint.of),
        counted(Share(joint.present, joint.of)),
        counted(Share(joint.clean, joint.of)),
        joint.of,
    ]


def detection_row(name: str, found: Detection) -> list[Cell]:
    """The precision, recall and F1 of a detection."""
    return [name, *map(share_of, (found.precision, found.recall, found.f1))]


# dialogues


def of_cases(title: str, report: CasesReport, beside: Mapping[str, Joint]) -> Section:
    """Dialogues: ours, the simple baselines, and the systems beside us."""
    return Section(
        name=report.name,
        title=f"Dialogues: {title}",
        about=(
            f"{report.joint.of:,} questions about {report.dialogues:,} task dialogues in which a "
            "person changes a value along the way: does the context say the current value, and no "
            "stale one?"
        ),
        tables=[
            Table(
                ["system", "current and not stale", "current", "not stale", "questions"],
                [
                    joint_row("incumbent", report.joint),
                    *(joint_row(name, joint) for name, joint in beside.items()),
                    joint_row("last three turns of the user", report.last_turns),
                    joint_row("full transcript", report.transcript),
                ],
                charted=1,
            ),
            Table(
                ["changes found", "precision", "recall", "F1"],
                [detection_row("by turn", report.turns), detection_row("by value", report.values)],
                title="Detection",
            ),
            Table(
                ["values live at the end", "share", "of"],
                [
                    ["wrongly retired", counted(report.retired), report.retired.of],
                    ["held", counted(report.held), report.held.of],
                ],
            ),
            Table(
                ["kind of value", "current and not stale", "current", "not stale", "questions"],
                [joint_row(kind, joint) for kind, joint in sorted(report.slots.items())],
                title="By kind of value",
            ),
        ],
        failures=[_of_case(score) for score in report.failures[:KEPT]],
        quotes_data=True,
        record=report.record(),
    )


def _of_case(score: CaseScore) -> Failure:
    found = "found" if score.joint.present else "not found"
    return Failure(
        score.case.id,
        [
            ("query", score.case.query),
            ("current", f"{' | '.join(score.case.must_contain_any)} ({found})"),
            ("stale, and found", " | ".join(score.stale) or "none"),
        ],
        score.context,
    )


# pairs


def of_pairs(title: str, report: PairsReport) -> Section:
    """The learned detector by itself."""
    cuts = [("at the best threshold", report.best), ("at one half", report.even)]
    return Section(
        name=f"pairs-{report.name}",
        title=f"The learned detector: {title}",
        about=(
            f"{len(report.scores):,} pairs of a value and a later turn, {sum(report.gold):,} of "
            "them replaced: does the model that ships tell?"
        ),
        tables=[
            Table(
                ["replaced", "precision", "recall", "F1"],
                [detection_row(f"{name} ({cut.threshold:.2f})", cut.found) for name, cut in cuts],
            ),
            Table(
                ["kind of pair", "taken for a change", "of"],
                [[kind, counted(s), s.of] for kind, s in sorted(report.kinds.items())],
            ),
            Table(
                ["", "share"],
                [
                    ["average precision", share_of(report.average_precision)],
                    ["new value where the model points", counted(report.spans)],
                    ["expected calibration error", share_of(report.expected_error)],
                    ["the same without the lowest bin", share_of(report.expected_error_above)],
                ],
            ),
        ],
        failures=[
            *(_of_pair("wrongly taken for a change", score) for score in report.false[: KEPT // 2]),
            *(_of_pair("a change that was missed", score) for score in report.missed[: KEPT // 2]),
        ],
        quotes_data=True,
        record=report.record(),
    )


def _of_pair(what: str, score: PairScore) -> Failure:
    pair = score.pair
    return Failure(
        f"{pair.id}: {what}",
        [
            ("stated", pair.statement),
            ("value", pair.value),
            ("before", pair.previous or "–"),
            ("turn", pair.turn),
            ("probability", f"{score.chance:.2f}"),
        ],
    )


# scope


def of_scope(report: ScopeReport) -> Section:
    """Statements that claim nothing."""
    return Section(
        name="scope-sentences",
        title="Scope: what is said without being claimed",
        about=(
            "Sentences observed one by one: are counterfactuals known for what they are, and which "
            "claims end up as facts?"
        ),
        tables=[
            Table(
                ["", "precision", "recall", "F1"],
                [detection_row("counterfactual", report.counterfactual)],
            ),
            Table(
                ["the speaker", "stored as real", "claims"],
                [[label, counted(s), s.of] for label, s in sorted(report.stored.items())],
            ),
        ],
        failures=[
            Failure(
                f"{score.id} ({score.label})",
                [
                    ("text", score.text),
                    ("claim", score.claim or "–"),
                    ("kinds", " | ".join(score.kinds) or "none"),
                    ("facts", " | ".join(score.facts) or "none"),
                ],
            )
            for score in report.failures[:KEPT]
        ],
        quotes_data=True,
        record=report.record(),
    )


# StateBench


def of_suite(report: SuiteReport, copy: SuiteReport | None = None) -> Section:
    """A suite with all strategies, by track, beside their figures on a perturbed copy."""
    names = [OURS, *(name for name in report.tracks if name != OURS)]
    tracks = sorted({track for name in names for track in report.tracks[name]})
    queries = report.total(OURS).of
    rows = {name: report.total(name) for name in names} | {CEILING: report.ceiling}
    copied = {} if copy is None else {n: copy.total(n) for n in names} | {CEILING: copy.ceiling}
    failed = dict(report.failed) | ({} if copy is None else copy.failed)
    about = (
        f"{queries:,} queries about timelines of turns and writes: is all that must be mentioned "
        "in the context, and nothing that must not be?"
    )
    if copy is not None:
        about += " The copy has other names, values, words and order, and asks for the same."
    return Section(
        name=f"statebench-{report.suite}",
        title=f"StateBench {report.suite}",
        about=about,
        tables=[
            Table(
                [*("system", "joint", "must mention", "must not mention", "queries")]
                + (["joint, perturbed copy", "difference, points"] if copied else []),
                [
                    [*joint_row(name, joint), *_away(joint, copied.get(name))]
                    for name, joint in rows.items()
                ],
                charted=1,
                note="Best choice of pieces: whole turns, facts and signals, chosen by an oracle.",
            ),
            _by_track("Joint, by track", tracks, names, report, "both"),
            *([_by_track("The same, perturbed copy", tracks, names, copy, "both")] if copy else []),
            _by_track("Nothing mentioned that must not be", tracks, names, report, "clean"),
            *_left_out({name: f"it failed: {why}" for name, why in failed.items()}),
        ],
        failures=[_of_query(score) for score in _spread(report.failures)],
        # The published splits are data; what the package generates belongs to its licence (MIT).
        quotes_data=report.suite.startswith("v1"),
        record=report.record() | ({} if copy is None else {"copy": copy.record()}),
    )


def _away(joint: Joint, copied: Joint | None) -> list[Cell]:
    """The joint figure of a copy, and its distance from the original."""
    if copied is None:
        return []
    if joint.joint is None or copied.joint is None:
        return [None, None]
    points = f"{100 * (copied.joint - joint.joint):+.1f}".replace("-", "−")
    return [share_of(copied.joint, copied.of), points]


def _by_track(
    title: str, tracks: Sequence[str], names: Sequence[str], report: SuiteReport, part: str
) -> Table:
    rows: list[list[Cell]] = []
    for track in tracks:
        joints = [report.tracks.get(name, {}).get(track, Joint()) for name in names]
        rows.append([track, *(counted(Share(getattr(joint, part), joint.of)) for joint in joints)])
    return Table(["track", *names], rows, title=title)


def _spread(failures: Sequence[QueryScore]) -> list[QueryScore]:
    """Some failures, from as many tracks as there are."""
    first: dict[str, QueryScore] = {}
    for score in failures:
        first.setdefault(score.track, score)
    chosen = list(first.values())
    return [*chosen, *(score for score in failures if score not in chosen)][:KEPT]


def _of_query(score: QueryScore) -> Failure:
    return Failure(
        f"{score.timeline} ({score.track})",
        [
            ("query", score.prompt),
            ("missing", " | ".join(score.missing) or "none"),
            ("forbidden, and there", " | ".join(score.forbidden) or "none"),
        ],
        score.context,
    )


def _left_out(reasons: Mapping[str, str]) -> Iterator[Table]:
    if reasons:
        yield Table(["left out", "why"], [[name, why] for name, why in reasons.items()])


# retrieval


def of_retrieval(report: RetrievalReport) -> Section:
    """The share of turns that are found in long conversations."""
    asked = ", ".join(f"{count:,} of {name}" for name, count in report.questions.items())
    return Section(
        name="retrieval",
        title="Retrieval in long conversations",
        about=(
            f"Questions about long conversations ({asked}): which share of the turns that answer a "
            "question is in a context of so many tokens? A larger context is cut to its budget."
        ),
        tables=[
            *(_found(collection, report) for collection in report.questions),
            Table(
                ["system", "both", "updated found", "outdated absent", "questions"],
                [
                    joint_row(name, told.updates)
                    for name, told in report.systems.items()
                    if told.updates.of
                ],
                title="Updates: the new value found, the old one absent (BEAM, taken as turns)",
            ),
            Table(
                ["system", "contexts over their budget", "contexts", "largest, in tokens"],
                [
                    [name, told.over, len(told.tokens), max(told.tokens, default=None)]
                    for name, told in report.systems.items()
                ],
                title="Budgets held",
            ),
            _ranking(report),
            *_left_out(report.left_out),
        ],
        failures=[
            Failure(
                f"{miss.talk} ({miss.question.kind})",
                [("question", miss.question.text), ("answered by", " / ".join(miss.evidence))],
                miss.context,
            )
            for miss in report.missed[:KEPT]
        ],
        quotes_data=True,
        record=report.record(),
    )


def _found(collection: str, report: RetrievalReport) -> Table:
    rows: list[list[Cell]] = [
        [name, *(_mean(told.evidence, f"{collection} @{budget}") for budget in BUDGETS)]
        for name, told in report.systems.items()
    ]
    columns = ["system", *(f"{budget:,} tokens" for budget in BUDGETS)]
    return Table(columns, rows, title=f"{collection}: evidence found", charted=len(BUDGETS))


def _ranking(report: RetrievalReport) -> Table:
    whats = [f"{collection} @{k}" for collection in report.questions for k in AT]
    rows: list[list[Cell]] = [
        [name, *(_mean(found, what) for what in whats)] for name, found in report.ranking.items()
    ]
    return Table(["ranking", *whats], rows, title="Evidence among the k turns ranked highest")


def _mean(found: Mapping[str, Sequence[float]], what: str) -> Cell:
    mean = mean_of(found, what)
    return cannot("not run") if mean is None else share_of(mean, len(found[what]))
