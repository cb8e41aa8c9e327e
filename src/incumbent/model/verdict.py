"""Verdicts: the recorded decision on a candidate, with the rule, the evidence, a confidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from incumbent.model.fact import Fact
from incumbent.model.making import quickly_made
from incumbent.model.values import text_of

_LONGEST = 80
BESIDE = "beside"
"""The name in evidence for the audiences of facts that the author of a decision could not see, and
so did not touch. Kept for replays, and shown to nobody."""


class Outcome(StrEnum):
    """The result of a candidate.

    `waiting` is a contingent fact that was filed; every other word is in the glossary.
    """

    ESTABLISHED = "established"
    SUPERSEDED = "superseded"
    CONFIRMED = "confirmed"
    OVERRULED = "overruled"
    SHADOWED = "shadowed"
    CONTESTED = "contested"
    PROMOTED = "promoted"
    REVERTED = "reverted"
    RETRACTED = "retracted"
    WAITING = "waiting"


class Rule(StrEnum):
    """The rule that decided. The first four are the specification's detection rules."""

    EXPLICIT = "explicit"
    IMPLICIT = "implicit"
    AUTHORITY = "authority"
    TEMPORAL = "temporal"
    FIRST = "first"  # nobody held the address
    SAME_VALUE = "same value"
    SCOPE = "scope"
    CONTINGENCY = "contingency"
    APPROVAL = "approval"
    WEAK_EVIDENCE = "weak evidence"
    REVERSION = "reversion"
    RETRACTION = "retraction"
    COMMIT = "commit"
    DISCARD = "discard"
    REVIEW = "review"
    UNDO = "undo"
    ERASURE = "erasure"


class Action(StrEnum):
    """The request: a replay of the log carries it out again."""

    ASSERT = "assert"
    CONFIRM = "confirm"
    RETRACT = "retract"
    ACKNOWLEDGE = "acknowledge"
    ACCEPT = "accept"
    UNDO = "undo"
    FORGET = "forget"


@dataclass(frozen=True, slots=True)
class Repair:
    """The consequences of a decision, beyond the candidate itself."""

    marked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Facts that now need review, each with the path from the base that changed."""
    lifted: tuple[str, ...] = ()
    """Facts that no longer need review."""
    took_office: tuple[str, ...] = ()
    """Contingent or earlier facts that now hold office."""
    stepped_back: tuple[str, ...] = ()
    """Facts that left office because of it, besides those superseded outright."""

    def __bool__(self) -> bool:
        return bool(self.marked or self.lifted or self.took_office or self.stepped_back)


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A decision, as recorded. Reversible: `session.undo(verdict)`.

    Invariants: `seq` grows along an organization's log and `recorded_at` never runs backwards
    along it; `evidence` names facts by id and holds no stored value, so that an erasure has
    nothing to look for in it.
    """

    id: str
    organization: str
    seq: int
    action: Action
    outcome: Outcome
    rule: Rule
    fact_id: str
    superseded: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    """The facts that the candidate named as superseded, whether or not they were."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    confidence: float = 1.0
    by: str
    authority: str
    at: datetime
    recorded_at: datetime
    reason: str | None = None
    repair: Repair = Repair()
    undone_by: str | None = None
    fact: Fact | None = None
    """The fact decided on, as it stood right after the decision."""

    @property
    def took_office(self) -> bool:
        """Whether the fact decided on is valid as a result."""
        return self.fact is not None and self.fact.is_valid

    def evolve(self, **changes: Any) -> Verdict:
        """A copy with some fields changed."""
        return replace(self, **changes)

    def __str__(self) -> str:
        fact = self.fact
        name = fact.key if fact is not None else self.fact_id
        if fact is not None and fact.is_unnamed:
            said = " ".join(text_of(fact.value).split())
            name = f'"{said}"' if len(said) <= _LONGEST else f'"{said[: _LONGEST - 4]} ..."'
        return f"{name}: {self.outcome} ({self.rule})"
