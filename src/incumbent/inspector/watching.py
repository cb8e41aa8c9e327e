"""Pages that follow what happens: whether there is anything to show again."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from incumbent.memory import Memory
from incumbent.model.fact import Fact

_SECRET = secrets.token_bytes(32)
_MINUTE = timedelta(minutes=1)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def head_of(memory: Memory, organization: str, now: datetime) -> str:
    """A mark that stays the same while nothing is decided, for a minute at most.

    Facts also begin and expire with no decision. The mark tells nobody how many decisions there
    were: somebody who may not see them must not notice them.
    """
    last = memory.list_audit(organization, limit=1)
    told = f"{organization}\n{last[0].seq if last else 0}\n{(now - _EPOCH) // _MINUTE}"
    return hmac.new(_SECRET, told.encode(), hashlib.sha256).hexdigest()[:24]


def digest_of(rows: Iterable[str], before: str = "") -> str:
    """What a list shows, in a few characters; `before` is the digest of the rows above."""
    for row in rows:
        before = hashlib.sha256(f"{before}\n{row}".encode()).hexdigest()[:24]
    return before


def row_of(fact: Fact, more: str = "") -> str:
    """What can change of a fact that is shown: its tenure. Its content never does."""
    return f"{fact.id}\t{fact.status}\t{fact.needs_review}\t{fact.ended_at}\t{more}"
