"""API keys: kept and asked for by the service and by `incumbent keys`."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from incumbent.model.keys import ApiKey


class KeyStore(Protocol):
    """The keys of all organizations. Each call is a transaction of its own."""

    def add_key(self, key: ApiKey) -> None:
        """Keep a key. The same key again changes nothing; raises DuplicateId if another key has its
        id, in any organization."""
        ...

    def key(self, key_id: str) -> ApiKey | None:
        """The key with that id, or None. Its organization may be any: the key tells which one it is
        for.

        As committed now by any process, revoked and expired ones included.
        """
        ...

    def keys(self, organization: str | None = None) -> list[ApiKey]:
        """The keys of one organization, or of all, ordered by id: oldest first.

        Revoked and expired ones included.
        """
        ...

    def revoke_key(self, key_id: str, at: datetime) -> ApiKey | None:
        """End a key for good; return the key as it is then, or None if there is none.

        A key that was revoked before keeps the moment of the first time.
        """
        ...
