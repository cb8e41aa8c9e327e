"""The in-memory store: the reference that states in plain Python what a store must do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from incumbent.model.errors import DuplicateId, SessionClosed
from incumbent.model.keys import ApiKey
from incumbent.model.records import Erasure
from incumbent.model.scope import Place
from incumbent.model.values import canonical
from incumbent.stores import codec
from incumbent.stores.in_memory.tables import Declared, Tables
from incumbent.stores.in_memory.transaction import MemoryTransaction
from incumbent.stores.port import Glance, Reader, Selection, Transaction

_UNBOUNDED = 1 << 62


class MemoryStore:
    """Keeps everything in dictionaries. Gone when closed; for tests, scratch work and learning."""

    def __init__(self) -> None:
        self._organizations: dict[str, Tables] = {}
        self._declared = Declared()
        self._lock = threading.RLock()
        """For data shared between organizations; held for a moment, never while others work."""
        self._locks: dict[str, threading.RLock] = {}
        self._closed = False

    @contextmanager
    def _held(self, organization: str) -> Iterator[Tables]:
        """The tables of an organization, for one thread at a time. Other organizations go on
        meanwhile."""
        with self._lock:
            self._check_open()
            tables = self._organizations.setdefault(organization, Tables())
            lock = self._locks.setdefault(organization, threading.RLock())
        with lock:
            self._check_open()
            yield tables

    @contextmanager
    def read(self, organization: str, user_id: str | None = None) -> Iterator[Reader]:
        with self._held(organization) as tables:
            yield MemoryTransaction(tables, organization, self._declared)

    @contextmanager
    def write(self, organization: str) -> Iterator[Transaction]:
        with self._held(organization) as tables:
            transaction = MemoryTransaction(tables, organization, self._declared)
            try:
                yield transaction
            except BaseException:
                transaction.roll_back()
                raise

    def glance(
        self,
        organization: str,
        owners: tuple[str, ...],
        places: tuple[Place, ...],
        key: str,
        subject: str,
    ) -> Glance | None:
        with self.read(organization) as reader:
            selection = Selection(owners, tuple(scope_id for _, scope_id in places), key, subject)
            found = [f for f in reader.live(selection) if f.place in places]
            if len(found) != 1 or not found[0].is_ordinary(found[0].recorded_at):
                return None
            return Glance(canonical(found[0].value, limit=_UNBOUNDED), self._declared.all)

    def organizations(self) -> list[str]:
        with self._lock:
            self._check_open()
            return sorted(name for name, kept in self._organizations.items() if kept.verdicts)

    def erasures(self, organization: str) -> list[Erasure]:
        with self._held(organization) as kept:
            return sorted(kept.erasures.values(), key=lambda erasure: erasure.id)

    def add_key(self, key: ApiKey) -> None:
        with self._lock:
            known = self.key(key.id)
            if known not in (None, key):
                raise DuplicateId(f"a key with id {key.id!r} exists; ids are used once")
            self._organizations.setdefault(key.organization, Tables()).keys[key.id] = key

    def key(self, key_id: str) -> ApiKey | None:
        return next((key for key in self.keys() if key.id == key_id), None)

    def keys(self, organization: str | None = None) -> list[ApiKey]:
        with self._lock:
            self._check_open()
            found = [
                key
                for name, kept in self._organizations.items()
                if organization in (None, name)
                for key in list(kept.keys.values())
            ]
            return sorted(found, key=lambda key: key.id)

    def revoke_key(self, key_id: str, at: datetime) -> ApiKey | None:
        with self._lock:
            known = self.key(key_id)
            if known is not None and known.revoked_at is None:
                known = replace(known, revoked_at=at)
                self._organizations[known.organization].keys[key_id] = known
            return known

    def dump(self, organization: str) -> Iterator[dict[str, Any]]:
        with self._held(organization) as kept:
            records = [
                *(
                    {"kind": "declaration", **codec.declaration_record(d)}
                    for d in self._declared.all
                ),
                *({"kind": "verdict", **codec.verdict_record(v)} for v in kept.verdicts.values()),
                *(
                    {"kind": "fact", "seq": r.born, "since": r.since, **codec.fact_record(r.fact)}
                    for r in sorted(kept.rows.values(), key=lambda r: (r.born, r.fact.id))
                ),
                *(
                    {"kind": "tenure", "since": t.since, "until": t.until}
                    | codec.fact_record(t.fact)
                    for fact_id in sorted(kept.tenures)
                    for t in kept.tenures[fact_id]
                ),
                *(
                    {"kind": "passage", **codec.passage_record(one)}
                    for _, one in sorted(kept.passages.kept.items())
                ),
                *({"kind": "erasure", **codec.erasure_record(e)} for e in kept.erasures.values()),
            ]
        yield from records

    def scrub(self) -> bool:
        self._check_open()
        return True

    def check(self) -> list[str]:
        self._check_open()
        return []

    def close(self) -> None:
        with self._lock:
            self._closed = True
            locks = list(self._locks.values())
        for lock in locks:
            with lock:  # whoever is at it may finish
                continue
        self._organizations.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise SessionClosed("the memory is closed; open it again with incumbent.open()")
