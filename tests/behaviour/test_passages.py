"""Passages: what was said is kept in its words, for the person alone, until it is erased."""

from __future__ import annotations

from dataclasses import replace

import pytest

import incumbent
from incumbent import Memory, Session
from tests.behaviour.people import someone
from tests.conftest import QUICK, OpenMemory

pytestmark = pytest.mark.on_every_store


def kept(memory: Memory) -> list[tuple[str, str, str]]:
    """What is kept of an organization: of whom, who said it, and what."""
    with memory.store.read("acme") as reader:
        found = reader.passages(None, 0, 999)
    return [(one.user_id, one.passage.speaker, one.passage.text) for one in found]


class TestKeeping:
    """What is kept of turns."""

    def test_both_sides_are_kept_in_their_words(self, memory: Memory, alice: Session) -> None:
        """In the order in which they were said; what has no words of its own is not."""
        alice.observe("It rained all day in Bergen.")
        alice.observe("Try the Ulriken route next time.", speaker="assistant")
        alice.observe("…")
        assert kept(memory) == [
            ("alice", "user", "It rained all day in Bergen."),
            ("alice", "assistant", "Try the Ulriken route next time."),
        ]

    def test_a_long_turn_is_kept_by_paragraphs(self, memory: Memory, alice: Session) -> None:
        """Each a stretch of it as it was said, and together all of it."""
        text = "\n\n".join(f"Step {n}: " + "mix the dough with care, " * 20 for n in range(3))
        alice.observe(text, speaker="assistant")
        told = [said for _, _, said in kept(memory)]
        assert len(told) == 3
        assert all(said in text and len(said) <= 600 for said in told)
        assert "".join("".join(told).split()) == "".join(text.split())

    def test_nothing_is_kept_in_a_branch_or_a_rehearsal(
        self, memory: Memory, alice: Session
    ) -> None:
        """They touch nothing real."""
        alice.hypothetical("moving").observe("Suppose we moved to Oslo in May.")
        with alice.rehearsal() as trial:
            trial.observe("We moved to Oslo in May.")
        assert kept(memory) == []

    def test_a_turn_that_comes_twice_is_kept_once(self, memory: Memory, alice: Session) -> None:
        """Told by its ref."""
        for _ in range(2):
            alice.observe("It rained all day in Bergen.", ref="m1")
        assert len(kept(memory)) == 1

    def test_a_setting_keeps_none(self, open_memory: OpenMemory) -> None:
        """`Settings.passages` of 0; what is no share is refused."""
        memory = open_memory(settings=replace(QUICK, passages=0))
        someone(memory, "alice").observe("It rained all day in Bergen.")
        assert kept(memory) == []
        with pytest.raises(incumbent.InvalidInput, match="passages must be between 0 and 1"):
            incumbent.Settings(passages=1.5)


class TestErasing:
    """What an erasure leaves of them."""

    def test_a_passage_that_states_or_quotes_goes(self, memory: Memory, alice: Session) -> None:
        """In the person's own passages; the number alone is nothing in somebody else's."""
        said = alice.observe("My phone number is 555-0142.")
        alice.observe("I will call 555-0142 tomorrow.", speaker="assistant")
        alice.observe("It rained all day in Bergen.")
        someone(memory, "bob").observe("The order is 555-0142, I think.")
        erasure = memory.forget(organization="acme", fact_id=said.facts[0].id)
        assert erasure.removed["passages"] == 2
        assert [(who, text) for who, _, text in kept(memory)] == [
            ("alice", "It rained all day in Bergen."),
            ("bob", "The order is 555-0142, I think."),
        ]

    def test_they_go_with_the_person(self, memory: Memory, alice: Session) -> None:
        """All of them, and nobody else's."""
        alice.observe("It rained all day in Bergen.")
        someone(memory, "bob").observe("It snowed all day in Oslo.")
        assert memory.forget(organization="acme", user_id="alice").removed["passages"] == 1
        assert [who for who, _, _ in kept(memory)] == ["bob"]

    def test_whoever_asks_for_it_in_a_turn_leaves_no_words(
        self, memory: Memory, alice: Session
    ) -> None:
        """Neither where it was said nor where it was asked for."""
        alice.observe("My phone number is 555-0142.")
        alice.observe("Please delete my phone number from your memory.")
        assert "555-0142" not in str(kept(memory))


def test_passages_move_with_an_export(memory: Memory, alice: Session) -> None:
    """They are in it, and are found by their words where it was imported."""
    alice.observe("My phone number is 555-0142. It rained all day in Bergen.")
    memory.import_(memory.export("acme"), organization="copy")
    memory.reindex("copy")
    with memory.store.read("acme") as here, memory.store.read("copy") as there:
        assert here.passages(None, 0, 9)[0].passage == there.passages(None, 0, 9)[0].passage
        assert len(there.passages_under("alice", ["bergen"], 9)[0]) == 1
