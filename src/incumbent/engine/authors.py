"""Authors: who said what is not kept yet."""

from __future__ import annotations

from incumbent.model.fact import Fact
from incumbent.model.identity import Identity
from incumbent.stores.port import LogReader


def is_own(reader: LogReader, identity: Identity, fact: Fact) -> bool:
    """Whether a statement that waits for approval is this identity's own. What somebody said for
    the organization is theirs until it is kept."""
    if fact.owner:
        return fact.owner == identity.user_id
    return [one.by for one in reader.verdicts([fact.id])[:1]] == [identity.user_id]
