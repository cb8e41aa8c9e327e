"""Kept receipts: what an erasure takes out of them, and who may see which."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from incumbent.context.receipt import (
    Receipt,
    ReceiptLine,
    condensed,
    gone_of,
    redacted,
    without_said,
)
from incumbent.context.rendering import RECALCULATE, item_line
from incumbent.engine.erasure_reach import Reach, reaches, takes_all
from incumbent.engine.lens import Lens
from incumbent.model.fact import Fact, Status
from incumbent.model.ids import first_id
from incumbent.model.verdict import Action, Verdict
from incumbent.stores.port import Reader, Selection, StoredReceipt, Transaction

_NO_LIMIT = 1 << 62
_PAGE = 1_000


def read(stored: StoredReceipt) -> Receipt:
    return Receipt.from_record(json.loads(stored.body))


def _body(receipt: Receipt) -> str:
    return json.dumps(receipt.record(), ensure_ascii=False)


def redact(transaction: Transaction, reach: Reach) -> Mapping[str, int]:
    """Take everything that an erasure reaches out of the kept receipts; return the number by
    user."""
    changed: Counter[str] = Counter()
    if (user := reach.everything_of) is not None:
        changed[user] += transaction.drop_receipts(user_id=user)
    if not reach.facts:
        return changed
    for stored in transaction.receipts(reach.only, _NO_LIMIT):
        quotes = reach.quotes(stored.user_id)
        # Most receipts of others have none of it, and need not be read for that.
        if not quotes and not any(fact_id in stored.body for fact_id in reach.ids):
            continue
        kept = redacted(read(stored), reach.ids, quotes.found_in if quotes else None)
        if kept is not None:
            transaction.put_receipt(stored._replace(body=_body(kept)))
            changed[stored.user_id] += 1
    return changed


# keeping


def keep(transaction: Transaction, receipt: Receipt, now: datetime) -> None:
    """Keep a receipt in the form it would have now had it been kept with its context.

    Something may have been erased since, by another process too, and that erasure could not reach a
    receipt that was not kept yet. Text besides facts can then be shown only if it is still on the
    person's desk. The receipts of a person who was forgotten are not kept.
    """
    facts = {fact.id: fact for fact in transaction.facts(receipt.fact_ids)}
    kept = redacted(receipt, gone_of(receipt, facts)) or receipt
    since = [one.evidence for one in _log(transaction, receipt.seq) if one.action is Action.FORGET]
    user = receipt.user_id
    if any(takes_all(one, user) for one in since) or _is_forgotten(transaction, receipt):
        return
    if any(reaches(one, user) for one in since):
        left = {item_line(item.key, item.value) for _, _, item in transaction.desks(user)}
        kept = without_said(kept, left)
    body = _body(condensed(kept, facts))
    transaction.put_receipt(StoredReceipt(kept.id, user, now, body))


def _log(reader: Reader, after: int) -> Iterator[Verdict]:
    while page := reader.log(after, _PAGE):
        yield from page
        after = page[-1].seq


def _is_forgotten(transaction: Transaction, receipt: Receipt) -> bool:
    """True if a person without facts, and so without an entry in the log, was forgotten since, and
    the receipt may be that person's."""
    last = transaction.log(receipt.seq - 1, 1) if receipt.seq else []
    after = first_id(last[0].recorded_at) if last else ""
    found = transaction.erasures(after)
    if not any(not one.fact_ids and any(one.removed.values()) for one in found):
        return False
    return not transaction.timeline(Selection((receipt.user_id,)))


# showing


def shown_to(reader: Reader, lens: Lens, receipts: Sequence[Receipt]) -> list[Receipt]:
    """The receipts that show only facts visible through this lens.

    The same person may have been shown more with more permissions. Every fact whose text is in a
    line counts, not only the one that the line is about.
    """
    shown = [quoted_in(reader, receipt) for receipt in receipts]
    found = {fact.id: fact for fact in reader.facts(set[str]().union(*shown))}
    seen = {
        fact_id
        for fact_id, fact in found.items()
        if fact.status is Status.ERASED or lens.sees(reader, fact)
    }
    return [one for one, ids in zip(receipts, shown, strict=True) if ids <= seen]


def quoted_in(reader: Reader, receipt: Receipt) -> set[str]:
    """Every fact whose text is in a receipt."""
    return receipt.fact_ids.union(*_unnamed(reader, receipt))


def _unnamed(reader: Reader, receipt: Receipt) -> Iterator[set[str]]:
    """The facts that a line may quote without naming them, in receipts of older versions: the bases
    of a fact that needs review, and all their successors."""
    lines = [line for line in receipt.lines if _may_quote_more(line)]
    for fact in reader.facts({line.fact_id for line in lines if line.fact_id}):
        found: dict[str, Fact] = {}
        waiting = {*fact.depends_on}
        while waiting:
            near = reader.facts(waiting)
            found |= {one.id: one for one in near}
            linked = {i for one in near for i in (one.superseded_by, *one.depends_on) if i}
            waiting = linked - found.keys()
        yield set(found)


def _may_quote_more(line: ReceiptLine) -> bool:
    return line.section == RECALCULATE and line.text is not None and not line.quoted
