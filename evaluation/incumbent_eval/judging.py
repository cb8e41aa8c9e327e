"""StateBench end to end: a model answers from each system's context, the package's judge decides.

The package's harness makes the prompts, its judge reads the answers, its metrics count them. Only
the asking is ours, so that answers are kept and every system is asked in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import mean, stdev
from typing import Any, NamedTuple

import incumbent
from incumbent_eval import peers, statebench
from incumbent_eval.chat import AnsweringModel, ModelQuestion, Reply
from incumbent_eval.figures import rounded
from incumbent_eval.running import each
from incumbent_eval.statebench import OURS, Suite
from incumbent_eval.systems import Progress
from incumbent_eval.timelines import Record

RULES_ALONE = "rules alone"
"""The judge that asks no model about paraphrases."""
DECISION = "decision accuracy"
_OVERALL = {
    DECISION: "overall_decision_accuracy",
    "SFRR": "overall_sfrr",
    "must mention": "overall_must_mention_rate",
    "must-not violations": "overall_must_not_mention_violation_rate",
    "false supersession": "overall_false_supersession_rate",
}
"""The figures, and the package's names for them over all tracks."""
MEASURES = tuple(_OVERALL)
LOWER_IS_BETTER = frozenset({"SFRR", "must-not violations", "false supersession"})
_MAINTAINED = "_maintain"
"""The ending of tracks whose queries the package counts for false supersession and nothing else."""


@dataclass(frozen=True)
class EndToEnd:
    """The model that answers, the one that judges, and the number of runs."""

    model: AnsweringModel
    judge: AnsweringModel | None
    """None judges by the package's rules alone."""
    seeds: int = 1
    parallel: int = 4
    """Questions that are under way at a time."""

    @property
    def judge_name(self) -> str:
        return RULES_ALONE if self.judge is None else self.judge.name

    def told(self) -> dict[str, Any]:
        """The models behind the figures, for a report."""
        return {"llm": self.model.name, "judge": self.judge_name, "seeds": self.seeds}

    def try_out(self) -> None:
        """Ask both one short question; raises NoAnswer before anything is played."""
        for model in filter(None, (self.model, self.judge)):
            model.try_out()


class ExpectedCalls(NamedTuple):
    """The most questions that a run takes."""

    answers: int
    judged: int

    @property
    def all(self) -> int:
        return self.answers + self.judged


def foreseen(
    suites: Sequence[Suite], systems: int, seeds: int, *, is_judged: bool
) -> ExpectedCalls:
    """The most that a run can cost: every query of every system, and the judge asked about all of
    it.

    The judge asks a model only where its rules find nothing, so it is mostly far less.
    """
    queries = [event for suite in suites for one in suite.timelines for event in _queries(one)]
    asked = (1 + len(query["ground_truth"].get("must_mention") or ()) for query in queries)
    times = systems * seeds
    return ExpectedCalls(len(queries) * times, sum(asked) * times if is_judged else 0)


def _queries(timeline: Record) -> Iterator[Record]:
    return (event for event in timeline["events"] if event["type"] == "query")


# what comes of it


@dataclass(frozen=True)
class Spread:
    """One figure in several runs."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.values)

    @property
    def deviation(self) -> float | None:
        """The standard deviation of a sample; None for a single run."""
        return stdev(self.values) if len(self.values) > 1 else None

    def record(self) -> dict[str, Any]:
        return {
            "mean": rounded(self.mean),
            "deviation": rounded(self.deviation),
            "values": [rounded(value) for value in self.values],
        }


@dataclass
class JudgedReport:
    """The results of a suite end to end: the figures of each system, or the reason why there are
    none."""

    suite: str
    model: str
    judge: str
    seeds: int
    queries: int = 0
    systems: dict[str, dict[str, Spread]] = field(default_factory=dict)
    tracks: dict[str, dict[str, Spread]] = field(default_factory=dict)
    """Decision accuracy of each system, by track."""
    failed: dict[str, str] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    """Questions with a system's context that the server refused; they count as silence."""

    def record(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "model": self.model,
            "judge": self.judge,
            "seeds": self.seeds,
            "queries": self.queries,
            "systems": {
                name: {
                    "all": {measure: spread.record() for measure, spread in spreads.items()},
                    DECISION: {
                        track: spread.record() for track, spread in self.tracks[name].items()
                    },
                    "refused": self.refused.get(name, 0),
                }
                for name, spreads in self.systems.items()
            },
            "failed": self.failed,
        }


