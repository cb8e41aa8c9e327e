"""Receipts: to whom a kept context is shown."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent.composing.receipts import quoted_in
from incumbent.context.receipt import Receipt
from incumbent.http.admission import SessionForm, enter, organization_of
from incumbent.http.credentials import Grant
from incumbent.memory import Memory
from incumbent.model.errors import UnknownFact
from incumbent.model.fact import Status
from incumbent.model.keys import KeyScope
from incumbent.session import Session


def check_receipts(memory: Memory, grant: Grant, who: SessionForm, ids: Iterable[str]) -> None:
    """Refuse a receipt to anybody but the person it belongs to and an admin."""
    if KeyScope.ADMIN in grant.scopes and who.user_id is None and grant.user_id is None:
        return
    session = enter(memory, grant, who)
    organization = organization_of(grant, who)
    for receipt_id in ids:
        found = memory.receipt(receipt_id, organization=organization)
        if found.user_id != session.identity.user_id or not _may_see(memory, session, found):
            raise UnknownFact(f"no receipt {receipt_id!r} of this person")


def _may_see(memory: Memory, session: Session, receipt: Receipt) -> bool:
    """True if a session may see every fact whose text is in a receipt.

    The same person may have been shown more by a credential with more permissions.
    """
    with memory.store.read(session.identity.organization) as reader:
        shown = reader.facts(quoted_in(reader, receipt))
    left = (fact for fact in shown if fact.status is not Status.ERASED)
    return all(session.get(fact.id) is not None for fact in left)
