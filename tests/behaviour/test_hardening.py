"""Roads by which an invariant was once broken; each stays closed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import incumbent
from incumbent import Outcome, Session
from incumbent.stores.exports import sealed
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL
from tests.properties.world import all_facts, check_links

SHARED: dict[str, Any] = {"memory_type": "organizational"}


@pytest.fixture
def guest(memory: incumbent.Memory) -> Session:
    return memory.session(
        user_id="gus", authority="guest", organization="acme", permissions=FOR_ALL
    )


@pytest.fixture
def employee(memory: incumbent.Memory) -> Session:
    return memory.session(
        user_id="eve", authority="employee", organization="acme", permissions=FOR_ALL
    )


class TestAuthority:
    """A lower authority never invalidates a higher one."""

    def test_not_by_scheduling_ahead(
        self, alice: Session, employee: Session, clock: SteppingClock
    ) -> None:
        """A manager's word today outlives what an employee had announced for next week."""
        employee.write("price", 99, valid_from=clock.now + timedelta(days=7), **SHARED)
        alice.write("price", 50, **SHARED)
        clock.advance(days=8)
        assert alice.current("price") == 50

    def test_not_by_a_restatement_from_the_future(
        self, alice: Session, guest: Session, clock: SteppingClock
    ) -> None:
        """A guest's restatement dated 2099 does not make the manager's next word late."""
        alice.write("rate", 10, **SHARED)
        guest.write("rate", 10, at=datetime(2099, 1, 1, tzinfo=UTC), **SHARED)
        alice.write("rate", 12, at=clock.now, **SHARED)
        assert alice.current("rate") == 12

    def test_not_around_a_reserved_key(
        self, memory: incumbent.Memory, alice: Session, employee: Session
    ) -> None:
        """A key reserved for managers is not superseded from another key."""
        memory.declare("budget", write_authority="manager")
        alice.write("budget", 100, **SHARED)
        with pytest.raises(incumbent.NotPermitted, match="budget"):
            employee.write("lunch", 1, supersedes="budget", **SHARED)
        assert alice.current("budget") == 100

    def test_a_reversion_claims_no_more_than_the_fact_had(
        self, alice: Session, guest: Session
    ) -> None:
        """A value derived from a guest's word comes back as a guest's word, and is overruled."""
        guest.write("rumour", "x", **SHARED)
        alice.write("plan", "A", depends_on=["rumour"], **SHARED)
        alice.write("plan", "B", **SHARED)
        verdict = alice.revert("plan")
        assert verdict.outcome is Outcome.OVERRULED
        assert alice.current("plan") == "B"

    def test_an_id_chosen_to_read_like_a_key_is_not_followed(
        self, alice: Session, guest: Session
    ) -> None:
        """A name that is one fact's id and another's key is refused as ambiguous."""
        alice.write("order_status", "open", **SHARED)
        guest.write("junk", "j", id="order_status", **SHARED)
        with pytest.raises(incumbent.AmbiguousTarget):
            alice.retract("order_status")
        assert alice.current("order_status") == "open"


