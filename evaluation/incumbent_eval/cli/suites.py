"""The command that plays a public suite: eval statebench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incumbent.cli.declaring import command, option
from incumbent.cli.root import remark
from incumbent.cli.tables import print_json, show
from incumbent.model.errors import InvalidInput
from incumbent_eval.cli.evaluating import DATA, EvaluationRun
from incumbent_eval.cli.judged import JudgingOptions, judged_account
from incumbent_eval.cli.systems import FAILURES

if TYPE_CHECKING:
    from incumbent_eval.judging import EndToEnd, JudgedReport
    from incumbent_eval.statebench import Suite, SuiteReport

_VERSIONS = ("all", "1.0", "2.0.0")


@command(
    "eval statebench --data DATA",
    "eval statebench --version 2.0.0 --baseline memgine",
    "eval statebench --data DATA --version 1.0 --limit 50 --failures 3",
    "eval statebench --limit 50 --llm openai:gpt-5-mini --seeds 3 --answers answers.jsonl",
)
def statebench(
    *,
    data: Path | None = DATA,
    version: str = option("NAME", "1.0 (the published splits), 2.0.0, or all.", default="all"),
    baseline: list[str] | None = option(
        "NAME", "A baseline of the package; repeatable.", shown="all that run offline"
    ),
    budget: int = option("TOKENS", "Of a context.", default=8000, min=1),
    perturb: int | None = option(
        "SEED", "Also play a copy with other names, values, words and order.", shown="no copy"
    ),
    failures: int = FAILURES,
    run: EvaluationRun,
    answering: JudgingOptions,
) -> None:
    """Play StateBench's timelines through Incumbent and the package's baselines.

    Scores each query on its context: all that must be mentioned is, nothing that must not be is.
    The baselines, memgine among them, and the tracks of 2.0.0 need the statebench package. What
    scores well because it knows the suite scores worse on a copy of it: see --perturb.

    With --llm also the suite's own protocol: the model answers every query from every system's
    context, and the package's judge decides. How many requests that takes is told first, and
    asked about unless --yes is given.
    """
    from incumbent_eval.statebench import copied

    if version not in _VERSIONS:
        raise InvalidInput(f"--version {version!r} is not one of {', '.join(_VERSIONS)}")
    suites = list(_suites(data, version, run.limit))
    if perturb is not None:
        suites = [one for suite in suites for one in (suite, copied(suite, perturb))]
    names = _baselines(baseline)
    told: list[dict[str, Any]] = []
    with answering.opened(suites, len(names) + 1) as protocol:
        for suite in suites:
            report = _run_suite(suite, names, budget, run)
            judged = _run_judged(suite, names, budget, run, protocol)
            if run.json:
                more = {} if judged is None else {"end_to_end": judged.record()}
                told.append({**report.record(), **more})
            else:
                _show(report, judged, failures)
    if run.json:
        print_json({"reader": run.reader, "suites": told})


def _suites(data: Path | None, version: str, limit: int | None) -> Iterator[Suite]:
    """The suites that can be run. Missing ones are named on stderr, or refused if they were asked
    for."""
    from incumbent_eval import peers, running
    from incumbent_eval import statebench as runner

    if version != "2.0.0":
        try:
            for suite in runner.published(running.data_folder(data)):
                yield runner.Suite(suite.name, suite.timelines[:limit])
        except InvalidInput as error:
            if version == "1.0":
                raise
            _left_out("StateBench 1.0", str(error))
    if version != "1.0":
        try:
            suite = runner.generated()
            yield runner.Suite(suite.name, suite.timelines[:: _step(suite, limit)])
        except peers.PackageMissing as error:
            if version == "2.0.0":
                raise
            _left_out("StateBench 2.0.0", str(error))


def _step(suite: Suite, limit: int | None) -> int:
    """The step between timelines, so that a part is taken evenly from all tracks, which follow each
    other."""
    return 1 if limit is None else max(1, len(suite.timelines) // limit)


def _baselines(wanted: Sequence[str] | None) -> tuple[str, ...]:
    """The baselines that were asked for, else all that are there."""
    from incumbent_eval import peers

    if wanted is None and peers.installed_version() is None:
        _left_out("the baselines", f"install them with: {peers.INSTALL}")
    return tuple(wanted) if wanted is not None else peers.baselines()


def _run_suite(suite: Suite, names: Sequence[str], budget: int, run: EvaluationRun) -> SuiteReport:
    from incumbent_eval import statebench as runner

    with run.options() as options:
        return runner.run(suite, names, budget=budget, **options)


def _run_judged(
    suite: Suite, names: Sequence[str], budget: int, run: EvaluationRun, protocol: EndToEnd | None
) -> JudgedReport | None:
    if protocol is None:
        return None
    from incumbent_eval import judging

    with run.options() as options:
        return judging.run(suite, names, protocol, budget=budget, **options)


def _show(report: SuiteReport, judged: JudgedReport | None, failures: int) -> None:
    from incumbent_eval.cli import measured

    show(*measured.suite_account(report), *measured.suite_failures(report, failures))
    if judged is not None:
        show(*judged_account(judged))


def _left_out(what: str, why: str) -> None:
    remark(f"{what} left out: {why}")
