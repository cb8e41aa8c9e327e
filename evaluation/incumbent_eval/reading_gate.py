"""The gate of the reader: what a change of it does, the harm first.

It is run before and after every change. First come statements that stand and must not be touched,
then changes that must be found, then conversations, lists, repair and public dialogues, and at last
what reading costs. Each part yields figures, which `--against` holds against those of an earlier
run.

*Wrongly ended* is the share of the values that hold that only a fact out of office says. *Dead and
still live* is the share of the values that are over that a live line says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import (
    cases,
    consolidation,
    reading_cost,
    repair,
    shown,
    siblings,
    statebench,
)
from incumbent_eval.conversations import report as conversations
from incumbent_eval.conversations.format import read_conversations
from incumbent_eval.conversations.report import ConversationsReport
from incumbent_eval.figures import Joint, Share, rounded
from incumbent_eval.ours import IncumbentSystem
from incumbent_eval.repair import EpisodeForm, Half, Task
from incumbent_eval.shown import ShownScore
from incumbent_eval.siblings import CHANGES, SiblingLabel, SiblingsReport
from incumbent_eval.systems import Progress

TALKS = ("life2", "short2", "home", "notes")
"""The parts of the conversations that are played."""
TIMELINES, CASES, EPISODES, SEED = 105, 150, 4, 0
_DIALOGUES = ("sgd/cases_dev", "multiwoz/cases_val")


class FigureUnit(StrEnum):
    """What a figure is counted in."""

    SHARE = "share"
    COUNT = "count"
    TIMES = "times"
    MS = "ms"


@dataclass(frozen=True)
class GateFigure:
    """One row of the gate."""

    name: str
    value: float | None
    of: int = 0
    unit: FigureUnit = FigureUnit.SHARE
    seconds: float | None = None
    """How long the run took that it comes from; the first figure of a run tells it."""
    note: str = ""
    """Why there is no value."""

    @classmethod
    def share(cls, name: str, share: Share) -> GateFigure:
        return cls(name, rounded(share.value), share.of)

    @classmethod
    def joint(cls, name: str, joint: Joint) -> GateFigure:
        return cls.share(name, Share(joint.both, joint.of))

    @classmethod
    def count(cls, name: str, count: int, of: int) -> GateFigure:
        return cls(name, count, of, FigureUnit.COUNT)

    def record(self) -> dict[str, Any]:
        return {
            "figure": self.name,
            "value": self.value,
            "n": self.of,
            "unit": self.unit.value,
            "seconds": None if self.seconds is None else round(self.seconds, 1),
            **({"note": self.note} if self.note else {}),
        }


@dataclass
class GatePlan:
    """What is run, and with what."""

    training: Path
    """The folder of our own texts: `siblings`, `unrelated`, `shown` and `conversations`."""
    data: Path | None = None
    factcon: Path | None = None
    only: Sequence[str] = ()
    every: int = 1
    limit: int | None = None
    settings: incumbent.Settings | None = None
    workers: int = 1
    progress: Progress | None = None
    wrong: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """What went wrong, one by one, for people to read."""

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of every runner."""
        return {"settings": self.settings, "workers": self.workers, "progress": self.progress}

    def is_wanted(self, part: str, name: str | None = None) -> bool:
        """Whether a part is run, or of a part the file of a name."""
        if not self.only or part in self.only:
            return True
        if name is None:
            return any(one.startswith(f"{part}/") for one in self.only)
        return f"{part}/{name}" in self.only

    def files(self, folder: str, ending: str) -> dict[str, Path]:
        """The files of a folder by name: ours, and those of the data that are not ours too."""
        roots = [root for root in (self.data, self.training) if root is not None]
        found = (path for root in roots for path in (root / folder).glob(f"*{ending}"))
        return {path.name.removesuffix(ending): path for path in found}

    def of_data(self, name: str) -> Path | None:
        """A file or folder of the data, where it is there."""
        path = self.data / name if self.data is not None else None
        return path if path is not None and path.exists() else None


def measured(plan: GatePlan) -> Iterator[tuple[str, list[GateFigure]]]:
    """The figures of each part that is wanted, in order."""
    check(plan.only)
    for name, part in PARTS.items():
        if plan.is_wanted(name):
            yield name, list(part(plan))


def check(only: Sequence[str]) -> None:
    """Refuse the name of a part that there is not."""
    for name in only:
        if name.partition("/")[0] not in PARTS:
            raise InvalidInput(
                f"--only {name!r} is not one of {', '.join(PARTS)}; a file of siblings or "
                f"conversations is named siblings/home"
            )


def _absent(name: str, where: object) -> GateFigure:
    return GateFigure(name, None, note=f"not there: {where}")


