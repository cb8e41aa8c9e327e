"""Facts that wait for another to leave, and statements on weak evidence."""

from __future__ import annotations

import pytest

import incumbent
from incumbent import Memory, Outcome, Rule, Session
from tests.behaviour.people import fact, someone

pytestmark = pytest.mark.on_every_store


class TestContingency:
    """Facts that wait for another to leave."""

    def test_it_takes_office_when_its_base_leaves(self, alice: Session) -> None:
        """If the team lead changes, the report goes to James."""
        alice.write("lead", "Ana")
        before = alice.write("report_to", "Ana")
        filed = alice.write("report_to", "James", when_superseded="lead")
        assert (filed.outcome, filed.rule) == (Outcome.WAITING, Rule.CONTINGENCY)
        assert alice.current("report_to") == "Ana"
        handover = alice.write("lead", "Priya")
        assert handover.repair.took_office == (filed.fact_id,)
        assert handover.repair.stepped_back == (before.fact_id,)
        assert alice.current("report_to") == "James"
        assert fact(alice, before).superseded_by == filed.fact_id

    def test_it_steps_back_when_that_is_undone(self, alice: Session) -> None:
        """Undoing the departure undoes the arrival, and it waits again."""
        alice.write("lead", "Ana")
        alice.write("report_to", "Ana")
        alice.write("report_to", "James", when_superseded="lead")
        alice.undo(alice.write("lead", "Priya"))
        assert alice.current("report_to") == "Ana"
        alice.write("lead", "Omar")
        assert alice.current("report_to") == "James"

    def test_a_retraction_of_the_base_counts_as_leaving(self, alice: Session) -> None:
        """Without a lead the arrangement takes effect as well."""
        alice.write("lead", "Ana")
        alice.write("report_to", "James", when_superseded="lead")
        alice.retract("lead")
        assert alice.current("report_to") == "James"

    def test_a_confirmed_or_renewed_base_does_not_count_as_leaving(self, alice: Session) -> None:
        """The lead has not changed, so the arrangement goes on waiting."""
        alice.write("lead", "Ana")
        alice.write("report_to", "James", when_superseded="lead")
        alice.write("lead", "Ana")
        alice.write("lead", "Ana", is_constraint=True)
        assert alice.current("report_to") is None
        alice.write("lead", "Priya")
        assert alice.current("report_to") == "James"

    def test_it_is_refused_when_the_base_is_gone_already(self, alice: Session) -> None:
        """Nothing can wait for what has happened."""
        first = alice.write("lead", "Ana")
        alice.write("lead", "Priya")
        with pytest.raises(incumbent.InvalidInput, match="already left office"):
            alice.write("report_to", "James", when_superseded=first.fact_id)
        with pytest.raises(incumbent.UnknownDependency):
            alice.write("report_to", "James", when_superseded="nobody")
        assert alice.current("report_to") is None

    def test_arrangements_follow_each_other(self, alice: Session) -> None:
        """One that takes office can be what the next was waiting for."""
        alice.write("lead", "Ana")
        alice.write("report_to", "Ana")
        alice.write("archive", "A")
        alice.write("report_to", "James", when_superseded="lead")
        alice.write("archive", "B", when_superseded="report_to")
        handover = alice.write("lead", "Priya")
        assert (alice.current("report_to"), alice.current("archive")) == ("James", "B")
        alice.undo(handover)
        assert (alice.current("report_to"), alice.current("archive")) == ("Ana", "A")

    def test_it_does_not_displace_what_outranks_it(self, memory: Memory) -> None:
        """Waiting does not lend authority."""
        boss, mia = someone(memory, "mia", "executive"), someone(memory, "mia", "manager")
        mia.write("lead", "Ana")
        boss.write("report_to", "Board")
        mia.write("report_to", "James", when_superseded="lead")
        mia.write("lead", "Priya")
        assert mia.current("report_to") == "Board"

    def test_a_waiting_fact_is_in_no_plain_read(self, alice: Session) -> None:
        """It is stored and it is not current, in no list, no context."""
        alice.write("lead", "Ana")
        filed = alice.write("report_to", "Jameson", when_superseded="lead")
        assert [found.key for found in alice.facts()] == ["lead"]
        assert "Jameson" not in alice.context("?").text
        assert alice.is_current(filed.fact_id) is False

    def test_it_can_be_taken_back_while_it_waits(self, alice: Session) -> None:
        """A retracted or undone arrangement does not come into effect."""
        alice.write("lead", "Ana")
        one = alice.write("report_to", "James", when_superseded="lead")
        two = alice.write("archive", "B", when_superseded="lead")
        alice.retract(one.fact_id)
        alice.undo(two)
        alice.write("lead", "Priya")
        assert alice.current("report_to") is None
        assert alice.current("archive") is None


class TestContested:
    """Statements on weak evidence."""

    def test_weak_evidence_retires_nothing(self, alice: Session) -> None:
        """The incumbent stays, and the pair is put to a person."""
        old = alice.write("venue", "Lyon")
        doubt = alice.write("venue", "Paris", confidence=0.4)
        assert (doubt.outcome, doubt.rule) == (Outcome.CONTESTED, Rule.WEAK_EVIDENCE)
        assert alice.current("venue") == "Lyon"
        [review] = alice.reviews()
        assert review.kind == "contested"
        assert review.fact.id == doubt.fact_id
        assert review.rival is not None
        assert review.rival.id == old.fact_id
        assert '- venue: Lyon [contested: "Paris" was said on' in alice.context("?").text

    def test_weak_evidence_suffices_where_nothing_is_retired(self, alice: Session) -> None:
        """With nobody in office there is nothing to protect."""
        assert alice.write("venue", "Paris", confidence=0.1).outcome is Outcome.ESTABLISHED
        assert alice.write("venue", "Paris", confidence=0.1).outcome is Outcome.CONFIRMED

    def test_the_threshold_itself_is_enough(self, alice: Session) -> None:
        """Contested is what lies below Settings.contest_below."""
        alice.write("venue", "Lyon")
        assert alice.write("venue", "Paris", confidence=0.6).outcome is Outcome.SUPERSEDED

    def test_found_right_it_takes_office(self, alice: Session) -> None:
        """The person who was asked says yes."""
        old = alice.write("venue", "Lyon")
        doubt = alice.write("venue", "Paris", confidence=0.4)
        verdict = alice.resolve(doubt.fact_id, still_right=True)
        assert verdict.superseded == (old.fact_id,)
        assert alice.current("venue") == "Paris"
        assert alice.reviews() == []

    def test_turned_down_it_is_gone(self, alice: Session) -> None:
        """The person who was asked says no."""
        alice.write("venue", "Lyon")
        doubt = alice.write("venue", "Paris", confidence=0.4)
        alice.resolve(doubt.fact_id, retract=True)
        assert alice.current("venue") == "Lyon"
        assert alice.reviews() == []

    def test_resolved_with_a_third_value(self, alice: Session) -> None:
        """Neither was right."""
        alice.write("venue", "Lyon")
        doubt = alice.write("venue", "Paris", confidence=0.4)
        alice.resolve(doubt.fact_id, "Nice")
        assert alice.current("venue") == "Nice"
        assert alice.reviews() == []

    def test_a_doubt_from_below_is_overruled(self, memory: Memory) -> None:
        """Authority is asked before evidence."""
        boss, eve = someone(memory, "mia", "executive"), someone(memory, "mia", "employee")
        boss.write("venue", "Lyon")
        assert eve.write("venue", "Paris", confidence=0.1).outcome is Outcome.OVERRULED
