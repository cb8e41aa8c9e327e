"""Supersession: what becomes of a candidate, given who holds the offices it wants.

The order of the questions is the policy:

1. Does it wait for another fact to leave?            → waiting
   Does it tell of a term that ended before?          → established, in the past
2. Does it say what the incumbent says?               → confirmed
3. Does a target or the incumbent outrank it?         → overruled
4. Does something wider or shared outrank it?         → overruled
5. Is it older than the incumbent, or due before it?  → filed in its place in the chain
6. Is the evidence too weak to retire anything?       → contested
7. Otherwise it takes office: superseding, shadowing or as the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tenure.model.authority import Ladder
from tenure.model.fact import Fact
from tenure.model.scope import Scope
from tenure.model.values import same_value
from tenure.model.verdict import Outcome, Rule
from tenure.rules.authority import outranks
from tenure.rules.temporal import has_lapsed, is_late, is_scheduled, tells_of_the_past

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

    incumbents: tuple[Fact, ...] = ()
    """The facts in office at the candidate's own address."""
    running: tuple[Fact, ...] = ()
    """Facts at that address whose term still runs, although another is to follow."""
    targets: tuple[Fact, ...] = ()
    """The facts in office that the candidate names as superseded."""
    around: tuple[Fact, ...] = ()
    """Valid facts on the same subject and key that are wider, or shared by the organization."""
    confidence: float = 1.0
    contest_below: float = 0.0
    replaying: bool = False
    """In a replay a restatement that has a row of its own renews instead of confirming."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What becomes of a candidate, and whom it concerns."""

    outcome: Outcome
    rule: Rule
    retires: tuple[Fact, ...] = ()
    lapsed: tuple[Fact, ...] = ()
    against: Fact | None = None
    """The fact that overruled it, was confirmed by it, is contested by it or shadowed by it."""
    late: bool = False
    past: bool = False
    """Whether it only tells of a term that was over before the incumbent's began."""
    evidence: dict[str, Any] = field(default_factory=dict)


UNOPPOSED = Judgement(Outcome.ESTABLISHED, Rule.FIRST)
"""What `judge` comes to where nobody holds anything the candidate wants."""


def judge(candidate: Fact, situation: Situation, ladder: Ladder) -> Judgement:
    """Decide on a candidate. Pure: the same inputs give the same judgement."""
    if candidate.when_superseded is not None and not situation.replaying:
        return Judgement(
            Outcome.WAITING, Rule.CONTINGENCY, evidence={"waits_for": candidate.when_superseded}
        )
    lapsed = tuple(f for f in situation.incumbents if has_lapsed(f, candidate))
    holders = tuple(f for f in situation.incumbents if f not in lapsed)
    targets = tuple(f for f in situation.targets if is_as_narrow(candidate, f))
    too_wide = tuple(f for f in situation.targets if f not in targets)

    if holders and tells_of_the_past(candidate, holders + situation.running):
        return Judgement(Outcome.ESTABLISHED, Rule.TEMPORAL, past=True, evidence={"past": True})
    restated = _restated(candidate, holders, targets)
    if restated is not None and not situation.replaying:
        return Judgement(
            Outcome.CONFIRMED,
            Rule.SAME_VALUE,
            against=restated,
            evidence={"confirms": restated.id},
        )
    named = targets + too_wide if candidate.scope.is_real else targets
    present = () if candidate.multi_valued else holders + situation.running
    rivals = named + present
    for rival in rivals:
        if outranks(rival.standing, candidate.authority, ladder):
            return _overruled(rival)

    around = situation.around + too_wide
    for wider in around:
        if _binds(wider, candidate) and outranks(wider.standing, candidate.authority, ladder):
            return _overruled(wider)

    retires = _unique(targets + present)
    if holders and not targets and not candidate.multi_valued:
        incumbent = holders[0]
        behind = is_scheduled(incumbent, candidate) or is_late(incumbent, candidate)
        if behind and not outranks(candidate.authority, incumbent.standing, ladder):
            return Judgement(
                Outcome.SUPERSEDED, Rule.TEMPORAL, lapsed=lapsed, against=incumbent, late=True
            )
    if retires and situation.confidence < situation.contest_below:
        return Judgement(
            Outcome.CONTESTED,
            Rule.WEAK_EVIDENCE,
            against=retires[0],
            evidence={"contests": retires[0].id},
        )
    if retires:
        return _supersedes(candidate, retires, targets, lapsed, ladder)
    return _takes_free_office(candidate, around, lapsed)


def is_as_narrow(candidate: Fact, target: Fact) -> bool:
    """Whether the target is no wider than the candidate, so that it can be superseded outright.

    A narrower fact never supersedes a wider one: it shadows it where it applies. A fact of one
    person is narrower than one of the organization.
    """
    if _WIDTH[candidate.scope] < _WIDTH[target.scope]:
        return False
    return candidate.owner == target.owner or candidate.owner == ""


def binds(shared: Fact, *, subject: str | None) -> bool:
    """Whether a fact of the organization speaks to the same matter as a personal one would.

    It does when the subject is named, or when it is a constraint. "address" with no subject is
    one person's own address, and the organization's does not touch it.
    """
    return bool(subject) or shared.is_constraint


def _binds(wider: Fact, candidate: Fact) -> bool:
    if same_value(wider.value, candidate.value) or not candidate.scope.is_real:
        return False
    return wider.owner == candidate.owner or binds(wider, subject=candidate.subject)


def _overruled(rival: Fact) -> Judgement:
    return Judgement(
        Outcome.OVERRULED,
        Rule.AUTHORITY,
        against=rival,
        evidence={"overruled_by": rival.id, "authority": rival.standing},
    )


def _restated(candidate: Fact, holders: tuple[Fact, ...], targets: tuple[Fact, ...]) -> Fact | None:
    """The incumbent that says the same on the same terms, if nothing else is to be retired."""
    for holder in holders:
        if (
            same_value(holder.value, candidate.value)
            and _same_terms(holder, candidate)
            and all(target.id == holder.id for target in targets)
        ):
            return holder
    return None


def _same_terms(holder: Fact, candidate: Fact) -> bool:
    """Whether a restatement adds nothing: no other term, ground, reader or kind.

    A fact that needs review is renewed by a restatement, not confirmed: the speaker has said it
    again in knowledge of how things stand now.
    """
    return (
        not holder.causes
        and not is_scheduled(holder, candidate)
        and candidate.valid_from <= candidate.recorded_at
        and candidate.valid_until in (None, holder.valid_until)
        and (not candidate.depends_on or set(candidate.depends_on) == set(holder.depends_on))
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
        evidence={"supersedes": [fact.id for fact in retires]},
    )


def _takes_free_office(
    candidate: Fact, around: tuple[Fact, ...], lapsed: tuple[Fact, ...]
) -> Judgement:
    for wider in around:
        hides = wider.owner == candidate.owner or binds(wider, subject=candidate.subject)
        if hides and not candidate.multi_valued and not same_value(wider.value, candidate.value):
            return Judgement(
                Outcome.SHADOWED,
                Rule.SCOPE,
                lapsed=lapsed,
                against=wider,
                evidence={"shadows": wider.id},
            )
    evidence = {"after_expiry_of": [fact.id for fact in lapsed]} if lapsed else {}
    return Judgement(Outcome.ESTABLISHED, Rule.FIRST, lapsed=lapsed, evidence=evidence)


def _unique(facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Each fact once, real ones before the drafts that a commit takes over."""
    found = {fact.id: fact for fact in facts}
    return tuple(sorted(found.values(), key=lambda fact: not fact.scope.is_real))
