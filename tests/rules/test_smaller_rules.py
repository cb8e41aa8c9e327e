"""Authority, visibility, scope, time, classification and repair, each by itself."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent import Cause, Declaration, Fact, MemoryType, NotPermitted, Scope, Source, Status
from incumbent.rules.authority import (
    check_may_write_as,
    check_may_write_key,
    derived_authority,
    outranks,
)
from incumbent.rules.classification import classify_constraint, classify_memory, rules_for_all
from incumbent.rules.repair import broken_leg, causes_of
from incumbent.rules.scope import effective
from incumbent.rules.temporal import as_seen, has_lapsed, is_late, overlaps, place
from incumbent.rules.visibility import may_read
from tests.rules.sample import HOUR, LADDER, NOON, a_candidate, a_fact, an_identity

ORGANIZATION: dict[str, Any] = {"owner": "", "memory_type": MemoryType.ORGANIZATIONAL}


class TestAuthority:
    """Who may write what, and who outranks whom."""

    def test_outranking_is_strict(self) -> None:
        """Nobody outranks an equal."""
        assert outranks("manager", "employee", LADDER)
        assert not outranks("manager", "manager", LADDER)
        assert not outranks("guest", "manager", LADDER)

    @pytest.mark.parametrize(
        ("permissions", "wanted", "allowed"),
        [
            ((), "employee", True),
            ((), "guest", True),
            ((), "manager", False),
            (("authority:manager",), "manager", True),
            (("authority:executive",), "manager", True),
            (("authority:manager",), "executive", False),
            (("authority:*",), "policy", True),
        ],
    )
    def test_writing_above_oneself(
        self, permissions: tuple[str, ...], wanted: str, allowed: bool
    ) -> None:
        """It takes the permission for that rung or for a higher one."""
        identity = an_identity(permissions=permissions)
        if allowed:
            check_may_write_as(identity, LADDER.resolve(wanted), LADDER)
        else:
            with pytest.raises(NotPermitted):
                check_may_write_as(identity, LADDER.resolve(wanted), LADDER)

    def test_every_declaration_has_to_agree(self) -> None:
        """The strictest of several decides."""
        told = [
            Declaration("x", write_authority="guest"),
            Declaration("*", write_authority="policy"),
        ]
        with pytest.raises(NotPermitted):
            check_may_write_key("x", LADDER.resolve("manager"), told, LADDER)
        check_may_write_key("x", LADDER.resolve("manager"), told[:1], LADDER)

    def test_the_lowest_base_decides(self) -> None:
        """By standing, so that a confirmed base counts as what protects it."""
        bases = [a_fact("a", authority="policy"), a_fact("b", authority="guest")]
        assert derived_authority("executive", bases, LADDER) == "guest"
        assert derived_authority("guest", bases[:1], LADDER) == "guest"
        raised = a_fact("b", authority="guest", standing="manager")
        assert derived_authority("executive", [raised], LADDER) == "manager"


class TestVisibility:
    """Who may know of a fact."""

    @pytest.mark.parametrize(
        ("fact", "identity", "allowed"),
        [
            ({}, {}, True),
            ({"owner": "other"}, {}, False),
            ({"organization": "globex"}, {}, False),
            ({**ORGANIZATION, "organization": "globex"}, {}, False),
            (ORGANIZATION, {}, True),
            ({"memory_type": MemoryType.ORGANIZATIONAL}, {}, False),
            ({"owner": ""}, {}, False),
            ({"memory_type": MemoryType.CAPABILITY}, {}, True),
            ({"memory_type": MemoryType.CAPABILITY, "owner": "other"}, {}, False),
            ({"requires": ("hr", "pay")}, {"permissions": ("hr",)}, False),
            ({"requires": ("hr", "pay")}, {"permissions": ("hr", "pay", "x")}, True),
            ({"min_authority": "manager"}, {}, False),
            ({"min_authority": "manager"}, {"authority": "cfo"}, True),
            ({"owner": "other"}, {"authority": "policy", "permissions": ("authority:*",)}, False),
        ],
    )
    def test_deny_by_default(
        self, fact: dict[str, Any], identity: dict[str, Any], allowed: bool
    ) -> None:
        """Every condition has to hold, and no rank replaces one."""
        assert may_read(an_identity(**identity), a_fact(**fact), LADDER) is allowed

    def test_declared_requirements_are_added(self) -> None:
        """All of the fact's and all of the declarations'."""
        told = [Declaration("plan", requires=("hr",)), Declaration("*", requires=("pay",))]
        both = an_identity(permissions=("hr", "pay"))
        one = an_identity(permissions=("hr",))
        assert may_read(both, a_fact(), LADDER, told)
        assert not may_read(one, a_fact(), LADDER, told)


class TestScope:
    """Which of several facts a session goes by."""

    PLACES = ((Scope.SESSION, "s"), (Scope.TASK, "t"), (Scope.GLOBAL, ""))

    def winner(self, *facts: Fact) -> set[str]:
        return {fact.id for fact in effective(facts, self.PLACES, LADDER).effective}

    def test_the_narrowest_wins_and_the_others_are_shadowed(self) -> None:
        """Session before task before global."""
        wide = a_fact("g")
        task = a_fact("t", scope=Scope.TASK, scope_id="t")
        narrow = a_fact("s", scope=Scope.SESSION, scope_id="s")
        view = effective([wide, narrow, task], self.PLACES, LADDER)
        assert view.effective == (narrow,)
        assert {pair[0].id for pair in view.shadowed} == {"g", "t"}

    def test_places_that_do_not_apply_do_not_count(self) -> None:
        """Another task's fact is nowhere."""
        assert self.winner(a_fact("x", scope=Scope.TASK, scope_id="other")) == set()

    def test_a_wider_fact_of_higher_authority_prevails(self) -> None:
        """The narrower one is overruled here."""
        wide = a_fact("g", authority="policy")
        narrow = a_fact("t", scope=Scope.TASK, scope_id="t")
        view = effective([wide, narrow], self.PLACES, LADDER)
        assert view.effective == (wide,)
        assert view.overruled == ((narrow, wide),)

    def test_a_supposition_hides_anything(self) -> None:
        """Inside its own branch."""
        branch = (Scope.HYPOTHETICAL, "h")
        wide = a_fact("g", authority="policy")
        supposed = a_fact("h", scope=Scope.HYPOTHETICAL, scope_id="h", authority="guest")
        view = effective([wide, supposed], (branch, *self.PLACES), LADDER)
        assert view.effective == (supposed,)

    def test_several_values_accumulate(self) -> None:
        """A multi-valued key shadows nothing."""
        assert self.winner(a_fact("a", multi_valued=True), a_fact("b", multi_valued=True)) == {
            "a",
            "b",
        }

    @pytest.mark.parametrize(
        ("shared", "winners"),
        [
            ({}, {"own", "org"}),
            ({"is_constraint": True}, {"org"}),
            ({"is_constraint": True, "authority": "guest"}, {"own"}),
            ({"is_constraint": True, "authority": "policy"}, {"org"}),
        ],
    )
    def test_ones_own_and_the_shared(self, shared: dict[str, Any], winners: set[str]) -> None:
        """They coexist about nothing in particular; a constraint meets one's own."""
        assert self.winner(a_fact("own"), a_fact("org", **ORGANIZATION, **shared)) == winners

    def test_the_order_of_the_facts_does_not_matter(self) -> None:
        """Neither does the order of the keys."""
        facts = [a_fact("g"), a_fact("t", scope=Scope.TASK, scope_id="t"), a_fact("o", key="x")]
        assert self.winner(*facts) == self.winner(*reversed(facts)) == {"t", "o"}


