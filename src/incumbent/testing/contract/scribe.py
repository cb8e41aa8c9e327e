"""Writing facts and verdicts straight into a store, as finished values, without an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from incumbent.model.fact import Fact, Status
from incumbent.model.verdict import Action, Outcome, Rule, Verdict
from incumbent.stores.port import Reader, Selection, Store, TenureChange, Transaction
from incumbent.testing.clock import SteppingClock

EVERYTHING = Selection()


class Scribe:
    """Records facts of one organization. Every record is one transaction and one log entry."""

    def __init__(self, store: Store, organization: str = "acme") -> None:
        self.store = store
        self.organization = organization
        self.clock = SteppingClock(step=timedelta(seconds=1))
        self._made = 0

    def fact(self, value: Any = "Bern", **fields: Any) -> Fact:
        """A fact in office that no store has seen. Ids ascend in the order they are made."""
        self._made += 1
        now = self.clock()
        given: dict[str, Any] = {
            "id": f"fact-{self._made:04}",
            "organization": self.organization,
            "owner": "alice",
            "key": "city",
            "timestamp": now,
            "recorded_at": now,
            "valid_from": now,
            "started_at": now,
            "authority": "employee",
            "standing": "employee",
        }
        return Fact(value=value, **{**given, **fields})

    def verdict(self, reader: Reader, fact: Fact, **fields: Any) -> Verdict:
        """The next entry of the log that a reader sees."""
        now = self.clock()
        seq = reader.head()[0] + 1
        given: dict[str, Any] = {
            "id": f"{self.organization}-verdict-{seq:04}",
            "organization": self.organization,
            "seq": seq,
            "action": Action.ASSERT,
            "outcome": Outcome.ESTABLISHED,
            "rule": Rule.FIRST,
            "fact_id": fact.id,
            "by": "alice",
            "authority": "employee",
            "at": now,
            "recorded_at": now,
        }
        return Verdict(**{**given, **fields})

    def put(
        self,
        transaction: Transaction,
        fact: Fact,
        changed: Sequence[TenureChange] = (),
        **fields: Any,
    ) -> Verdict:
        """Record a new fact in a transaction that is already open."""
        verdict = self.verdict(transaction, fact, **fields)
        transaction.record(verdict, [fact], changed)
        return verdict

    def establish(self, value: Any = "Bern", **fields: Any) -> Fact:
        """Commit a new fact."""
        fact = self.fact(value, **fields)
        with self.store.write(self.organization) as transaction:
            self.put(transaction, fact)
        return fact

    def supersede(self, old: Fact, value: Any, **fields: Any) -> tuple[Fact, Fact]:
        """Commit a fact that takes another's place. Return the old one as it is now, and the new
        one."""
        same = {"owner": old.owner, "key": old.key, "subject": old.subject}
        new = self.fact(value, **{**same, "predecessors": (old.id,), **fields})
        ended = old.evolve(status=Status.SUPERSEDED, superseded_by=new.id, ended_at=new.started_at)
        with self.store.write(self.organization) as transaction:
            self.put(transaction, new, [TenureChange(old, ended)], superseded=(old.id,))
        return ended, new

    def change(self, before: Fact, *, reason: str | None = None, **changes: Any) -> Fact:
        """Commit a new tenure for a fact, under a verdict that brings no new one."""
        after = before.evolve(**changes)
        with self.store.write(self.organization) as transaction:
            verdict = self.verdict(transaction, before, action=Action.RETRACT, reason=reason)
            transaction.record(verdict, (), [TenureChange(before, after)])
        return after


def ids(facts: Sequence[Fact]) -> list[str]:
    """The ids of facts, in the order given."""
    return [fact.id for fact in facts]


class Contract:
    """The common part of the suite: the store under test and a scribe for it."""

    def make_store(self, tmp_path: Path) -> Store:
        """An empty, open store of its own in this folder. A backend overrides this."""
        raise NotImplementedError("override make_store(tmp_path) to return an empty store")

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """The store under test."""
        store = self.make_store(tmp_path)
        yield store
        store.close()

    @pytest.fixture
    def other_store(self, tmp_path: Path) -> Iterator[Store]:
        """A second store of the same kind, with nothing in common with the first."""
        folder = tmp_path / "other"
        folder.mkdir()
        store = self.make_store(folder)
        yield store
        store.close()

    @pytest.fixture
    def acme(self, store: Store) -> Scribe:
        """Writes into the organization acme."""
        return Scribe(store, "acme")
