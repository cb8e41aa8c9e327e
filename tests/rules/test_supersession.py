"""`judge`: what becomes of a candidate, as a table."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent import Fact, MemoryType, Outcome, Rule, Scope
from incumbent.rules.supersession import Situation, binds, is_as_narrow, judge
from tests.rules.sample import HOUR, LADDER, NOON, a_candidate, a_fact

ORGANIZATION: dict[str, Any] = {"owner": "", "memory_type": MemoryType.ORGANIZATIONAL}
TASK: dict[str, Any] = {"scope": Scope.TASK, "scope_id": "t"}
DRAFT: dict[str, Any] = {"scope": Scope.DRAFT, "scope_id": "d"}


def outcome(candidate: Fact, **situation: Any) -> tuple[Outcome, Rule]:
    judgement = judge(candidate, Situation(**situation), LADDER)
    return judgement.outcome, judgement.rule


@pytest.mark.parametrize(
    ("candidate", "incumbent", "expected"),
    [
        ({}, None, (Outcome.ESTABLISHED, Rule.FIRST)),
        ({}, {}, (Outcome.SUPERSEDED, Rule.IMPLICIT)),
        ({"value": "A"}, {}, (Outcome.CONFIRMED, Rule.SAME_VALUE)),
        ({"value": 1.0}, {"value": 1}, (Outcome.CONFIRMED, Rule.SAME_VALUE)),
        ({"value": True}, {"value": 1}, (Outcome.SUPERSEDED, Rule.IMPLICIT)),
        ({"authority": "manager"}, {}, (Outcome.SUPERSEDED, Rule.AUTHORITY)),
        ({"authority": "guest"}, {}, (Outcome.OVERRULED, Rule.AUTHORITY)),
        ({}, {"standing": "policy"}, (Outcome.OVERRULED, Rule.AUTHORITY)),
        ({"value": "A", "authority": "guest"}, {}, (Outcome.CONFIRMED, Rule.SAME_VALUE)),
        ({"time_sensitive": True}, {"time_sensitive": True}, (Outcome.SUPERSEDED, Rule.TEMPORAL)),
        ({"multi_valued": True}, {"multi_valued": True}, (Outcome.ESTABLISHED, Rule.FIRST)),
        ({"when_superseded": "f"}, {}, (Outcome.WAITING, Rule.CONTINGENCY)),
        ({}, {"valid_until": NOON + HOUR}, (Outcome.ESTABLISHED, Rule.FIRST)),
        ({"value": "A", "requires": ("hr",)}, {}, (Outcome.SUPERSEDED, Rule.IMPLICIT)),
    ],
)
def test_a_candidate_at_an_address(
    candidate: dict[str, Any], incumbent: dict[str, Any] | None, expected: tuple[Outcome, Rule]
) -> None:
    """With at most one incumbent, outcome and rule follow the order of the seven questions."""
    held = () if incumbent is None else (a_fact(**incumbent),)
    assert outcome(a_candidate(**candidate), seats=held) == expected


def test_a_named_target_is_superseded_by_the_explicit_rule() -> None:
    """Whatever the rule would have been for the incumbent."""
    target = a_fact("other", key="status")
    judgement = judge(a_candidate(), Situation(targets=(target,)), LADDER)
    assert (judgement.outcome, judgement.rule) == (Outcome.SUPERSEDED, Rule.EXPLICIT)
    assert judgement.retires == (target,)
    assert judgement.evidence == {"supersedes": ["other"]}


def test_a_target_that_outranks_overrules() -> None:
    """Naming a fact is no way around its authority."""
    target = a_fact("other", key="status", authority="policy")
    assert outcome(a_candidate(), targets=(target,)) == (Outcome.OVERRULED, Rule.AUTHORITY)


@pytest.mark.parametrize(
    ("confidence", "expected"), [(0.59, Outcome.CONTESTED), (0.6, Outcome.SUPERSEDED)]
)
def test_weak_evidence_is_contested(confidence: float, expected: Outcome) -> None:
    """Below the threshold nothing is retired."""
    found, _ = outcome(a_candidate(), seats=(a_fact(),), confidence=confidence, contest_below=0.6)
    assert found is expected


def test_weak_evidence_suffices_for_a_free_office() -> None:
    """There is nothing to retire."""
    assert outcome(a_candidate(), confidence=0.0, contest_below=0.6)[0] is Outcome.ESTABLISHED


@pytest.mark.parametrize(
    ("wider", "expected"),
    [
        ({"authority": "policy"}, Outcome.OVERRULED),
        ({"authority": "employee"}, Outcome.SHADOWED),
        ({"authority": "policy", "value": "B"}, Outcome.ESTABLISHED),
    ],
)
def test_a_narrower_candidate_meets_a_wider_fact(wider: dict[str, Any], expected: Outcome) -> None:
    """It shadows what it may, is overruled by what outranks it, and may say the same."""
    assert outcome(a_candidate(**TASK), around=(a_fact(**wider),))[0] is expected


@pytest.mark.parametrize(
    ("shared", "candidate", "expected"),
    [
        ({}, {}, Outcome.ESTABLISHED),
        ({"is_constraint": True}, {}, Outcome.OVERRULED),
        ({"subject": "s"}, {"subject": "s"}, Outcome.OVERRULED),
        ({"is_constraint": True}, DRAFT, Outcome.SHADOWED),
    ],
)
def test_a_personal_candidate_meets_a_shared_fact(
    shared: dict[str, Any], candidate: dict[str, Any], expected: Outcome
) -> None:
    """A shared fact binds about a named subject or as a constraint, but never a supposition."""
    around = (a_fact(**ORGANIZATION, authority="policy", **shared),)
    assert outcome(a_candidate(**candidate), around=around)[0] is expected


def test_a_late_candidate_is_filed() -> None:
    """Dated before the incumbent, it is superseded by it, on the temporal rule."""
    late = a_candidate(timestamp=NOON - HOUR, valid_from=NOON - HOUR)
    judgement = judge(late, Situation(seats=(a_fact(),)), LADDER)
    assert (judgement.outcome, judgement.rule, judgement.late) == (
        Outcome.SUPERSEDED,
        Rule.TEMPORAL,
        True,
    )


def test_a_late_candidate_of_higher_authority_takes_office() -> None:
    """Authority prevails in either order."""
    late = a_candidate(timestamp=NOON - HOUR, valid_from=NOON - HOUR, authority="policy")
    judgement = judge(late, Situation(seats=(a_fact(),)), LADDER)
    assert (judgement.rule, judgement.late) == (Rule.AUTHORITY, False)


def test_an_undated_candidate_is_never_late() -> None:
    """A skewed clock does not decide."""
    ahead = a_fact(at=NOON + 9 * HOUR, started_at=NOON, valid_from=NOON)
    assert judge(a_candidate(), Situation(seats=(ahead,)), LADDER).late is False


@pytest.mark.parametrize(
    ("candidate", "target", "expected"),
    [
        ({}, {}, True),
        (TASK, {}, False),
        (DRAFT, {}, False),
        ({}, TASK, True),
        ({}, ORGANIZATION, False),
        (ORGANIZATION, {}, True),
        ({}, {"owner": "other"}, False),
    ],
)
def test_only_what_is_no_wider_is_superseded_outright(
    candidate: dict[str, Any], target: dict[str, Any], expected: bool
) -> None:
    """Neither a wider scope nor the organization gives way to something narrower."""
    assert is_as_narrow(a_candidate(**candidate), a_fact(**target)) is expected


def test_a_narrower_candidate_does_not_retire_the_wider_target_it_names() -> None:
    """It shadows it."""
    judgement = judge(a_candidate(**TASK), Situation(targets=(a_fact(),)), LADDER)
    assert (judgement.outcome, judgement.retires) == (Outcome.SHADOWED, ())


def test_binding() -> None:
    """A shared fact speaks to the same matter with a subject, or as a constraint."""
    assert binds(a_fact(), subject="s")
    assert binds(a_fact(is_constraint=True), subject=None)
    assert not binds(a_fact(), subject=None)


def test_judging_is_pure() -> None:
    """The same inputs give the same judgement."""
    situation = Situation(seats=(a_fact(),))
    assert judge(a_candidate(), situation, LADDER) == judge(a_candidate(), situation, LADDER)
