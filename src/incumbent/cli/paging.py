"""Pages of a list on the command line: which one, of what time, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

import incumbent
from incumbent.cli.declaring import option, options
from incumbent.cli.options import Common, parse_moment
from incumbent.cli.root import remark
from incumbent.cli.tables import print_json, show, table
from incumbent.stores.codec import fact_record

T = TypeVar("T")
Columns = dict[str, Callable[[Any], str]]
"""The columns of a list: the heading of each, and what it tells of one thing that is listed."""
WHICH = "Which of them"
_PAGES = "Pages"


@options(_PAGES)
class Paging:
    """Which page of a list."""

    limit: int = option("COUNT", "How many at most.", default=100)
    cursor: str | None = option(
        "CURSOR", "Go on where the page before ended, as it was told there."
    )

    @property
    def asked(self) -> dict[str, Any]:
        return {"limit": self.limit, "cursor": self.cursor}


@options(WHICH)
class Span:
    """A stretch of time."""

    since: str | None = option(
        "TIME", "From then on: ISO 8601 with a zone, 2026-03-02T09:00:00+00:00."
    )
    until: str | None = option("TIME", "Before then.")

    @property
    def asked(self) -> dict[str, Any]:
        return {
            "since": parse_moment(self.since, "--since"),
            "until": parse_moment(self.until, "--until"),
        }


def print_page(page: incumbent.Listing[T], common: Common, columns: Columns) -> None:
    """Print a page: a table with these columns, or one JSON document."""
    if common.json:
        print_json({"items": [_document(one) for one in page], "next": page.next})
        return
    if page:
        show(table([*columns], [[tell(one) for tell in columns.values()] for one in page]))
    else:
        remark("there are none to list")
    if page.next is not None:
        remark(f"there are more: --cursor {page.next}")


def _document(line: Any) -> dict[str, Any]:
    if isinstance(line, incumbent.AuditEntry):
        return line.record()
    if isinstance(line, incumbent.Fact):
        return fact_record(line)
    document = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(line).items()
    }
    if isinstance(line, incumbent.ListedTurn):  # places in a turn, by the names of their parts
        document["spots"] = [spot._asdict() for spot in line.spots]
    return document
