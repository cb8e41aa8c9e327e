"""Facts, read from a database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from incumbent.model.fact import Fact
from incumbent.stores.port import Selection
from incumbent.stores.sql.connection import BoundConnection
from incumbent.stores.sql.rows import fact_of


class SQLFacts(BoundConnection):
    """The facts of one organization."""

    def _facts(self, name: str, ids: Iterable[str]) -> list[Fact]:
        return [fact_of(row) for row in self.rows_of(name, ids)]

    def _select(
        self, name: str, selection: Selection, prefix: str = "", **given: Any
    ) -> list[Fact]:
        if selection.owners == () or selection.scope_ids == ():
            return []
        where, chosen = self.dialect.where(selection, prefix)
        return [fact_of(row) for row in self.rows(name, {**chosen, **given}, where)]

    def fact(self, fact_id: str) -> Fact | None:
        rows = self.rows("fact", {"id": fact_id})
        return fact_of(rows[0]) if rows else None

    def facts(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("facts", fact_ids)

    def live(self, selection: Selection) -> list[Fact]:
        owners, scope_ids, key, subject, said = selection
        whole = owners is None and scope_ids is None and said is None
        if whole and key is not None and subject is not None:
            rows = self.rows("live_of_all", {"key": key, "subject": subject})
            return [fact_of(row) for row in rows]
        return self._select("live", selection)

    def owned(self, owner: str, limit: int) -> list[Fact]:
        found = [fact_of(row) for row in self.rows("owned", {"owner": owner, "limit": limit})]
        return sorted(found, key=lambda fact: fact.id)

    def timeline(self, selection: Selection) -> list[Fact]:
        return self._select("timeline", selection)

    def known(self, selection: Selection, seq: int) -> list[Fact]:
        return self._select("known", selection, "f.", seq=seq)

    def known_facts(self, fact_ids: Iterable[str], seq: int) -> list[Fact]:
        ids = sorted(set(fact_ids))
        rows = self.rows("known_facts", {"ids": self.packed(ids), "seq": seq}) if ids else ()
        return [fact_of(row) for row in rows]

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("standing_on", fact_ids)

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("derived_from", fact_ids)

    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("waiting_on", fact_ids)

    def contingent_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return self._facts("contingent_on", fact_ids)

    def contested(self, owners: tuple[str, ...]) -> list[Fact]:
        return self._select("contested", Selection(owners))

    def unapproved(self, owners: tuple[str, ...]) -> list[Fact]:
        return [one for one in self._select("unapproved", Selection(owners)) if one.is_unapproved]

    def derived(self, owners: tuple[str, ...]) -> list[Fact]:
        return [fact for fact in self._select("derived", Selection(owners)) if fact.depends_on]

    def doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        return [fact for fact in self._facts("doubting", fact_ids) if fact.doubts]

    def ever_doubting(self, fact_ids: Iterable[str]) -> list[Fact]:
        return [fact for fact in self._facts("ever_doubting", fact_ids) if fact.doubts]

    def doubters(self, owners: tuple[str, ...] | None) -> list[Fact]:
        return [fact for fact in self._select("doubters", Selection(owners)) if fact.doubts]

    def unindexed(self, limit: int, after: str = "") -> list[Fact]:
        rows = self.rows("unindexed", {"limit": limit, "after": after})
        return [fact_of(row) for row in rows]
