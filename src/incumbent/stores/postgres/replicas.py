"""Reading from a replica, never from a state older than this process has written or seen.

A replica is a little behind its primary. Every transaction that writes gives its organization a new
revision, and the beginning of a transaction tells the revision it sees. If a replica shows an
earlier revision than this process has seen, the read goes to the primary.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from incumbent.model.errors import StoreUnavailable
from incumbent.stores.postgres.connections import Connection, PostgresConnections, Rows
from incumbent.stores.postgres.standing import REVISION

_REMEMBERED = 100_000
_REST = 5.0  # seconds

Begun = tuple[Connection, list[Rows]]


class Readers:
    """Begins reads on the replica, if there is one that is up and recent enough, else on the
    primary."""

    def __init__(self, primary: PostgresConnections, replica: PostgresConnections | None) -> None:
        self._primary = primary
        self._replica = replica
        self._seen: OrderedDict[str, int] = OrderedDict()
        self._declared = 0
        self._resting_until = 0.0

    def note(self, organization: str, revision: int) -> None:
        """Note a revision that this process has seen: later reads must not be older."""
        if self._replica is None:
            return
        self._seen[organization] = max(revision, self._seen.pop(organization, 0))
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    @contextmanager
    def begun(self, name: str, given: Mapping[str, Any]) -> Iterator[Begun]:
        """A connection in a transaction for reading, and the rows of its beginning: first of all
        the version of the declarations, and the standing of the organization."""
        replica = self._replica
        if replica is None:
            with self._primary.begun(name, given) as begun:
                yield begun
            return
        with ExitStack() as stack:
            yield self._choose(replica, stack, name, given)

    def _choose(
        self, replica: PostgresConnections, stack: ExitStack, name: str, given: Mapping[str, Any]
    ) -> Begun:
        with ExitStack() as attempt:
            begun = self._begun_on_replica(replica, attempt, name, given)
            if begun is not None and self._is_far_enough(given["organization"], begun):
                stack.push(attempt.pop_all())
                return begun
            try:
                better = stack.enter_context(self._primary.begun(name, given))
            except StoreUnavailable:
                if begun is None:
                    raise
                # There is nothing better than a replica that is behind.
                stack.push(attempt.pop_all())
                return begun
            self._is_far_enough(given["organization"], better)
            return better

    def _begun_on_replica(
        self, replica: PostgresConnections, attempt: ExitStack, name: str, given: Mapping[str, Any]
    ) -> Begun | None:
        if time.monotonic() < self._resting_until:
            return None
        try:
            return attempt.enter_context(replica.begun(name, given))
        except StoreUnavailable:
            # Nobody should wait for a dead replica at every call.
            self._resting_until = time.monotonic() + _REST
            return None

    def _is_far_enough(self, organization: str, begun: Begun) -> bool:
        """Whether this is no older than the revision seen before; notes the revision seen now."""
        declared, standing = begun[1][1][0][0], begun[1][2]
        revision = standing[0][REVISION] if standing else 0
        behind = declared < self._declared or revision < self._seen.get(organization, 0)
        self._declared = max(declared, self._declared)
        self.note(organization, revision)
        return not behind

    def close(self) -> None:
        if self._replica is not None:
            self._replica.close()
