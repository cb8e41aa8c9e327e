"""Replay: the state as if an entry of the log had never been made.

An undo does not guess at an inverse. It takes the facts linked with the one undone, runs the
remaining entries about them again through the same rules, and compares. An entry that was turned
away when it was made stays turned away: by an undo, no fact takes office that did not hold or await
it before.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from incumbent.engine.entry import (
    Entered,
    accept,
    approve,
    await_departure,
    depart,
    end_of_term,
    enter,
    follow_departures,
)
from incumbent.engine.workspace import Workspace, at
from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact, Status
from incumbent.model.times import from_micros
from incumbent.model.verdict import BESIDE, Action, Outcome, Rule, Verdict
from incumbent.rules import office
from incumbent.rules.supersession import UNOPPOSED
from incumbent.stores.port import Reader, Selection

_TURNED_AWAY = {Outcome.OVERRULED: Status.OVERRULED, Outcome.CONTESTED: Status.CONTESTED}


def component(reader: Reader, start: Iterable[str]) -> dict[str, Fact]:
    """Every fact linked with these, now or had things gone otherwise: by address, supersession, a
    named target or contingency."""
    found: dict[str, Fact] = {}
    seen_addresses = set()
    queue = list(start)
    while queue:
        fact_id = queue.pop()
        if fact_id in found:
            continue
        fact = reader.fact(fact_id)
        if fact is None:
            continue
        found[fact_id] = fact
        queue.extend(i for i in (fact.superseded_by, *fact.predecessors) if i)
        # Links that an undo has severed are still in what was said.
        queue.extend(reader.naming([fact_id]))
        queue.extend(target for entry in reader.verdicts([fact_id]) for target in entry.targets)
        if fact.status is Status.ERASED:
            continue
        queue.extend(i for i in (fact.when_superseded, fact.awaits) if i)
        queue.extend(waiting.id for waiting in reader.contingent_on([fact.id]))
        # What stands beside others shares no office with them.
        if fact.address not in seen_addresses and not fact.multi_valued:
            seen_addresses.add(fact.address)
            neighbours = reader.timeline(at(fact.address))
            queue.extend(f.id for f in neighbours if f.address == fact.address)
    return found


class _Nothing:
    """The view of a replay. It has only what was replayed so far, in its workspace."""

    def fact(self, fact_id: str) -> Fact | None:
        return None

    def live(self, selection: Selection) -> list[Fact]:
        return []

    def timeline(self, selection: Selection) -> list[Fact]:
        return []

    def waiting_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return []

    def standing_on(self, fact_ids: Iterable[str]) -> list[Fact]:
        return []

    def derived_from(self, fact_ids: Iterable[str]) -> list[Fact]:
        return []


def replay(facts: dict[str, Fact], entries: Iterable[Verdict], ladder: Ladder) -> dict[str, Fact]:
    """The facts of a component as they stand after these entries, in order."""
    past = Workspace(_Nothing(), from_micros(0))
    named: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        fact = facts.get(entry.fact_id)
        if fact is not None:
            past.now = entry.recorded_at
            named.setdefault(fact.id, entry.targets)
            _step(past, fact, entry, facts, named, ladder)
    return {fact_id: _outcome(past, fact) for fact_id, fact in facts.items()}


def _outcome(past: Workspace, fact: Fact) -> Fact:
    if not _is_erased(fact):
        return past.get(fact.id) or office.unborn(fact)
    # An erased fact keeps its link to whoever took its place, while that one stands.
    followers = (f for f in past.held() if fact.id in f.predecessors)
    follower = next(followers, None)
    return fact.evolve(superseded_by=follower.id if follower else None)


def _is_erased(fact: Fact) -> bool:
    return fact.status is Status.ERASED


def _can_leave(fact: Fact, now: datetime) -> bool:
    """Whether there is something to retract: the fact is in office, or wants to be."""
    if fact.status is Status.SUPERSEDED:
        return fact.held_at(now)
    return fact.status in (Status.OFFICE, Status.CONTESTED, Status.WAITING, Status.EXPIRED)


def _step(
    past: Workspace,
    fact: Fact,
    entry: Verdict,
    facts: dict[str, Fact],
    named: dict[str, tuple[str, ...]],
    ladder: Ladder,
) -> None:
    if entry.action is Action.ASSERT:
        _assert(past, fact, entry, facts, ladder)
    current = past.get(fact.id)
    if current is None:
        return
    holds = current.is_valid or current.held_at(past.now)
    if entry.action is Action.CONFIRM and holds:
        order = from_micros(entry.evidence["order"])
        past.put(office.confirm(current, entry.authority, order, ladder))
    elif entry.action is Action.ACKNOWLEDGE:
        tokens = current.acknowledged.union(entry.evidence["acknowledged"])
        past.put(current.evolve(acknowledged=tokens))
    elif entry.action is Action.ACCEPT and current.status is Status.CONTESTED:
        accept(past, current, _in_office(past, named[fact.id]), ladder, _beside(entry))
    elif entry.action is Action.ACCEPT and current.is_unapproved:
        _approve(past, current, entry, named[fact.id], ladder)
    elif entry.action is Action.RETRACT and _can_leave(current, past.now):
        leaving = Status.DISCARDED if entry.rule is Rule.DISCARD else Status.RETRACTED
        depart(past, current, leaving, end_of_term(current, entry.at, past.now))
        if holds:
            follow_departures(past, [current], ladder, Entered(UNOPPOSED, current))


def _approve(
    past: Workspace, fact: Fact, entry: Verdict, named: Iterable[str], ladder: Ladder
) -> None:
    if entry.outcome is Outcome.OVERRULED:
        past.put(office.turn_away(office.unborn(fact), Status.OVERRULED))
        return
    known = (one for one in map(past.get, named) if one is not None)
    approve(
        past,
        fact,
        tuple({end.id: end for end in map(past.end_of, known)}.values()),
        ladder,
        beneath=tuple(f for f in past.beneath(fact, ladder) if f.id in entry.superseded),
        beside=_beside(entry),
    )


def _assert(
    past: Workspace, fact: Fact, entry: Verdict, facts: dict[str, Fact], ladder: Ladder
) -> None:
    if fact.status is Status.ERASED:
        _assert_erased(past, fact, facts)
        return
    blank = office.unborn(fact)
    if entry.rule is Rule.APPROVAL:
        past.put(office.turn_away(blank, Status.WAITING))
        return
    if entry.outcome in _TURNED_AWAY:
        past.put(office.turn_away(blank, _TURNED_AWAY[entry.outcome]))
        return
    if fact.when_superseded is not None:
        await_departure(past, blank, ladder, Entered(UNOPPOSED, blank))
        return
    enter(
        past,
        blank,
        ladder,
        targets=_in_office(past, entry.targets),
        beneath=tuple(f for f in past.beneath(blank, ladder) if f.id in entry.superseded),
        beside=_beside(entry),
        replaying=True,
    )
    entered = past.need(fact.id)
    erased = tuple(i for i in entry.superseded if i in facts and _is_erased(facts[i]))
    if entered.is_valid and erased:
        past.put(entered.evolve(predecessors=(*entered.predecessors, *erased)))


def _beside(entry: Verdict) -> tuple[str, ...]:
    """The audiences of facts that the author of an entry could not see, and so did not touch."""
    return tuple(entry.evidence.get(BESIDE, ()))


def _in_office(past: Workspace, ids: Iterable[str]) -> tuple[Fact, ...]:
    """The facts in office at the ends of the chains of these."""
    found = (past.get(fact_id) for fact_id in ids)
    ends = (past.end_of(fact) for fact in found if fact is not None)
    return tuple({end.id: end for end in ends if end.is_valid}.values())


def _assert_erased(past: Workspace, fact: Fact, facts: dict[str, Fact]) -> None:
    """Replay an erased fact. It still keeps down the facts it superseded: forgetting must not
    resurrect."""
    for target in fact.predecessors:
        before = past.get(target)
        if before is not None and before.is_valid:
            # It left office when the record says it did; the fact that could tell is gone.
            ended_at = facts[target].ended_at or before.started_at
            past.put(
                before.evolve(status=Status.SUPERSEDED, superseded_by=fact.id, ended_at=ended_at)
            )
    past.put(fact)
