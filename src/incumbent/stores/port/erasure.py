"""Erasure: carried out for `forget`, and proven."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from incumbent.model.records import Erasure


class ErasureReader(Protocol):
    """The proofs of one organization."""

    def erasures(self, after: str = "") -> list[Erasure]:
        """The proofs of erasures with an id above `after`, oldest first."""
        ...


class ErasureWriter(ErasureReader, Protocol):
    """Empties facts, and removes the keys of a forgotten user."""

    def erase(
        self,
        fact_ids: Sequence[str],
        erasure: Erasure,
        *,
        reasons: Sequence[str] = (),
        user_id: str | None = None,
    ) -> Erasure:
        """Empty these facts for good; returns and keeps the proof, with the counts added.

        A row stays with the id, the links of the chain and the sequence numbers. The content,
        earlier tenures, dependency legs, and the reasons given in verdicts on them are gone from
        every table and index. So are the reasons of the verdicts named in `reasons`, and the name
        of `user_id` in every verdict they made. Turns of an owner of these facts, or of a user with
        a turn that stated one, keep only the part of their digest up to the first "$", and nothing
        if there is none: the rest tells of words.
        """
        ...

    def drop_keys(self, user_id: str) -> int:
        """Remove the keys that speak for a user, revoked ones too; returns how many."""
        ...
