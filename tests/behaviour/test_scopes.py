"""Where a fact applies: tasks, sessions, drafts and hypotheticals."""

from __future__ import annotations

from datetime import timedelta

import pytest

import incumbent
from incumbent import Memory, Outcome, Rule, Session, Status
from incumbent.testing import SteppingClock
from tests.behaviour.people import current, fact, in_review, someone
from tests.properties.world import all_facts, tenures


def test_a_task_fact_shadows_the_global_one_in_its_task(memory: Memory, alice: Session) -> None:
    """The wider fact stays in office everywhere else, untouched."""
    wide = alice.write("format", "pdf")
    audit = someone(memory, "alice", "manager", task_id="audit")
    verdict = audit.write("format", "csv", scope="task")
    assert (verdict.outcome, verdict.rule) == (Outcome.SHADOWED, Rule.SCOPE)
    assert verdict.evidence["shadows"] == wide.fact_id
    assert (audit.current("format"), alice.current("format")) == ("csv", "pdf")
    assert fact(alice, wide).is_valid
    assert someone(memory, "alice", task_id="other").current("format") == "pdf"


def test_a_narrower_fact_never_supersedes_a_wider_one_it_names(
    memory: Memory, alice: Session
) -> None:
    """Naming the global fact from inside a task shadows it there."""
    wide = alice.write("format", "pdf")
    audit = someone(memory, "alice", "manager", task_id="audit")
    audit.write("format", "csv", scope="task", supersedes=wide.fact_id)
    assert fact(alice, wide).is_valid
    assert (audit.current("format"), alice.current("format")) == ("csv", "pdf")


def test_a_session_fact_is_seen_in_its_session_only(memory: Memory) -> None:
    """It shadows the task's and the global one there, and is gone elsewhere."""
    here = someone(memory, "alice", "manager", task_id="audit", session_id="s1")
    there = someone(memory, "alice", "manager", task_id="audit", session_id="s2")
    here.write("format", "pdf")
    here.write("format", "csv", scope="task")
    here.write("format", "txt", scope="session")
    assert (here.current("format"), there.current("format")) == ("txt", "csv")
    assert someone(memory, "alice", session_id="s1").current("format") == "txt"


def test_the_wider_fact_shows_again_when_the_narrower_goes(memory: Memory) -> None:
    """Retracting what shadows uncovers what was shadowed."""
    audit = someone(memory, "alice", "manager", task_id="audit")
    audit.write("format", "pdf")
    narrow = audit.write("format", "csv", scope="task")
    audit.retract(narrow.fact_id)
    assert audit.current("format") == "pdf"


def test_a_shadowed_fact_is_accounted_for(memory: Memory) -> None:
    """The context shows the narrower fact, and lists the wider one as shadowed."""
    audit = someone(memory, "alice", "manager", task_id="audit")
    wide = audit.write("format", "pdf")
    audit.write("format", "csv", scope="task")
    context = audit.context("?")
    assert "csv" in context.text
    assert "pdf" not in context.text
    assert [(o.reason, o.fact_id) for o in context.omissions] == [("shadowed", wide.fact_id)]


def test_promote_puts_a_task_fact_forward_everywhere(memory: Memory, alice: Session) -> None:
    """It takes the global office, and the task has nothing of its own any more."""
    wide = alice.write("format", "pdf")
    audit = someone(memory, "alice", "manager", task_id="audit")
    narrow = audit.write("format", "csv", scope="task")
    verdict = audit.promote("format")
    assert (verdict.outcome, verdict.rule) == (Outcome.PROMOTED, Rule.COMMIT)
    assert alice.current("format") == "csv"
    assert set(verdict.superseded) == {wide.fact_id, narrow.fact_id}
    assert [found.scope for found in audit.facts("format")] == ["global"]


def test_promote_is_judged_by_authority(memory: Memory) -> None:
    """What a ruling prevails over cannot be promoted past it."""
    boss, eve = someone(memory, "mia", "executive"), someone(memory, "mia", task_id="t")
    narrow = eve.write("format", "csv", scope="task")
    wide = boss.write("format", "pdf")
    assert eve.promote(narrow.fact_id).outcome is Outcome.OVERRULED
    assert fact(boss, wide).is_valid
    with pytest.raises(incumbent.InvalidInput, match="global already"):
        boss.promote("format")


