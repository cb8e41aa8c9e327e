"""Returning: what a value that holds for a time does to the one before it.

"This week the desk number is 31." stands in for what was known, and that counts again afterwards,
unless something else is said of it until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from incumbent.engine.proposal import Proposal
from incumbent.engine.registrar import Registrar
from incumbent.engine.reviews import again
from incumbent.model.errors import NotPermitted
from incumbent.model.fact import Fact
from incumbent.model.values import same_value
from incumbent.model.verdict import Verdict
from incumbent.rules.temporal import is_ahead


def set_right(
    registrar: Registrar, said: Proposal, gone: Sequence[Fact], at: datetime | None
) -> Iterator[Verdict]:
    """Plan the return of what a passing value has taken the place of, or call it off where what
    takes the place of a passing value is to stay."""
    for fact in gone:
        if said.valid_until is None:
            if fact.valid_until is not None:
                yield from _call_off(registrar, fact)
        elif (planned := _return(registrar, fact, said, at)) is not None:
            yield planned


def _return(
    registrar: Registrar, fact: Fact, instead: Proposal, at: datetime | None
) -> Verdict | None:
    ends = instead.valid_until
    if ends is None or ends <= (at or registrar.now) or not fact.scope.is_real:
        return None
    if fact.valid_until is not None and fact.valid_until <= ends:
        return None
    return registrar.propose(_again(fact, instead.confidence, ends, at))


def _again(fact: Fact, confidence: float, begins: datetime | None, at: datetime | None) -> Proposal:
    """The same once more, in the same words and from the same source."""
    return again(
        fact,
        doubts=(),
        is_constraint=fact.is_constraint or None,
        valid_from=begins,
        valid_until=fact.valid_until,
        at=at,
        confidence=confidence,
        spoken=True,
    )


def put_back(
    registrar: Registrar, passing: Fact, earlier: Fact, at: datetime | None, asks_first: bool
) -> Iterator[Verdict]:
    """Put an earlier value in the place of a passing one, for good."""
    if asks_first:
        proposal = replace(_again(earlier, 1.0, None, at), asks_first=True)
        yield registrar.propose(proposal, takes=[passing])
        return
    yield from _call_off(registrar, passing)
    yield registrar.retract(passing, at=at)
    yield registrar.propose(_again(earlier, 1.0, None, at))


def _call_off(registrar: Registrar, passing: Fact) -> Iterator[Verdict]:
    chain = registrar.lens.chain(registrar.transaction, [passing]).facts
    for planned in planned_for(registrar, passing):
        if any(same_value(one.value, planned.value) for one in chain if one.id != passing.id):
            try:
                yield registrar.retract(planned)
            except NotPermitted:
                continue


def planned_for(registrar: Registrar, fact: Fact) -> list[Fact]:
    """What is to hold later where a fact holds: at its address, or once more in its own words or
    in those it had before."""
    lens, reader = registrar.lens, registrar.transaction
    ahead = [
        one
        for one in reader.live(lens.selection(fact.key, fact.subject or ""))
        if one.id != fact.id and is_ahead(one, registrar.now) and lens.sees(reader, one)
    ]
    if not fact.is_unnamed:
        return ahead
    said = [fact, *lens.chain(reader, [fact]).facts]
    return [one for one in ahead if any(same_value(one.value, had.value) for had in said)]
