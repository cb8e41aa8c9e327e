"""Supersession: what becomes of a candidate, given who holds the offices it wants.

The order of the questions is the policy:

1. Does it wait for another fact to leave?            → waiting
   Does it tell of a term that ended before?          → established, in the past
2. Does it say what the incumbent says?               → confirmed
3. Does a target or the incumbent outrank it?         → overruled
4. Does something wider or shared prevail over it?    → overruled
5. Is it older than the incumbent, or than whoever
   left the address last?                             → filed in its place in the chain
6. Is the evidence too weak to retire anything?       → contested
7. Otherwise it takes office: superseding, shadowing or as the first. It holds up to the next
   fact that is planned for the address, unless it outranks that one. What single people said of
   a matter that it settles for all of them goes, where it outranks that.

What is kept only once its author approves it waits instead, unless it is confirmed or overruled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from incumbent.model.authority import Ladder
from incumbent.model.fact import Fact
from incumbent.model.scope import Scope
from incumbent.model.values import same_value
from incumbent.model.verdict import Outcome, Rule
from incumbent.rules.authority import outranks, prevails
from incumbent.rules.temporal import (
    effect_of,
    has_lapsed,
    is_late,
    overlaps,
    start_of,
    tells_of_the_past,
)

_WIDTH = {
    Scope.HYPOTHETICAL: 0,
    Scope.DRAFT: 0,
    Scope.SESSION: 1,
    Scope.TASK: 2,
    Scope.GLOBAL: 3,
}


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a judgement may look at."""

    seats: tuple[Fact, ...] = ()
    """The facts that hold the candidate's address, now or later, with or without a successor."""
    targets: tuple[Fact, ...] = ()
    """The facts in office that the candidate names as superseded."""
    around: tuple[Fact, ...] = ()
    """Valid facts on the same subject and key that are wider, or shared by the organization."""
    beneath: tuple[Fact, ...] = ()
    """Statements of single people that the candidate binds and outranks."""
    departed: tuple[Fact, ...] = ()
    """The facts that held the candidate's own address and left it with nobody in their place.

    Needed only for a candidate that may be late.
    """
    confidence: float = 1.0
    contest_below: float = 0.0
    asks_first: bool = False
    """Whether the candidate is to wait until its author approves it."""
    approving: bool = False
    """Whether it has waited for that: it counts from when it was said, as one that comes late."""
    replaying: bool = False
    """In a replay a restatement that has a row of its own renews instead of confirming."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of a candidate, and the facts it concerns."""

    outcome: Outcome
    rule: Rule
    retires: tuple[Fact, ...] = ()
    lapsed: tuple[Fact, ...] = ()
    """Incumbents whose own term ends before the candidate's begins."""
    follower: Fact | None = None
    """A fact planned for later, up to which the candidate holds."""
    against: Fact | None = None
    """The fact that overruled it, was confirmed by it, is contested by it or shadowed by it."""
    late: bool = False
    past: bool = False
    """Whether it only tells of a term that was over before the incumbent's began."""
    evidence: dict[str, Any] = field(default_factory=dict)


UNOPPOSED = Judgement(Outcome.ESTABLISHED, Rule.FIRST)
"""The judgement for a candidate whose offices nobody holds."""


_CHANGES_NOTHING = (Outcome.CONFIRMED, Outcome.OVERRULED)


def judge(candidate: Fact, situation: Situation, ladder: Ladder) -> Judgement:
    """Decide on a candidate. Pure: the same inputs give the same judgement."""
    judgement = _judged(candidate, situation, ladder)
    if situation.asks_first and judgement.outcome not in _CHANGES_NOTHING:
        return Judgement(Outcome.WAITING, Rule.APPROVAL)
    return judgement


