"""The commands that put systems side by side: eval dialogues, retrieval, all, report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from incumbent.cli.declaring import argument, command, flag, option, options
from incumbent.cli.root import remark
from incumbent.cli.tables import print_json, show, table
from incumbent.model.errors import InvalidInput
from incumbent_eval.cli.evaluating import DATA, EvaluationRun, Fed
from incumbent_eval.cli.judged import AnsweringIfNamed
from incumbent_eval.cli.systems import FAILURES

if TYPE_CHECKING:
    from incumbent_eval.judging import EndToEnd
    from incumbent_eval.report.document import Document, Section
    from incumbent_eval.report.parts import LeftOut, Part, Plan
    from incumbent_eval.report.whole import ReportStep

_OURS = "incumbent"


@options()
class Beside:
    """The systems that stand beside ours."""

    system: list[str] | None = option(
        "NAME",
        "A system beside ours by name, or none; repeatable.",
        shown="those that are installed",
    )

    @property
    def names(self) -> list[str]:
        """The named systems, or the usual ones. A named one must be there."""
        from incumbent_eval import adapters
        from incumbent_eval.report.parts import BESIDE

        if self.system is None:
            return list(BESIDE)
        wanted = [name for name in dict.fromkeys(self.system) if name not in ("none", _OURS)]
        for name in wanted:
            if name not in adapters.PEERS:
                known = ", ".join(adapters.PEERS)
                raise InvalidInput(f"--system {name!r} is not one of none, {known}")
            why = adapters.missing(name)
            if why is not None:
                raise adapters.PeerMissing(why)
        return wanted


def _plan(data: Path | None, beside: Beside, run: Fed) -> Plan:
    from incumbent_eval import running
    from incumbent_eval.report.parts import Plan

    return Plan(
        folder=running.data_folder(data),
        settings=run.settings,
        systems=beside.names,
        limit=run.limit,
        workers=run.processes,
    )


def _left_out(gap: LeftOut) -> None:
    remark(f"{gap.what} left out: {gap.why}")


# on public data, side by side


@command(
    "eval dialogues --data DATA",
    "eval dialogues --data DATA --limit 50 --system memgine --failures 3",
)
def dialogues(
    *, data: Path | None = DATA, failures: int = FAILURES, beside: Beside, run: EvaluationRun
) -> None:
    """Play dialogues in which people change their mind through Incumbent and others.

    Reads sgd/cases_dev.jsonl.gz and multiwoz/cases_val.jsonl.gz of the folder. Does the context
    say the current value, and no stale one? `eval cases` does the same for files of yours.
    """
    from incumbent_eval.report import parts

    _show_parts(_plan(data, beside, run), parts.dialogues, failures, run)


@command("eval retrieval --data DATA", "eval retrieval --data DATA --embedder static --system bm25")
def retrieval(
    *, data: Path | None = DATA, failures: int = FAILURES, beside: Beside, run: EvaluationRun
) -> None:
    """Ask about long conversations: what is found within a token budget?

    Reads locomo/*_turns.jsonl.gz and beam/*_messages.jsonl.gz of the folder, each with a file of
    questions. Every turn is stored as a value; the figure is the share of the turns that answer a
    question. Where a value was updated, the new one must be found and the old one be absent.
    """
    from incumbent_eval.report import parts

    _show_parts(_plan(data, beside, run), parts.retrieved, failures, run)


def _show_parts(
    plan: Plan, parts: Callable[[Plan], Iterator[Part]], failures: int, run: EvaluationRun
) -> None:
    """Run evaluations that need data, and show them; without any data there is nothing to do."""
    from incumbent_eval.report.parts import LeftOut

    if plan.folder is None:
        raise InvalidInput(
            "these are data; give their folder with --data FOLDER, or in INCUMBENT_BENCH_DATA"
        )
    found = []
    with run.telling() as options:
        for part in parts(replace(plan, progress=options["progress"])):
            if isinstance(part, LeftOut):
                _left_out(part)
            else:
                found.append(part[0])
    if run.json:
        print_json({"reader": run.reader, **{one.name: one.record for one in found}})
        return
    for section in found:
        show(*section_account(section, failures))


def section_account(section: Section, failures: int) -> Iterator[RenderableType]:
    """A section of a report for people to read."""
    from incumbent_eval.report.document import shown

    yield f"{section.title}\n\n{section.about}\n"
    for made in section.tables:
        if made.title:
            yield made.title
        yield table(list(made.columns), [[shown(cell) for cell in row] for row in made.rows])
        yield ""
    for failure in section.failures[:failures]:
        yield f"## {failure.title}"
        yield from (f"{name}: {text}" for name, text in failure.told)
        yield f"{failure.context or ''}\n"


# all


_PARTS = (
    "conformance, isolation, scope, asof, repair, statebench (-1.0, -2.0.0, -answers), dialogues, "
    "pairs, sentences, retrieval"
)


@command(
    "eval all --data DATA --json run.json",
    "eval all --data DATA --json run.json --resume",
    "eval all --system none --only conformance --only repair",
)
def all_(
    *,
    data: Path | None = DATA,
    json: Path | None = option(
        "FILE",
        "Write the run down here, for eval report; part by part, as each is finished.",
        shown=False,
    ),
    resume: bool = flag("Go on with the run in that file where it was stopped."),
    only: list[str] | None = option("NAME", f"One evaluation; repeatable: {_PARTS}.", shown="all"),
    skip: list[str] | None = option("NAME", "Leave one evaluation out; repeatable.", shown="none"),
    seed: int = option("N", "What is made up is drawn from it.", default=0),
    beside: Beside,
    run: Fed,
    answering: AnsweringIfNamed,
) -> None:
    """Run all there is, other systems beside ours, and hold the figures against their targets.

    A set or system that is not there is left out and named. Ends with code 1 where a target is
    missed. What needs no data always runs. All of it takes an hour; with --json a run that was
    stopped can be gone on with. StateBench end to end takes a model: --llm.
    """
    from incumbent_eval.report import whole

    _check_writable(json)
    before = _begun(json, resume)
    plan = replace(_plan(data, beside, run), seed=seed, only=only or (), skip=skip or ())
    with _asked(plan, answering) as protocol, run.telling() as options:
        made = whole.run(
            replace(plan, progress=options["progress"], protocol=protocol),
            date=f"{datetime.now(UTC):%Y-%m-%d}",
            say=_left_out,
            begin=_step_told,
            save=partial(_saved, json),
            before=before,
        )
    _saved(json, made)
    show(_targets(made.targets))
    if any(target["met"] is False for target in made.targets):
        raise typer.Exit(1)


@contextmanager
def _asked(plan: Plan, answering: AnsweringIfNamed) -> Iterator[EndToEnd | None]:
    """The models that answer end to end, if any: the cost is told and agreed to before all else."""
    from incumbent_eval import peers
    from incumbent_eval.report import parts

    if answering.llm is None and parts.ANSWERS in plan.only:
        raise InvalidInput(f"{parts.ANSWERS} asks a model; name one with --llm MODEL")
    wanted = answering.llm is not None and parts.ANSWERS in plan.named
    suites = parts.suites(plan) if wanted else []
    with answering.opened(suites, len(peers.baselines()) + 1) as protocol:
        yield protocol


def _begun(path: Path | None, resume: bool) -> Document | None:
    """The run to resume; one that was never begun begins now."""
    from incumbent_eval.report import document

    if not resume:
        return None
    if path is None:
        raise InvalidInput("--resume goes on with a run that was written down: give --json FILE")
    return document.read(path) if path.exists() else None


def _step_told(step: ReportStep) -> None:
    from incumbent_eval.report.words import duration

    so_far = f", {duration(step.seconds)} so far" if step.seconds >= 1 else ""
    remark(f"part {step.number} of {step.of}: {step.name}{so_far}")


def _saved(path: Path | None, made: Document) -> None:
    from incumbent_eval.report import document

    if path is not None:
        document.written(made, path)


def _targets(reached: Sequence[Mapping[str, Any]]) -> RenderableType:
    from incumbent_eval.figures import percent
    from incumbent_eval.report.words import met_word, target_text

    return table(
        ["measure", "target", "measured", ""],
        [
            [told["measure"], target_text(told), percent(told["measured"]), met_word(told)]
            for told in reached
        ],
    )


# report


@command("eval report run.json --html page.html --markdown figures.md")
def report(
    file: Path = argument("FILE", "What `eval all --json FILE` has written."),
    *,
    html: Path | None = option("FILE", "Make this page.", shown=False),
    markdown: Path | None = option("FILE", "Make this page.", shown=False),
    texts: bool = flag("Quote data sets among the failures; not everybody may pass them on."),
) -> None:
    """Make pages from a run: HTML that needs nothing else, or Markdown.

    The file alone is read. Failures that quote a data set are left out, unless --texts is given.
    """
    from incumbent_eval.report import document
    from incumbent_eval.report import html as html_page
    from incumbent_eval.report import markdown as markdown_page

    if html is None and markdown is None:
        raise InvalidInput("say what to make: --html FILE, --markdown FILE, or both")
    for path in (html, markdown):
        _check_writable(path)
    run = document.read(file)
    for path, maker, name in (
        (html, html_page.page, "--html"),
        (markdown, markdown_page.page, "--markdown"),
    ):
        if path is not None:
            made_by = f"incumbent eval report {file.name} {name} {path.name}"
            _write(path, maker(run, made_by=made_by, texts=texts))


def _check_writable(path: Path | None) -> None:
    """Refuse a file in a missing folder before anything is run for it."""
    if path is not None and not path.absolute().parent.is_dir():
        raise InvalidInput(f"{path}: there is no folder {path.parent}; make it first")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error}") from None
