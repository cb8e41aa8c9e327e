"""The parts of a run of everything: each evaluation, made into sections, targets and gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import (
    adapters,
    asof,
    beside,
    cases,
    conformance,
    isolation,
    judging,
    pairs,
    peers,
    repair,
    retrieval,
    scope,
    scoped,
    statebench,
    targets,
)
from incumbent_eval.answering import AnswersReport
from incumbent_eval.judging import EndToEnd
from incumbent_eval.report import generated, judged, sections
from incumbent_eval.report.document import Section
from incumbent_eval.systems import Maker, Progress
from incumbent_eval.targets import FigureTarget

BESIDE = ("transcript", "last-turns", "bm25", "langgraph", "mem0", "memgine", "state_based")
"""The default systems beside ours."""
EPISODES, PROBES, QUESTIONS, SCOPED = 20, 2_000, 2_000, 1_000
"""Default sizes of generated material: repair for each task, isolation, as of, scope."""
_DIALOGUES = {"sgd/cases_dev": "SGD dev", "multiwoz/cases_val": "MultiWOZ val"}
_PAIRS = {"sgd/pairs_dev": "SGD dev", "multiwoz/cases_val": "MultiWOZ val"}
ANSWERS = "statebench-answers"
"""The part that asks a model."""
_NO_DATA = "no folder with data was given"


@dataclass(frozen=True)
class Plan:
    """The evaluations to run, and their settings."""

    folder: Path | None = None
    settings: incumbent.Settings = field(default_factory=incumbent.Settings)
    systems: Sequence[str] = BESIDE
    only: Sequence[str] = ()
    """The evaluations to run, by name; all of them if none is named."""
    skip: Sequence[str] = ()
    """Those of them to leave out."""
    limit: int | None = None
    seed: int = 0
    workers: int = 1
    progress: Progress | None = None
    protocol: EndToEnd | None = None
    """The models that answer end to end; without them that part is not run."""

    @property
    def work(self) -> dict[str, Any]:
        """The arguments of every runner."""
        return {"workers": self.workers, "progress": self.progress}

    @property
    def present(self) -> list[str]:
        """The systems beside us that are installed."""
        return adapters.available(self.systems)

    @property
    def makers(self) -> dict[str, Maker]:
        """The maker of each system of the run, ours with its settings first."""
        known = adapters.makers()
        return {
            adapters.OURS: _Ours(self.settings),
            **{name: known[name] for name in self.present},
        }

    def told(self) -> dict[str, Any]:
        """The settings of the run, for the document."""
        embedder = self.settings.embedder
        return {
            "reader": _named(self.settings.reader),
            "embedder": "none" if embedder is None else _named(embedder),
            "seed": self.seed,
            "limit": self.limit,
            "workers": self.workers,
            "systems": self.present,
            **({} if self.protocol is None else self.protocol.told()),
        }

    @property
    def named(self) -> list[str]:
        """The parts that are asked for. A name stands for all parts that begin with it."""
        only, skip = (_parts_of(names) for names in (self.only or PARTS, self.skip))
        return [name for name in PARTS if name in only and name not in skip]

    @property
    def chosen(self) -> list[str]:
        """The parts to run, in order; without a model, the part that asks one is left out."""
        return [name for name in self.named if name != ANSWERS or self.protocol is not None]


def _parts_of(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        meant = {part for part in PARTS if part == name or part.startswith(f"{name}-")}
        if not meant:
            raise InvalidInput(f"there is no evaluation {name!r}; there are {', '.join(PARTS)}")
        found |= meant
    return found


def _named(part: Any) -> str:
    return part if isinstance(part, str) else str(part.name)


@dataclass(frozen=True)
class _Ours:
    """Makes our system with the settings of the run; goes to other processes."""

    settings: incumbent.Settings

    def __call__(self) -> Any:
        from incumbent_eval.ours import IncumbentSystem

        return IncumbentSystem(self.settings)


@dataclass(frozen=True)
class LeftOut:
    """Something that could not be run, and why."""

    what: str
    why: str


Part = tuple[Section, list[FigureTarget]] | LeftOut


# what makes its own material


def _conformance(plan: Plan) -> Iterator[Part]:
    def tried(name: str, make: Maker) -> conformance.ConformanceReport:
        return conformance.run(make, progress=plan.progress)

    return _on_all(plan, "conformance", tried, generated.of_conformance, targets.of_conformance)


def _isolation(plan: Plan) -> Iterator[Part]:
    def probed(name: str, make: Maker) -> isolation.IsolationReport:
        return isolation.run(make, probes=plan.limit or PROBES, seed=plan.seed, **plan.work)

    return _on_all(plan, "isolation", probed, generated.of_isolation, targets.of_isolation)


def _asof(plan: Plan) -> Iterator[Part]:
    def asked(name: str, make: Maker) -> AnswersReport:
        return asof.run(make, questions=plan.limit or QUESTIONS, seed=plan.seed, **plan.work)

    return _on_all(plan, "as of", asked, generated.of_asof, targets.of_asof)


def _scoped(plan: Plan) -> Iterator[Part]:
    def asked(name: str, make: Maker) -> AnswersReport:
        return scoped.run(make, questions=plan.limit or SCOPED, seed=plan.seed, **plan.work)

    return _on_all(plan, "scope", asked, generated.of_scoped, targets.of_scoped)


def _repair(plan: Plan) -> Iterator[Part]:
    episodes = repair.episodes(min(plan.limit or EPISODES, EPISODES), plan.seed)

    def played(name: str, make: Maker) -> repair.RepairReport:
        return repair.run(name, make, episodes, **plan.work)

    return _on_all(plan, "repair", played, generated.of_repair, targets.of_repair)


Report = TypeVar("Report")


def _on_all(
    plan: Plan,
    what: str,
    runner: Callable[[str, Maker], Report],
    told: Callable[[Sequence[Report]], Section],
    held: Callable[[Report], Iterable[FigureTarget]],
) -> Iterator[Part]:
    """An evaluation on every system. If one of the others breaks, the run goes on."""
    reports = []
    for name, make in plan.makers.items():
        try:
            reports.append(runner(name, make))
        except Exception as error:
            if name == adapters.OURS:
                raise
            yield LeftOut(f"{name}, {what}", f"it broke: {type(error).__name__}: {error}")
    yield told(reports), list(held(reports[0]))


# what needs data


def _published(plan: Plan) -> Iterator[Part]:
    """The published splits, each beside a copy in other words: a system that knows the suite scores
    less there."""
    names = peers.baselines()
    if not names:
        yield LeftOut("the baselines of StateBench", f"install them with: {peers.INSTALL}")
    for suite in published(plan):
        if isinstance(suite, LeftOut):
            yield suite
            continue
        report, copy = (
            statebench.run(one, names, settings=plan.settings, **plan.work)
            for one in (suite, statebench.copied(suite, plan.seed))
        )
        yield sections.of_suite(report, copy), list(targets.of_suite(report, copy))


def _generated(plan: Plan) -> Iterator[Part]:
    """The newer tracks."""
    for suite in newer(plan):
        if isinstance(suite, LeftOut):
            yield suite
            continue
        report = statebench.run(suite, peers.baselines(), settings=plan.settings, **plan.work)
        yield sections.of_suite(report), list(targets.of_suite(report))


def published(plan: Plan) -> Iterator[statebench.Suite | LeftOut]:
    """The published splits that are there."""
    try:
        for suite in statebench.published(plan.folder):
            yield statebench.Suite(suite.name, suite.timelines[: plan.limit])
    except InvalidInput as error:
        yield LeftOut("StateBench 1.0", str(error))


def newer(plan: Plan) -> Iterator[statebench.Suite | LeftOut]:
    """The newer tracks; they follow each other, so a part of them is taken evenly."""
    try:
        suite = statebench.generated()
        step = 1 if plan.limit is None else max(1, len(suite.timelines) // plan.limit)
        yield statebench.Suite(suite.name, suite.timelines[::step])
    except peers.PackageMissing as error:
        yield LeftOut("StateBench 2.0.0", str(error))


def suites(plan: Plan) -> list[statebench.Suite]:
    """All suites that a model is asked about."""
    found = (*published(plan), *newer(plan))
    return [suite for suite in found if isinstance(suite, statebench.Suite)]


def _answers(plan: Plan) -> Iterator[Part]:
    """The suite's own protocol. The missing parts of the suite were named before."""
    assert plan.protocol is not None
    for suite in suites(plan):
        report = judging.run(
            suite, peers.baselines(), plan.protocol, settings=plan.settings, **plan.work
        )
        yield judged.of_judged(report), []


