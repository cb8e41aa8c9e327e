"""Passages in a PostgreSQL database, each of which carries its own postings."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from incumbent.model.records import KeptPassage, Passage
from incumbent.stores.postgres.connection import PostgresConnection
from incumbent.stores.postgres.sql import array_of
from incumbent.stores.sql.passages import SQLPassages, passage_parameters

_LONGEST = 500  # characters, of up to four bytes


class PostgresPassages(PostgresConnection, SQLPassages):
    """The passages of one connection, bound to an organization. A schema from before there were
    passages keeps none."""

    def _has_none(self) -> bool:
        return not self.rows("has_passages", {})[0][0]

    def passages(
        self, user_id: str | None, after: int, limit: int, **conditions: Any
    ) -> list[KeptPassage]:
        return [] if self._has_none() else super().passages(user_id, after, limit, **conditions)

    def passage_count(self, user_id: str) -> int:
        return 0 if self._has_none() else super().passage_count(user_id)

    def passages_under(self, user_id: str, terms: Sequence[str], limit: int) -> list[list[int]]:
        wanted = self._lexemes(user_id, terms)
        if not wanted or self._has_none():
            return [[] for _ in terms]
        found: dict[str, list[int]] = dict(
            self.rows("passages_under", {"lexemes": wanted, "limit": limit})
        )
        return [found.get(lexeme, []) for lexeme in wanted]

    def put_passages(self, user_id: str, passages: Sequence[Passage]) -> None:
        if not passages or self._has_none():
            return
        self.run_many(
            "put_passage",
            [
                {
                    **passage_parameters(user_id, passage),
                    "posted": self._lexemes(user_id, list(dict.fromkeys(passage.terms.split()))),
                }
                for passage in passages
            ],
        )

    def drop_passages(self, numbers: Sequence[int]) -> int:
        return self.run("drop_passages", {"ids": array_of(numbers)}) if numbers else 0

    def drop_passages_of(self, user_id: str | None, session_id: str | None) -> None:
        if not self._has_none():
            super().drop_passages_of(user_id, session_id)

    def _lexemes(self, user_id: str, terms: Sequence[str]) -> list[str]:
        """PostgreSQL takes no lexeme beyond 2,046 bytes, so a digest stands for a long term."""
        told = [t if len(t) <= _LONGEST else sha256(t.encode()).hexdigest() for t in terms]
        return self.posted_as(user_id, told)
