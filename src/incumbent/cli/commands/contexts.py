"""The command that prints what a model reads: context."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

import incumbent
from incumbent.cli.accounts import account_of
from incumbent.cli.declaring import argument, command, flag, option
from incumbent.cli.options import Asker, Common, When
from incumbent.cli.root import remark
from incumbent.cli.tables import print_json, show
from incumbent.words import left_out


@command(
    "context 'Can we ship order 4711?'",
    "context 'Can we offer 25%?' --budget 800 --explain",
    "context 'What do we pay?' --profile high-stakes --style annotated --record",
    "context 'Who was the lead?' --history --at 2026-03-02T09:00:00+00:00",
)
def context(
    query: str = argument("QUERY", "What the model is asked.", default=""),
    *,
    budget: int = option("TOKENS", "The hard ceiling.", default=4000),
    profile: str = option("NAME", "high-stakes, balanced or comprehensive.", default="balanced"),
    style: str = option(
        "NAME", "plain, or annotated with ids, dates and sources.", default="plain"
    ),
    history: bool = flag("Add a section of what was true before."),
    explain: bool = flag("After the text, account for every line and omission."),
    record: bool = flag("Keep a receipt, for replay and diff."),
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """Print what a model should read, within a token budget.

    Identity, environment, current facts, working set. The text goes to stdout; its size, and a
    count of what was left out, to stderr. With --explain follow the budget, the score of each
    line with its parts, and what was left out for which reason.
    """
    with common.open() as memory:
        session = when.look(memory, who.at(memory))
        made = session.context(
            query,
            budget=budget,
            profile=profile,
            style=style,
            history=history,
            explain=explain,
            record=record,
        )
        if common.json:
            print_json({**context_document(made), "receipt": made.receipt.id, "recorded": record})
            return
        typer.echo(made.text)
        if explain:
            show("", *account_of(made, session.get))
        else:
            remark(_summary(made))
    if record:
        remark(f"recorded; the same again: incumbent replay {made.receipt.id}")


def context_document(made: incumbent.Context) -> dict[str, Any]:
    """A context as JSON."""
    return {**asdict(made), "at": made.at.isoformat()}


def _summary(made: incumbent.Context) -> str:
    lines = f"{len(made.lines)} line{'' if len(made.lines) == 1 else 's'}"
    return (
        f"{lines}, {made.tokens:,} of {made.budget:,} tokens; left out: {left_out(made.omissions)}"
    )
