"""Options for the end-to-end protocol of a suite, its cost, and its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

import incumbent
from incumbent.cli.root import complain
from incumbent.cli.tables import table
from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    from incumbent_eval.chat import KeptAnswers
    from incumbent_eval.judging import EndToEnd, JudgedReport, Spread
    from incumbent_eval.statebench import Suite

_PANEL = "End to end, with a model"
_NO_JUDGE = "none"


@dataclass(frozen=True)
class JudgingOptions:
    """The model that answers from the contexts, the one that judges, and their limits."""

    llm: Annotated[
        str | None,
        typer.Option(
            envvar="INCUMBENT_LLM",
            metavar="MODEL",
            help="A model that answers each query from each system's context: openai:NAME, "
            "ollama:NAME, vllm:NAME, or any that is served like OpenAI's. Contexts are sent to "
            "it; the key is read from the provider's usual variable.",
            show_default="none",
            rich_help_panel=_PANEL,
        ),
    ] = None
    llm_url: Annotated[
        str | None,
        typer.Option(
            envvar="INCUMBENT_LLM_URL",
            metavar="URL",
            help="Where it is reached, for a server of your own.",
            show_default="the provider's",
            rich_help_panel=_PANEL,
        ),
    ] = None
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="The model that the suite's judge asks about paraphrases; none judges by its "
            "rules alone.",
            show_default="the same",
            rich_help_panel=_PANEL,
        ),
    ] = None
    judge_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where the judge is reached.",
            show_default="its provider's",
            rich_help_panel=_PANEL,
        ),
    ] = None
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="Runs, each with a seed of its own: figures are means with deviations.",
            rich_help_panel=_PANEL,
        ),
    ] = 1
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep answers here: a run that was interrupted goes on.",
            show_default="kept nowhere",
            rich_help_panel=_PANEL,
        ),
    ] = None
    llm_calls: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            min=1,
            help="Refuse a run that could take more requests.",
            show_default="no limit",
            rich_help_panel=_PANEL,
        ),
    ] = None
    llm_parallel: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Requests at a time.", rich_help_panel=_PANEL),
    ] = 4
    llm_timeout: Annotated[
        float,
        typer.Option(
            envvar="INCUMBENT_LLM_TIMEOUT",
            metavar="SECONDS",
            help="How long one request may take.",
            rich_help_panel=_PANEL,
        ),
    ] = 60.0
    llm_retries: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="How often one is repeated that met a busy server or a broken connection.",
            rich_help_panel=_PANEL,
        ),
    ] = 6
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            "-y",
            help="Do not ask whether to spend the requests.",
            rich_help_panel=_PANEL,
        ),
    ] = False

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
            complain(_spent(protocol), kind="note")
        except NoAnswer as error:
            raise NoAnswer(f"{error}; {self._left(kept)}") from None
        except KeyboardInterrupt:
            complain(f"interrupted; {self._left(kept)}", kind="note")
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
        for option, value in given.items():
            if value:
                raise InvalidInput(f"{option} goes with a model; name one with --llm MODEL")

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
        complain(told, kind="note")
        if self.llm_calls is not None and calls.all > self.llm_calls:
            raise InvalidInput(
                f"up to {calls.all:,} requests are more than --llm-calls {self.llm_calls:,}; take "
                "fewer with --limit, --baseline, --seeds or --judge none"
            )
        if not self.yes and not typer.confirm("Go on?", err=True):
            complain("nothing was asked", kind="note")
            raise typer.Exit(1)

    def _left(self, kept: KeptAnswers) -> str:
        if self.answers is None:
            return "nothing was kept; with --answers FILE a run can be gone on with"
        return f"{len(kept):,} answers are kept in {self.answers}: the same command goes on"


@dataclass(frozen=True)
class AnsweringIfNamed(JudgingOptions):
    """The same options where much else is run: a forgotten variable asks no model."""

    llm: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Also StateBench end to end: the model that answers, as for eval statebench.",
            show_default="none",
            rich_help_panel=_PANEL,
        ),
    ] = None


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
