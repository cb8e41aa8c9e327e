"""Options for the end-to-end protocol of a suite, its cost, and its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType

import incumbent
from incumbent.cli.declaring import flag, option, options
from incumbent.cli.root import remark
from incumbent.cli.tables import table
from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    from incumbent_eval.chat import KeptAnswers
    from incumbent_eval.judging import EndToEnd, JudgedReport, Spread
    from incumbent_eval.statebench import Suite

_PANEL = "End to end, with a model"
_NO_JUDGE = "none"


@options(_PANEL)
class JudgingOptions:
    """The model that answers from the contexts, the one that judges, and their limits."""

    llm: str | None = option(
        "MODEL",
        "A model that answers each query from each system's context: openai:NAME, ollama:NAME,"
        " vllm:NAME, or any that is served like OpenAI's. Contexts are sent to it; the key is "
        "read from the provider's usual variable.",
        env="INCUMBENT_LLM",
        shown="none",
    )
    llm_url: str | None = option(
        "URL",
        "Where it is reached, for a server of your own.",
        env="INCUMBENT_LLM_URL",
        shown="the provider's",
    )
    judge: str | None = option(
        "MODEL",
        "The model that the suite's judge asks about paraphrases; none judges by its rules alone.",
        shown="the same",
    )
    judge_url: str | None = option("URL", "Where the judge is reached.", shown="its provider's")
    seeds: int = option(
        "N",
        "Runs, each with a seed of its own: figures are means with deviations.",
        default=1,
        min=1,
    )
    answers: Path | None = option(
        "FILE", "Keep answers here: a run that was interrupted goes on.", shown="kept nowhere"
    )
    llm_calls: int | None = option(
        "COUNT", "Refuse a run that could take more requests.", shown="no limit", min=1
    )
    llm_parallel: int = option("N", "Requests at a time.", default=4, min=1)
    llm_timeout: float = option(
        "SECONDS", "How long one request may take.", default=60.0, env="INCUMBENT_LLM_TIMEOUT"
    )
    llm_retries: int = option(
        "N",
        "How often one is repeated that met a busy server or a broken connection.",
        default=6,
        min=0,
    )
    yes: bool = flag("Do not ask whether to spend the requests.", "--yes", "-y")

    @contextmanager
    def opened(self, suites: Sequence[Suite], systems: int) -> Iterator[EndToEnd | None]:
        """The models to ask, once the cost was told and agreed to; None if no model is named."""
        if self.llm is None:
            self._refuse_strays()
        if self.llm is None or not suites:
            yield None
            return
        from incumbent_eval import peers
        from incumbent_eval.chat import KeptAnswers, NoAnswer

        peers.module("evaluation.judge")  # without the package nothing need be asked
        if self.answers is not None and not self.answers.absolute().parent.is_dir():
            folder = self.answers.parent
            raise InvalidInput(f"--answers {self.answers}: there is no folder {folder}")
        kept = KeptAnswers(self.answers)
        try:
            protocol = self._protocol(kept)
            self._agree(protocol, suites, systems, kept)
            protocol.try_out()
            yield protocol
            remark(_spent(protocol))
        except NoAnswer as error:
            raise NoAnswer(f"{error}; {self._left(kept)}") from None
        except KeyboardInterrupt:
            remark(f"interrupted; {self._left(kept)}")
            raise
        finally:
            kept.close()

    def _refuse_strays(self) -> None:
        given = {
            "--judge": self.judge,
            "--judge-url": self.judge_url,
            "--answers": self.answers,
            "--seeds": self.seeds > 1,
            "--llm-calls": self.llm_calls,
        }
        for name, value in given.items():
            if value:
                raise InvalidInput(f"{name} goes with a model; name one with --llm MODEL")

    def _protocol(self, kept: KeptAnswers) -> EndToEnd:
        from incumbent_eval.chat import AnsweringModel
        from incumbent_eval.judging import EndToEnd

        assert self.llm is not None
        model = AnsweringModel(self._setting(self.llm, self.llm_url), kept)
        judge: AnsweringModel | None = model
        if self.judge == _NO_JUDGE:
            judge = None
        elif self.judge is not None or self.judge_url is not None:
            judge = AnsweringModel(self._setting(self.judge or self.llm, self.judge_url), kept)
        return EndToEnd(model, judge, self.seeds, self.llm_parallel)

    def _setting(self, name: str, address: str | None) -> incumbent.LLM:
        return incumbent.LLM(
            name, base_url=address, timeout=self.llm_timeout, retries=self.llm_retries
        )

    def _agree(
        self, protocol: EndToEnd, suites: Sequence[Suite], systems: int, kept: KeptAnswers
    ) -> None:
        """Tell the cost ahead, and let nobody spend it unknowingly."""
        from incumbent_eval.judging import foreseen

        is_judged = protocol.judge is not None
        calls = foreseen(suites, systems, self.seeds, is_judged=is_judged)
        queries = calls.answers // (systems * self.seeds)
        told = (
            f"{queries:,} queries × {systems} systems × {self.seeds} "
            f"{'seed' if self.seeds == 1 else 'seeds'}: {calls.answers:,} answers of "
            f"{protocol.model.name}"
        )
        if is_judged:
            told += f", and at most {calls.judged:,} questions to the judge, {protocol.judge_name}"
        if len(kept):
            told += f"; {len(kept):,} answers in {self.answers} are not asked for again"
        remark(told)
        if self.llm_calls is not None and calls.all > self.llm_calls:
            raise InvalidInput(
                f"up to {calls.all:,} requests are more than --llm-calls {self.llm_calls:,}; take "
                "fewer with --limit, --baseline, --seeds or --judge none"
            )
        if not self.yes and not typer.confirm("Go on?", err=True):
            remark("nothing was asked")
            raise typer.Exit(1)

    def _left(self, kept: KeptAnswers) -> str:
        if self.answers is None:
            return "nothing was kept; with --answers FILE a run can be gone on with"
        return f"{len(kept):,} answers are kept in {self.answers}: the same command goes on"


@options(_PANEL)
class AnsweringIfNamed(JudgingOptions):
    """The same options where much else is run: a forgotten variable asks no model."""

    llm: str | None = option(
        "MODEL",
        "Also StateBench end to end: the model that answers, as for eval statebench.",
        shown="none",
    )


def _spent(protocol: EndToEnd) -> str:
    models = {id(model): model for model in (protocol.model, protocol.judge) if model is not None}
    calls, found, tokens = (
        sum(getattr(model, name) for model in models.values())
        for name in ("calls", "found", "tokens")
    )
    return f"{calls:,} requests, {tokens:,} tokens; {found:,} questions had been answered before"


def judged_account(report: JudgedReport) -> Iterator[RenderableType]:
    """The figures of a suite end to end, and decision accuracy by track."""
    from incumbent_eval.judging import LOWER_IS_BETTER, MEASURES

    names = list(report.systems)
    runs = "one run" if report.seeds == 1 else f"mean ± standard deviation of {report.seeds} runs"
    yield (
        f"StateBench {report.suite}, end to end: {report.model} answers, judge: {report.judge}; "
        f"{report.queries:,} queries, {runs}\n"
    )
    marked = [f"{name} (less is better)" if name in LOWER_IS_BETTER else name for name in MEASURES]
    yield table(
        ["system", *marked],
        [[name, *(_spread(report.systems[name].get(m)) for m in MEASURES)] for name in names],
    )
    yield ""
    tracks = sorted({track for name in names for track in report.tracks[name]})
    yield table(
        ["decision accuracy by track", *names],
        [[track, *(_spread(report.tracks[name].get(track)) for name in names)] for track in tracks],
    )
    for name, why in report.failed.items():
        yield f"{name} could not be run: {why}"
    for name, count in report.refused.items():
        yield f"{name}: {count:,} prompts were not taken by the server and count as silence"
    yield ""


def _spread(spread: Spread | None) -> str:
    from incumbent_eval.figures import percent

    return percent(None) if spread is None else percent(spread.mean, spread.deviation)