class TestTime:
    """What holds when, and where a late reading belongs."""

    def test_terms_begin_and_end_by_themselves(self) -> None:
        """As seen before, during and after."""
        fact = a_fact(valid_until=NOON + HOUR)
        seen = [as_seen(fact, NOON + n * HOUR / 2).status for n in (-1, 0, 1, 2)]
        assert seen == [Status.WAITING, Status.OFFICE, Status.OFFICE, Status.EXPIRED]

    def test_a_fact_whose_successor_starts_later_is_in_office(self) -> None:
        """Superseded on paper, in office until the day."""
        leaving = a_fact(status=Status.SUPERSEDED, superseded_by="n", ended_at=NOON + HOUR)
        assert as_seen(leaving, NOON).status is Status.OFFICE
        assert as_seen(leaving, NOON + HOUR).status is Status.SUPERSEDED

    def test_lapsed_later_and_late(self) -> None:
        """Three ways in which two facts do not meet."""
        candidate = a_candidate()
        assert has_lapsed(a_fact(valid_until=candidate.valid_from), candidate)
        assert not has_lapsed(a_fact(valid_until=candidate.valid_from + HOUR), candidate)
        assert overlaps(a_fact(), candidate)
        brief = a_candidate(valid_until=candidate.valid_from + HOUR)
        assert not overlaps(a_fact(at=NOON + 5 * HOUR), brief)
        earlier = NOON - HOUR
        assert is_late(a_fact(), a_candidate(timestamp=earlier, valid_from=earlier))
        assert not is_late(a_fact(), a_candidate(timestamp=earlier, valid_from=NOON + HOUR))
        assert not is_late(a_fact(), candidate)
        assert not is_late(a_fact(at=NOON + 5 * HOUR), candidate)

    def test_a_late_candidate_goes_between_its_neighbours(self) -> None:
        """After the one before it, before the first later one that may supersede it."""
        first = a_fact("1", at=NOON, status=Status.SUPERSEDED, superseded_by="3")
        last = a_fact("3", at=NOON + 2 * HOUR, predecessors=("1",))
        late = a_candidate("2", at=NOON + 3 * HOUR, timestamp=NOON + HOUR)
        position = place(late, last, [first, last], LADDER)
        assert (position.after, position.before) == (first, last)
        assert position.overruled_by is None

    def test_a_late_candidate_before_all_has_nothing_before_it(self) -> None:
        """It becomes the first of the chain."""
        last = a_fact("3")
        late = a_candidate("2", timestamp=NOON - HOUR)
        assert place(late, last, [last], LADDER)[:2] == (None, last)

    def test_a_late_candidate_below_its_neighbour_is_overruled(self) -> None:
        """What held office then outranks it."""
        first = a_fact(
            "1", at=NOON, status=Status.SUPERSEDED, superseded_by="3", authority="policy"
        )
        last = a_fact("3", at=NOON + 2 * HOUR, authority="policy")
        late = a_candidate("2", timestamp=NOON + HOUR)
        assert place(late, last, [first, last], LADDER).overruled_by == first


