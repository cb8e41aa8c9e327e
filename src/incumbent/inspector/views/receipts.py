"""Receipts: contexts that were kept, replayed and compared."""

from __future__ import annotations

from incumbent.context.receipt import Receipt, ReceiptChange
from incumbent.http.receipts import check_receipts
from incumbent.inspector.differing import WordRun, compared_words
from incumbent.inspector.views.playground import shown
from incumbent.inspector.visit import Redirect, Result, Route, Visit, WebPage, address

_PAGE = 30
_CHOICES = 100


def _receipts(visit: Visit) -> Result:
    listed = visit.session.list_receipts(limit=_PAGE, cursor=visit.asked.get("cursor") or None)
    return WebPage("receipts.html", {"here": "playground", "receipts": listed})


def _receipt(visit: Visit) -> Result:
    """A receipt, replayed: the same text again, or what is left of it."""
    receipt_id = visit.needs("id").strip()
    _check(visit, receipt_id)
    receipt = visit.memory.receipt(receipt_id, organization=visit.organization)
    context = visit.memory.replay(receipt, organization=visit.organization)
    others = [one for one in visit.session.list_receipts(limit=_CHOICES) if one.id != receipt.id]
    fill = {"here": "playground", "receipt": receipt, "context": context, "others": others}
    return WebPage("receipt.html", {**fill, **shown(context), "again": _asked_now(receipt)})


def _asked_now(receipt: Receipt) -> str:
    """The address of the same question, asked now."""
    asked = (receipt.query, receipt.budget, receipt.profile, receipt.style)
    return address(
        "context", **dict(zip(("query", "budget", "profile", "style"), asked, strict=True))
    )


def _compared(visit: Visit) -> Result:
    """What changed between two receipts, line by line, and why."""
    one, other = visit.needs("one").strip(), visit.needs("other").strip()
    if one == other:
        return Redirect(address("receipt", id=one))
    _check(visit, one, other)
    kept = [visit.memory.receipt(name, organization=visit.organization) for name in (one, other)]
    earlier, later = sorted(kept, key=lambda receipt: receipt.at)
    changes = visit.memory.compare(earlier, later, organization=visit.organization)
    fill = {
        "here": "playground",
        "earlier": earlier,
        "later": later,
        "changes": [(change, *_words(change)) for change in changes],
        "seen": {
            change.fact_id
            for change in changes
            if change.fact_id and visit.session.get(change.fact_id) is not None
        },
    }
    return WebPage("receipts_compared.html", fill)


def _words(change: ReceiptChange) -> tuple[tuple[WordRun, ...], tuple[WordRun, ...]]:
    return compared_words(change.before or "", change.after or "")


def _check(visit: Visit, *receipt_ids: str) -> None:
    """Refuse what was not shown to this person, or shows what they may not see now."""
    check_receipts(visit.memory, visit.grant, visit.looking.form(), receipt_ids)


ROUTES = (
    Route("receipts", _receipts),
    Route("receipt", _receipt),
    Route("receipts/compare", _compared),
)
