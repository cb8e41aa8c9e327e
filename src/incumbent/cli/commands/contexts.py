"""The command that prints what a model reads: context."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

import incumbent
from incumbent.cli.accounts import account_of
from incumbent.cli.options import Asker, Common, When
from incumbent.cli.root import command, complain
from incumbent.cli.tables import print_json, show
from incumbent.words import left_out


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the model is asked.")] = "",
    *,
    budget: Annotated[int, typer.Option(metavar="TOKENS", help="The hard ceiling.")] = 4000,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="high-stakes, balanced or comprehensive.")
    ] = "balanced",
    style: Annotated[
        str, typer.Option(metavar="NAME", help="plain, or annotated with ids, dates and sources.")
    ] = "plain",
    history: Annotated[
        bool, typer.Option("--history", help="Add a section of what was true before.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="After the text, account for every line and omission."),
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Keep a receipt, for replay and diff.")
    ] = False,
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
            complain(_summary(made), kind="note")
    if record:
        complain(f"recorded; the same again: incumbent replay {made.receipt.id}", kind="note")


def context_document(made: incumbent.Context) -> dict[str, Any]:
    """A context as JSON."""
    return {**asdict(made), "at": made.at.isoformat()}


def _summary(made: incumbent.Context) -> str:
    lines = f"{len(made.lines)} line{'' if len(made.lines) == 1 else 's'}"
    return (
        f"{lines}, {made.tokens:,} of {made.budget:,} tokens; left out: {left_out(made.omissions)}"
    )


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    command(
        app,
        "context",
        context,
        [
            "context 'Can we ship order 4711?'",
            "context 'Can we offer 25%?' --budget 800 --explain",
            "context 'What do we pay?' --profile high-stakes --style annotated --record",
            "context 'Who was the lead?' --history --at 2026-03-02T09:00:00+00:00",
        ],
    )
