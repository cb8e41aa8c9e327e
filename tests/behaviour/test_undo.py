"""Undo: as if a verdict had never been made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

import incumbent
from incumbent import Memory, Outcome, Rule, Session, Status, Verdict
from incumbent.testing import SteppingClock
from tests.behaviour.people import current, fact, in_review, someone
from tests.properties.world import all_facts, differences, tenures

pytestmark = pytest.mark.on_every_store


def established(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").write("fresh", 1)


def superseded(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").write("price", 15)


def confirmed(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").write("price", 12)


def overruled(memory: Memory) -> Verdict:
    return someone(memory, "alice", "guest").write("price", 15)


def shadowed(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive", task_id="t").write("price", 9, scope="task")


def contested(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").write("price", 15, confidence=0.1)


def promoted(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").draft("prepared").commit()[0]


def reverted(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").revert("plan")


def retracted(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").retract("price")


def waiting(memory: Memory) -> Verdict:
    return someone(memory, "alice", "executive").write("plan", "C", when_superseded="price")


def accepted(memory: Memory) -> Verdict:
    alice = someone(memory, "alice", "executive")
    review = next(found for found in alice.reviews() if found.kind == "contested")
    return alice.resolve(review.fact.id, still_right=True)


EVERY: dict[Callable[[Memory], Verdict], Outcome] = {
    established: Outcome.ESTABLISHED,
    superseded: Outcome.SUPERSEDED,
    confirmed: Outcome.CONFIRMED,
    overruled: Outcome.OVERRULED,
    shadowed: Outcome.SHADOWED,
    contested: Outcome.CONTESTED,
    promoted: Outcome.PROMOTED,
    reverted: Outcome.REVERTED,
    retracted: Outcome.RETRACTED,
    waiting: Outcome.WAITING,
    accepted: Outcome.SUPERSEDED,
}


@pytest.fixture
def furnished(memory: Memory) -> Memory:
    """A memory with a price that others rest on and wait for, a plan, a draft and a doubt."""
    alice = someone(memory, "alice", "manager")
    alice.write("price", 12)
    alice.write("total", 120, depends_on=["price"])
    alice.write("invoice", "120 due", depends_on=["total"])
    alice.write("plan", "A")
    alice.write("plan", "B")
    alice.write("contact", "Ana")
    alice.write("contact", "James", when_superseded="price")
    alice.write("venue", "Lyon")
    alice.write("venue", "Paris", confidence=0.1)
    alice.draft("prepared").write("price", 14)
    return memory


@pytest.mark.parametrize("act", EVERY, ids=lambda act: act.__name__)
class TestEveryOutcome:
    """Whatever was decided can be undone, and the undo as well."""

    def test_undo_leaves_everything_as_before(
        self, furnished: Memory, act: Callable[[Memory], Verdict]
    ) -> None:
        """Every fact stands as it stood; one that the verdict brought is withdrawn."""
        before = tenures(all_facts(furnished).values())
        verdict = act(furnished)
        assert verdict.outcome is EVERY[act]
        someone(furnished, "alice", "executive").undo(verdict)
        after = tenures(all_facts(furnished).values())
        assert not differences(before, {fact_id: after[fact_id] for fact_id in before})
        for fact_id in after.keys() - before.keys():
            assert all_facts(furnished)[fact_id].status is Status.WITHDRAWN

    def test_undoing_the_undo_brings_it_back(
        self, furnished: Memory, act: Callable[[Memory], Verdict]
    ) -> None:
        """Everything stands as right after the first verdict."""
        verdict = act(furnished)
        after = tenures(all_facts(furnished).values())
        alice = someone(furnished, "alice", "executive")
        undone = alice.undo(verdict)
        assert (undone.outcome, undone.rule) == (Outcome.REVERTED, Rule.UNDO)
        alice.undo(undone)
        assert not differences(after, tenures(all_facts(furnished).values()))

    def test_a_verdict_is_undone_once(
        self, furnished: Memory, act: Callable[[Memory], Verdict]
    ) -> None:
        """What is undone already cannot be undone again."""
        verdict = act(furnished)
        alice = someone(furnished, "alice", "executive")
        alice.undo(verdict)
        with pytest.raises(incumbent.NothingToUndo, match="undone already"):
            alice.undo(verdict)


def test_undo_in_the_middle_of_a_chain_relinks_it(alice: Session) -> None:
    """The value is gone from the past, and its neighbours are linked."""
    first = alice.write("plan", "A")
    second = alice.write("plan", "B")
    third = alice.write("plan", "C")
    alice.undo(second)
    assert alice.history("plan").values == ("A", "C")
    assert fact(alice, first).superseded_by == third.fact_id
    assert fact(alice, third).supersedes == first.fact_id
    assert fact(alice, second).status is Status.WITHDRAWN
    assert alice.current("plan") == "C"


def test_undo_of_the_first_of_a_chain_leaves_the_rest(alice: Session) -> None:
    """What came later stands without it."""
    first = alice.write("plan", "A")
    second = alice.write("plan", "B")
    alice.undo(first)
    assert alice.history("plan").values == ("B",)
    assert fact(alice, second).supersedes is None


def test_undo_takes_a_verdict_or_its_id(alice: Session) -> None:
    """The id that explain shows is enough."""
    alice.write("plan", "A")
    alice.write("plan", "B")
    alice.undo(alice.explain("plan").verdicts[-1].id, reason="a slip")
    assert alice.current("plan") == "A"
    assert alice.explain("plan").verdicts[-1].reason == "a slip"


def test_undo_of_an_unknown_verdict_is_an_error(alice: Session) -> None:
    """There is nothing by that id."""
    with pytest.raises(incumbent.UnknownVerdict, match="no-such"):
        alice.undo("no-such")


def test_what_was_turned_away_stays_turned_away(memory: Memory) -> None:
    """Undoing the ruling does not let the overruled proposal slip into office."""
    board, eve = someone(memory, "board", "policy"), someone(memory, "eve")
    ruling = board.write("day", "Monday", subject="launch", memory_type="organizational")
    said = eve.write("day", "Friday", subject="launch")
    board.undo(ruling)
    assert eve.current("day", "launch") is None
    assert fact(eve, said).status is Status.OVERRULED
    assert eve.write("day", "Friday", subject="launch").took_office


def test_a_contested_statement_stays_in_the_queue(alice: Session) -> None:
    """It does not take the office that its rival lost to an undo."""
    rival = alice.write("venue", "Lyon")
    alice.write("venue", "Paris", confidence=0.1)
    alice.undo(rival)
    assert alice.current("venue") is None
    assert [review.kind for review in alice.reviews()] == ["contested"]


def test_undo_of_an_explicit_supersession_brings_the_other_key_back(alice: Session) -> None:
    """The target holds its own office again."""
    alice.write("status_v1", "approved")
    alice.undo(alice.write("status_v2", "cancelled", supersedes="status_v1"))
    assert current(alice) == {"status_v1": "approved"}


def test_undo_of_a_base_marks_what_was_derived_from_it(alice: Session) -> None:
    """A fact that was never said is no ground to stand on."""
    base = alice.write("price", 12)
    alice.write("total", 120, depends_on=["price"])
    undone = alice.undo(base)
    assert in_review(alice) == {"total"}
    alice.undo(undone)
    assert in_review(alice) == set()


def test_undoing_both_in_either_order_is_the_same(memory: Memory) -> None:
    """Two undos leave what neither verdict had touched."""
    results = []
    for order in ((0, 1), (1, 0)):
        alice = someone(memory, f"user-{order[0]}", "manager")
        alice.write("price", 12)
        alice.write("total", 120, depends_on=["price"])
        verdicts = [alice.write("price", 15), alice.write("price", 18)]
        for index in order:
            alice.undo(verdicts[index])
        results.append((current(alice), in_review(alice)))
    assert results[0] == results[1] == ({"price": 12, "total": 120}, set())


def test_undo_of_a_late_arrival_takes_it_out_of_the_past(
    alice: Session, clock: SteppingClock
) -> None:
    """As-of no longer finds it."""
    start = clock.now
    alice.write("plan", "B", at=start)
    late = alice.write("plan", "A", at=start - timedelta(days=2))
    then = start - timedelta(days=1)
    assert alice.as_of(then).current("plan") == "A"
    alice.undo(late)
    assert alice.as_of(then).current("plan") is None
    assert alice.history("plan").values == ("B",)


def test_undo_of_a_commit_brings_the_draft_back(alice: Session) -> None:
    """The real value returns, and the draft holds what it held."""
    alice.write("price", 12)
    alice.draft("d").write("price", 15)
    [verdict] = alice.draft("d").commit()
    alice.undo(verdict)
    assert alice.current("price") == 12
    assert alice.draft("d").current("price") == 15


def test_the_log_keeps_what_was_undone(alice: Session) -> None:
    """Undoing hides nothing: both entries are there, the first marked as undone."""
    verdict = alice.write("plan", "A")
    undone = alice.undo(verdict)
    entries = {entry.id: entry for entry in alice.explain(verdict.fact_id).verdicts}
    assert entries[verdict.id].undone_by == undone.id
    assert entries[undone.id].evidence["undoes"] == verdict.id
