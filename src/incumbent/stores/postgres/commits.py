"""The fate of a transaction whose connection broke during its commit.

Its number would not tell: a server that crashed gives the numbers of lost transactions to others.
So every commit leaves a random mark with its organization. The last marks are kept in the order of
their revisions.
"""

from __future__ import annotations

import secrets
import time
from contextlib import closing, suppress
from typing import NamedTuple

import psycopg

from incumbent.model.errors import StoreError, StoreUnavailable
from incumbent.stores.postgres.connections import Connection, PostgresConnections

_PAUSE = 0.1  # seconds between two attempts


class Commit(NamedTuple):
    """A commit under way."""

    organization: str
    revision: int
    mark: int

    @classmethod
    def of(cls, organization: str, revision: int) -> Commit:
        return cls(organization, revision, secrets.randbits(31))


def was_kept(connections: PostgresConnections, commit: Commit) -> bool:
    """Whether a commit was carried out. Waits for a server that is down, though not for long."""
    deadline = time.monotonic() + connections.limits.connect_timeout
    while commit.organization:
        # Not from the pool, where other connections may have died with the one that broke.
        with suppress(StoreError, psycopg.Error), closing(connections.connect()) as connection:
            found = _look(connections, connection, commit)
            if found is not None:
                return found
            break
        if time.monotonic() > deadline:
            break
        time.sleep(_PAUSE)
    raise StoreUnavailable(
        f"the connection to {connections.address} was lost while a write was being committed; it "
        f"may or may not have been kept. Look before you repeat it"
    )


def _look(connections: PostgresConnections, connection: Connection, commit: Commit) -> bool | None:
    """Look once the other transaction is over; it locks its organization until then."""
    patience = f"{round(connections.limits.connect_timeout * 1000)}ms"
    given = {**commit._asdict(), "patience": patience}
    ((revision, mark),) = connections.together(connection, "find_mark", given)[-1]
    if revision < commit.revision:
        return False
    if mark is None:  # too many others have come after it
        return None
    if mark != commit.mark:
        return False
    # Where commits wait for a replica, the one that was broken off did not. This one does.
    connections.finish(connection, "keep_mark", given)
    return True
