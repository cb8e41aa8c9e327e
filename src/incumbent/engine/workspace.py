"""A workspace: the facts one decision touches, with their changes, before anything is stored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Protocol

from incumbent.model.authority import Ladder
from incumbent.model.fact import UNNAMED, Address, Fact, MemoryType, Status
from incumbent.model.scope import Scope
from incumbent.model.values import same_value
from incumbent.rules.supersession import is_beneath
from incumbent.rules.temporal import has_served, is_dated
from incumbent.stores.port import Selection, TenureChange


class FactSource(Protocol):
    """The source of facts that a workspace does not hold yet."""

    def fact(self, fact_id: str) -> Fact | None: ...
    def live(self, selection: Selection) -> list[Fact]: ...
    def timeline(self, selection: Selection) -> list[Fact]: ...
    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]: ...
    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]: ...
    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]: ...


def at(address: Address) -> Selection:
    """The selection that an address falls in."""
    return Selection((address.owner,), (address.scope_id,), address.key, address.subject)


def said_of(key: str, value: object) -> str | None:
    """The words that two facts have to share to meet at all: without a name nothing else tells that
    they are on the same matter."""
    return value if key == UNNAMED and isinstance(value, str) else None


class Workspace:
    """Facts as they will stand, over the view of how they stand now."""

    def __init__(self, view: FactSource, now: datetime) -> None:
        self.now = now
        self._view = view
        self._before: dict[str, Fact] = {}
        self._now: dict[str, Fact] = {}
        self._put: dict[str, None] = {}
        self._at: dict[Address, dict[str, None]] = defaultdict(dict)
        self._awaiting: dict[str, set[str]] = defaultdict(set)
        self._resting: dict[str, set[str]] = defaultdict(set)
        self._looked_up: list[Selection] = []

    # single facts

    def get(self, fact_id: str) -> Fact | None:
        if fact_id in self._now:
            return self._now[fact_id]
        fact = self._view.fact(fact_id)
        return self._load(fact) if fact is not None else None

    def need(self, fact_id: str) -> Fact:
        fact = self.get(fact_id)
        assert fact is not None, f"a link points to {fact_id}, which does not exist"
        return fact

    def put(self, fact: Fact) -> Fact:
        """Change a fact to this from now on."""
        self._put[fact.id] = None
        return self._hold(fact)

    def _hold(self, fact: Fact) -> Fact:
        old = self._now.get(fact.id)
        if old is not None and old.awaits:
            self._awaiting[old.awaits].discard(fact.id)
        if fact.awaits:
            self._awaiting[fact.awaits].add(fact.id)
        # An address lists those who hold it or may yet, so that a long past costs nothing.
        if fact.may_hold_after(self.now):
            self._at[fact.address][fact.id] = None
        elif old is not None:
            self._at[fact.address].pop(fact.id, None)
        # On what it rests or rested: whoever asks looks whether it still does.
        for base in fact.depends_on:
            self._resting[base].add(fact.id)
        for leg in fact.basis:
            self._resting[leg.stands_on].add(fact.id)
        self._now[fact.id] = fact
        return fact

    def _load(self, fact: Fact) -> Fact:
        if fact.id not in self._now:
            self._before[fact.id] = fact
            self._hold(fact)
        return self._now[fact.id]

    # several facts

    def adopt(self, selection: Selection, live: Iterable[Fact]) -> None:
        """Take the live facts of a selection; later questions about it are answered from here."""
        for fact in live:
            self._load(fact)
        self._looked_up.append(selection)

    def incumbents(self, candidate: Fact, beside: Collection[str] = ()) -> tuple[Fact, ...]:
        """The seats of a candidate's address that are in office."""
        seats = self.seats(candidate, beside)
        return tuple(fact for fact in seats if fact.status is Status.OFFICE)

    def seats(self, candidate: Fact, beside: Collection[str] = ()) -> tuple[Fact, ...]:
        """The facts that hold a candidate's address now or may hold it later, ordered by id.

        Facts of the audiences in `beside` are not in its way. Facts that a capability learned are
        not in the way of others.
        """
        seated = self._seated(candidate)
        return tuple(fact for fact in seated if _shares_office(fact, candidate, beside))

    def _seated(self, candidate: Fact) -> list[Fact]:
        address = candidate.address
        wanted = at(address)._replace(said=said_of(candidate.key, candidate.value))
        if not any(_covers(selection, wanted, address) for selection in self._looked_up):
            self._looked_up.append(wanted)
            for fact in self._view.live(wanted):
                self._load(fact)
        held = (self._now[fact_id] for fact_id in sorted(self._at[address]))
        return [fact for fact in held if fact.may_hold_after(self.now)]

    def timeline(self, candidate: Fact, beside: Collection[str] = ()) -> list[Fact]:
        """Every fact that was ever written at a candidate's address and was in its way."""
        for fact in self._view.timeline(at(candidate.address)):
            self._load(fact)
        return [
            fact
            for fact in self._now.values()
            if fact.address == candidate.address and _shares_office(fact, candidate, beside)
        ]

    def departed(self, candidate: Fact, beside: Collection[str] = ()) -> tuple[Fact, ...]:
        """The facts that left an address empty, to which a candidate may have come late."""
        if candidate.multi_valued or not is_dated(candidate):
            return ()
        left = self.timeline(candidate, beside)
        return tuple(fact for fact in left if has_served(fact, candidate.recorded_at))

    def beneath(self, shared: Fact, ladder: Ladder) -> tuple[Fact, ...]:
        """The statements of single people, among the facts held here, that a fact settles for
        all."""
        if shared.memory_type is not MemoryType.ORGANIZATIONAL or shared.scope is not Scope.GLOBAL:
            return ()
        matter = (shared.key, shared.subject)
        alike = [f for f in self._now.values() if f.owner and (f.key, f.subject) == matter]
        found = (fact for fact in alike if is_beneath(fact, shared, self.now, ladder))
        return tuple(sorted(found, key=lambda fact: fact.id))

    def waiting_on(self, fact_id: str) -> list[Fact]:
        for fact in self._view.waiting_on([fact_id]):
            self._load(fact)
        held = (self._now[waiting] for waiting in sorted(self._awaiting[fact_id]))
        return [fact for fact in held if fact.status is Status.WAITING]

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts in office with a leg on one of these."""
        wanted = set(fact_ids)
        if not wanted:
            return []
        for fact in self._view.standing_on(wanted):
            self._load(fact)
        resting = self._in_office_resting_on(wanted)
        return [fact for fact in resting if any(leg.stands_on in wanted for leg in fact.basis)]

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        """Facts in office that were derived from one of these."""
        wanted = set(fact_ids)
        if not wanted:
            return []
        for fact in self._view.derived_from(wanted):
            self._load(fact)
        resting = self._in_office_resting_on(wanted)
        return [fact for fact in resting if not wanted.isdisjoint(fact.depends_on)]

    def _in_office_resting_on(self, fact_ids: set[str]) -> list[Fact]:
        resting = {i for fact_id in fact_ids for i in self._resting.get(fact_id, ())}
        held = (self._now[fact_id] for fact_id in sorted(resting))
        return [fact for fact in held if fact.is_valid]

    def end_of(self, fact: Fact) -> Fact:
        """The end of a fact's chain, found by following `superseded_by`.

        An erased fact is passed through: it has no value, but it keeps its link.
        """
        while fact.superseded_by is not None:
            following = self.get(fact.superseded_by)
            if following is None:
                break  # a replay has not come to it yet
            fact = following
        return fact

    # what came of it

    def before(self, fact_id: str) -> Fact | None:
        """A fact as it stood before this decision; None for one that the decision brings."""
        return self._before.get(fact_id)

    def held(self) -> Iterable[Fact]:
        """Every fact the decision has looked at."""
        return self._now.values()

    def touched(self) -> list[Fact]:
        """Every fact that is new or stands differently now, ordered by id."""
        found = []
        for fact_id in self._put if len(self._put) < 2 else sorted(self._put):
            fact, before = self._now[fact_id], self._before.get(fact_id)
            if before is not fact and before != fact:
                found.append(fact)
        return found

    def outcome(self) -> tuple[list[Fact], list[TenureChange]]:
        """The facts to store: new ones, and those that stand differently."""
        new: list[Fact] = []
        changed: list[TenureChange] = []
        for fact in self.touched():
            before = self._before.get(fact.id)
            if before is None:
                new.append(fact)
            else:
                changed.append(TenureChange(before, fact))
        return new, changed


def _shares_office(fact: Fact, candidate: Fact, beside: Collection[str]) -> bool:
    """Whether two facts of one address cannot both hold it."""
    if candidate.is_unnamed and not same_value(fact.value, candidate.value):
        return False
    if fact.audience == candidate.audience:
        return True
    return fact.capability == candidate.capability and fact.audience not in beside


def _covers(selection: Selection, wanted: Selection, address: Address) -> bool:
    return (
        selection.said in (None, wanted.said)
        and selection.key in (None, address.key)
        and selection.subject in (None, address.subject)
        and (selection.owners is None or address.owner in selection.owners)
        and (selection.scope_ids is None or address.scope_id in selection.scope_ids)
    )
