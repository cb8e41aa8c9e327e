"""Administration: what whoever runs a store asks of it, and how an organization is carried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol


class StoreAdministration(Protocol):
    """Lists, dumps, cleans, checks and closes."""

    def organizations(self) -> list[str]:
        """Every organization that has a log, in order."""
        ...

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        """The log and the facts of one organization but what was erased, as JSON objects.

        Declarations, then the log in order, then the facts with their tenures. Working items and
        turns are not part of it: they belong to a session. Nor is usage. Nor are keys: a copy must
        not let anybody in.
        """
        ...

    def scrub(self) -> bool:
        """Overwrite what the medium may still hold of erased content.

        False if others block it, or where it is for whoever runs the server.
        """
        ...

    def check(self) -> list[str]:
        """Findings of an integrity check; empty when all is well."""
        ...

    def close(self) -> None:
        """Release everything. Further calls raise SessionClosed."""
        ...


class DumpLoader(Protocol):
    """Loads an organization that arrives whole."""

    def restore(self, records: Iterable[dict[str, Any]]) -> int:
        """Load what `dump` gave into this organization, which must be empty. Returns how many."""
        ...
