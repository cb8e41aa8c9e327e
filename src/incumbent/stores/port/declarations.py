"""Declarations: read by the code that judges a key."""

from __future__ import annotations

from typing import Protocol

from incumbent.model.records import Declaration


class DeclarationReader(Protocol):
    """The declarations, which hold in every organization."""

    def declarations(self) -> tuple[Declaration, ...]:
        """All declarations, in the order of their patterns. The same object until one changes."""
        ...


class DeclarationWriter(DeclarationReader, Protocol):
    """Adds declarations."""

    def declare(self, declaration: Declaration) -> None:
        """Add a declaration, replacing the one with the same pattern. It is not bound to one
        organization."""
        ...
