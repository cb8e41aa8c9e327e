"""The specification: its test vectors word for word, its schema, checklist and anti-patterns."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

import incumbent
from incumbent import Identity, Memory, Outcome, Rule, Session, Status
from incumbent.testing import SteppingClock


def someone(memory: Memory, user_id: str, authority: str, **more: Any) -> Session:
    return memory.session(user_id=user_id, authority=authority, organization="acme", **more)


class TestVectors:
    """The three test vectors of the specification."""

    def test_a_cancelled_status_replaces_an_approved_one(self, alice: Session) -> None:
        """Vector 1: the context holds what superseded the status, and not the status."""
        alice.write("status_v1", "approved")
        alice.write("status_v2", "cancelled", supersedes="status_v1")
        text = alice.context("What is the current status?").text
        assert "cancelled" in text
        assert "approved" not in text

    def test_three_mentions_do_not_outweigh_one_cancellation(self, alice: Session) -> None:
        """Vector 2: saying it three times makes one fact, and one later word ends it."""
        approved = alice.write("order_v1", "approved")
        assert alice.write("order_v1", "approved").outcome is Outcome.CONFIRMED
        assert alice.write("order_v1", "approved").outcome is Outcome.CONFIRMED
        for turn in range(3):
            alice.note(f"turn_{turn}", "The order is approved.")
        alice.write("order_v2", "cancelled", supersedes="order_v1")

        context = alice.context("Should we proceed with the order?")
        assert "cancelled" in context.text
        assert "approved" not in context.text
        told = {(omission.reason, omission.item) for omission in context.omissions}
        assert told == {("superseded", None)} | {
            ("quotes a dead value", f"turn_{turn}") for turn in range(3)
        }
        assert not alice.is_current(approved.fact_id)
        assert [fact.value for fact in alice.facts()] == ["cancelled"]

    def test_an_intern_does_not_move_the_policy_of_a_cfo(self, memory: Memory) -> None:
        """Vector 3: the policy stands in the context, and the suggestion has changed nothing."""
        policy = someone(memory, "carol", "CFO").write("policy", "max 15%", source="CFO")
        intern = someone(memory, "ian", "intern")
        intern.note("turn_1", "Let's offer 25%")
        suggested = intern.write("policy", "25%")

        assert (suggested.outcome, suggested.rule) == (Outcome.OVERRULED, Rule.AUTHORITY)
        context = intern.context("Can we offer 25%?")
        assert "max 15%" in context.text
        assert "25%" not in context.text
        assert intern.current("policy") == "max 15%"
        standing = intern.get(policy.fact_id)
        assert standing is not None
        assert standing.is_valid
        assert standing.superseded_by is None


class TestSchema:
    """Every field of the specification's schema exists under its own name."""

    @pytest.mark.parametrize(
        "name",
        [
            "id",
            "key",
            "value",
            "source",
            "timestamp",
            "is_valid",
            "superseded_by",
            "supersedes",
            "memory_type",
            "scope",
            "scope_id",
            "depends_on",
            "derived_facts",
            "needs_review",
            "is_constraint",
            "constraint_type",
        ],
    )
    def test_a_fact_has_every_field_of_persistent_fact(self, name: str) -> None:
        """A PersistentFact's field is readable on a Fact."""
        assert hasattr(incumbent.Fact, name)

    @pytest.mark.parametrize(
        ("kind", "names"),
        [
            (incumbent.Source, {"type", "turn_index", "event_index", "authority"}),
            (
                Identity,
                {
                    "user_name",
                    "user_id",
                    "authority",
                    "department",
                    "organization",
                    "permissions",
                },
            ),
            (incumbent.WorkingItem, {"key", "value", "created_at", "expires_at"}),
            (
                incumbent.Environment,
                {"current_time", "current_date", "timezone", "location", "external_data"},
            ),
        ],
    )
    def test_the_smaller_values_have_every_field(self, kind: Any, names: set[str]) -> None:
        """Source, IdentityRole, WorkingSetItem and Environment are complete."""
        assert names <= {field.name for field in fields(kind)}

    def test_a_stored_fact_carries_what_the_schema_asks_for(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """The fields of a fact in a chain read as the schema describes them."""
        base = alice.write("unit_price", 12)
        first = alice.write(
            "order_total",
            120,
            depends_on=["unit_price"],
            source=incumbent.Source(type="conversation", turn_index=4),
        )
        second = alice.write("order_total", 130, constraint_type="budget")
        old, new = alice.get(first.fact_id), alice.get(second.fact_id)
        assert old is not None
        assert new is not None
        assert (old.is_valid, old.superseded_by) == (False, new.id)
        assert (new.is_valid, new.supersedes) == (True, old.id)
        assert old.key == new.key == "order_total"
        assert old.source.type == "conversation"
        assert (old.source.turn_index, old.source.authority) == (4, "manager")
        assert old.depends_on == (base.fact_id,)
        assert old.timestamp < new.timestamp < clock.now
        assert (new.memory_type, new.scope, new.scope_id) == ("user", "global", None)
        assert (new.is_constraint, new.constraint_type) == (True, "budget")
        root = alice.get(base.fact_id)
        assert root is not None
        assert root.derived_facts == (first.fact_id,)
        assert root.needs_review is False


class TestChecklist:
    """What a conforming implementation has to do."""

    def test_the_layers_are_kept_apart(self, alice: Session, memory: Memory) -> None:
        """A note is no fact, a fact is no note, and neither is environment or identity."""
        memory.environment.provide("weather", lambda: "rain")
        alice.note("scratch", "a note")
        alice.write("plan", "a fact")
        assert alice.current("scratch") is None
        assert alice.current("weather") is None
        assert [item.key for item in alice.working_set()] == ["scratch"]
        assert dict(alice.environment.external_data) == {"weather": "rain"}
        sections = {line.section for line in alice.context("plan?").lines}
        assert sections == {"Identity", "Environment", "Facts", "Working set"}

    def test_the_identity_cannot_be_changed(self, alice: Session) -> None:
        """Layer 1 is read-only once the session has started."""
        with pytest.raises(AttributeError):
            alice.identity.user_id = "mallory"  # type: ignore[misc]

    def test_reads_give_valid_facts_only(self, alice: Session, clock: SteppingClock) -> None:
        """Superseded, retracted and expired facts are in no plain read."""
        alice.write("a", "old")
        alice.write("a", "new")
        alice.write("b", "gone")
        alice.retract("b")
        alice.write("c", "brief", valid_until=clock.now + timedelta(minutes=1))
        clock.advance(minutes=2)
        assert [fact.value for fact in alice.facts()] == ["new"]
        assert all(fact.is_valid for fact in alice.facts())
        text = alice.context("?").text
        assert not any(value in text for value in ("old", "gone", "brief"))

    def test_the_chain_stays_traceable(self, alice: Session) -> None:
        """Every fact that held the key is kept, linked to what replaced it."""
        for value in ("first", "second", "third"):
            alice.write("plan", value)
        chain = alice.history("plan")
        assert chain.values == ("first", "second", "third")
        for earlier, later in pairwise(chain):
            assert earlier.superseded_by == later.id
            assert later.supersedes == earlier.id

    def test_authority_is_checked_before_a_write(self, memory: Memory) -> None:
        """A reserved key takes no write from below: the good form of the third anti-pattern."""
        memory.declare("discount_policy", write_authority="policy")
        with pytest.raises(incumbent.NotPermitted, match="discount_policy"):
            someone(memory, "eve", "employee").write("discount_policy", "50%")
        assert someone(memory, "board", "policy").write("discount_policy", "10%").took_office

    def test_the_latest_mention_is_not_the_current_value(self, alice: Session) -> None:
        """Recency without supersession is an anti-pattern: a late old statement does not win."""
        start = datetime(2026, 1, 1, tzinfo=UTC)
        alice.write("address", "456 Oak Ave", at=start + timedelta(days=2))
        mention = alice.write("address", "123 Main St", at=start)
        alice.note("address", "456 Oak Ave")
        assert mention.fact is not None
        assert mention.fact.status is Status.SUPERSEDED
        assert alice.current("address") == "456 Oak Ave"

    def test_the_context_keeps_its_budget(self, alice: Session) -> None:
        """Budget management: however much is stored, the text is no longer than asked for."""
        alice.write_many([{"key": f"key_{n}", "value": f"some text {n}"} for n in range(60)])
        context = alice.context("text?", budget=200)
        assert context.tokens <= 200
        assert any(omission.reason == "over budget" for omission in context.omissions)


class TestReadFunctions:
    """`is_fact_current` and `get_current_value` of the specification."""

    def test_an_unknown_key_is_not_current_and_has_no_value(self, alice: Session) -> None:
        """Nothing was said, so nothing is known."""
        assert alice.is_current("nothing") is False
        assert alice.current("nothing") is None

    def test_current_follows_a_chain_over_several_keys(self, alice: Session) -> None:
        """A superseded key leads to the live end of its chain, and is not current itself."""
        alice.write("address_v1", "123 Main St")
        alice.write("address_v2", "456 Oak Ave", supersedes="address_v1")
        alice.write("address_v3", "7 Elm Rd", supersedes="address_v2")
        assert [alice.is_current(f"address_v{n}") for n in (1, 2, 3)] == [False, False, True]
        assert {alice.current(f"address_v{n}") for n in (1, 2, 3)} == {"7 Elm Rd"}

    def test_a_chain_that_ends_in_a_retraction_yields_nothing(self, alice: Session) -> None:
        """No earlier value comes back when the last one is taken back."""
        alice.write("address_v1", "123 Main St")
        alice.write("address_v2", "456 Oak Ave", supersedes="address_v1")
        alice.retract("address_v2")
        assert alice.current("address_v1") is None
        assert alice.current("address_v2") is None
        assert alice.history("address_v1").live is None


class TestDetection:
    """The four detection rules in their structured forms."""

    def test_explicit_by_key(self, alice: Session) -> None:
        """A target named by its key is superseded, by the explicit rule."""
        old = alice.write("address_v1", "123 Main St")
        new = alice.write("address_v2", "456 Oak Ave", supersedes="address_v1")
        assert (new.outcome, new.rule) == (Outcome.SUPERSEDED, Rule.EXPLICIT)
        assert new.superseded == (old.fact_id,)

    def test_explicit_by_id(self, alice: Session) -> None:
        """A target named by its id is superseded, by the explicit rule."""
        old = alice.write("address", "123 Main St", id="address-1")
        new = alice.write("home", "456 Oak Ave", supersedes="address-1")
        assert (new.rule, new.superseded) == (Rule.EXPLICIT, (old.fact_id,))

    def test_explicit_with_an_unknown_target_is_an_error(self, alice: Session) -> None:
        """A target that does not exist is never a silent no-op."""
        with pytest.raises(incumbent.UnknownTarget, match="address_v1"):
            alice.write("address_v2", "456 Oak Ave", supersedes="address_v1")
        assert alice.facts() == []

    def test_implicit(self, alice: Session) -> None:
        """A conflicting value at the same address supersedes with no cue at all."""
        old = alice.write("time", "Tuesday 2pm", subject="meeting")
        new = alice.write("time", "Thursday 3pm", subject="meeting")
        assert (new.outcome, new.rule) == (Outcome.SUPERSEDED, Rule.IMPLICIT)
        assert new.superseded == (old.fact_id,)
        assert alice.current("time", "meeting") == "Thursday 3pm"

    @pytest.mark.parametrize("policy_first", [True, False])
    def test_authority_in_either_order(self, memory: Memory, policy_first: bool) -> None:
        """The policy is in force whether it was stated before or after the employee spoke."""
        board = someone(memory, "board", "policy")
        eve = someone(memory, "eve", "employee", permissions=["organization:write"])
        words = [(board, "max 15%"), (eve, "25%")]
        for speaker, value in words if policy_first else reversed(words):
            speaker.write("discount", value, subject="sales", memory_type="organizational")
        assert eve.current("discount", "sales") == "max 15%"
        chain = eve.history("discount", "sales")
        assert chain.live is not None
        assert chain.live.authority == "policy"
        lower = chain.overruled[0] if policy_first else chain[0]
        assert lower.status is (Status.OVERRULED if policy_first else Status.SUPERSEDED)
        rules = {verdict.rule for verdict in eve.explain("discount", "sales").verdicts}
        assert Rule.AUTHORITY in rules

    def test_temporal_by_the_newer_reading(self, alice: Session, memory: Memory) -> None:
        """The stock price of 15 January replaces that of 1 January."""
        memory.declare("stock_price", time_sensitive=True)
        january = datetime(2025, 1, 1, tzinfo=UTC)
        alice.write("stock_price", "$100", valid_from=january)
        newer = alice.write("stock_price", "$95", valid_from=january + timedelta(days=14))
        assert (newer.outcome, newer.rule) == (Outcome.SUPERSEDED, Rule.TEMPORAL)
        assert alice.current("stock_price") == "$95"

    def test_temporal_with_a_late_arrival(self, alice: Session, memory: Memory) -> None:
        """An old reading that arrives late takes its place in the past and does not win."""
        memory.declare("stock_price", time_sensitive=True)
        january = datetime(2025, 1, 1, tzinfo=UTC)
        alice.write("stock_price", "$95", valid_from=january + timedelta(days=14))
        late = alice.write("stock_price", "$100", valid_from=january)
        assert (late.outcome, late.rule) == (Outcome.SUPERSEDED, Rule.TEMPORAL)
        assert late.evidence["late"] is True
        assert not late.took_office
        assert alice.current("stock_price") == "$95"
        assert alice.history("stock_price").values == ("$100", "$95")
        assert alice.as_of(january + timedelta(days=3)).current("stock_price") == "$100"

    def test_a_stated_validity_ends_the_fact_by_itself(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """ "Until Friday" is over on Friday, with nothing else said."""
        alice.write("discount", "10%", valid_until=clock.now + timedelta(days=4))
        clock.advance(days=3)
        assert alice.current("discount") == "10%"
        clock.advance(days=1)
        assert alice.current("discount") is None
        assert alice.history("discount")[0].status is Status.EXPIRED

    def test_every_verdict_tells_rule_evidence_and_confidence(self, alice: Session) -> None:
        """A supersession records which rule fired, on what evidence, how sure."""
        old = alice.write("venue", "Lyon")
        verdict = alice.write("venue", "Paris", confidence=0.8)
        assert verdict.rule is Rule.IMPLICIT
        assert verdict.evidence == {"supersedes": [old.fact_id]}
        assert verdict.confidence == 0.8