def dialogues(plan: Plan) -> Iterator[Part]:
    """The dialogues of the folder, on ours and on the others."""
    is_learned = plan.settings.reader != "rules"
    for name, title in _DIALOGUES.items():
        path = _found(plan.folder, name)
        if isinstance(path, LeftOut):
            yield path
            continue
        report = cases.run(path, settings=plan.settings, limit=plan.limit, **plan.work)
        others = {
            other: beside.run(path, other, limit=plan.limit, **plan.work) for other in plan.present
        }
        held = list(targets.of_cases(report, is_learned=is_learned))
        yield sections.of_cases(title, report, others), held


def _pairs(plan: Plan) -> Iterator[Part]:
    if plan.settings.reader == "rules":
        return
    for name, title in _PAIRS.items():
        path = _found(plan.folder, name)
        if isinstance(path, LeftOut):
            if name not in _DIALOGUES:  # else it was named already
                yield path
            continue
        report = pairs.run(path, limit=plan.limit, **plan.work)
        yield sections.of_pairs(title, report), list(targets.of_pairs(report))


def _sentences(plan: Plan) -> Iterator[Part]:
    path = _found(plan.folder, "scope")
    if isinstance(path, LeftOut):
        yield path
        return
    report = scope.run(path, settings=plan.settings, limit=plan.limit, **plan.work)
    yield sections.of_scope(report), list(targets.of_scope(report))