def _timed(figures: Iterable[GateFigure], seconds: float) -> Iterator[GateFigure]:
    """Figures of one run, of which the first tells how long it took."""
    for number, figure in enumerate(figures):
        yield replace(figure, seconds=seconds) if number == 0 else figure


# what stands, and what changes


def _siblings(plan: GatePlan) -> Iterator[GateFigure]:
    files = plan.files("siblings", ".jsonl")
    found: dict[str, tuple[SiblingsReport, float]] = {}
    for name in sorted(files):
        if plan.is_wanted("siblings", name):
            begin = perf_counter()
            report = siblings.run(files[name], limit=plan.limit, **plan.options)
            found[name] = (report, perf_counter() - begin)
            plan.wrong[f"siblings/{name}"] = [one.record() for one in report.failures]
    if not found:
        yield _absent("siblings", plan.training / "siblings")
        return
    everything = siblings.total([report for report, _ in found.values()])
    yield from _timed(_standing(everything), sum(seconds for _, seconds in found.values()))
    for report, seconds in found.values():
        yield from _timed(_standing(report), seconds)
    yield from _changing(everything)
    for report, _ in found.values():
        yield from _changing(report)
    yield _made(everything)
    yield from (_made(report) for report, _ in found.values())


def _standing(report: SiblingsReport) -> Iterator[GateFigure]:
    name = f"siblings, {report.name}: stands"
    yield GateFigure.share(f"{name}, right", report.right(SiblingLabel.STANDS))
    yield GateFigure.share(f"{name}, kept whole", report.whole)


def _changing(report: SiblingsReport) -> Iterator[GateFigure]:
    name = f"siblings, {report.name}"
    yield GateFigure.share(f"{name}: changes, right", report.right(*CHANGES))
    for label in (*CHANGES, SiblingLabel.CONFIRMS):
        yield GateFigure.share(f"{name}: {label}, right", report.right(label))


def _made(report: SiblingsReport) -> GateFigure:
    name = f"siblings, {report.name}: lines cut, joined or composed"
    return GateFigure.count(name, len(report.made), len(report.scores))


def _unchanging(plan: GatePlan, folder: str, name: str) -> Iterator[GateFigure]:
    """Turns that change nothing: how many do after all."""
    files = plan.files(folder, ".jsonl")
    begin, played = perf_counter(), []
    for file in sorted(files):
        if plan.is_wanted(folder, file):
            scores = shown.run(files[file], limit=plan.limit, **plan.options)
            plan.wrong[f"{folder}/{file}"] = [one.record() for one in scores if one.ended]
            played.append((f"{name}, {file}", [one for one in scores if one.is_known]))
    if not played:
        yield _absent(folder, plan.training / folder)
        return
    everything = (f"{name}, all", [one for _, scores in played for one in scores])
    figures = [
        GateFigure.count(f"{title}: {what}", sum(map(is_so, scores)), len(scores))
        for title, scores in (everything, *played)
        for what, is_so in _HARM.items()
    ]
    yield from _timed(figures, perf_counter() - begin)


_HARM: dict[str, Callable[[ShownScore], bool]] = {
    "something ended": lambda one: bool(one.ended),
    "only doubted": lambda one: bool(one.doubted) and not one.ended,
}


# talk over days and months


def _conversations(plan: GatePlan) -> Iterator[GateFigure]:
    files = plan.files("conversations", ".txt")
    found: list[tuple[ConversationsReport, float]] = []
    missing = []
    for name in TALKS:
        if not plan.is_wanted("conversations", name):
            continue
        if name not in files:
            missing.append(_absent(f"conversations, {name}", plan.training / "conversations"))
            continue
        begin = perf_counter()
        report = conversations.run(files[name], every=plan.every, limit=plan.limit, **plan.options)
        found.append((report, perf_counter() - begin))
        plan.wrong[f"conversations/{name}"] = report.lists()["failed"]
    if found:
        everything = conversations.total(report for report, _ in found)
        yield from _timed(_talked(everything), sum(seconds for _, seconds in found))
    for report, seconds in found:
        yield from _timed(_talked(report), seconds)
    yield from missing


def _talked(report: ConversationsReport) -> Iterator[GateFigure]:
    name = f"conversations, {report.name}"
    holding, over = report.holding, report.over
    yield GateFigure.joint(f"{name}: joint", report.joint)
    yield GateFigure.joint(f"{name}: something changed", report.changed)
    yield GateFigure.joint(f"{name}: nothing changed", report.plain)
    yield GateFigure.share(f"{name}: values that hold, live", Share(holding.live, holding.all))
    yield GateFigure.share(f"{name}: wrongly ended", Share(holding.retired, holding.all))
    yield GateFigure.share(f"{name}: dead and still live", Share(over.live, over.all))


# lists of facts