def _judged(candidate: Fact, situation: Situation, ladder: Ladder) -> Judgement:
    if candidate.when_superseded is not None and not situation.replaying:
        return Judgement(
            Outcome.WAITING, Rule.CONTINGENCY, evidence={"waits_for": candidate.when_superseded}
        )
    held = situation.seats or situation.departed
    if held and tells_of_the_past(candidate) and not candidate.multi_valued:
        return Judgement(Outcome.ESTABLISHED, Rule.TEMPORAL, past=True, evidence={"past": True})
    lapsed = tuple(f for f in situation.seats if f.is_valid and has_lapsed(f, candidate))
    seats = tuple(f for f in situation.seats if overlaps(f, candidate))
    targets = tuple(f for f in situation.targets if is_as_narrow(candidate, f))
    too_wide = tuple(f for f in situation.targets if f not in targets)

    restated = _restated(candidate, seats, targets)
    if restated is not None and not situation.replaying:
        return Judgement(
            Outcome.CONFIRMED,
            Rule.SAME_VALUE,
            against=restated,
            evidence={"confirms": restated.id},
        )
    meets = _meet(candidate, () if candidate.multi_valued else seats, targets, ladder)
    named = targets + too_wide if candidate.scope.is_real else targets
    around = situation.around + too_wide
    above = (
        *(rival for rival in (*named, *meets.present) if _is_above(rival, candidate, ladder)),
        *(w for w in around if _binds(w, candidate) and prevails(w, candidate, ladder)),
    )
    if above:
        rival = above[0]
        return overruled(rival, {"overruled_by": rival.id, "authority": rival.standing})
    incumbent = next(iter(meets.present), None) or _last_of(situation.departed)
    if incumbent is not None and not targets:
        late = is_late(incumbent, candidate, arrived_late=situation.approving)
        if late and not outranks(candidate.authority, incumbent.standing, ladder):
            return Judgement(Outcome.SUPERSEDED, Rule.TEMPORAL, against=incumbent, late=True)
    retires = _unique(targets + meets.present + meets.outranked)
    if retires and situation.confidence < situation.contest_below:
        return Judgement(
            Outcome.CONTESTED,
            Rule.WEAK_EVIDENCE,
            against=retires[0],
            evidence={"contests": retires[0].id},
        )
    retires = _unique((*retires, *situation.beneath))
    if retires:
        return _supersedes(candidate, retires, targets, lapsed, meets.follower, ladder)
    return _takes_free_office(candidate, around, lapsed, meets.follower)


def _last_of(departed: tuple[Fact, ...]) -> Fact | None:
    """The last holder of an address that is empty now."""
    return max(departed, key=lambda fact: (fact.order, fact.recorded_at, fact.id), default=None)


class _Meeting(NamedTuple):
    """The facts that a candidate meets at its address in the time that it wants."""

    present: tuple[Fact, ...]
    """The holders at the moment when the candidate would begin."""
    outranked: tuple[Fact, ...]
    """The facts planned for later that the candidate outranks: it takes their time too."""
    follower: Fact | None
    """The first fact planned for later that it does not outrank: it holds up to that one."""


def _meet(
    candidate: Fact, seats: tuple[Fact, ...], targets: tuple[Fact, ...], ladder: Ladder
) -> _Meeting:
    begins = effect_of(candidate)
    present = tuple(seat for seat in seats if start_of(seat) <= begins)
    planned = sorted(
        (seat for seat in seats if start_of(seat) > begins and seat not in targets), key=start_of
    )
    outranked: list[Fact] = []
    for seat in planned:
        if not outranks(candidate.authority, seat.standing, ladder):
            return _Meeting(present, tuple(outranked), seat)
        outranked.append(seat)
    return _Meeting(present, tuple(outranked), None)


def _is_above(rival: Fact, candidate: Fact, ladder: Ladder) -> bool:
    return outranks(rival.standing, candidate.authority, ladder)


def is_beneath(personal: Fact, shared: Fact, now: datetime, ladder: Ladder) -> bool:
    """Whether a statement of one person goes when the organization settles the matter for all."""
    return (
        personal.capability is None
        and personal.scope.is_real
        and not (personal.multi_valued or shared.multi_valued)
        and personal.is_valid
        and personal.held_at(now)
        and binds(shared, subject=personal.subject)
        and not same_value(personal.value, shared.value)
        and outranks(shared.authority, personal.standing, ladder)
    )


