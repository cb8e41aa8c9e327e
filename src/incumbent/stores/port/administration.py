"""Administration: the operator's part of a store, and the transport of organizations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol


class StoreAdministration(Protocol):
    """Lists, dumps, cleans, checks and closes."""

    def organizations(self) -> list[str]:
        """Every organization that has a log, in order."""
        ...

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        """The log and the facts of one organization, without erased content, as JSON objects.

        Declarations, then the log in order, then the facts with their tenures, then the passages
        without terms and vectors, in the order of their numbers. Working items and turns are not
        part of it: they belong to a session. Nor is usage. Nor are keys: a copy must not let
        anybody in.
        """
        ...

    def scrub(self) -> bool:
        """Overwrite erased content that the medium may still hold.

        False if others block it, or if it is left to the operator of the server.
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
        """Load a dump into this organization, which must be empty. Return the number of records."""
        ...
