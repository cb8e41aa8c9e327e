"""Pages of a list on the command line: which one, of what time, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar

import typer

import incumbent
from incumbent.cli.options import Common, parse_moment
from incumbent.cli.root import complain
from incumbent.cli.tables import print_json, show, table
from incumbent.stores.codec import fact_record

T = TypeVar("T")
WHICH = "Which of them"
_PAGES = "Pages"


@dataclass(frozen=True)
class Paging:
    """Which page of a list."""

    limit: Annotated[
        int, typer.Option(metavar="COUNT", help="How many at most.", rich_help_panel=_PAGES)
    ] = 100
    cursor: Annotated[
        str | None,
        typer.Option(
            metavar="CURSOR",
            help="Go on where the page before ended, as it was told there.",
            rich_help_panel=_PAGES,
        ),
    ] = None

    @property
    def asked(self) -> dict[str, Any]:
        return {"limit": self.limit, "cursor": self.cursor}


@dataclass(frozen=True)
class Span:
    """A stretch of time."""

    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="From then on: ISO 8601 with a zone, 2026-03-02T09:00:00+00:00.",
            rich_help_panel=WHICH,
        ),
    ] = None
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Before then.", rich_help_panel=WHICH)
    ] = None

    @property
    def asked(self) -> dict[str, Any]:
        return {
            "since": parse_moment(self.since, "--since"),
            "until": parse_moment(self.until, "--until"),
        }


def print_page(
    page: incumbent.Listing[T],
    common: Common,
    columns: Sequence[str],
    row: Callable[[T], list[str]],
) -> None:
    if common.json:
        print_json({"items": [_document(one) for one in page], "next": page.next})
        return
    if page:
        show(table(columns, [row(one) for one in page]))
    else:
        complain("there are none to list", kind="note")
    if page.next is not None:
        complain(f"there are more: --cursor {page.next}", kind="note")


def _document(line: Any) -> dict[str, Any]:
    if isinstance(line, incumbent.AuditEntry):
        return line.record()
    if isinstance(line, incumbent.Fact):
        return fact_record(line)
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(line).items()
    } | _spots(line)


def _spots(line: Any) -> dict[str, Any]:
    """The places in a turn, by the names of their parts."""
    if not isinstance(line, incumbent.ListedTurn):
        return {}
    return {"spots": [spot._asdict() for spot in line.spots]}
