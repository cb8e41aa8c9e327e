"""The standing of an organization in a PostgreSQL database: the row that its writers queue for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incumbent.stores.postgres.sql import STANDING

_NOTHING = (0, None, None, 0, 0)
REVISION = STANDING.index("revision")


class Standing:
    """The standing of an organization at the beginning of a transaction, with its changes."""

    def __init__(self, row: Sequence[Any] | None) -> None:
        self.seq, self.recorded_at, self.recipe, self.entries, self.revision = row or _NOTHING
        self.changed = False
        """Whether the transaction wrote anything at all."""

    seq: int
    recorded_at: int | None
    recipe: str | None
    entries: int
    revision: int

    @property
    def row(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in STANDING)

    def after(self) -> dict[str, Any]:
        """The standing to keep, with a revision of its own."""
        return {name: getattr(self, name) for name in STANDING} | {"revision": self.revision + 1}
