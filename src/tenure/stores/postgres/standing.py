"""Where an organization of a PostgreSQL database stands: the row that its writers queue for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenure.stores.postgres.sql import STANDING

_NOTHING = (0, None, None, 0, 0)
REVISION = STANDING.index("revision")


class Standing:
    """Where an organization stands when a transaction begins, and what that changes of it."""

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
        """What is to be kept of it, with a revision of its own."""
        return {name: getattr(self, name) for name in STANDING} | {"revision": self.revision + 1}
