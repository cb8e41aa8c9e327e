"""Commands that list what a person sees: list facts, branches and turns."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import incumbent
from incumbent.cli.commands.write import Subject
from incumbent.cli.options import Asker, Common, When
from incumbent.cli.paging import WHICH, Paging, Span, print_page
from incumbent.cli.tables import clock
from incumbent.context.quotes import inline
from incumbent.context.rendering import name_of
from incumbent.words import cut, shown, standing

_LONGEST = 60


def facts(
    *,
    text: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="What the key, the subject or the value contains, in any letter case.",
            rich_help_panel=WHICH,
        ),
    ] = "",
    key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Of this key; '' for those kept as they were said.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    subject: Subject = None,
    state: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STATUS",
            help="In this state: office, superseded, retracted ...; repeatable.",
            show_default="office",
            rich_help_panel=WHICH,
        ),
    ] = None,
    any_state: Annotated[
        bool, typer.Option("--any-state", help="In whatever state.", rich_help_panel=WHICH)
    ] = False,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE", help="In this scope: global, task, session.", rich_help_panel=WHICH
        ),
    ] = None,
    memory_type: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE",
            help="Of this memory: user, capability, organizational.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    of_authority: Annotated[
        str | None,
        typer.Option(metavar="TITLE", help="Said with this authority.", rich_help_panel=WHICH),
    ] = None,
    needs_review: Annotated[
        bool,
        typer.Option("--needs-review", help="With a base that has changed.", rich_help_panel=WHICH),
    ] = False,
    span: Span,
    paging: Paging,
    when: When,
    who: Asker,
    common: Common,
) -> None:
    """List the facts that you may see, the last recorded first.

    Those in office, unless another state is asked for. --since and --until go by when a fact was
    recorded. The facts you go by, shadowed ones left out: incumbent facts.
    """
    with common.open() as memory:
        page = when.look(memory, who.at(memory)).list_facts(
            text=text,
            key=key,
            subject=subject,
            states=() if any_state else state or ("office",),
            scope=scope,
            memory_type=memory_type,
            authority=of_authority,
            needs_review=True if needs_review else None,
            **span.asked,
            **paging.asked,
        )
    columns = ("recorded (UTC)", "status", "key", "value", "of", "by", "id")
    print_page(page, common, columns, _fact_row)


def branches(*, paging: Paging, when: When, who: Asker, common: Common) -> None:
    """List the drafts and hypotheticals with facts in office that you may see."""
    with common.open() as memory:
        page = when.look(memory, who.at(memory)).list_branches(**paging.asked)
    columns = ("kind", "name", "facts in office", "newest (UTC)")
    print_page(page, common, columns, _branch_row)


def turns(
    of_session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="One of your sessions.", show_default="--session"),
    ] = None,
    *,
    paging: Paging,
    who: Asker,
    common: Common,
) -> None:
    """List the turns that were observed in one of your sessions, the first first.

    With what came of each as far as you may see it, and its words while they are on the desk.
    """
    with common.open() as memory:
        page = who.at(memory).list_turns(of_session, **paging.asked)
    columns = ("turn", "said (UTC)", "speaker", "ref", "facts", "verdicts", "words")
    print_page(page, common, columns, _turn_row)


def _fact_row(one: incumbent.Fact) -> list[str]:
    whose = shown(one.owner) if one.owner else "(organization)"
    told = [cut(inline(name_of(one)), _LONGEST), shown(one.value), whose, one.authority, one.id]
    return [clock(one.recorded_at), standing(one), *told]


def _branch_row(one: incumbent.ListedBranch) -> list[str]:
    return [one.kind.value, shown(one.name), f"{one.facts:,}", clock(one.last_at)]


def _turn_row(one: incumbent.ListedTurn) -> list[str]:
    numbers = [f"{len(one.fact_ids):,}", f"{len(one.verdict_ids):,}"]
    words = "" if one.text is None else cut(inline(one.text), _LONGEST)
    who = [shown(one.speaker), "" if one.ref is None else shown(one.ref)]
    return [str(one.turn_index), clock(one.at), *who, *numbers, words]


COMMANDS: list[tuple[str, Any, list[str]]] = [
    (
        "facts",
        facts,
        ["list facts --text oak", "list facts --key address --any-state --limit 20 --json"],
    ),
    ("branches", branches, ["list branches", "list branches --user alice --org acme --json"]),
    ("turns", turns, ["list turns", "list turns chat-1 --user alice --org acme --json"]),
]
"""The commands of this module, each with examples, for the group `list`."""