def run(
    suite: Suite,
    baselines: Sequence[str],
    protocol: EndToEnd,
    *,
    budget: int = statebench.BUDGET,
    settings: incumbent.Settings | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> JudgedReport:
    """Ask every query of a suite with each system's context, once for each seed, and judge it."""
    for name in baselines:
        peers.check_baseline(name)
    names = (*baselines, OURS)
    report = JudgedReport(suite.name, protocol.model.name, protocol.judge_name, protocol.seeds)
    model = protocol.model.bare_name
    note = partial(_noted, names=names, budget=budget, settings=settings, model=model)
    what = f"StateBench {suite.name}"
    noted = list(
        each(note, suite.timelines, what=f"{what}, prompts", workers=workers, progress=progress)
    )
    for one in noted:
        report.failed.update(one.failed)
    sound = [name for name in names if name not in report.failed]
    asked = list(_askings(suite, noted, sound, protocol.seeds, budget))
    results = _judged(asked, protocol, f"{what}, answers", progress)
    kept: dict[tuple[str, int], list[Any]] = {}
    for asking, (reply, result) in zip(asked, results, strict=True):
        kept.setdefault((asking.system, asking.seed), []).append(result)
        if reply.refused:
            report.refused[asking.system] = report.refused.get(asking.system, 0) + 1
    report.queries = len(kept.get((OURS, 0), ()))
    for name in sound if kept else ():
        _count(report, name, [kept[name, seed] for seed in range(protocol.seeds)], model)
    return report


# prompts


class _Asking(NamedTuple):
    """A query with the context of a system, to be asked once."""

    system: str
    seed: int
    question: ModelQuestion
    timeline: Any
    number: int
    query: Any


class _Noted(NamedTuple):
    """The instructions and the prompt of each query of a timeline, by system."""

    prompts: Mapping[str, Sequence[tuple[str, str]]]
    failed: Mapping[str, str]


def _askings(
    suite: Suite, noted: Sequence[_Noted], names: Sequence[str], seeds: int, budget: int
) -> Iterator[_Asking]:
    """All questions: every query of every system, once for each seed."""
    length = max(200, min(1_500, budget // 2))  # as the package's harness has it
    for timeline, one in zip(suite.timelines, noted, strict=True):
        model = peers.parsed(timeline)
        queries = [event for event in model.events if event.type == "query"]
        for name in names:
            pairs = zip(queries, one.prompts[name], strict=True)
            for number, (query, (system, prompt)) in enumerate(pairs):
                for seed in range(seeds):
                    question = ModelQuestion(prompt, system, length, seed)
                    yield _Asking(name, seed, question, model, number, query)


def _noted(
    timeline: Record,
    *,
    names: Sequence[str],
    budget: int,
    settings: incumbent.Settings | None,
    model: str,
) -> _Noted:
    prompts: dict[str, list[tuple[str, str]]] = {}
    failed: dict[str, str] = {}
    for name in names:
        harness = _harness()(budget, model)
        try:
            strategy = harness.strategy(name, settings)
            harness.run_timeline(peers.parsed(timeline), strategy)
            strategy.reset()
        except Exception as error:  # someone else's code; one that fails must not end the run
            if name == OURS:
                raise
            failed[name] = f"{type(error).__name__}: {error}"
        prompts[name] = harness.noted
    return _Noted(prompts, failed)


@cache
def _harness() -> Any:
    """The class, made on demand: its base class is the package's."""
    package = peers.module("runner.harness")

    class Noting(package.EvaluationHarness):  # type: ignore[name-defined, misc]
        """The package's harness; its questions to a model are noted and not asked."""

        def __init__(self, budget: int, model: str) -> None:
            super().__init__(
                model=model, use_llm_judge=False, token_budget=budget, judge_provider="openai"
            )
            self.noted: list[tuple[str, str]] = []

        def strategy(self, name: str, settings: incumbent.Settings | None) -> Any:
            if name == OURS:
                return statebench.IncumbentStrategy(self.token_budget, settings=settings)
            return self._make_strategy(name)

        def _generate_response(self, system_prompt: str, user_prompt: str) -> tuple[str, int, int]:
            self.noted.append((system_prompt, user_prompt))
            return "", 0, 0

    return Noting


# answers


def _judged(
    asked: Sequence[_Asking], protocol: EndToEnd, what: str, progress: Progress | None
) -> Iterator[tuple[Reply, Any]]:
    """The answer to each question, and the verdict of the package's judge, in order.

    After the first question without an answer the others are not begun; earlier answers are kept.
    """
    judge = _judge()(protocol.judge)
    pool = ThreadPoolExecutor(protocol.parallel)
    try:
        found = pool.map(partial(_answered, protocol.model, judge), asked)
        for done, result in enumerate(found, start=1):
            if progress is not None:
                progress(what, done, len(asked))
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _answered(model: AnsweringModel, judge: Any, asking: _Asking) -> tuple[Reply, Any]:
    reply = model.ask(asking.question)
    result = judge.judge(
        response=reply.text,
        ground_truth=asking.query.ground_truth,
        timeline_id=asking.timeline.id,
        query_idx=asking.number,
        track=asking.timeline.track,
        domain=asking.timeline.domain,
    )
    result.tokens_used = reply.tokens
    return reply, result


@cache
def _judge() -> Any:
    package = peers.module("evaluation.judge")

    class Judge(package.ResponseJudge):  # type: ignore[name-defined, misc]
        """The package's judge; its questions to a model are asked in our way."""

        def __init__(self, model: AnsweringModel | None) -> None:
            super().__init__(use_llm_judge=model is not None, provider="openai")
            self._asked = model

        def _complete(self, prompt: str, max_tokens: int) -> str:
            assert self._asked is not None
            return self._asked.ask(ModelQuestion(prompt, max_tokens=max_tokens)).text

    return Judge


# counting


def _count(report: JudgedReport, name: str, runs: Sequence[Sequence[Any]], model: str) -> None:
    """The package's metrics of each run, put side by side."""
    made = []
    for results in runs:
        aggregator = peers.module("evaluation.metrics").MetricsAggregator(name, model)
        for result in results:
            aggregator.add_result(result)
        made.append(aggregator.compute_benchmark_metrics())
    tracks = sorted(made[0].tracks)
    counted = {track.endswith(_MAINTAINED) for track in tracks}
    report.systems[name] = {
        measure: Spread(tuple(getattr(metrics, attribute) for metrics in made))
        for measure, attribute in _OVERALL.items()
        if (measure == "false supersession") in counted
    }
    report.tracks[name] = {
        track: Spread(tuple(metrics.tracks[track].decision_accuracy for metrics in made))
        for track in tracks
    }
