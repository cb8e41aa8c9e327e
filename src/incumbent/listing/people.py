"""Users, their sessions and their receipts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from incumbent.composing import receipts
from incumbent.context.receipt import Receipt
from incumbent.engine.lens import Lens
from incumbent.listing.cursors import check_limit, check_prefix, check_span, page_of, place_of
from incumbent.model.identity import check_optional
from incumbent.model.listings import ListedReceipt, ListedSession, ListedUser, Listing
from incumbent.stores.port import Reader, StoredReceipt

_USERS, _SESSIONS, _RECEIPTS = "user", "session", "receipt"


def users(
    reader: Reader, now: datetime, *, prefix: str, limit: int, cursor: str | None
) -> Listing[ListedUser]:
    """A page of users, in the order of their ids."""
    check_limit(limit)
    place = place_of(_USERS, cursor, str) or ("",)
    named = reader.users(place[0], check_prefix(prefix), limit + 1)
    alike = reader.holdings(named, now)
    held = {fact.id for fact in reader.facts(one.fact_id for one in alike) if fact.held_at(now)}
    facts: Counter[str] = Counter()
    for one in alike:
        facts[one.owner] += one.facts if one.fact_id in held else 0
    lines = [
        ((one.user_id,), ListedUser(one.user_id, facts[one.user_id], one.sessions, one.last_at))
        for one in reader.activity(named)
    ]
    return page_of(_USERS, lines, limit)


def sessions(
    reader: Reader,
    user_id: str | None,
    *,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    cursor: str | None,
) -> Listing[ListedSession]:
    """A page of the sessions of a user, or of everybody, the last begun first."""
    check_limit(limit)
    check_optional(user_id, "user_id")
    place = place_of(_SESSIONS, cursor, datetime, str, str)
    before = None if place is None else (place[0], place[1], place[2])
    found = reader.sessions(user_id, *check_span(since, until), before, limit + 1)
    lines = [((one.started_at, one.user_id, one.session_id), one) for one in found]
    return page_of(_SESSIONS, lines, limit)


def kept_receipts(
    reader: Reader,
    lens: Lens | None,
    user_id: str | None,
    *,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    cursor: str | None,
) -> Listing[ListedReceipt]:
    """A page of the receipts of a user, or of everybody, the last kept first.

    With a lens, those alone that show what is visible through it.
    """
    check_limit(limit)
    check_optional(user_id, "user_id")
    begin, end = check_span(since, until)
    place = place_of(_RECEIPTS, cursor, datetime, str)

    def lines() -> Iterator[tuple[tuple[datetime, str], ListedReceipt]]:
        after = None if place is None else (place[0], place[1])
        while page := reader.receipts(user_id, limit + 1, since=begin, until=end, after=after):
            for stored, receipt in _shown(reader, lens, page):
                yield (stored.at, stored.id), _listed(stored, receipt)
            after = (page[-1].at, page[-1].id)
            if len(page) <= limit:
                return

    return page_of(_RECEIPTS, lines(), limit)


def _shown(
    reader: Reader, lens: Lens | None, page: list[StoredReceipt]
) -> Iterator[tuple[StoredReceipt, Receipt]]:
    read = {stored.id: receipts.read(stored) for stored in page}
    if lens is not None:
        seen = receipts.shown_to(reader, lens, list(read.values()))
        read = {receipt.id: receipt for receipt in seen}
    for stored in page:
        if stored.id in read:
            yield stored, read[stored.id]


def _listed(stored: StoredReceipt, receipt: Receipt) -> ListedReceipt:
    return ListedReceipt(
        id=receipt.id,
        user_id=receipt.user_id,
        at=receipt.at,
        kept_at=stored.at,
        query=receipt.query,
        tokens=receipt.tokens,
        budget=receipt.budget,
        facts=len(receipt.fact_ids),
    )
