"""Commands about contexts that were recorded: receipts, replay, diff."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer
from rich.console import RenderableType
from rich.text import Text

import incumbent
from incumbent.cli.commands.contexts import context_document
from incumbent.cli.declaring import argument, command, option
from incumbent.cli.options import Asker, Common
from incumbent.cli.root import remark
from incumbent.cli.tables import clock, is_narrow, print_json, show, table, with_id
from incumbent.context.quotes import inline
from incumbent.model.errors import InvalidInput, UnknownFact
from incumbent.words import cut

_LONGEST = 60
_LONGEST_LINE = 100
_ERASED = "- [erased]"

_RECEIPT_ID = argument("RECEIPT_ID", "As `receipts` and `context` print it.")


@command("receipts", "receipts --user alice --org acme --json")
def receipts(
    *,
    limit: int = option("COUNT", "How many at most.", default=20),
    who: Asker,
    common: Common,
) -> None:
    """List your contexts that were recorded, newest first."""
    if limit < 1:
        raise InvalidInput(f"--limit must be at least 1, not {limit}")
    with common.open() as memory:
        found = who.at(memory).receipts(limit=limit)
    if common.json:
        print_json({"receipts": [_document(receipt) for receipt in found]})
    elif found:
        show(_table(found))
    else:
        remark("no receipts; keep one with: incumbent context QUERY --record")


@command("replay RECEIPT_ID", "replay RECEIPT_ID --json")
def replay(receipt_id: str = _RECEIPT_ID, *, who: Asker, common: Common) -> None:
    """Print a recorded context again, byte for byte.

    Exit code 1 where it is no longer whole because something in it was erased since.
    """
    with common.open() as memory:
        receipt = _own(memory, who, receipt_id)
        made = memory.replay(receipt)
    if common.json:
        print_json({**context_document(made), "receipt": receipt.id})
    else:
        typer.echo(made.text)
        about = f"{clock(receipt.at)} UTC, {cut(inline(receipt.query), _LONGEST)}"
        if made.intact:
            remark(f"intact: what was given at {about}")
        else:
            remark(f"not intact: {_loss(made)}; given at {about}")
    if not made.intact:
        raise typer.Exit(1)


@command("diff EARLIER_ID LATER_ID", "diff EARLIER_ID LATER_ID --json")
def diff(
    earlier: str = argument("EARLIER_ID", "A receipt, as `receipts` prints it."),
    later: str = argument("LATER_ID", "Another one."),
    *,
    who: Asker,
    common: Common,
) -> None:
    """Tell what changed between two recorded contexts, and why."""
    with common.open() as memory:
        one, other = (_own(memory, who, receipt_id) for receipt_id in (earlier, later))
        changes = memory.compare(one, other)
    if common.json:
        listed = [asdict(change) for change in changes]
        print_json({"earlier": one.id, "later": other.id, "changes": listed})
    elif changes:
        show(table(["change ", "before", "after", "why"], [_row(change) for change in changes]))
    else:
        remark("nothing changed between the two")


def _own(memory: incumbent.Memory, who: Asker, receipt_id: str) -> incumbent.Receipt:
    """A receipt of the asker's own: it holds only content that this person was allowed to read."""
    session = who.at(memory)
    asking = session.identity
    try:
        receipt = memory.receipt(receipt_id, organization=asking.organization)
    except UnknownFact:
        receipt = None
    if receipt is None or receipt.user_id != asking.user_id:
        raise UnknownFact(
            f"{asking.user_id!r} has no receipt {receipt_id!r} in organization "
            f"{asking.organization!r}; `incumbent receipts` lists those there are, --user and "
            f"--org "
            f"say whose"
        )
    return receipt


def _loss(made: incumbent.Context) -> str:
    lost = sum(line.text == _ERASED for line in made.lines)
    if not lost:
        return "the text reads differently and nothing was erased; was the file edited by hand?"
    return f"{lost} line{'s were' if lost > 1 else ' was'} erased since, the rest is as it was"


def _document(receipt: incumbent.Receipt) -> dict[str, Any]:
    record = receipt.record()
    return {name: value for name, value in record.items() if name != "lines"}


def _table(found: list[incumbent.Receipt]) -> RenderableType:
    def query(receipt: incumbent.Receipt) -> str:
        return cut(inline(receipt.query), _LONGEST)

    def tokens(receipt: incumbent.Receipt) -> str:
        return f"{receipt.tokens:,} of {receipt.budget:,}"

    if is_narrow():
        rows: list[list[str | Text]] = [
            [clock(r.at)[:-3], inline(r.user_id), with_id(query(r), r.id), tokens(r)] for r in found
        ]
        return table(["at (UTC)", "by", "query and id", "tokens"], rows)
    wide = [[r.id, clock(r.at), inline(r.user_id), query(r), tokens(r)] for r in found]
    return table(["id", "at (UTC)", "by", "query", "tokens"], wide)


def _row(change: incumbent.ReceiptChange) -> list[str]:
    before, after = (cut(text or "", _LONGEST_LINE) for text in (change.before, change.after))
    return [change.kind, before, after, change.why]