def test_task_scope_needs_a_task(alice: Session) -> None:
    """A session without a task has to name one."""
    with pytest.raises(incumbent.InvalidInput, match="scope_id"):
        alice.write("format", "csv", scope="task")
    assert alice.write("format", "csv", scope="task", scope_id="audit").took_office
    assert alice.current("format") is None


@pytest.mark.parametrize("kind", ["hypothetical", "draft"])
class TestBranches:
    """Hypotheticals and drafts."""

    def test_a_branch_changes_nothing_real(self, memory: Memory, kind: str) -> None:
        """Whatever is written inside, every real fact stands exactly as before."""
        alice = someone(memory, "alice", "manager")
        base = alice.write("price", 12)
        alice.write("total", 120, depends_on=["price"])
        before = tenures(all_facts(memory).values())
        branch = getattr(alice, kind)()
        branch.write("price", 99)
        branch.write("total", 5, supersedes=base.fact_id)
        branch.write("fresh", 1, depends_on=["price"])
        after = tenures(all_facts(memory).values())
        assert {fact_id: after[fact_id] for fact_id in before} == before
        assert current(alice) == {"price": 12, "total": 120}
        assert current(branch) == {"price": 99, "total": 5, "fresh": 1}

    def test_a_branch_is_seen_by_nobody_else(self, memory: Memory, kind: str) -> None:
        """Not by its author outside, not by another branch, not in a context."""
        alice = someone(memory, "alice", "manager")
        branch = getattr(alice, kind)("one")
        branch.write("price", "ninety-nine")
        assert alice.current("price") is None
        assert alice.is_current("price") is False
        assert getattr(alice, kind)("two").current("price") is None
        assert "ninety-nine" not in alice.context("?").text
        assert "ninety-nine" in branch.context("?").text
        assert getattr(alice, kind)("one").current("price") == "ninety-nine"

    def test_an_id_does_not_open_a_branch_from_outside(self, memory: Memory, kind: str) -> None:
        """Outside its branch a fact does not hold office, even when asked for by its id."""
        alice = someone(memory, "alice", "manager")
        inside = getattr(alice, kind)().write("price", 99)
        assert alice.is_current(inside.fact_id) is False

    def test_a_branch_may_hide_a_ruling_inside(self, memory: Memory, kind: str) -> None:
        """A "what if" binds nobody, so it may suppose anything."""
        someone(memory, "board", "policy").write("travel_policy", "economy")
        eve = someone(memory, "eve")
        branch = getattr(eve, kind)()
        assert branch.write("travel_policy", "first").took_office
        assert (branch.current("travel_policy"), eve.current("travel_policy")) == (
            "first",
            "economy",
        )

    def test_commit_is_a_supersession_like_any_other(self, memory: Memory, kind: str) -> None:
        """The values take office for real, and what they replaced is linked with them."""
        alice = someone(memory, "alice", "manager")
        old = alice.write("price", 12)
        branch = getattr(alice, kind)()
        inside = branch.write("price", 15)
        [verdict] = branch.commit()
        assert (verdict.outcome, verdict.rule) == (Outcome.PROMOTED, Rule.COMMIT)
        assert set(verdict.superseded) == {old.fact_id, inside.fact_id}
        assert alice.current("price") == 15
        assert fact(alice, old).superseded_by == verdict.fact_id

    def test_commit_marks_real_dependents(self, memory: Memory, kind: str) -> None:
        """Repair follows from a commit as from any change."""
        alice = someone(memory, "alice", "manager")
        alice.write("price", 12)
        alice.write("total", 120, depends_on=["price"])
        branch = getattr(alice, kind)()
        branch.write("price", 15)
        assert in_review(alice) == set()
        branch.commit()
        assert in_review(alice) == {"total"}

    def test_commit_keeps_dependencies_within_the_branch(self, memory: Memory, kind: str) -> None:
        """What rested on a fact of the branch rests on what that fact became."""
        alice = someone(memory, "alice", "manager")
        branch = getattr(alice, kind)()
        branch.write("price", 15)
        branch.write("total", 150, depends_on=["price"])
        price, total = branch.commit()
        assert fact(alice, total).depends_on == (price.fact_id,)
        assert in_review(alice) == set()
        alice.write("price", 16)
        assert in_review(alice) == {"total"}

    def test_commit_is_judged_by_authority(self, memory: Memory, kind: str) -> None:
        """A supposition against a ruling is overruled when it is meant for real."""
        someone(memory, "board", "policy").write("travel_policy", "economy")
        eve = someone(memory, "eve")
        branch = getattr(eve, kind)()
        branch.write("travel_policy", "first")
        assert [verdict.outcome for verdict in branch.commit()] == [Outcome.OVERRULED]
        assert eve.current("travel_policy") == "economy"

    def test_a_value_that_is_true_already_is_confirmed(self, memory: Memory, kind: str) -> None:
        """Committing what everybody says anyway makes no second fact."""
        alice = someone(memory, "alice", "manager")
        branch = getattr(alice, kind)()
        branch.write("price", 15)
        real = alice.write("price", 15)
        [verdict] = branch.commit()
        assert (verdict.outcome, verdict.fact_id) == (Outcome.CONFIRMED, real.fact_id)

    def test_discard_leaves_everything_as_before(self, memory: Memory, kind: str) -> None:
        """The branch's facts are dropped, and no real fact has moved."""
        alice = someone(memory, "alice", "manager")
        alice.write("price", 12)
        before = tenures(all_facts(memory).values())
        branch = getattr(alice, kind)()
        inside = branch.write("price", 15)
        [verdict] = branch.discard()
        assert verdict.rule is Rule.DISCARD
        after = tenures(all_facts(memory).values())
        assert {fact_id: after[fact_id] for fact_id in before} == before
        assert all_facts(memory)[inside.fact_id].status is Status.DISCARDED

    def test_a_branch_is_over_after_commit_or_discard(self, memory: Memory, kind: str) -> None:
        """A closed branch takes no more writes."""
        alice = someone(memory, "alice", "manager")
        for end in ("commit", "discard"):
            branch = getattr(alice, kind)()
            getattr(branch, end)()
            with pytest.raises(incumbent.SessionClosed, match="branch was"):
                branch.write("x", 1)

    def test_branches_nest(self, memory: Memory, kind: str) -> None:
        """An inner branch is committed into the outer one, and only then for real."""
        alice = someone(memory, "alice", "manager")
        alice.write("price", 1)
        outer = getattr(alice, kind)()
        outer.write("price", 2)
        inner = getattr(outer, kind)()
        inner.write("price", 3)
        seen = (inner.current("price"), outer.current("price"), alice.current("price"))
        assert seen == (3, 2, 1)
        inner.commit()
        assert (outer.current("price"), alice.current("price")) == (3, 1)
        outer.commit()
        assert alice.current("price") == 3

    def test_discarding_an_inner_branch_keeps_the_outer(self, memory: Memory, kind: str) -> None:
        """Only what the inner branch said is dropped."""
        alice = someone(memory, "alice", "manager")
        outer = getattr(alice, kind)()
        outer.write("price", 2)
        inner = getattr(outer, kind)()
        inner.write("price", 3)
        inner.discard()
        assert outer.current("price") == 2

    def test_supersession_inside_a_branch_is_a_chain_of_its_own(
        self, memory: Memory, kind: str
    ) -> None:
        """A second thought replaces the first inside, and only the last is committed."""
        alice = someone(memory, "alice", "manager")
        branch = getattr(alice, kind)()
        branch.write("price", 1)
        assert branch.write("price", 2).rule is Rule.IMPLICIT
        assert branch.history("price").values == (1, 2)
        assert len(branch.commit()) == 1
        assert alice.current("price") == 2

    def test_a_branch_retracts_only_its_own(self, memory: Memory, kind: str) -> None:
        """A real fact cannot be taken back from inside a supposition."""
        alice = someone(memory, "alice", "manager")
        real = alice.write("price", 12)
        branch = getattr(alice, kind)()
        with pytest.raises(incumbent.InvalidInput, match="outside this branch"):
            branch.retract("price")
        branch.write("price", 15)
        branch.retract("price")
        assert branch.current("price") == 12
        assert fact(alice, real).is_valid

    def test_a_reversion_inside_a_branch_changes_nothing_real(
        self, memory: Memory, kind: str
    ) -> None:
        """Supposing that we went back is a supposition."""
        alice = someone(memory, "alice", "manager")
        alice.write("plan", "A")
        alice.write("plan", "B")
        branch = getattr(alice, kind)()
        _quietly(lambda: branch.revert("plan"))
        assert alice.current("plan") == "B"

    def test_an_undo_inside_a_branch_changes_nothing_real(self, memory: Memory, kind: str) -> None:
        """A real verdict is not undone from inside a supposition."""
        alice = someone(memory, "alice", "manager")
        alice.write("plan", "A")
        real = alice.write("plan", "B")
        branch = getattr(alice, kind)()
        _quietly(lambda: branch.undo(real))
        assert alice.current("plan") == "B"

    @pytest.mark.parametrize("how", [{"value": 9}, {"still_right": True}, {"retract": True}])
    def test_a_review_settled_inside_a_branch_changes_nothing_real(
        self, memory: Memory, kind: str, how: dict[str, object]
    ) -> None:
        """A real review is still open after a branch had a say."""
        alice = someone(memory, "alice", "manager")
        alice.write("price", 12)
        total = alice.write("total", 120, depends_on=["price"])
        alice.write("price", 15)
        branch = getattr(alice, kind)()
        _quietly(lambda: branch.resolve(total.fact_id, **how))
        assert in_review(alice) == {"total"}
        assert alice.current("total") == 120

    def test_a_committed_branch_has_nothing_of_its_own_left(
        self, memory: Memory, kind: str
    ) -> None:
        """Coming back to it by name, one sees what is real, also where a value was confirmed."""
        alice = someone(memory, "alice", "manager")
        getattr(alice, kind)("b").write("price", 15)
        alice.write("price", 15)
        getattr(alice, kind)("b").commit()
        alice.write("price", 16)
        assert getattr(alice, kind)("b").current("price") == 16

    def test_a_discarded_branch_asks_no_more_questions(self, memory: Memory, kind: str) -> None:
        """Doubts and arrangements go with the branch they were made in."""
        alice = someone(memory, "alice", "manager")
        alice.write("lead", "Ana")
        branch = getattr(alice, kind)("b")
        branch.write("price", 1)
        branch.write("price", 2, confidence=0.1)
        branch.write("report_to", "James", when_superseded="lead")
        branch.discard()
        assert getattr(alice, kind)("b").reviews() == []
        alice.write("lead", "Priya")
        assert getattr(alice, kind)("b").current("report_to") is None

    def test_an_arrangement_is_committed_too(self, memory: Memory, kind: str) -> None:
        """A contingent fact of the branch waits for real after the commit."""
        alice = someone(memory, "alice", "manager")
        alice.write("lead", "Ana")
        branch = getattr(alice, kind)()
        branch.write("report_to", "James", when_superseded="lead")
        branch.commit()
        assert alice.current("report_to") is None
        alice.write("lead", "Priya")
        assert alice.current("report_to") == "James"

    def test_a_branch_sees_real_changes_made_meanwhile(self, memory: Memory, kind: str) -> None:
        """Where the branch says nothing, it goes by what is real now."""
        alice = someone(memory, "alice", "manager")
        branch = getattr(alice, kind)()
        alice.write("price", 12)
        assert branch.current("price") == 12

    def test_a_term_survives_the_commit(
        self, memory: Memory, clock: SteppingClock, kind: str
    ) -> None:
        """What was meant for a week is so for real."""
        alice = someone(memory, "alice", "manager")
        branch = getattr(alice, kind)()
        branch.write("offer", "10%", valid_until=clock.now + timedelta(days=7))
        branch.commit()
        assert alice.current("offer") == "10%"
        clock.advance(days=8)
        assert alice.current("offer") is None


def _quietly(call: object) -> None:
    """Call; a refusal is as good as having no effect."""
    assert callable(call)
    try:
        call()
    except incumbent.IncumbentError:
        return


def test_only_a_branch_can_be_committed(alice: Session) -> None:
    """A plain session has nothing to commit or discard."""
    with pytest.raises(incumbent.InvalidInput, match="no branch"):
        alice.commit()
    with pytest.raises(incumbent.InvalidInput, match="no branch"):
        alice.discard()


def test_a_commit_speaks_with_the_lower_authority(memory: Memory) -> None:
    """A draft by an executive, committed by an employee, is an employee's statement."""
    boss, eve = someone(memory, "mia", "executive"), someone(memory, "mia", "employee")
    boss.draft("d").write("plan", "B")
    [verdict] = eve.draft("d").commit()
    assert fact(eve, verdict).authority == "employee"
