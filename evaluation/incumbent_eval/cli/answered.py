"""The command that has questions answered blind: eval answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from incumbent.cli.declaring import argument, command, option
from incumbent.cli.tables import print_json, show, table
from incumbent.model.errors import InvalidInput
from incumbent_eval.cli.evaluating import EvaluationRun
from incumbent_eval.figures import percent

if TYPE_CHECKING:
    import incumbent
    from incumbent_eval.answers.asked import AskedTalk
    from incumbent_eval.answers.folder import BlindReport, KeptQuestion


@command(
    "eval answers blind training/conversations/home.txt --every 5",
    "eval answers blind --beam DATA --limit 3 --system incumbent --system bm25",
    "eval answers blind",
)
def answers(
    folder: Path = argument("FOLDER", "Where questions and answers lie."),
    files: list[Path] | None = argument(
        "FILE", "Files of conversations to ask about.", default=None, show_default="none"
    ),
    *,
    beam: Path | None = option("FOLDER", "Data with long chats in beam/.", shown="none"),
    system: list[str] | None = option(
        "NAME", "incumbent, transcript, last-turns, bm25 or meaning; repeatable.", shown="all"
    ),
    budget: int = option("TOKENS", "Of a context.", default=2000, min=1),
    every: int = option("K", "Only every K-th conversation of each file.", default=1, min=1),
    run: EvaluationRun,
) -> None:
    """Have questions answered blind from contexts: ours, the transcript, its end, search over it.

    With files, it writes questions with the context of each system to the folder, mixed. Any model
    or person answers them (HOW.txt says how), and the same command without files scores what came
    back. Answers about long chats are graded by a rubric, which is done blind as well.
    """
    if files or beam:
        count = _write(folder, files or [], beam, system, budget, every, run)
        show(f"{count:,} questions in {folder}: answer them as HOW.txt says, then run the command")
        show(f"  incumbent eval answers {folder}")
        return
    from incumbent_eval.answers.folder import score

    report = score(folder)
    if run.json:
        print_json(report.record())
        return
    show(*_account(report))


def _write(
    folder: Path,
    files: Sequence[Path],
    beam: Path | None,
    system: Sequence[str] | None,
    budget: int,
    every: int,
    run: EvaluationRun,
) -> int:
    from incumbent_eval.answers import asked
    from incumbent_eval.answers.contexts import SYSTEMS
    from incumbent_eval.answers.folder import KEY, write
    from incumbent_eval.conversations.format import files_of

    if (folder / KEY).exists():
        raise InvalidInput(f"{folder} has questions already; name another folder, or score it")
    talks = [*asked.of_conversations(files_of(files), every)] if files else []
    talks += asked.of_beam(beam, run.limit) if beam else ()
    names = list(dict.fromkeys(system or SYSTEMS))
    return write(folder, _asked(talks, names, budget, run))


def _asked(
    talks: Sequence[AskedTalk], names: Sequence[str], budget: int, run: EvaluationRun
) -> Iterator[tuple[KeptQuestion, str]]:
    from incumbent_eval.answers.contexts import contexts
    from incumbent_eval.answers.folder import KeptQuestion

    settings: incumbent.Settings = run.settings
    with run.telling() as telling:
        for number, talk in enumerate(talks, start=1):
            for name, shown in contexts(talk, names, budget, settings):
                for question, context in zip(talk.questions, shown, strict=True):
                    yield KeptQuestion(name, talk.name, question), context
            telling["progress"]("talks", number, len(talks))


def _account(report: BlindReport) -> Iterator[RenderableType]:
    for title, figures in (("right", report.right), ("rubric met", report.points)):
        if figures:
            kinds = sorted({kind for _, kind in figures} - {"all"})
            yield table(
                [title, "of", "all", *kinds],
                [
                    [
                        name,
                        f"{figures[name, 'all'].of:,}",
                        percent(figures[name, "all"].value),
                        *(
                            percent(figures[name, kind].value) if (name, kind) in figures else "–"
                            for kind in kinds
                        ),
                    ]
                    for name in dict.fromkeys(name for name, _ in figures)
                ],
            )
    if report.missing:
        yield f"{report.missing:,} questions wait for an answer or a grade"
