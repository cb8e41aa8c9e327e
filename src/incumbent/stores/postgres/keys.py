"""Keys in a PostgreSQL database: each call is one transaction in one round trip."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from psycopg import errors as pg

from incumbent.model.errors import DuplicateId, StoreError, StoreUnavailable
from incumbent.model.keys import ApiKey
from incumbent.model.times import to_micros
from incumbent.stores.postgres.connections import PostgresConnections, Rows
from incumbent.stores.sql.rows import key_of, key_parameters


class Keys:
    """Adds, finds and ends keys. A lost connection does no harm: each call can be repeated."""

    def __init__(self, primary: PostgresConnections, replica: PostgresConnections | None) -> None:
        self._primary = primary
        self._replica = replica

    def add(self, key: ApiKey) -> None:
        if not self._changed("add_key", key_parameters(key)) and self.find(key.id) != key:
            raise DuplicateId(f"a key with id {key.id!r} exists; ids are used once")

    def find(self, key_id: str) -> ApiKey | None:
        """Find a key on the primary: a replica may not know yet of a revocation a moment ago."""
        found = self._asked("key", {"id": key_id})
        return key_of(found[0]) if found else None

    def all_of(self, organization: str | None) -> list[ApiKey]:
        """The keys of one organization after the other, each behind its fence."""
        names = [organization]
        if organization is None:
            names = [name for (name,) in self._asked("key_organizations", {})]
        rows = [row for name in names for row in self._asked("keys", {"organization": name})]
        return sorted((key_of(row) for row in rows), key=lambda key: key.id)

    def revoke(self, key_id: str, at: datetime) -> ApiKey | None:
        known = self.find(key_id)
        if known is None:
            return None
        given = {"organization": known.organization, "id": key_id, "at": to_micros(at)}
        (row,) = self._changed("revoke_key", given)
        return key_of(row)

    def _asked(self, name: str, given: Mapping[str, Any]) -> Rows:
        try:
            return self._told(self._primary, name, given)
        except StoreUnavailable:
            if self._replica is None:
                raise
            # People can still read while the primary is away, and have to be let in for it.
            return self._told(self._replica, name, given)

    def _changed(self, name: str, given: Mapping[str, Any]) -> Rows:
        return self._told(self._primary, name, given)

    def _told(self, connections: PostgresConnections, name: str, given: Mapping[str, Any]) -> Rows:
        try:
            with connections.begun(name, given) as (_, rows):
                return rows[-1]
        except StoreError as error:
            if isinstance(error.__cause__, pg.UndefinedTable | pg.UndefinedFunction):
                raise StoreError(
                    f"{connections.address} has an older schema, which has no room for keys; let "
                    f"an administrator run: incumbent db migrate"
                ) from error
            raise
