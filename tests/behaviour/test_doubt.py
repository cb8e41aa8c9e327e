"""Facts that a later statement may have replaced, without anybody having said so."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import incumbent
from incumbent import Memory, Outcome, Session
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL, fact, someone


def doubted(session: Session) -> dict[str, str]:
    """The values in doubt, each with the value of the newest statement against it."""
    found = [review for review in session.reviews() if review.kind == "doubted"]
    return {r.fact.value: r.rival.value if r.rival else "" for r in found}


def moved(session: Session) -> tuple[str, incumbent.Verdict]:
    """A street, and keys for another that put it in doubt."""
    street = session.write("street", "Elm Street").fact_id
    return street, session.write("keys", "Harbor Road", doubts=[street])


class TestRaising:
    """What comes to be in doubt."""

    @pytest.mark.on_every_store
    def test_a_doubted_fact_stays_in_office_and_has_a_review(self, alice: Session) -> None:
        """The review names the fact and the statement against it; nothing is superseded."""
        street, keys = moved(alice)
        assert keys.outcome is Outcome.ESTABLISHED
        assert fact(alice, keys).doubts == (street,)
        assert fact(alice, street).is_valid
        assert doubted(alice) == {"Elm Street": "Harbor Road"}

    def test_a_doubt_is_named_by_key_too(self, alice: Session) -> None:
        """As with what a fact depends on."""
        street = alice.write("street", "Elm Street").fact_id
        keys = alice.write("keys", "Harbor Road", doubts=["street"])
        assert fact(alice, keys).doubts == (street,)

    def test_the_newest_statement_is_the_rival(self, alice: Session) -> None:
        """Several may doubt one fact, and one statement several facts."""
        street, _ = moved(alice)
        bus = alice.write("bus", "line 4").fact_id
        alice.write("van", "booked for Harbor Road", doubts=[street, bus])
        assert doubted(alice) == dict.fromkeys(("Elm Street", "line 4"), "booked for Harbor Road")

    def test_nothing_is_doubted_by_what_is_older(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """A statement that arrives late was made before the fact it names."""
        street = alice.write("street", "Elm Street").fact_id
        alice.write("keys", "Harbor Road", doubts=[street], at=clock.now - timedelta(days=9))
        assert doubted(alice) == {}

    def test_a_fact_in_doubt_that_leaves_office_has_no_review(self, alice: Session) -> None:
        """There is nothing left to settle."""
        moved(alice)
        alice.write("street", "Harbor Road")
        assert doubted(alice) == {}

    def test_what_a_statement_rests_on_or_replaces_it_does_not_doubt(self, alice: Session) -> None:
        """Such names are dropped when it is written."""
        street = alice.write("street", "Elm Street").fact_id
        rests = alice.write("rent", 900, depends_on=[street], doubts=[street])
        takes = alice.write("street", "Oak Ave", supersedes=street, doubts=[street])
        assert fact(alice, rests).doubts == fact(alice, takes).doubts == ()

    def test_a_name_that_is_nobodys_is_an_error(self, alice: Session) -> None:
        """As with what a fact depends on, and nothing is written."""
        with pytest.raises(incumbent.UnknownDependency, match="nowhere"):
            alice.write("keys", "Harbor Road", doubts=["nowhere"])
        assert alice.facts() == []

    def test_the_same_said_again_with_a_new_doubt_is_a_renewal(self, alice: Session) -> None:
        """A confirmation would lose the doubt."""
        first = alice.write("keys", "Harbor Road")
        street = alice.write("street", "Elm Street").fact_id
        again = alice.write("keys", "Harbor Road", doubts=[street])
        assert again.superseded == (first.fact_id,)
        assert doubted(alice) == {"Elm Street": "Harbor Road"}
        assert alice.write("keys", "Harbor Road").outcome is Outcome.CONFIRMED

    def test_a_statement_doubts_only_where_it_applies(self, memory: Memory) -> None:
        """A task's statement puts what is global in doubt inside the task."""
        plain = someone(memory, "ann")
        street = plain.write("street", "Elm Street").fact_id
        task = someone(memory, "ann", task_id="T1")
        task.write("keys", "Harbor Road", scope="task", doubts=[street])
        assert doubted(task) == {"Elm Street": "Harbor Road"}
        assert doubted(plain) == {}


