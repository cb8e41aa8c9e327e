"""Forgetting for good, and carrying everything else somewhere else."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent import Memory, Session, Status
from incumbent.keys import make_key
from incumbent.testing import SteppingClock
from tests.behaviour.people import current, in_review, someone
from tests.conftest import QUICK, OpenMemory
from tests.properties.world import all_facts, check_links, tenures

pytestmark = pytest.mark.on_every_store


def remains(memory: Memory) -> str:
    """All that the store holds of an organization, as text."""
    return json.dumps(list(memory.export("acme")), ensure_ascii=False)


class TestForget:
    """`memory.forget`."""

    def test_a_fact_is_gone_from_every_read(self, memory: Memory, alice: Session) -> None:
        """No read finds it, no history, no explanation, no export."""
        said = alice.write("phone", "555-0100")
        alice.write("plan", "A")
        erasure = memory.forget(organization="acme", fact_id=said.fact_id)
        assert erasure.fact_ids == (said.fact_id,)
        assert alice.get(said.fact_id) is None
        assert alice.current("phone") is None
        assert len(alice.history("phone")) == 0
        assert "555-0100" not in remains(memory)
        assert "555-0100" not in alice.context("?").text
        assert current(alice) == {"plan": "A"}
        with pytest.raises(incumbent.UnknownFact):
            alice.explain("phone")

    def test_nothing_is_resurrected(self, memory: Memory, alice: Session) -> None:
        """What the erased fact had superseded stays superseded."""
        old = alice.write("phone", "555-0100")
        new = alice.write("phone", "555-0199")
        memory.forget(organization="acme", fact_id=new.fact_id)
        assert alice.current("phone") is None
        assert [found.id for found in alice.history("phone")] == [old.fact_id]
        assert alice.facts() == []
        alice.write("phone", "555-0123")
        assert alice.current("phone") == "555-0123"

    def test_nothing_is_resurrected_by_a_later_undo(self, memory: Memory, alice: Session) -> None:
        """A replay meets the tombstone and leaves the office as it is."""
        alice.write("phone", "555-0100")
        new = alice.write("phone", "555-0199")
        memory.forget(organization="acme", fact_id=new.fact_id)
        third = alice.write("phone", "555-0123")
        alice.undo(third)
        assert alice.current("phone") is None

    def test_an_erased_middle_keeps_the_chain_linked(self, memory: Memory, alice: Session) -> None:
        """The newest value is current, before and after the erasure."""
        alice.write("v1", "A")
        middle = alice.write("v2", "B", supersedes="v1")
        alice.write("v3", "C", supersedes="v2")
        memory.forget(organization="acme", fact_id=middle.fact_id)
        assert alice.current("v1") == "C"
        assert alice.current("v3") == "C"
        check_links(all_facts(memory))

    def test_dependents_that_quote_it_go_and_others_are_marked(
        self, memory: Memory, alice: Session
    ) -> None:
        """To any depth: a copy of a copy goes too."""
        phone = alice.write("phone", "555-0199")
        card = alice.write("card", "Alice, 555-0199", depends_on=["phone"])
        poster = alice.write("poster", "call Alice, 555-0199", depends_on=["card"])
        alice.write("has_phone", True, depends_on=["phone"])
        erasure = memory.forget(organization="acme", fact_id=phone.fact_id)
        assert set(erasure.quoted_in) == {card.fact_id, poster.fact_id}
        assert current(alice) == {"has_phone": True}
        assert in_review(alice) == {"has_phone"}
        assert "555-0199" not in remains(memory)

    def test_notes_that_quote_it_go(self, memory: Memory, alice: Session) -> None:
        """The desk does not keep what was forgotten."""
        phone = alice.write("phone", "555-0199")
        alice.note("turn", "my number is 555-0199")
        alice.note("other", "hello")
        memory.forget(organization="acme", fact_id=phone.fact_id)
        assert [item.key for item in alice.working_set()] == ["other"]

    def test_a_subject_is_forgotten_whoever_spoke(self, memory: Memory, alice: Session) -> None:
        """Everything about one subject, in its whole history, and nothing else."""
        alice.write("phone", "1", subject="ann")
        alice.write("phone", "2", subject="ann")
        alice.write("phone", "3", subject="ben")
        someone(memory, "bob").write("mood", "fine", subject="ann")
        erasure = memory.forget(organization="acme", subject="ann")
        assert len(erasure.fact_ids) == 3
        assert alice.current("phone", "ann") is None
        assert alice.current("phone", "ben") == "3"
        assert someone(memory, "bob").facts() == []

    def test_a_user_is_forgotten_with_what_they_own_and_what_is_about_them(
        self, memory: Memory, alice: Session
    ) -> None:
        """Their facts, their desk, their reasons, and what others said of them."""
        bob = someone(memory, "bob", session_id="b")
        bob.write("address", "9 Elm Rd")
        bob.write("address", "10 Elm Rd")
        bob.retract("address", "moved to my aunt")
        bob.note("scratch", "private")
        alice.write("review", "bob is late", subject="bob")
        alice.write("plan", "A")
        memory.forget(organization="acme", user_id="bob")
        left = remains(memory)
        for word in ("Elm", "aunt", "late"):
            assert word not in left
        assert bob.working_set() == []
        assert current(alice) == {"plan": "A"}

    def test_conditions_narrow_each_other(self, memory: Memory, alice: Session) -> None:
        """One person's statements about one subject."""
        alice.write("phone", "1", subject="ann")
        alice.write("plan", "A")
        someone(memory, "bob").write("phone", "2", subject="ann")
        assert len(memory.forget(organization="acme", user_id="alice", subject="ann").fact_ids) == 1
        assert current(alice) == {"plan": "A"}

    def test_other_organizations_are_untouched(self, memory: Memory, alice: Session) -> None:
        """The same user elsewhere keeps everything."""
        alice.write("phone", "1")
        elsewhere = memory.session(user_id="alice", organization="globex")
        elsewhere.write("phone", "2")
        memory.forget(organization="acme", user_id="alice")
        assert elsewhere.current("phone") == "2"

    def test_the_proof_holds_no_content(self, memory: Memory, alice: Session) -> None:
        """Ids, counts and a digest that a copy can be checked against."""
        said = alice.write("phone", "555-0100")
        erasure = memory.forget(organization="acme", fact_id=said.fact_id)
        assert "555-0100" not in repr(erasure)
        assert erasure.removed["facts"] == 1
        assert len(erasure.digest) == 64
        assert erasure.digest in remains(memory) or erasure.id in remains(memory)

    def test_the_past_forgets_as_well(
        self, memory: Memory, alice: Session, clock: SteppingClock
    ) -> None:
        """As-of gives what then gave, less what was erased."""
        said = alice.write("phone", "555-0100")
        alice.write("plan", "A")
        then = clock()
        alice.write("phone", "555-0199")
        memory.forget(organization="acme", fact_id=said.fact_id)
        for past in (alice.as_of(then), alice.as_of(then, known_at=then)):
            assert current(past) == {"plan": "A"}

    def test_it_cannot_be_undone(self, memory: Memory, alice: Session) -> None:
        """Neither the erasure nor anything that was decided on the erased fact."""
        said = alice.write("phone", "555-0100")
        memory.forget(organization="acme", fact_id=said.fact_id)
        with pytest.raises((incumbent.NothingToUndo, incumbent.UnknownVerdict)):
            alice.undo(said)

    def test_it_needs_a_condition_and_a_match(self, memory: Memory) -> None:
        """Forgetting everything by accident is refused; an unknown fact is an error."""
        with pytest.raises(incumbent.InvalidInput, match="what to forget"):
            memory.forget(organization="acme")
        with pytest.raises(incumbent.UnknownFact):
            memory.forget(organization="acme", fact_id="nothing")
        assert memory.forget(organization="acme", subject="nobody").fact_ids == ()


