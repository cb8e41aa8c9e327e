"""Rehearsals: what would come of a call, and nothing does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

import incumbent
from incumbent import Change, Memory, Session, Status
from incumbent.stores.port import Selection
from incumbent.testing.contract.catalogue import everything_indexed
from tests.behaviour.people import someone
from tests.conftest import QUICK, OpenMemory
from tests.llm import scripted
from tests.telemetry.witness import Witness

pytestmark = pytest.mark.on_every_store


@pytest.fixture
def alice(memory: Memory) -> Session:
    """A manager in whose organization there is something to do for every call."""
    alice = someone(memory, "alice", "manager", session_id="s", task_id="t", permissions=["hr"])
    alice.observe("My address is 123 Main St.", ref="r1")
    alice.write("rate", 12, id="old-rate")
    alice.write("total", 1200, depends_on=["rate"], id="total")
    alice.write("rate", 15, id="rate")
    alice.write("format", "csv", scope="task", id="format")
    alice.draft("d").write("rate", 20, id="draft")
    alice.note("last", "call 555")
    alice.context("What is the rate?", record=True)
    return alice


def stored(memory: Memory) -> list[Any]:
    """All that a store has of the organization."""
    with memory.store.read("acme") as reader:
        return [
            *memory.export("acme"),
            *everything_indexed(memory.store, "acme"),
            reader.head(),
            reader.desks(),
            reader.turns("alice", "s", 100),
            reader.receipts(None, 100),
            memory.store.erasures("acme"),
            memory.store.organizations(),
        ]


CALLS: dict[str, Callable[[Session], Any]] = {
    "observe": lambda one: one.observe("I moved to 456 Oak Ave.", ref="r2"),
    "observe to forget": lambda one: one.observe("Forget my address."),
    "write": lambda one: one.write("rate", 18),
    "write under an id": lambda one: one.write("size", 4, id="size"),
    "write_many": lambda one: one.write_many([{"key": "rate", "value": v} for v in (16, 17)]),
    "note": lambda one: one.note("last", "call 556"),
    "retract": lambda one: one.retract("rate", "slip"),
    "undo": lambda one: one.undo(one.explain("rate").verdicts[-1]),
    "revert": lambda one: one.revert("rate"),
    "promote": lambda one: one.promote("format"),
    "resolve": lambda one: one.resolve("total", 1500),
    "commit": lambda one: one.draft("d").commit(),
    "discard": lambda one: one.draft("d").discard(),
    "close": lambda one: one.close(),
    "context": lambda one: one.context("Where do I live?", record=True),
}


def by_key(changes: tuple[Change, ...]) -> dict[str, tuple[Any, Any]]:
    """Key and value of each fact that changes, with its status before and after."""
    return {
        f"{fact.key} {fact.value}": (
            change.before and change.before.status.value,
            change.after and change.after.status.value,
        )
        for change in changes
        if (fact := change.after or change.before) is not None
    }


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left_of_a_rehearsal(memory: Memory, alice: Session, name: str) -> None:
    """Log, facts, index, desk, turns, receipts and erasures are as they were, whatever was
    rehearsed, and nobody who follows the log is woken."""
    before = stored(memory)
    with memory.resources.bells.listening() as bell:
        CALLS[name](alice.rehearsal())
        assert not bell.is_set()
    assert stored(memory) == before
    CALLS[name](alice)
    assert stored(memory) != before, "there was something to leave"


class TestChanges:
    """What a rehearsal tells of the facts that would change."""

    def test_all_facts_of_a_batch(self, alice: Session) -> None:
        """A batch tells of every fact that it would bring, whether or not it meets another."""
        trial = alice.rehearsal()
        trial.write_many([{"key": key, "value": 1} for key in ("new_a", "rate", "new_b")])
        told = by_key(trial.changes)
        assert told["new_a 1"] == told["new_b 1"] == (None, "office")
        assert told["rate 15"] == ("office", "superseded")

    def test_a_successor_and_all_that_rests_on_what_it_replaces(self, alice: Session) -> None:
        """The new fact, the one that leaves office, and the derived one that needs review."""
        alice.resolve("total", still_right=True)
        trial = alice.rehearsal()
        trial.write("rate", 18)
        assert by_key(trial.changes) == {
            "rate 18": (None, "office"),
            "rate 15": ("office", "superseded"),
            "total 1200": ("office", "office"),
        }
        total = trial.changes[-1]
        assert total.before == alice.get("total")
        assert total.before is not None
        assert total.after is not None
        assert (total.before.needs_review, total.after.needs_review) == (False, True)

    def test_an_undo_with_what_it_lifts(self, alice: Session) -> None:
        """The old value comes back, the new one leaves, and what rests on it is right again."""
        trial = alice.rehearsal()
        trial.undo(alice.explain("rate").verdicts[-1])
        assert by_key(trial.changes) == {
            "rate 12": ("superseded", "office"),
            "rate 15": ("office", "withdrawn"),
            "total 1200": ("office", "office"),
        }
        (total,) = [one for one in trial.changes if one.before and one.before.id == "total"]
        assert total.before is not None
        assert total.after is not None
        assert (total.before.needs_review, total.after.needs_review) == (True, False)

    def test_a_branch_sees_what_rests_on_the_value_it_would_try(self, memory: Memory) -> None:
        """Nothing real is written anew for a what-if, and yet in it the total needs review."""
        mia = someone(memory, "mia", "manager")
        mia.write("price", 4)
        mia.write("sum", 8, depends_on=["price"], id="sum")
        trial = mia.hypothetical("w").rehearsal()
        trial.write("price", 5)
        assert by_key(trial.changes) == {"price 5": (None, "office"), "sum 8": ("office", "office")}
        after = trial.changes[-1].after
        assert after is not None
        assert after.needs_review
        assert not mia.reviews()

    def test_what_a_turn_would_have_erased(self, alice: Session) -> None:
        """It has nothing after it; its proof has no id, because it proves nothing."""
        trial = alice.rehearsal()
        (erasure,) = trial.observe("Forget my address.").erasures
        (change,) = trial.changes
        assert change.before is not None
        assert change.after is None
        assert erasure.fact_ids == (change.before.id,)
        assert (erasure.id, erasure.scrubbed) == ("", False)

    def test_each_call_tells_of_itself(self, alice: Session) -> None:
        """A call that is refused, or says what was said before, would change nothing."""
        trial = alice.rehearsal()
        trial.write("rate", 18)
        with pytest.raises(incumbent.UnknownFact):
            trial.retract("never said")
        assert trial.changes == ()
        trial.write("rate", 18)
        with pytest.raises(incumbent.InvalidInput):
            trial.write("", 18)
        assert trial.changes == ()
        trial.write("rate", 18)
        assert trial.observe("My address is 123 Main St.", ref="r1").repeated
        assert trial.changes == ()

    def test_a_session_that_is_no_rehearsal_has_none(self, alice: Session) -> None:
        """What it does is done."""
        alice.write("rate", 18)
        assert alice.changes == ()

    def test_nobody_hears_of_facts_they_may_not_see(self, memory: Memory) -> None:
        """A policy takes the place of what others said for themselves; whoever rehearses it is
        told as little of that as whoever makes it."""
        bob = someone(memory, "bob")
        bob.write("limit", 5000, id="bobs-limit")
        bob.write("order", 500, depends_on=["limit"], id="bobs-order")
        boss = someone(memory, "boss", "executive")
        trial = boss.rehearsal()
        given: dict[str, Any] = {"memory_type": "organizational", "is_constraint": True}
        foreseen = trial.write("limit", 6000, **given)
        assert by_key(trial.changes) == {"limit 6000": (None, "office")}
        assert "bobs" not in repr((trial.changes, foreseen))
        done = boss.write("limit", 6000, **given)
        assert (foreseen.outcome, foreseen.rule) == (done.outcome, done.rule)
        taken = bob.get("bobs-limit")
        assert taken is not None
        assert taken.status is Status.SUPERSEDED, "there was something to hide"


class TestSameAsDone:
    """What is rehearsed is what comes of it."""

    def test_a_ref_can_be_used_afterwards(self, alice: Session) -> None:
        """The turn was not observed: for the first time it is when it is observed for good."""
        trial = alice.rehearsal()
        for _ in range(2):
            assert not trial.observe("I moved to 456 Oak Ave.", ref="r2").repeated
        done = alice.observe("I moved to 456 Oak Ave.", ref="r2")
        assert not done.repeated
        assert alice.observe("I moved to 456 Oak Ave.", ref="r2").repeated

    def test_an_id_can_be_used_afterwards(self, alice: Session) -> None:
        """And one that is taken is refused in a rehearsal too."""
        alice.rehearsal().write("size", 4, id="size")
        assert alice.write("size", 4, id="size").fact_id == "size"
        with pytest.raises(incumbent.DuplicateId):
            alice.rehearsal().write("size", 5, id="size")

    def test_a_rehearsed_commit_leaves_the_branch_open(self, alice: Session) -> None:
        """The rehearsal as well as the branch itself can go on."""
        draft = alice.draft("d")
        trial = draft.rehearsal()
        assert [one.outcome for one in trial.commit()] == [one.outcome for one in trial.commit()]
        trial.discard()
        assert draft.current("rate") == 20
        draft.commit()
        assert alice.current("rate") == 20

    def test_what_is_made_of_a_rehearsal_is_one(self, memory: Memory, alice: Session) -> None:
        """A draft of it keeps nothing either."""
        before = stored(memory)
        trial = alice.rehearsal().draft("other")
        trial.write("rate", 30)
        assert by_key(trial.changes)["rate 30"] == (None, "office")
        assert stored(memory) == before

    def test_no_right_is_gained(self, memory: Memory, alice: Session) -> None:
        """Who may not do it may not rehearse it, in the same words."""
        memory.declare("budget", write_authority="executive")
        bob = someone(memory, "bob", "guest")
        asked: list[dict[str, Any]] = [{"authority": "executive"}, {}]
        for given in asked:
            said = []
            for session in (bob.rehearsal(), bob):
                with pytest.raises(incumbent.NotPermitted) as refused:
                    session.write("budget", 1, **given)
                said.append(str(refused.value))
            assert said[0] == said[1]


class TestRefused:
    """What cannot be rehearsed."""

    def test_the_past(self, alice: Session) -> None:
        """It takes no writes."""
        with pytest.raises(incumbent.ReadOnlySession, match="rehearse"):
            alice.as_of(datetime(2026, 1, 1, tzinfo=UTC)).rehearsal()

    def test_a_transcript(self, memory: Memory, alice: Session) -> None:
        """No turn of it would know of the one before; the way to try one is told."""
        before = stored(memory)
        with pytest.raises(incumbent.InvalidInput, match="--dry-run"):
            alice.rehearsal().observe_many([{"text": "I moved to 456 Oak Ave."}])
        assert stored(memory) == before

    def test_a_closed_session(self, alice: Session) -> None:
        """A rehearsal ends by itself, and its session with it does not; but nothing is rehearsed
        in a session that has ended."""
        trial = alice.rehearsal()
        trial.close()
        with pytest.raises(incumbent.SessionClosed):
            trial.write("rate", 1)
        assert [item.key for item in alice.working_set()]
        alice.close()
        with pytest.raises(incumbent.SessionClosed):
            alice.rehearsal()


def test_no_model_is_asked(open_memory: OpenMemory) -> None:
    """Neither now nor later: a second opinion costs money, and would be kept."""
    model = scripted.Scripted()
    memory = open_memory(settings=scripted.settings(model))
    alice = someone(memory, "alice")
    made = alice.rehearsal().observe("I moved to 456 Oak Ave.")
    assert made.opinion is None
    assert memory.flush()
    assert model.asked == []
    alice.observe("I moved to 456 Oak Ave.")
    assert memory.flush()
    assert len(model.asked) == 1


def test_telemetry_counts_a_rehearsal_as_what_it_is(open_memory: OpenMemory) -> None:
    """No decision is told of, and the call has a name of its own."""
    witness = Witness()
    memory = open_memory(settings=replace(QUICK, telemetry=witness))
    alice = someone(memory, "alice")
    alice.rehearsal().write("rate", 18)
    memory.forget(organization="acme", user_id="alice", rehearse=True)
    assert witness.ended_calls == [("rehearse_write", "ok"), ("rehearse_forget", "ok")]
    assert witness.named("decided") == []
    alice.write("rate", 18)
    assert [len(told) for (told,) in witness.named("decided")] == [1]


class TestForgetting:
    """What an erasure would take."""

    @pytest.mark.parametrize(
        "asked",
        [
            {"user_id": "alice"},
            {"fact_id": "rate"},
            {"subject": "nobody"},
            {"fact_id": "rate", "by": "alice"},
        ],
        ids=str,
    )
    def test_it_is_told_and_nothing_goes(
        self, memory: Memory, alice: Session, asked: dict[str, Any]
    ) -> None:
        """The ids and counts are those of the erasure itself, once it is done."""
        before = stored(memory)
        foreseen = memory.forget(organization="acme", **asked, rehearse=True)
        assert stored(memory) == before
        done = memory.forget(organization="acme", **asked)
        assert (foreseen.fact_ids, foreseen.quoted_in) == (done.fact_ids, done.quoted_in)
        assert foreseen.removed == done.removed
        assert (foreseen.id, foreseen.scrubbed) == ("", False)
        assert [one.id for one in memory.store.erasures("acme")] == [done.id]

    def test_what_would_be_refused_is(self, memory: Memory, alice: Session) -> None:
        """In the same words."""
        with pytest.raises(incumbent.UnknownFact):
            memory.forget(organization="acme", fact_id="nothing", rehearse=True)
        with pytest.raises(incumbent.InvalidInput):
            memory.forget(organization="acme", rehearse=True)
        with pytest.raises(incumbent.NotPermitted):
            memory.forget(organization="acme", user_id="alice", by="bob", rehearse=True)


def test_the_first_call_of_an_organization_makes_none(memory: Memory) -> None:
    """An organization that nobody has written to is not there after a rehearsal in it."""
    session = someone(memory, "alice")
    session.rehearsal().observe("My address is 123 Main St.")
    assert memory.store.organizations() == []
    with memory.store.read("acme") as reader:
        assert reader.timeline(Selection()) == []
        assert reader.head() == (0, None)
        assert reader.recipe() is None


def test_searching_goes_on_as_before(alice: Session) -> None:
    """A context finds nothing of what was only rehearsed, and what is written then."""
    trial = alice.rehearsal()
    trial.write("harbour", "Genoa")
    assert "Genoa" not in alice.context("Which harbour?").text
    alice.write("harbour", "Trieste")
    assert "Trieste" in alice.context("Which harbour?").text
    assert "Genoa" not in trial.context("Which harbour?").text


def test_statuses_are_those_of_the_facts_then(alice: Session) -> None:
    """What a rehearsal shows of a fact is what the session sees of it when it is done."""
    trial = alice.rehearsal()
    trial.retract("rate")
    (change,) = [one for one in trial.changes if one.before and one.before.id == "rate"]
    alice.retract("rate")
    done = alice.get("rate")
    assert change.after is not None
    assert done is not None
    assert change.after.status is done.status is Status.RETRACTED
