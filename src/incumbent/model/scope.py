"""Scopes: where a fact applies."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """The scope in which a fact applies. Only `global` stands without a `scope_id`."""

    GLOBAL = "global"
    TASK = "task"
    SESSION = "session"
    DRAFT = "draft"
    HYPOTHETICAL = "hypothetical"

    @property
    def is_real(self) -> bool:
        """Whether facts here bear on real decisions; drafts and hypotheticals do not."""
        return self not in (Scope.DRAFT, Scope.HYPOTHETICAL)


Place = tuple[Scope, str]
"""A scope with its id; the id of the global scope is the empty string."""

EVERYWHERE: Place = (Scope.GLOBAL, "")