class TestCarrying:
    """Export and import."""

    def rich(self, memory: Memory, clock: SteppingClock) -> Session:
        """A history with every kind of thing in it."""
        memory.declare("speaks", multi_valued=True)
        memory.declare("reading", time_sensitive=True)
        alice = someone(memory, "alice", "manager", task_id="t", session_id="s")
        someone(memory, "board", "policy").write("travel_policy", "economy")
        alice.write("travel_policy", "first")
        alice.write("price", 12, valid_until=clock.now + timedelta(days=30))
        alice.write("price", 12)
        alice.write("total", {"sum": [120, None, "€"]}, depends_on=["price"])
        alice.write("contact", "James", when_superseded="price")
        raised = alice.write("price", 15)
        alice.undo(raised)
        alice.write("price", 16)
        alice.resolve(alice.reviews()[0].fact.id, still_right=True)
        alice.write("speaks", "French")
        alice.write("speaks", "Greek")
        alice.write("reading", 2, valid_from=clock.now)
        alice.write("reading", 1, valid_from=clock.now - timedelta(hours=1))
        alice.write("format", "csv", scope="task")
        alice.draft("d").write("price", 99)
        alice.write("venue", "Lyon")
        alice.write("venue", "Paris", confidence=0.1)
        gone = alice.write("secret", "forget-me")
        alice.retract("secret", "a slip")
        memory.forget(organization="acme", fact_id=gone.fact_id)
        return alice

    @pytest.mark.parametrize("target", ["memory", "sqlite"])
    def test_a_rich_history_round_trips(
        self, memory: Memory, clock: SteppingClock, tmp_path: Path, target: str
    ) -> None:
        """The copy exports the same records, and reads and goes on the same."""
        alice = self.rich(memory, clock)
        records = list(memory.export("acme"))
        assert "forget-me" not in json.dumps(records)
        where = ":memory:" if target == "memory" else str(tmp_path / "copy.db")
        with incumbent.open(where, clock=clock, settings=QUICK) as copy:
            loaded = copy.import_(json.loads(json.dumps(records)))
            assert loaded == len(records) - 2  # the header and the trailer
            assert list(copy.export("acme")) == records
            assert tenures(all_facts(copy).values()) == tenures(all_facts(memory).values())
            twin = someone(copy, "alice", "manager", task_id="t", session_id="s")
            assert twin.facts() == alice.facts()
            assert twin.reviews() == alice.reviews()
            assert twin.history("price") == alice.history("price")
            assert twin.explain("price") == alice.explain("price")
            assert twin.draft("d").current("price") == 99
            last = alice.explain("price").verdicts[-1]
            twin.undo(last)
            assert twin.current("price") != alice.current("price")

    def test_the_past_comes_along(self, memory: Memory, clock: SteppingClock) -> None:
        """As-of on the copy gives what as-of on the original gives."""
        alice = self.rich(memory, clock)
        then = clock()
        alice.write("price", 77)
        records = list(memory.export("acme"))
        with incumbent.open(":memory:", clock=clock, settings=QUICK) as copy:
            copy.import_(records)
            twin = someone(copy, "alice", "manager", task_id="t", session_id="s")
            for moment in (then, then - timedelta(seconds=8)):
                ours = alice.as_of(moment, known_at=moment).facts()
                assert twin.as_of(moment, known_at=moment).facts() == ours

    def test_an_import_may_go_to_another_organization(self, memory: Memory, alice: Session) -> None:
        """The same facts under another name, in the same store."""
        alice.write("plan", "A")
        memory.import_(list(memory.export("acme")), organization="globex")
        twin = memory.session(user_id="alice", organization="globex")
        assert twin.current("plan") == "A"
        twin.write("plan", "B")
        assert alice.current("plan") == "A"

    def test_an_import_needs_an_empty_organization(self, memory: Memory, alice: Session) -> None:
        """Two histories are not mixed."""
        alice.write("plan", "A")
        with pytest.raises(incumbent.NotPermitted, match="already has facts"):
            memory.import_(list(memory.export("acme")))

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda records: records[1:],
            lambda records: [{**records[0], "version": 99}, *records[1:]],
            lambda records: [*records, {"kind": "fact"}],
            lambda records: [*records, "text"],
        ],
    )
    def test_a_damaged_export_loads_nothing(
        self, open_memory: OpenMemory, alice: Session, memory: Memory, spoil: Any
    ) -> None:
        """It is refused whole."""
        alice.write("plan", "A")
        records = spoil(list(memory.export("acme")))
        with pytest.raises(incumbent.InvalidInput):
            memory.import_(records, organization="globex")
        assert memory.session(user_id="alice", organization="globex").facts() == []
        assert all(fact.status is Status.OFFICE for fact in all_facts(memory).values())


def test_the_keys_of_a_user_go_with_the_user(memory: incumbent.Memory) -> None:
    """What lets in as somebody who was forgotten lets nobody in; other keys stay, and the proof
    says how many went."""
    keys = {
        user: make_key(
            organization="acme",
            name=f"the laptop of {user}",
            scopes=["read"],
            max_authority="employee",
            now=memory.now(),
            user_id=user,
        )[0]
        for user in ("alice", "bob")
    }
    for key in keys.values():
        memory.store.add_key(key)
    fact = memory.session(user_id="alice", organization="acme").write("city", "Bern").fact_id
    assert memory.forget(organization="acme", fact_id=fact).removed["keys"] == 0
    assert memory.forget(organization="acme", user_id="alice").removed["keys"] == 1
    assert memory.store.keys() == [keys["bob"]]