def is_as_narrow(candidate: Fact, target: Fact) -> bool:
    """True if the target is no wider than the candidate, so that it can be superseded outright.

    A narrower fact never supersedes a wider one: it shadows it where it applies. A fact of one
    person is narrower than one of the organization.
    """
    if _WIDTH[candidate.scope] < _WIDTH[target.scope]:
        return False
    return candidate.owner == target.owner or candidate.owner == ""


def binds(shared: Fact, *, subject: str | None) -> bool:
    """True if a fact of the organization is on the same matter as a personal one would be.

    It is if the subject is named, or if it is a constraint. "address" with no subject is one
    person's own address, and the organization's does not touch it.
    """
    return bool(subject) or shared.is_constraint


def _binds(wider: Fact, candidate: Fact) -> bool:
    if same_value(wider.value, candidate.value) or not candidate.scope.is_real:
        return False
    return wider.owner == candidate.owner or binds(wider, subject=candidate.subject)


def overruled(against: Fact | None = None, evidence: dict[str, Any] | None = None) -> Judgement:
    """The judgement for a candidate that a higher authority contradicts, or whose key is
    reserved."""
    return Judgement(Outcome.OVERRULED, Rule.AUTHORITY, against=against, evidence=evidence or {})


def _restated(candidate: Fact, holders: tuple[Fact, ...], targets: tuple[Fact, ...]) -> Fact | None:
    """The incumbent with the same value on the same terms, if nothing else is to be retired."""
    for holder in holders:
        if (
            same_value(holder.value, candidate.value)
            and _same_terms(holder, candidate)
            and all(target.id == holder.id for target in targets)
        ):
            return holder
    return None


def _same_terms(holder: Fact, candidate: Fact) -> bool:
    """Whether a restatement adds nothing: no other term, ground, doubt, reader or kind.

    A fact that needs review is renewed by a restatement, not confirmed: its speaker knows the
    present state.
    """
    return (
        not holder.causes
        and start_of(holder) <= effect_of(candidate)
        and candidate.valid_from <= candidate.recorded_at
        and candidate.valid_until in (None, holder.valid_until)
        and (not candidate.depends_on or set(candidate.depends_on) == set(holder.depends_on))
        and set(holder.doubts).issuperset(candidate.doubts)
        and candidate.requires == holder.requires
        and candidate.min_authority == holder.min_authority
        and candidate.memory_type == holder.memory_type
        and candidate.constraint_type == holder.constraint_type
        and candidate.is_constraint == holder.is_constraint
    )


def _supersedes(
    candidate: Fact,
    retires: tuple[Fact, ...],
    targets: tuple[Fact, ...],
    lapsed: tuple[Fact, ...],
    follower: Fact | None,
    ladder: Ladder,
) -> Judgement:
    if targets:
        rule = Rule.EXPLICIT
    elif outranks(candidate.authority, retires[0].standing, ladder):
        rule = Rule.AUTHORITY
    elif candidate.time_sensitive:
        rule = Rule.TEMPORAL
    else:
        rule = Rule.IMPLICIT
    return Judgement(
        Outcome.SUPERSEDED,
        rule,
        retires=retires,
        lapsed=lapsed,
        follower=follower,
        evidence={"supersedes": [fact.id for fact in retires]},
    )


def _takes_free_office(
    candidate: Fact, around: tuple[Fact, ...], lapsed: tuple[Fact, ...], follower: Fact | None
) -> Judgement:
    for wider in around:
        hides = wider.owner == candidate.owner or binds(wider, subject=candidate.subject)
        if hides and not candidate.multi_valued and not same_value(wider.value, candidate.value):
            return Judgement(
                Outcome.SHADOWED,
                Rule.SCOPE,
                lapsed=lapsed,
                follower=follower,
                against=wider,
                evidence={"shadows": wider.id},
            )
    evidence = {"after_expiry_of": [fact.id for fact in lapsed]} if lapsed else {}
    return Judgement(
        Outcome.ESTABLISHED, Rule.FIRST, lapsed=lapsed, follower=follower, evidence=evidence
    )


def _unique(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Each fact once, real ones before the drafts that a commit takes over."""
    found = {fact.id: fact for fact in facts}
    return tuple(sorted(found.values(), key=lambda fact: not fact.scope.is_real))