def _factconsolidation(plan: GatePlan) -> Iterator[GateFigure]:
    name = "FactConsolidation, single hop, 6k"
    if plan.factcon is None or not plan.factcon.is_file():
        yield _absent(name, plan.factcon or "give the file with --factcon")
        return
    begin = perf_counter()
    told = consolidation.run(
        plan.factcon, settings=plan.settings, limit=plan.limit, progress=plan.progress
    )
    plan.wrong["factconsolidation"] = [one.record() for one in told.failures]
    asked, holding = told.joint, told.holding
    figures = [
        GateFigure.share(f"{name}: answer found", Share(asked.present, asked.of)),
        GateFigure.joint(f"{name}: found and nothing stale", asked),
        GateFigure.count(f"{name}: wrong retirements", holding.retired, holding.all),
        GateFigure.count(f"{name}: wrongly demoted", holding.demoted, holding.all),
        GateFigure.count(f"{name}: never kept", holding.unkept, holding.all),
        GateFigure.share(f"{name}: stale and still live", Share(told.over.live, told.over.all)),
    ]
    yield from _timed(figures, perf_counter() - begin)


# what was measured before


def _repair(plan: GatePlan) -> Iterator[GateFigure]:
    begin = perf_counter()
    count = min(EPISODES, plan.limit or EPISODES)
    told = repair.episodes(count, SEED, forms=[EpisodeForm.PLAIN])
    maker = partial(IncumbentSystem, plan.settings)
    report = repair.run("incumbent", maker, told, workers=plan.workers, progress=plan.progress)
    figures = [
        GateFigure.share(
            f"repair in words, {half.value}", report.share(EpisodeForm.PLAIN, half, tuple(Task))
        )
        for half in Half
    ]
    yield from _timed(figures, perf_counter() - begin)


def _statebench(plan: GatePlan) -> Iterator[GateFigure]:
    name = "StateBench v1.0 dev: joint"
    folder = plan.of_data("statebench_v1")
    suites = statebench.published(folder) if folder is not None else []
    dev = next((one for one in suites if one.name.endswith("dev")), None)
    if dev is None:
        yield _absent(name, f"{plan.data or 'DATA'}/statebench_v1/dev.jsonl.gz")
        return
    begin = perf_counter()
    step = max(1, len(dev.timelines) // (plan.limit or TIMELINES))
    sample = statebench.Suite(dev.name, dev.timelines[::step])
    joint = statebench.run(sample, **plan.options).total(statebench.OURS)
    yield from _timed([GateFigure.joint(name, joint)], perf_counter() - begin)


def _cases(plan: GatePlan) -> Iterator[GateFigure]:
    for name in _DIALOGUES:
        path = plan.of_data(f"{name}.jsonl.gz")
        if path is None:
            yield _absent(f"{name}: joint", f"{plan.data or 'DATA'}/{name}.jsonl.gz")
            continue
        begin = perf_counter()
        report = cases.run(path, limit=plan.limit or CASES, **plan.options)
        figures = [
            GateFigure.joint(f"{name}: joint", report.joint),
            GateFigure.share(f"{name}: wrongly retired", report.retired),
        ]
        yield from _timed(figures, perf_counter() - begin)


def _cost(plan: GatePlan) -> Iterator[GateFigure]:
    files = plan.files("conversations", ".txt")
    path = next((files[name] for name in TALKS if name in files), None)
    if path is None:
        yield _absent("cost of a turn", plan.training / "conversations")
        return
    begin = perf_counter()
    cost = reading_cost.measure(read_conversations(path), plan.settings)
    times = GateFigure(
        "cost: processor time of observing a turn, in embeddings of its text",
        cost.times,
        cost.turns,
        FigureUnit.TIMES,
    )
    spent = GateFigure(
        "cost: processor time of observing a turn", cost.turn_ms, cost.turns, FigureUnit.MS
    )
    yield from _timed([times, spent], perf_counter() - begin)


PARTS: dict[str, Callable[[GatePlan], Iterator[GateFigure]]] = {
    "siblings": _siblings,
    "unrelated": partial(_unchanging, folder="unrelated", name="turns about something else"),
    "shown": partial(_unchanging, folder="shown", name="turns that only show words"),
    "conversations": _conversations,
    "factconsolidation": _factconsolidation,
    "repair": _repair,
    "statebench": _statebench,
    "cases": _cases,
    "cost": _cost,
}
"""The parts of the gate in the order in which they run: what could do harm comes first."""


def earlier_figures(document: Mapping[str, Any]) -> dict[str, GateFigure]:
    """The figures of an earlier run by name, from what it wrote."""
    try:
        return {
            row["figure"]: GateFigure(
                row["figure"], row["value"], int(row["n"]), FigureUnit(row["unit"])
            )
            for row in document["figures"]
        }
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"this is no run of eval gate ({type(error).__name__}: {error}); give a file that "
            f"--json wrote"
        ) from None
