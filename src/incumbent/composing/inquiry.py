"""One question for a context: the asker, the query, and the facts that bear on it.

The parts of composing share it: they all look through the same lens at the same moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from incumbent.context.request import LONGEST_QUERY, Request
from incumbent.engine.lens import Lens
from incumbent.model.fact import Fact
from incumbent.model.records import Environment, WorkingItem
from incumbent.rules.scope import View, effective
from incumbent.search import analysis
from incumbent.search.index import Index
from incumbent.search.space import SearchSpace
from incumbent.stores.port import Found, Reader

if TYPE_CHECKING:
    from incumbent.composing.bygone import Bygone

SMALL = 400
"""The most facts of a small memory. Every one of them is ranked, and every omission is named."""


@dataclass
class Inquiry:
    """A request, the reader it is answered from, and the lens of the asker."""

    reader: Reader
    lens: Lens
    index: Index
    request: Request
    environment: Environment
    items: Sequence[WorkingItem]
    frame: Sequence[str]
    share: float
    """The share of the budget for facts."""

    @cached_property
    def query(self) -> str:
        return self.request.query[:LONGEST_QUERY]

    @cached_property
    def asked(self) -> set[str]:
        """The terms of the query."""
        return set(analysis.terms(self.query))

    @cached_property
    def everything(self) -> list[Fact]:
        """Every visible fact of every status. Only for memories that are small, or on request."""
        return self.lens.everything(self.reader)

    def looks_at_all(self, space: SearchSpace) -> bool:
        """Whether every fact in office is looked at, for any query."""
        return space.size <= SMALL

    def bygone(self, space: SearchSpace) -> Bygone | None:
        """The facts of a past moment, if it is searched through the index."""
        if space.then is None:
            return None
        from incumbent.composing.bygone import Bygone  # brings numpy, for contexts only

        return Bygone(self.reader, self.lens, space.then)

    def resolved(self, facts: Iterable[Fact]) -> View:
        """These facts, sorted into those this session goes by, and those that step aside."""
        return effective(facts, self.lens.places, self.lens.settings.ladder)

    def rows(self, facts: Sequence[Fact]) -> list[tuple[Found, bool]]:
        """Facts as if they had been on a shelf of their own: with entries made where missing."""
        known = {row.fact_id: row for row in self.reader.entries_of(f.id for f in facts)}
        usable = self.index.is_current(self.reader)
        missing = [f for f in facts if not usable or f.id not in known]
        self.index.prepare(
            analysis.sentence(fact.key, fact.subject, fact.value) for fact in missing
        )
        rows = []
        for number, fact in enumerate(sorted(facts, key=lambda fact: fact.id), start=1):
            row = known.get(fact.id) if usable else None
            if row is None or row.vector is None:
                entry = self.index.entry(fact, live=True)
                row = Found(number, fact.id, fact.key, entry.terms, entry.tokens, entry.vector)
            rows.append((row._replace(entry=number), fact.comes_first))
        return rows

    def nearby(self, facts: Sequence[Fact], space: SearchSpace) -> list[Fact]:
        """These facts and all others on the same matter, in another scope or for everybody."""
        if len(space.filled) == 1:
            seats = {(fact.owner, fact.scope, fact.scope_id or "") for fact in facts}
            if all((owner, (scope, place)) in space.filled for owner, scope, place in seats):
                return list(facts)  # there is no other place
        others = self.reader.live_at(
            fact.address._replace(owner=owner, scope=scope, scope_id=scope_id)
            for fact in facts
            for owner, (scope, scope_id) in space.filled
            if (owner, (scope, scope_id)) != (fact.owner, fact.place)
        )
        found = {fact.id: fact for fact in self.lens.in_office(self.reader, others)}
        return list({**found, **{fact.id: fact for fact in facts}}.values())
