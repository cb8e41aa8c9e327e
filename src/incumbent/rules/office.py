"""The moves of a fact into and out of office: each a pure change of its tenure fields."""

from __future__ import annotations

from datetime import datetime

from incumbent.model.authority import Ladder
from incumbent.model.fact import Basis, Fact, Status


def unborn(fact: Fact) -> Fact:
    """The content of a fact with a blank tenure, as before it was first judged."""
    return fact.evolve(
        status=Status.WITHDRAWN,
        superseded_by=None,
        predecessors=(),
        started_at=None,
        ended_at=None,
        standing=fact.authority,
        confirmed_at=None,
        awaits=None,
        acknowledged=frozenset(),
        basis=tuple(Basis(base, base) for base in fact.depends_on),
        causes=(),
    )


def install(
    fact: Fact, predecessors: tuple[str, ...] = (), *, started_at: datetime | None = None
) -> Fact:
    """Put a fact into office."""
    if not predecessors and started_at is None and _is_seated(fact):
        return fact
    return fact.evolve(
        status=Status.OFFICE,
        superseded_by=None,
        predecessors=predecessors,
        started_at=started_at or fact.valid_from,
        ended_at=None,
        awaits=None,
    )


def _is_seated(fact: Fact) -> bool:
    """Whether a fact stands as if just installed, as a fresh candidate does in anticipation."""
    return (
        fact.status is Status.OFFICE
        and not fact.predecessors
        and fact.started_at is fact.valid_from
        and fact.superseded_by is None
        and fact.ended_at is None
        and fact.awaits is None
    )


def retire(fact: Fact, successor: Fact) -> Fact:
    """Take a fact out of office in favour of another. Its own end can only come sooner."""
    end = successor.started_at or successor.valid_from
    if fact.ended_at is not None and fact.status is not Status.OFFICE:
        end = min(end, fact.ended_at)
    return fact.evolve(status=Status.SUPERSEDED, superseded_by=successor.id, ended_at=end)


def confirm(fact: Fact, rung: str, order: datetime, ladder: Ladder) -> Fact:
    """Count a restatement: its authority protects the fact, its date refreshes it.

    A restatement from a lower rung does not count: by its date it could keep out those above.
    """
    if ladder.outranks(fact.standing, rung):
        return fact
    return fact.evolve(
        standing=ladder.highest(fact.standing, rung),
        confirmed_at=max(fact.order, order),
    )


def lapse(fact: Fact) -> Fact:
    """Record that a fact's own term is over, to make room at its address."""
    return fact.evolve(status=Status.EXPIRED)


def leave(fact: Fact, status: Status, at: datetime) -> Fact:
    """Take a fact out of office with no successor."""
    return fact.evolve(status=status, ended_at=at)


def reinstate(fact: Fact) -> Fact:
    """Reinstate a fact whose planned successor now never comes."""
    return fact.evolve(status=Status.OFFICE, superseded_by=None, ended_at=None)


def turn_away(fact: Fact, status: Status) -> Fact:
    """File a candidate that does not take office: overruled, contested or waiting."""
    return fact.evolve(status=status, started_at=None)
