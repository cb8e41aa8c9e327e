"""Playing episodes into systems, and the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from incumbent_eval.conversations.sections import live_part
from incumbent_eval.figures import Share
from incumbent_eval.phrases import mentions
from incumbent_eval.repair.episodes import (
    EpisodeForm,
    EpisodeQuestion,
    Half,
    RepairEpisode,
    Retract,
    Say,
    Step,
    Task,
    Undo,
    Write,
)
from incumbent_eval.running import each
from incumbent_eval.systems import Maker, Progress, Refused, System, Who

BUDGET = 4_000
_WHO = Who()


@dataclass(frozen=True)
class EpisodeAnswer:
    """The context that a question got, and the faults in it."""

    question: EpisodeQuestion
    context: str
    missing: tuple[str, ...]
    stale: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return not self.missing and not self.stale


@dataclass(frozen=True)
class Score:
    """The result of an episode."""

    episode: RepairEpisode
    answers: tuple[EpisodeAnswer, ...] = ()
    cannot: tuple[str, ...] = ()
    """The abilities that the system would need and lacks."""

    @property
    def is_right(self) -> bool:
        return not self.cannot and all(answer.is_right for answer in self.answers)


def play(episode: RepairEpisode, maker: Maker, budget: int = BUDGET) -> Score:
    """Play an episode into a fresh system, and ask it."""
    system = maker()
    try:
        lacking = sorted(need.value for need in episode.needs - system.can)
        if lacking:
            return Score(episode, cannot=tuple(lacking))
        named: dict[str, str] = {}
        for step in episode.steps:
            with suppress(Refused):  # what is not taken changes nothing, and shows in the answers
                _take(system, step, named)
        return Score(episode, tuple(_ask(system, one, budget) for one in episode.questions))
    finally:
        system.close()


def _take(system: System, step: Step, named: dict[str, str]) -> None:
    match step:
        case Write(name, entry):
            entry = replace(
                entry,
                supersedes=named[entry.supersedes] if entry.supersedes else None,
                depends_on=tuple(named[base] for base in entry.depends_on),
                when_superseded=named[entry.when_superseded] if entry.when_superseded else None,
            )
            named[name] = system.write(_WHO, entry)
        case Retract(name):
            system.retract(_WHO, named[name])
        case Undo(name):
            system.undo(_WHO, named[name])
        case Say(text, speaker):
            system.observe(_WHO, text, speaker)


def _ask(system: System, question: EpisodeQuestion, budget: int) -> EpisodeAnswer:
    context = system.context(_WHO, question.text, budget, history=question.history)
    live = live_part(context)  # without what is marked as possibly outdated
    return EpisodeAnswer(
        question,
        context,
        tuple(phrase for phrase in question.must if not mentions(context, phrase)),
        tuple(phrase for phrase in question.must_not if mentions(live, phrase)),
    )


@dataclass
class RepairReport:
    """The figures of one system: by form, half and task."""

    system: str
    shares: dict[tuple[EpisodeForm, Half, Task], Share] = field(default_factory=dict)
    sizes: dict[tuple[EpisodeForm, Half, int], Share] = field(default_factory=dict)
    """The shares by depth of the chain, for the task about depth."""
    cannot: dict[tuple[EpisodeForm, Task], tuple[str, ...]] = field(default_factory=dict)
    failures: list[Score] = field(default_factory=list)

    def add(self, score: Score) -> None:
        episode = score.episode
        if score.cannot:
            self.cannot[episode.form, episode.task] = score.cannot
            return
        key = (episode.form, episode.half, episode.task)
        hit = Share.one(score.is_right)
        self.shares[key] = self.shares.get(key, Share()) + hit
        if episode.task is Task.DEPTH:
            deep = (episode.form, episode.half, episode.size)
            self.sizes[deep] = self.sizes.get(deep, Share()) + hit
        if not score.is_right:
            self.failures.append(score)

    def share(self, form: EpisodeForm, half: Half, tasks: Sequence[Task]) -> Share:
        """The share of several tasks together."""
        found = (self.shares.get((form, half, task), Share()) for task in tasks)
        return sum(found, Share())

    def record(self) -> dict[str, Any]:
        """All figures, as JSON takes them."""
        told: dict[str, Any] = {}
        for (form, half, task), share in self.shares.items():
            told.setdefault(_group(form, half), {})[task.value] = share.record()
        depths: dict[str, Any] = {}
        for (form, half, depth), share in sorted(self.sizes.items()):
            depths.setdefault(_group(form, half), {})[str(depth)] = share.record()
        lacking = {f"{form}, {task}": list(what) for (form, task), what in self.cannot.items()}
        return {"system": self.system, "tasks": told, "depth": depths, "cannot": lacking}


def _group(form: EpisodeForm, half: Half) -> str:
    return form.value if form is EpisodeForm.STRUCTURED else f"{form.value}, {half.value}"


def run(
    name: str,
    maker: Maker,
    played: Sequence[RepairEpisode],
    *,
    budget: int = BUDGET,
    workers: int = 1,
    progress: Progress | None = None,
) -> RepairReport:
    """Play episodes into one system after another of the same maker."""
    report = RepairReport(name)
    function = partial(play, maker=maker, budget=budget)
    scores: Iterator[Score] = each(
        function, played, what=f"episodes, {name}", workers=workers, progress=progress
    )
    for score in scores:
        report.add(score)
    return report