def retrieved(plan: Plan) -> Iterator[Part]:
    """The long conversations of the folder, on ours and on the other systems that are meant for
    them."""
    try:
        folder = plan.folder
        if folder is None:
            raise InvalidInput(_NO_DATA)
        wanted = [name for name in plan.present if name in retrieval.SYSTEMS]
        report = retrieval.run(
            folder,
            [adapters.OURS, *wanted],
            settings=plan.settings,
            limit=plan.limit,
            **plan.work,
        )
    except InvalidInput as error:
        yield LeftOut("LoCoMo and BEAM", str(error))
        return
    yield sections.of_retrieval(report), list(targets.of_retrieval(report))


def _found(folder: Path | None, name: str) -> Path | LeftOut:
    """A set, packed or not, or the note that it is missing."""
    if folder is None:
        return LeftOut(name, _NO_DATA)
    for ending in ("", ".jsonl.gz", ".jsonl"):
        path = folder / f"{name}{ending}"
        if path.exists():
            return path
    return LeftOut(name, f"{folder} has no {name}.jsonl.gz")


PARTS: dict[str, Callable[[Plan], Iterator[Part]]] = {
    "conformance": _conformance,
    "isolation": _isolation,
    "scope": _scoped,
    "asof": _asof,
    "repair": _repair,
    "statebench-1.0": _published,
    "statebench-2.0.0": _generated,
    ANSWERS: _answers,
    "dialogues": dialogues,
    "pairs": _pairs,
    "sentences": _sentences,
    "retrieval": retrieved,
}
"""All evaluations: those that make their own material come first."""