class TestLifting:
    """How a doubt goes."""

    @pytest.mark.on_every_store
    def test_it_goes_with_the_statement_that_raised_it(self, alice: Session) -> None:
        """Undone, retracted or superseded; and it comes back when that is undone."""
        _, keys = moved(alice)
        before = doubted(alice)
        ways: list[Callable[[], incumbent.Verdict]] = [
            lambda: alice.undo(keys),
            lambda: alice.retract("keys"),
            lambda: alice.write("keys", "Pine Lane"),
        ]
        for leave in ways:
            left = leave()
            assert doubted(alice) == {}
            alice.undo(left)
            assert doubted(alice) == before

    def test_a_successor_doubts_what_it_names_itself(self, alice: Session) -> None:
        """What the statement before it named does not carry over."""
        street, _ = moved(alice)
        alice.write("keys", "Pine Lane", doubts=[street])
        assert doubted(alice) == {"Elm Street": "Pine Lane"}
        alice.write("keys", "Oak Ave")
        assert doubted(alice) == {}

    @pytest.mark.on_every_store
    def test_a_fact_said_again_is_no_longer_in_doubt(self, alice: Session) -> None:
        """Until the statement against it is said again as well."""
        moved(alice)
        alice.write("street", "Elm Street")
        assert doubted(alice) == {}
        alice.write("keys", "Harbor Road")
        assert doubted(alice) == {"Elm Street": "Harbor Road"}

    def test_it_ends_with_the_term_of_the_statement(
        self, alice: Session, clock: SteppingClock
    ) -> None:
        """What is over doubts nothing."""
        street = alice.write("street", "Elm Street").fact_id
        alice.write("guest_of", "Bo", doubts=[street], valid_until=clock.now + timedelta(days=2))
        assert doubted(alice) == {"Elm Street": "Bo"}
        clock.advance(timedelta(days=3))
        assert doubted(alice) == {}

    def test_a_look_at_the_past_finds_it(self, alice: Session, clock: SteppingClock) -> None:
        """As it was then: before it was raised, and before it was lifted."""
        street = alice.write("street", "Elm Street").fact_id
        early = clock()
        keys = alice.write("keys", "Harbor Road", doubts=[street])
        between = clock()
        alice.retract(keys.fact_id)
        assert doubted(alice.as_of(early)) == {}
        assert doubted(alice.as_of(between)) == {"Elm Street": "Harbor Road"}
        assert doubted(alice.as_of(clock())) == {}

    def test_a_draft_takes_its_doubts_along(self, alice: Session) -> None:
        """Inside the draft alone, until it is committed."""
        street = alice.write("street", "Elm Street").fact_id
        draft = alice.draft("move")
        van = draft.write("van", "small").fact_id
        draft.write("keys", "Harbor Road", doubts=[street, van])
        assert doubted(draft) == {"Elm Street": "Harbor Road", "small": "Harbor Road"}
        assert doubted(alice) == {}
        draft.commit()
        assert doubted(alice) == {"Elm Street": "Harbor Road", "small": "Harbor Road"}

    def test_what_is_erased_doubts_nothing_and_is_not_in_doubt(self, memory: Memory) -> None:
        """Whichever of the two goes, and the other can be written again."""
        ann = someone(memory, "ann")
        street, keys = moved(ann)
        memory.forget(organization="acme", fact_id=street)
        assert doubted(ann) == {}
        ann.write("keys", "Pine Lane")
        assert ann.revert("keys").fact is not None
        street, keys = moved(ann)
        memory.forget(organization="acme", fact_id=keys.fact_id)
        assert doubted(ann) == {}


class TestSettling:
    """What a person can answer to the review of a doubted fact."""

    @pytest.mark.on_every_store
    def test_still_right_settles_the_doubt_of_that_statement(self, alice: Session) -> None:
        """Undoing the answer brings the doubt back; another statement is another doubt."""
        street, _ = moved(alice)
        verdict = alice.resolve(street, still_right=True)
        assert verdict.outcome is Outcome.CONFIRMED
        assert doubted(alice) == {}
        undone = alice.undo(verdict)
        assert doubted(alice) == {"Elm Street": "Harbor Road"}
        alice.undo(undone)
        assert doubted(alice) == {}
        alice.write("van", "booked for Harbor Road", doubts=[street])
        assert doubted(alice) == {"Elm Street": "booked for Harbor Road"}

    def test_a_new_value_supersedes_the_fact(self, alice: Session) -> None:
        """The chain goes on where it was."""
        street, _ = moved(alice)
        verdict = alice.resolve(street, "Harbor Road 7")
        assert verdict.superseded == (street,)
        assert alice.current("street") == "Harbor Road 7"
        assert doubted(alice) == {}

    def test_retracting_takes_the_fact_out_of_office(self, alice: Session) -> None:
        """And undoing that brings fact and doubt back."""
        street, _ = moved(alice)
        verdict = alice.resolve(street, retract=True)
        assert alice.current("street") is None
        assert doubted(alice) == {}
        alice.undo(verdict)
        assert doubted(alice) == {"Elm Street": "Harbor Road"}

    def test_a_fact_that_nobody_doubts_is_not_under_review(self, alice: Session) -> None:
        """The message says where the list is."""
        _, keys = moved(alice)
        with pytest.raises(incumbent.InvalidInput, match=r"session\.reviews"):
            alice.resolve(keys.fact_id, still_right=True)

    def test_one_answer_settles_a_changed_base_and_a_doubt(self, alice: Session) -> None:
        """A fact can be up for both; it has a review of each kind."""
        alice.write("price", 12)
        total = alice.write("total", 120, depends_on=["price"]).fact_id
        alice.write("price", 15)
        alice.write("order", "cancelled, I think", doubts=[total])
        assert [r.kind for r in alice.reviews()] == ["base changed", "doubted"]
        alice.resolve(total, still_right=True)
        assert alice.reviews() == []

    def test_explain_tells_what_puts_a_fact_in_doubt(self, alice: Session) -> None:
        """The statements, newest first."""
        street, keys = moved(alice)
        van = alice.write("van", "booked", doubts=[street])
        told = alice.explain("street").doubted_by
        assert [one.id for one in told] == [van.fact_id, keys.fact_id]


