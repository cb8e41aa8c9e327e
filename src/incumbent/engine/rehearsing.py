"""Rehearsing: a call is judged and carried out, its consequences are told, and nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, cast

from incumbent.engine.lens import Lens
from incumbent.engine.queries import with_derived, with_visible_links
from incumbent.engine.registrar import Registrar
from incumbent.model.fact import Fact
from incumbent.model.records import Change, Erasure
from incumbent.model.verdict import Verdict
from incumbent.stores.port import Reader, Store, TenureChange, Transaction


class _RolledBack(Exception):
    """Ends a transaction of which nothing is to be kept."""


@contextmanager
def rolled_back(store: Store, organization: str) -> Iterator[Transaction]:
    """A transaction of which nothing is kept, whatever is written in it.

    It waits for its turn like any other, and others wait for it.
    """
    with suppress(_RolledBack), store.write(organization) as transaction:
        yield transaction
        raise _RolledBack


class Rehearsal:
    """One call for an identity, made inside a transaction and then taken back."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.changes: tuple[Change, ...] = ()
        """What the call would change, once it is over."""

    @contextmanager
    def registrar(self, lens: Lens) -> Iterator[Registrar]:
        """The registrar for the call."""
        reader = self._transaction
        with reader.taken_back():
            noting = _Noting(reader)
            yield Registrar(cast(Transaction, noting), lens)
            concerned = [*noting.fact_ids, *_resting_on(reader, lens, noting.fact_ids)]
            after = _shown(reader, lens, concerned)
        before = _shown(reader, lens, concerned)
        self.changes = tuple(
            Change(before.get(fact_id), after.get(fact_id))
            for fact_id in concerned
            if _differ(before.get(fact_id), after.get(fact_id))
        )


class _Noting:
    """A transaction that notes which facts it brings, changes and erases, in order."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self.fact_ids: dict[str, None] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transaction, name)

    def record(
        self, verdict: Verdict, new: Sequence[Fact] = (), changed: Sequence[TenureChange] = ()
    ) -> None:
        self._transaction.record(verdict, new, changed)
        self._note(fact.id for fact in new)
        self._note(after.id for _, after in changed)

    def record_all(self, entries: Sequence[tuple[Verdict, Fact]]) -> None:
        self._transaction.record_all(entries)
        self._note(fact.id for _, fact in entries)

    def erase(self, fact_ids: Sequence[str], erasure: Erasure, **named: Any) -> Erasure:
        self._note(fact_ids)
        return self._transaction.erase(fact_ids, erasure, **named)

    def _note(self, fact_ids: Iterable[str]) -> None:
        self.fact_ids.update(dict.fromkeys(fact_ids))


def _resting_on(reader: Reader, lens: Lens, changed: Iterable[str]) -> list[str]:
    """The facts that rest on changed ones, to any depth.

    A task or a branch puts its own value in front of a wider one. Nothing that rests on that is
    written anew, and yet from there it needs review.
    """
    facts = reader.facts(changed)
    matters = {(fact.key, fact.subject or ""): None for fact in facts}
    wave = {fact.id for fact in facts}
    for key, subject in matters:
        wave.update(fact.id for fact in lens.held(reader, key, subject, marks=False))
    known = {fact.id for fact in facts}
    found: list[str] = []
    while wave:
        near = (*reader.derived_from(wave), *reader.standing_on(wave))
        wave = {fact.id for fact in near} - known
        known |= wave
        found += sorted(wave)
    return found


def _shown(reader: Reader, lens: Lens, fact_ids: Iterable[str]) -> dict[str, Fact]:
    """Those of these facts that a session may see, as it sees them."""
    seen = with_visible_links(reader, lens, list(lens.by_ids(reader, fact_ids).values()))
    return {fact.id: fact for fact in with_derived(reader, lens, seen)}


def _differ(before: Fact | None, after: Fact | None) -> bool:
    """Whether a fact stands differently. What is derived from it is not its own standing."""
    if before is None or after is None:
        return before is not after
    return before.evolve(derived_facts=()) != after.evolve(derived_facts=())
