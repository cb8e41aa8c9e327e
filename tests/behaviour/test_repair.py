"""What follows when a fact that others rest on changes."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

import pytest

import incumbent
from incumbent import Memory, Outcome, Rule, Session
from incumbent.testing import SteppingClock
from tests.behaviour.people import fact, in_review, someone
from tests.conftest import QUICK


def priced(alice: Session) -> tuple[str, str, str]:
    """A price, a total that rests on it, an invoice that rests on that."""
    return (
        alice.write("price", 12).fact_id,
        alice.write("total", 120, depends_on=["price"]).fact_id,
        alice.write("invoice", "120 due", depends_on=["total"]).fact_id,
    )


def work_of_marking(steps: int) -> int:
    """How many calls it takes to mark a chain: a measure that no load disturbs."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    with incumbent.open(":memory:", settings=QUICK) as memory:
        alice = memory.session(user_id="alice", organization="acme")
        last = alice.write("step_0", 0).fact_id
        for step in range(1, steps + 1):
            last = alice.write(f"step_{step}", step, depends_on=[last]).fact_id
        sys.setprofile(count)
        try:
            alice.write("step_0", 99)
        finally:
            sys.setprofile(None)
    return calls


class TestMarking:
    """What comes to need review."""

    def test_a_change_marks_dependents_with_the_path(self, alice: Session) -> None:
        """Each mark names the base, what took its place, and the way from there."""
        price, total, invoice = priced(alice)
        raised = alice.write("price", 15)
        assert raised.repair.marked == {total: (price, total), invoice: (price, total, invoice)}
        [cause] = fact(alice, invoice).causes
        assert (cause.base, cause.now) == (price, raised.fact_id)
        assert cause.path == (price, total, invoice)
        assert fact(alice, invoice).is_valid

    def test_marks_reach_eight_steps_down(self, alice: Session) -> None:
        """A chain of dependents is marked to its end."""
        ids = [alice.write("step_0", 0).fact_id]
        for step in range(1, 9):
            ids.append(alice.write(f"step_{step}", step, depends_on=[ids[-1]]).fact_id)
        changed = alice.write("step_0", 99)
        assert set(changed.repair.marked) == set(ids[1:])
        assert changed.repair.marked[ids[8]] == tuple(ids)
        alice.undo(changed)
        assert in_review(alice) == set()

    def test_marks_reach_any_depth(self, alice: Session) -> None:
        """No depth is too deep to be read: a thousand steps are one review each."""
        alice.write_many([{"key": "step_0", "value": 0, "id": "f0"}])
        for step in range(1, 1001):
            alice.write(f"step_{step}", step, depends_on=[f"f{step - 1}"], id=f"f{step}")
        alice.write("step_0", 99)
        assert len(alice.reviews()) == 1000

    def test_a_longer_chain_takes_as_much_more_work(self) -> None:
        """Four times as many steps are four times the work, and not sixteen times."""
        few, many = (work_of_marking(steps) for steps in (50, 200))
        assert many < 6 * few

    def test_a_diamond_is_marked_once_by_its_shortest_path(self, alice: Session) -> None:
        """Two ways to the same base are one cause."""
        root = alice.write("root", 1).fact_id
        left = alice.write("left", 1, depends_on=["root"]).fact_id
        alice.write("right", 1, depends_on=["root"])
        alice.write("further", 1, depends_on=["right"])
        tip = alice.write("tip", 1, depends_on=["left", "further"]).fact_id
        alice.write("root", 2)
        [cause] = fact(alice, tip).causes
        assert cause.path == (root, left, tip)

    @pytest.mark.timeout(3600)
    def test_layers_of_diamonds_are_read_in_reasonable_time(self, alice: Session) -> None:
        """Forty layers have a million million paths and only eighty facts."""
        alice.write_many([{"key": "0a", "value": 0}, {"key": "0b", "value": 0}])
        for layer in range(1, 40):
            bases = [f"{layer - 1}a", f"{layer - 1}b"]
            for side in "ab":
                alice.write(f"{layer}{side}", layer, depends_on=bases)
        alice.write("0a", 1)
        assert len(alice.reviews()) == 78

    def test_a_wide_fan_out_is_marked_whole(self, alice: Session) -> None:
        """Fifty facts that rest on one are fifty reviews."""
        alice.write("root", 1)
        alice.write_many(
            [{"key": f"leaf_{n}", "value": n, "depends_on": ["root"]} for n in range(50)]
        )
        assert len(alice.write("root", 2).repair.marked) == 50
        assert len(alice.reviews()) == 50

    def test_a_retracted_base_marks_with_nothing_in_its_place(self, alice: Session) -> None:
        """The cause of a retraction names no successor."""
        _, total, _ = priced(alice)
        alice.retract("price")
        assert [cause.now for cause in fact(alice, total).causes] == [None]
        assert in_review(alice) == {"total", "invoice"}

    def test_two_bases_are_two_causes(self, alice: Session) -> None:
        """One is lifted without the other."""
        alice.write("a", 1)
        alice.write("b", 1)
        total = alice.write("sum", 2, depends_on=["a", "b"]).fact_id
        first = alice.write("a", 2)
        alice.write("b", 2)
        assert len(fact(alice, total).causes) == 2
        alice.undo(first)
        assert len(fact(alice, total).causes) == 1

    def test_a_confirmed_base_marks_nothing(self, alice: Session) -> None:
        """Saying the same thing again breaks no leg."""
        priced(alice)
        assert not alice.write("price", 12).repair
        assert in_review(alice) == set()

    def test_a_base_renewed_on_other_terms_marks_nothing(self, alice: Session) -> None:
        """The chain has a new end that says the same."""
        priced(alice)
        assert alice.write("price", 12, requires=[], is_constraint=True).outcome == "superseded"
        assert in_review(alice) == set()

    def test_an_overruled_change_marks_nothing(self, memory: Memory) -> None:
        """What did not take office moved nothing."""
        mia, eve = someone(memory, "mia", "manager"), someone(memory, "mia", "employee")
        priced(mia)
        assert eve.write("price", 15).outcome is Outcome.OVERRULED
        assert in_review(mia) == set()

    def test_an_expired_base_marks_at_its_end(self, alice: Session, clock: SteppingClock) -> None:
        """When the base's own term is over, what rests on it is no longer known."""
        alice.write("offer", 10, valid_until=clock.now + timedelta(days=1))
        alice.write("total", 90, depends_on=["offer"])
        assert in_review(alice) == set()
        clock.advance(days=2)
        assert in_review(alice) == {"total"}
        assert "90" not in alice.context("?").text

    def test_a_scheduled_successor_marks_on_its_first_day(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """Until the new base starts, what rests on the old one stands."""
        alice.write("price", 12)
        alice.write("total", 120, depends_on=["price"])
        alice.write("price", 15, valid_from=clock.now + timedelta(days=7))
        assert in_review(alice) == set()
        clock.advance(days=8)
        assert in_review(alice) == {"total"}

    def test_a_fact_derived_from_a_marked_one_is_marked(self, alice: Session) -> None:
        """Building on shaky ground is shaky from the start."""
        priced(alice)
        alice.write("price", 15)
        alice.write("letter", "pay 120", depends_on=["invoice"])
        assert in_review(alice) == {"total", "invoice", "letter"}

    def test_a_context_names_a_marked_fact_without_its_value(self, alice: Session) -> None:
        """Balanced names it, high-stakes leaves it out, comprehensive shows it as unreliable."""
        alice.write("price", 12)
        alice.write("total", "onehundredtwenty", depends_on=["price"])
        alice.write("price", 15)
        balanced = alice.context("?")
        assert "- total: not known, recalculate, because price changed" in balanced.text
        assert "onehundredtwenty" not in balanced.text
        strict = alice.context("?", profile="high-stakes")
        assert "total" not in strict.text
        assert [o.reason for o in strict.omissions] == ["superseded", "needs review"]
        everything = alice.context("?", profile="comprehensive").text
        assert 'was "onehundredtwenty", not to be relied on' in everything

    def test_a_note_does_not_bring_a_withheld_value_back(self, alice: Session) -> None:
        """The value of a fact under review stays out by every road."""
        alice.write("price", 12)
        alice.write("total", "onehundredtwenty", depends_on=["price"])
        alice.write("price", 15)
        alice.note("turn", "the total is onehundredtwenty")
        assert "onehundredtwenty" not in alice.context("?").text


class TestLifting:
    """What makes a mark go."""

    def test_undoing_the_change_lifts_the_marks(self, alice: Session) -> None:
        """When the base comes back, marks that have no other cause go."""
        _, total, invoice = priced(alice)
        raised = alice.write("price", 15)
        undone = alice.undo(raised)
        assert set(undone.repair.lifted) == {total, invoice}
        assert in_review(alice) == set()

    def test_a_reversion_to_the_same_value_lifts_the_marks(self, alice: Session) -> None:
        """The chain says again what the dependents were derived from."""
        _, total, invoice = priced(alice)
        alice.write("price", 15)
        assert set(alice.revert("price").repair.lifted) == {total, invoice}
        assert in_review(alice) == set()

    def test_restating_the_first_value_lifts_the_marks(self, alice: Session) -> None:
        """It need not be called a reversion to be one."""
        priced(alice)
        alice.write("price", 15)
        alice.write("price", 12)
        assert in_review(alice) == set()

    def test_undoing_a_retraction_lifts_the_marks(self, alice: Session) -> None:
        """The base is back, and so is what rests on it."""
        priced(alice)
        alice.undo(alice.retract("price"))
        assert in_review(alice) == set()

    def test_restating_a_marked_fact_renews_it(self, alice: Session) -> None:
        """Whoever says it again knows how things stand now."""
        _, total, _ = priced(alice)
        alice.write("price", 15)
        again = alice.write("total", 120, depends_on=["price"])
        assert again.superseded == (total,)
        assert in_review(alice) == set()


class TestResolving:
    """The review queue."""

    def test_a_new_value_rests_on_the_bases_as_they_are(self, alice: Session) -> None:
        """Recalculating supersedes the stale fact and stands on the changed base."""
        _, total, _ = priced(alice)
        raised = alice.write("price", 15)
        verdict = alice.resolve(total, 150, reason="recalculated")
        assert (verdict.outcome, verdict.rule) == (Outcome.SUPERSEDED, Rule.REVIEW)
        assert fact(alice, verdict).depends_on == (raised.fact_id,)
        assert alice.current("total") == 150
        assert in_review(alice) == {"invoice"}

    def test_recalculating_to_the_same_value_settles_it(self, alice: Session) -> None:
        """The total is the same after all; what rests on it is right again."""
        _, total, _ = priced(alice)
        alice.write("price", 15)
        alice.resolve(total, 120)
        assert alice.current("total") == 120
        assert in_review(alice) == set()

    def test_still_right_lifts_this_cause(self, alice: Session) -> None:
        """An acknowledged cause is silent, also further down."""
        _, total, invoice = priced(alice)
        alice.write("price", 15)
        verdict = alice.resolve(total, still_right=True)
        assert (verdict.outcome, verdict.rule) == (Outcome.CONFIRMED, Rule.REVIEW)
        assert set(verdict.repair.lifted) == {total, invoice}
        assert alice.current("total") == 120

    def test_another_change_of_the_same_base_asks_again(self, alice: Session) -> None:
        """An acknowledgement covers what was known, not what comes."""
        _, total, _ = priced(alice)
        alice.write("price", 15)
        alice.resolve(total, still_right=True)
        alice.write("price", 18)
        assert in_review(alice) == {"total", "invoice"}

    def test_undoing_an_acknowledgement_brings_the_mark_back(self, alice: Session) -> None:
        """Still right was a verdict, and can be taken back like any other."""
        _, total, _ = priced(alice)
        alice.write("price", 15)
        alice.undo(alice.resolve(total, still_right=True))
        assert in_review(alice) == {"total", "invoice"}

    def test_retracting_in_review_takes_the_fact_back(self, alice: Session) -> None:
        """The fact goes, and what rests on it is marked for that."""
        _, total, invoice = priced(alice)
        alice.write("price", 15)
        verdict = alice.resolve(total, retract=True)
        assert (verdict.outcome, verdict.rule) == (Outcome.RETRACTED, Rule.REVIEW)
        assert alice.current("total") is None
        assert [cause.base for cause in fact(alice, invoice).causes] == [total]

    def test_an_expired_base_can_be_acknowledged(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """A total can be right although the offer behind it is over."""
        alice.write("offer", 10, valid_until=clock.now + timedelta(days=1))
        total = alice.write("total", 90, depends_on=["offer"]).fact_id
        clock.advance(days=2)
        alice.resolve(total, still_right=True)
        assert in_review(alice) == set()

    def test_what_is_not_under_review_cannot_be_resolved(self, alice: Session) -> None:
        """There is no question to answer."""
        _, total, _ = priced(alice)
        with pytest.raises(incumbent.InvalidInput, match="not under review"):
            alice.resolve(total, still_right=True)
        with pytest.raises(incumbent.InvalidInput, match="exactly one"):
            alice.resolve(total, 1, retract=True)

    def test_settling_takes_the_standing_of_the_fact(self, memory: Memory) -> None:
        """An employee does not wave through what a manager stands for."""
        mia, eve = someone(memory, "mia", "manager"), someone(memory, "mia", "employee")
        _, total, _ = priced(mia)
        mia.write("price", 15)
        with pytest.raises(incumbent.NotPermitted):
            eve.resolve(total, still_right=True)
        assert in_review(mia) == {"total", "invoice"}


class TestCycles:
    """A fact cannot rest on what it replaces."""

    def test_a_fact_cannot_rest_on_its_predecessor(self, alice: Session) -> None:
        """Neither directly nor through others, and nothing is written."""
        priced(alice)
        with pytest.raises(incumbent.DependencyCycle, match="price"):
            alice.write("price", 13, depends_on=["invoice"])
        with pytest.raises(incumbent.DependencyCycle):
            alice.write("price", 13, depends_on=["price"])
        assert alice.current("price") == 12
        assert in_review(alice) == set()

    def test_a_fact_cannot_rest_on_what_it_names_as_superseded(self, alice: Session) -> None:
        """An explicit target counts as replaced."""
        priced(alice)
        with pytest.raises(incumbent.DependencyCycle):
            alice.write("estimate", 1, supersedes="price", depends_on=["total"])
        assert alice.current("estimate") is None


@pytest.mark.on_every_store
def test_what_rests_on_somebodys_own_can_be_read_by_others(memory: Memory) -> None:
    """A fact of the organization whose base only its writer may see is a fact to everybody, and
    needs review for everybody once the base has changed."""
    ann, bob = someone(memory, "ann", "manager"), someone(memory, "bob")
    ann.write("draft_price", 12)
    ann.write("price", 24, memory_type="organizational", depends_on=["draft_price"])
    (seen,) = bob.facts("price")
    assert not seen.needs_review
    ann.write("draft_price", 15)
    (seen,) = bob.facts("price")
    assert seen.needs_review
    assert in_review(bob) == {"price"}