class TestClassification:
    """Memory types and constraints."""

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            (Source(), "user"),
            (Source(name="decision"), "user"),
            (Source(name="preference"), "user"),
            (Source(name="observation"), "capability"),
            (Source(name="Pattern"), "capability"),
            (Source(name="heuristic"), "capability"),
            (Source(type="policy"), "organizational"),
            (Source(name="policy"), "organizational"),
            (Source(type="system", name="finance_system"), "organizational"),
            (Source(name="HR System"), "organizational"),
            (Source(name="documents"), "organizational"),
        ],
    )
    def test_memory_type_by_source(self, source: Source, expected: str) -> None:
        """As the specification's classification says."""
        assert classify_memory(source) == expected

    def test_a_rule_for_all_is_the_organizations_but_for_a_preference(self) -> None:
        """Unless it says that it is a preference or an observation."""
        assert classify_memory(Source(), rules_for_all=True) == "organizational"
        assert classify_memory(Source(name="preference"), rules_for_all=True) == "user"

    def test_only_constraints_of_the_highest_rungs_are_for_all_unasked(self) -> None:
        """What the top constrains, it constrains for all; the rung below it does with policies."""
        assert rules_for_all("budget", 4, 4)
        assert not rules_for_all(None, 4, 4)
        assert rules_for_all("policy", 3, 4)
        assert not rules_for_all("budget", 3, 4)
        assert not rules_for_all("policy", 0, 0)

    @pytest.mark.parametrize(
        ("key", "value", "expected"),
        [
            ("discount_policy", "x", "policy"),
            ("policy", "x", "policy"),
            ("discount_policy_v2", "x", "policy"),
            ("q3-budget", 5, "budget"),
            ("shipDeadline", "x", "deadline"),
            ("max_seats", 5, "capacity"),
            ("policy_owner", "Ann", None),
            ("maxine", "x", None),
            ("note", "you must not exceed it", "policy"),
            ("note", "plain", None),
            ("note", "ordered the bike in mustard", None),
            ("note", "I must admit that it is late", None),
        ],
    )
    def test_constraints_by_key_and_wording(
        self, key: str, value: Any, expected: str | None
    ) -> None:
        """The head of the key, or binding words in the value."""
        assert classify_constraint(key, value, Source()) == expected

    def test_a_policy_source_makes_a_policy(self) -> None:
        """Whatever its key."""
        assert classify_constraint("colour", "red", Source(type="policy")) == "policy"

    def test_a_long_text_that_says_must_is_no_rule(self) -> None:
        """A page of notes binds nobody by its wording; by its key or its source it may."""
        text = "We talked about the trip. " * 20 + "You must see the cathedral."
        assert classify_constraint("notes", "You must lock the door.", Source()) == "policy"
        assert classify_constraint("notes", text, Source()) is None
        assert classify_constraint("travel_policy", text, Source()) == "policy"


