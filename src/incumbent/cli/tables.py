"""Printing: tables and accounts for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import typer
from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from incumbent.context.rendering import name_of
from incumbent.model.fact import Fact
from incumbent.words import place, said_in, shown, standing, told

# A pipe has no width: a table takes what its content needs, and nothing is cut.
_PIPE_WIDTH = 1_000_000
# Below this a column of ids would squeeze the others, so ids go beneath the values.
_WIDE_ENOUGH = 120
_NARROW = ("status ", "value and id", "by ", "held (UTC)")
# With these and an id of 36 characters a narrow table comes to 80.
_WIDEST = {"status ": 12, "by ": 10, "because ": 28, "section ": 14}

_STYLES = {
    "in office": "green",
    "in office, needs review": "yellow",
    "established": "green",
    "confirmed": "green",
    "superseded": "cyan",
    "promoted": "cyan",
    "reverted": "cyan",
    "shadowed": "blue",
    "waiting": "blue",
    "contested": "yellow",
    "overruled": "red",
    "retracted": "magenta",
}


def console(*, stderr: bool = False) -> Console:
    """A console that prints every text as it is: markup in stored values has no effect."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        emoji=False,
        width=None if stream.isatty() else _PIPE_WIDTH,
    )


def show(*parts: RenderableType) -> None:
    """Print for people; in a pipe, without the spaces that fill up a column."""
    out = console()
    for part in parts:
        if out.is_terminal:
            out.print(part)
            continue
        if not isinstance(part, str):
            with out.capture() as captured:
                out.print(part, end="")
            part = captured.get()
        typer.echo("\n".join(line.rstrip(" ") for line in part.rstrip("\n").split("\n")))


def print_json(document: Any) -> None:
    """One JSON document on stdout."""
    carries_all = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(document, ensure_ascii=not carries_all, indent=2))


def word(text: str) -> Text:
    """A status or outcome in its colour; Rich drops the colour where there is no terminal."""
    return Text(text, style=_STYLES.get(text, ""))


def clock(moment: datetime | None, otherwise: str = "") -> str:
    """A moment in UTC to the second."""
    if moment is None:
        return otherwise
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def table(columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> RenderableType:
    """A table; plain columns where the output is no terminal."""
    if not sys.stdout.isatty():
        return _plain([columns, *rows])
    made = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for column in columns:
        made.add_column(column, overflow="fold", max_width=_WIDEST.get(column))
    for row in rows:
        made.add_row(*row)
    return made


def _plain(rows: Sequence[Sequence[str | Text]]) -> str:
    """Aligned columns. Rich would do it too, but far slower over thousands of rows."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        )
        for row in cells
    )


def is_narrow() -> bool:
    """Whether the output is a terminal with no room for a column of ids."""
    return console().width < _WIDE_ENOUGH


def with_id(text: str, fact_id: str) -> Text:
    """A text with an id beneath it, where there is one."""
    return Text(text).append(f"\n{fact_id}" if fact_id else "", style="dim")


def fact_table(facts: Iterable[Fact], *, keys: bool) -> RenderableType:
    """A table of facts: status, speaker, turn, and start and end."""
    if is_narrow():
        return table(_NARROW, [_narrow_row(fact, keys=keys) for fact in facts])
    listed = list(facts)
    columns = ["status", "key", "value", "by", "said in", "from (UTC)", "until (UTC)", "id"]
    if not keys:
        columns.remove("key")
    turns = any(map(said_in, listed))
    if not turns:
        columns.remove("said in")
    return table(columns, [_wide_row(fact, keys=keys, turns=turns) for fact in listed])


def _wide_row(fact: Fact, *, keys: bool, turns: bool) -> list[str | Text]:
    return [
        word(standing(fact)),
        *([name_of(fact) + place(fact)] if keys else []),
        shown(fact.value),
        _by(fact),
        *([said_in(fact)] if turns else []),
        clock(fact.started_at or fact.valid_from),
        clock(fact.until),
        fact.id,
    ]


def _narrow_row(fact: Fact, *, keys: bool) -> list[str | Text]:
    """The row in few columns: turn and id beneath the value, the end beneath the start."""
    since, until = clock(fact.started_at or fact.valid_from)[:-3], clock(fact.until)[:-3]
    return [
        word(standing(fact)),
        with_id(
            told(fact) if keys else shown(fact.value),
            "\n".join(filter(None, (said_in(fact), fact.id))),
        ),
        _by(fact),
        f"{since}\n{until}" if until else since,
    ]


def _by(fact: Fact) -> str:
    return f"{shown(fact.owner or 'organization')} ({fact.standing})"


def account_lines(lines: Iterable[tuple[str, str]], *, indent: int = 2) -> Table:
    """Labels and texts side by side."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in lines:
        grid.add_row(" " * indent + label, text)
    return grid