class TestRights:
    """Who can put what in doubt."""

    def test_nobody_doubts_from_below(self, memory: Memory) -> None:
        """What a fact stands on protects it, then and later."""
        chief = someone(memory, "ann", authority="executive")
        plain = someone(memory, "ann", authority="employee")
        street = chief.write("street", "Elm Street").fact_id
        keys = plain.write("keys", "Harbor Road", doubts=[street])
        assert fact(plain, keys).doubts == ()
        bus = plain.write("bus", "line 4").fact_id
        plain.write("bike", "bought", doubts=[bus])
        assert doubted(plain) == {"line 4": "bought"}
        confirmed = chief.write("bus", "line 4")
        assert confirmed.outcome is Outcome.CONFIRMED
        plain.write("bike", "bought")
        assert doubted(plain) == {}

    def test_one_person_casts_no_doubt_on_what_the_organization_says(self, memory: Memory) -> None:
        """Not even for themselves, and whatever their rung."""
        boss = someone(memory, "boss", authority="executive", permissions=FOR_ALL)
        policy = boss.write("travel", "by train", memory_type="organizational").fact_id
        for authority in ("guest", "executive"):
            ann = someone(memory, f"ann the {authority}", authority=authority)
            told = ann.write("trip", "I always fly", doubts=[policy])
            assert fact(ann, told).doubts == ()
            assert doubted(ann) == doubted(boss) == {}

    def test_the_organization_may_doubt_what_it_said(self, memory: Memory) -> None:
        """For everybody who sees both, and settled by whoever may settle it."""
        boss = someone(memory, "boss", authority="manager", permissions=FOR_ALL)
        shared: dict[str, Any] = {"memory_type": "organizational"}
        policy = boss.write("travel", "by train", **shared).fact_id
        boss.write("strike", "no trains in May", doubts=[policy], **shared)
        ann = someone(memory, "ann")
        assert doubted(ann) == {"by train": "no trains in May"}
        with pytest.raises(incumbent.NotPermitted):
            ann.resolve(policy, still_right=True)
        boss.resolve(policy, still_right=True)
        assert doubted(ann) == {}

    def test_nobody_learns_of_what_they_may_not_see(self, memory: Memory) -> None:
        """A statement for few doubts for few, and one for many does not name what is for few."""
        boss = someone(memory, "boss", authority="manager", permissions=(*FOR_ALL, "hr"))
        ann = someone(memory, "ann")
        policy = boss.write("desks", "on floor 2", memory_type="organizational").fact_id
        boss.write(
            "plan",
            "close floor 2",
            memory_type="organizational",
            requires=["hr"],
            doubts=[policy],
        )
        assert doubted(boss) == {"on floor 2": "close floor 2"}
        assert doubted(ann) == {}
        memory.declare("salary*", requires=["hr"])
        hidden = (
            boss.write("room", "my own on floor 2").fact_id,
            boss.write("bonus", 900, memory_type="organizational", requires=["hr"]).fact_id,
            boss.write("salary_of_bo", 4000, memory_type="organizational").fact_id,
        )
        said = boss.write("rooms", "shared from May", memory_type="organizational", doubts=hidden)
        assert fact(ann, said).doubts == ()
        kept = boss.write("salary_round", "in May", memory_type="organizational", doubts=hidden)
        assert fact(boss, kept).doubts == hidden[2:]

    def test_a_reserved_key_is_not_doubted_by_those_it_is_reserved_from(
        self, memory: Memory
    ) -> None:
        """They could not have written it either."""
        memory.declare("limit", write_authority="manager")
        ann = someone(memory, "ann", permissions=["authority:manager"])
        limit = ann.write("limit", 500, authority="manager").fact_id
        # Its standing would let an equal doubt it, were the key not reserved.
        assert fact(ann, limit).standing == "manager"
        told = ann.write("note", "limits changed", doubts=[limit])
        assert fact(ann, told).doubts == ()

    def test_what_a_capability_learned_casts_no_doubt_on_what_is_so(self, memory: Memory) -> None:
        """It stands beside it."""
        ann = someone(memory, "ann", permissions=["capability:maps"])
        street = ann.write("street", "Elm Street").fact_id
        told = ann.write(
            "route",
            "starts at Harbor Road",
            memory_type="capability",
            requires=["capability:maps"],
            doubts=[street],
        )
        assert fact(ann, told).doubts == ()