class TestTerms:
    """Terms that begin later, ended before, or overlap."""

    def test_a_past_term_retires_nothing(self, alice: Session) -> None:
        """Telling where one lived from 2010 to 2015 does not touch where one lives."""
        alice.write("city", "Rome")
        verdict = alice.write(
            "city",
            "Paris",
            valid_from=datetime(2010, 1, 1, tzinfo=UTC),
            valid_until=datetime(2015, 1, 1, tzinfo=UTC),
        )
        assert verdict.outcome is Outcome.ESTABLISHED
        assert alice.current("city") == "Rome"
        assert alice.as_of(datetime(2012, 1, 1, tzinfo=UTC)).current("city") == "Paris"

    def test_an_arrangement_fits_before_a_scheduled_fact(
        self, memory: incumbent.Memory, alice: Session, clock: SteppingClock
    ) -> None:
        """A contingent fact takes office until the scheduled one starts; never two at once."""
        alice.write("lead", "x")
        first = alice.write("rep", 1)
        second = alice.write("rep", 2, valid_from=clock.now + timedelta(days=7))
        third = alice.write("rep", 3, when_superseded="lead")
        alice.write("lead", "y")
        ids = (first.fact_id, second.fact_id, third.fact_id)
        assert [alice.is_current(fact_id) for fact_id in ids] == [False, False, True]
        check_links(all_facts(memory))
        clock.advance(days=8)
        assert alice.current("rep") == 2

    def test_a_running_term_binds_although_its_successor_is_known(
        self, memory: incumbent.Memory, alice: Session, employee: Session, clock: SteppingClock
    ) -> None:
        """A manager's fact that runs for a month is not pushed aside because of what follows it."""
        end = clock.now + timedelta(days=30)
        alice.write("limit", "M", valid_until=end, **SHARED)
        employee.write("limit", "S", valid_from=end, **SHARED)
        assert employee.write("limit", "C", **SHARED).outcome is Outcome.OVERRULED
        assert alice.current("limit") == "M"
        clock.advance(days=31)
        assert alice.current("limit") == "S"
        check_links(all_facts(memory))

    def test_a_cancelled_schedule_lets_the_holder_stay(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """Retracting what has not begun leaves the present fact in office for good."""
        alice.write("rate", 5)
        ahead = alice.write("rate", 6, valid_from=clock.now + timedelta(days=7))
        alice.retract(ahead.fact_id)
        clock.advance(days=8)
        assert alice.current("rate") == 5

    def test_a_scheduled_fact_can_be_named(self, alice: Session, clock: SteppingClock) -> None:
        """Superseding a scheduled fact by its id replaces the plan."""
        alice.write("rate", 5)
        ahead = alice.write("rate", 6, valid_from=clock.now + timedelta(days=7))
        alice.write("rate", 7, supersedes=ahead.fact_id)
        clock.advance(days=8)
        assert alice.current("rate") == 7


class TestDependencies:
    """A fact never comes to rest on itself, and depth costs nothing but itself."""

    def test_not_through_a_base_that_was_superseded(self, alice: Session) -> None:
        """Resting on an earlier fact of one's own chain is refused."""
        first = alice.write("a", 1)
        alice.write("a", 2)
        with pytest.raises(incumbent.DependencyCycle):
            alice.write("a", 3, depends_on=[first.fact_id])
        assert alice.current("a") == 2

    def test_not_through_an_accepted_statement(self, alice: Session) -> None:
        """Accepting a contested statement that rests on what it replaces is refused."""
        alice.write("a", 1)
        alice.write("b", 5, depends_on=["a"])
        guess = alice.write("a", 2, depends_on=["b"], confidence=0.3)
        with pytest.raises(incumbent.DependencyCycle):
            alice.resolve(guess.fact_id, still_right=True)
        assert alice.current("a") == 1

    def test_not_through_a_redo(self, alice: Session) -> None:
        """An undo is not taken back where that would close a circle."""
        alice.write("a", 1)
        second = alice.write("a", 2)
        alice.write("b", 5, depends_on=["a"])
        undone = alice.undo(second)
        alice.write("a", 3, depends_on=["b"])
        with pytest.raises(incumbent.DependencyCycle):
            alice.undo(undone)
        assert alice.current("a") == 3

    def test_layers_of_diamonds_are_read_at_once(self, alice: Session) -> None:
        """Forty layers, each resting on both facts of the one before, are marked and read."""
        below: list[str] = []
        for layer in range(40):
            below = [
                alice.write(f"{side}{layer}", layer, depends_on=below).fact_id for side in "lr"
            ]
        alice.write("l0", "changed")
        assert len(alice.reviews()) == 78


class TestErasure:
    """What is erased is gone, and nothing comes back because of it."""

    def test_an_undo_does_not_bring_back_what_an_erased_fact_replaced(
        self, memory: incumbent.Memory, alice: Session
    ) -> None:
        """With a later fact erased, undoing an earlier one is refused."""
        alice.write("x", "first")
        second = alice.write("x", "second")
        third = alice.write("x", "third")
        memory.forget(organization="acme", fact_id=third.fact_id)
        with pytest.raises(incumbent.NothingToUndo, match="erased"):
            alice.undo(second)
        assert alice.current("x") is None

    def test_an_undo_works_after_an_earlier_fact_was_erased(
        self, memory: incumbent.Memory, alice: Session, clock: SteppingClock
    ) -> None:
        """An erased middle keeps its place in a replay, and the past stays as it was."""
        alice.write("x", 1)
        then = clock()
        middle = alice.write("x", 2, supersedes="x")
        last = alice.write("x", 3)
        memory.forget(organization="acme", fact_id=middle.fact_id)
        alice.undo(last)
        assert alice.current("x") is None
        assert alice.as_of(then).current("x") == 1

    def test_quotations_go_through_any_hands(
        self, memory: incumbent.Memory, alice: Session
    ) -> None:
        """A derived fact that quotes what was erased goes, also behind one that does not quote."""
        base = alice.write("address", "123 Main St")
        alice.write("zone", "north", depends_on=["address"])
        alice.write("note", "parcel for 123 Main St", depends_on=["zone"])
        alice.note("about 123 Main St", "call back")
        alice.retract("zone", reason="moved from 123 Main St")
        memory.forget(organization="acme", fact_id=base.fact_id)
        assert "Main St" not in str(list(memory.export("acme")))
        assert alice.working_set() == []

    def test_the_draft_of_a_committed_fact_goes_with_it(
        self, memory: incumbent.Memory, alice: Session
    ) -> None:
        """Forgetting a fact takes the copies of its value in the same chain."""
        draft = alice.draft("d")
        draft.write("phone", "555-0199")
        committed = draft.commit()[0]
        memory.forget(organization="acme", fact_id=committed.fact_id)
        assert "555-0199" not in str(list(memory.export("acme")))


class TestErasedBases:
    """An undo near an erased base neither fails nor fires what waits for it."""

    def test_an_arrangement_on_an_erased_base_goes_on_waiting(
        self, memory: incumbent.Memory, alice: Session
    ) -> None:
        """Undone and brought back, it still does not take office."""
        base = alice.write("lead", 1)
        alice.write("rep", "old")
        arranged = alice.write("rep", "J", when_superseded="lead")
        memory.forget(organization="acme", fact_id=base.fact_id)
        alice.undo(alice.undo(arranged))
        assert alice.current("rep") == "old"

    def test_links_agree_after_an_undo_over_an_erased_fact(
        self, memory: incumbent.Memory, alice: Session
    ) -> None:
        """The tombstone follows whoever stands after it, and nobody while none does."""
        first = alice.write("x", 1)
        second = alice.write("x", 2)
        memory.forget(organization="acme", fact_id=first.fact_id)
        undone = alice.undo(second)
        check_links(all_facts(memory))
        alice.undo(undone)
        check_links(all_facts(memory))
        assert alice.current("x") == 2


class TestNumbers:
    """Numbers too long to print are refused like any other."""

    def test_a_huge_budget_or_index(self, alice: Session) -> None:
        """A clear error of ours, not Python's."""
        with pytest.raises(incumbent.InvalidInput, match="budget"):
            alice.context("q", budget=10**5000)
        with pytest.raises(incumbent.InvalidInput, match="turn_index"):
            alice.write("k", 1, source=incumbent.Source(turn_index=10**5000))


class TestBranches:
    """A what-if shows what would follow."""

    def test_what_rests_on_a_value_tried_out_is_not_known_there(self, alice: Session) -> None:
        """In the branch the derived value must be recalculated; outside it stands."""
        alice.write("price", 12)
        alice.write("total", 1200, depends_on=["price"])
        plan = alice.hypothetical()
        plan.write("price", 9)
        assert [review.fact.key for review in plan.reviews()] == ["total"]
        assert "1200" not in plan.context("What does it cost?").text
        assert alice.reviews() == []
        assert "1200" in alice.context("What does it cost?").text


class TestBoundaries:
    """What lies outside a branch, a permission or an organization stays outside."""

    def test_a_dead_fact_is_not_promoted(self, memory: incumbent.Memory) -> None:
        """Only a fact in office can be given a wider scope."""
        task = memory.session(user_id="alice", organization="acme", task_id="t")
        old = task.write("x", "old", scope="task")
        task.write("x", "new", scope="task")
        with pytest.raises(incumbent.InvalidInput, match="superseded"):
            task.promote(old.fact_id)
        check_links(all_facts(memory))

    def test_a_guess_at_a_hidden_value_gets_no_answer(
        self, memory: incumbent.Memory, guest: Session
    ) -> None:
        """Writing over a fact one may not see changes nothing and tells nothing, right or wrong."""
        hr = memory.session(
            user_id="hr", authority="manager", organization="acme", permissions=["hr"]
        )
        hr.write("bonus", 500, requires=["hr"], **SHARED)
        told = []
        for key, guess in (("bonus", 500), ("bonus", 400), ("no_such_thing", 400)):
            verdict = guest.write(key, guess, requires=["hr"], **SHARED)
            told.append((verdict.outcome, verdict.rule, verdict.evidence, verdict.fact))
        assert told[0] == told[1] == told[2]
        assert hr.current("bonus") == 500

    def test_an_import_changes_no_declaration(self, open_memory: Any) -> None:
        """A declaration that stands is neither replaced nor loosened by an import."""
        with incumbent.open(":memory:") as other:
            other.declare("salary")
            other.session(user_id="u", organization="old").write("salary", 1)
            records = list(other.export("old"))
        memory = open_memory()
        memory.declare("salary", requires=["hr"])
        memory.import_(records)
        bob = memory.session(user_id="u", organization="old")
        assert bob.current("salary") is None

    def test_an_export_with_missing_facts_is_refused(self, open_memory: Any) -> None:
        """An export that lost lines does not import."""
        with incumbent.open(":memory:") as other:
            session = other.session(user_id="u", organization="old")
            session.write("a", 1)
            session.write("b", 2, depends_on=["a"])
            records = list(other.export("old"))
        gone = [r for r in records[:-1] if not (r["kind"] == "fact" and r["key"] == "a")]
        kept = list(sealed(gone))
        memory = open_memory()
        with pytest.raises(incumbent.InvalidInput, match="missing"):
            memory.import_(kept)
        assert memory.store.organizations() == []

    def test_an_undo_stands_until_it_is_undone_itself(self, alice: Session) -> None:
        """Undone twice over, a fact returns only when no undo of it stands."""
        verdict = alice.write("v", 1)
        first = alice.undo(verdict)
        second = alice.undo(first)
        third = alice.undo(verdict)
        fourth = alice.undo(second)
        alice.undo(fourth)
        assert alice.current("v") is None
        alice.undo(third)
        assert alice.current("v") == 1