class TestRepair:
    """Why a fact needs review."""

    def test_a_leg_bears_while_its_end_says_the_same(self) -> None:
        """Broken by a departure or by another value, mended by the same value."""
        base = a_fact("b", status=Status.SUPERSEDED, superseded_by="n")
        assert broken_leg(a_fact("b"), a_fact("b")) is None
        assert broken_leg(base, a_fact("n")) is None
        assert broken_leg(base, a_fact("n", value="other")) == Cause("b", "n", ("b",))
        gone = a_fact("b", status=Status.RETRACTED)
        assert broken_leg(gone, gone) == Cause("b", None, ("b",))

    def causes(self, fact: Fact, *ends: Fact) -> tuple[Cause, ...]:
        bases = {base: a_fact(base) for base in fact.depends_on}
        return causes_of(fact, bases, dict(zip(fact.depends_on, ends, strict=True)))

    def test_a_change_is_a_cause_with_its_path(self) -> None:
        """From the base to the fact itself."""
        fact = a_fact("d", depends_on=("b",))
        assert self.causes(fact, a_fact("n", value="x")) == (Cause("b", "n", ("b", "d")),)
        assert self.causes(fact, a_fact("b")) == ()

    def test_causes_are_inherited_by_the_shortest_path(self) -> None:
        """Of two ways to the same cause, the shorter is told."""
        fact = a_fact("d", depends_on=("b", "c"))
        far = a_fact("b", causes=(Cause("r", "n", ("r", "x", "b")),))
        near = a_fact("c", causes=(Cause("r", "n", ("r", "c")),))
        assert self.causes(fact, far, near) == (Cause("r", "n", ("r", "c", "d")),)

    def test_an_acknowledged_cause_is_silent_and_another_is_not(self) -> None:
        """An acknowledgement names the base and what took its place."""
        fact = a_fact("d", depends_on=("b",), acknowledged=frozenset({"b>n"}))
        assert self.causes(fact, a_fact("n", value="x")) == ()
        assert self.causes(fact, a_fact("m", value="x")) == (Cause("b", "m", ("b", "d")),)
