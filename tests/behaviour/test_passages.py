"""Passages: what was said is kept in its words, for the person alone, until it is erased."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def said(session: Session, query: str, **options: Any) -> list[str]:
    """The lines of a context about what was said before."""
    context = session.context(query, **options)
    return [line.text.partition(": ")[2] for line in context.lines if line.section == "Said"]


class TestContexts:
    """What a context shows of what was said before."""

    ROUTE = "You could take the Ulriken route, it has a cable car."

    def test_another_session_finds_what_was_said(self, memory: Memory, alice: Session) -> None:
        """Though it is no fact; only of the same person, and never without a query."""
        alice.observe(self.ROUTE, speaker="assistant")
        later = someone(memory, "alice")
        assert said(later, "Which route has a cable car?") == [self.ROUTE]
        assert said(later, "") == said(later, "What does the dentist cost?") == []
        assert said(someone(memory, "bob"), "Which route has a cable car?") == []

    def test_it_is_shown_oldest_first(self, memory: Memory, alice: Session) -> None:
        """Whichever is nearer to the query; under its day and its speaker."""
        texts = [
            "The Ulriken route is steep in its last part.",
            "The Floyen route is flat.",
            "The Lyderhorn route is a route for a long day.",
        ]
        for text in texts:
            alice.observe(text, speaker="assistant")
        later, asked = someone(memory, "alice"), "Is it steep, or flat, or a long day on Lyderhorn?"
        assert said(later, asked) == texts
        line = next(line for line in later.context(asked).lines if line.section == "Said")
        assert line.text == f"- 2026-01-05, assistant: {texts[0]}"

    def test_a_short_answer_comes_with_what_it_was_given_to(
        self, memory: Memory, alice: Session
    ) -> None:
        """Though it shares no word with the query; where it tells nothing, it stays away."""
        alice.observe("checkout's at 11 right")
        alice.observe("For you it's 13:00, you're a gold member.", speaker="assistant")
        alice.observe("And breakfast at the lake is from 7, I think.")
        alice.observe("Got it. Shall I wake you in time for that?", speaker="assistant")
        later = memory.session(user_id="alice", organization="acme", session_id="later")
        assert "13:00" in later.context("When is checkout?").text
        assert "Shall I wake you" not in later.context("Where is breakfast at the lake?").text

    def test_what_a_fact_says_is_not_said_again(self, memory: Memory, alice: Session) -> None:
        """A passage that says no more than the facts above it is left out."""
        alice.observe("I take the Ulriken route on Fridays.")
        context = someone(memory, "alice").context("When do I take the Ulriken route?")
        assert context.text.count("Ulriken") == 1

    def test_nothing_dead_comes_back(self, memory: Memory, alice: Session) -> None:
        """What its speaker took back is cut out of the words of both."""
        alice.observe("My phone number is 555-0142. The weather on the Ulriken route was lovely!")
        alice.observe("Noted: I ring 555-0142 about the Ulriken route.", speaker="assistant")
        alice.observe("My phone number is 555-0199 now.")
        context = someone(memory, "alice").context("phone number, weather on the Ulriken route")
        assert "555-0142" not in context.text
        assert "Ulriken" in context.text

    def test_the_desk_or_the_caller_shows_the_session_itself(self, alice: Session) -> None:
        """Turns on the desk are not shown twice, nor those that the caller sends anyway."""
        alice.observe(self.ROUTE, speaker="assistant")
        asked = "Which route has a cable car?"
        assert alice.context(asked).text.count(self.ROUTE) == 1
        assert self.ROUTE not in alice.context(asked, conversation=False).text

    def test_facts_come_first_and_the_budget_holds(self, memory: Memory, alice: Session) -> None:
        """At any budget; a fact is not crowded out by what was said."""
        alice.write("route", "Ulriken")
        for n in range(30):
            alice.observe(f"Route {n} has a cable car and a view, I think.", speaker="assistant")
        later = someone(memory, "alice")
        counts = []
        for budget in range(0, 700, 70):
            context = later.context("Which route has a cable car?", budget=budget)
            assert context.tokens <= budget
            lines = [line for line in context.lines if line.section == "Said"]
            assert not lines or "route: Ulriken" in context.text
            counts.append(len(lines))
        assert counts[0] == 0 < counts[-1]

    def test_a_look_at_the_past_shows_none(self, memory: Memory, alice: Session) -> None:
        """Nor does a memory that keeps none."""
        alice.observe(self.ROUTE, speaker="assistant")
        now = memory.resources.now()
        assert said(someone(memory, "alice"), "cable car route", at=now) == []

    def test_a_new_passage_is_noticed_at_once(self, memory: Memory, alice: Session) -> None:
        """By whoever has asked the same before, though no fact came of it."""
        later = someone(memory, "alice")
        assert said(later, "Which route has a cable car?") == []
        alice.observe(self.ROUTE, speaker="assistant")
        assert said(later, "Which route has a cable car?") == [self.ROUTE]

    def test_a_receipt_gives_it_back_until_it_is_erased(
        self, memory: Memory, alice: Session
    ) -> None:
        """Byte for byte; after an erasure without what was erased."""
        told = alice.observe("My phone number is 555-0142. We met on the Ulriken route!")
        alice.observe("I ring 555-0142 about the Ulriken route, then.", speaker="assistant")
        later = someone(memory, "alice")
        context = later.context("Who rings about the Ulriken route?", record=True)
        assert said(later, "Who rings about the Ulriken route?")
        assert memory.replay(context.receipt).text == context.text
        phone = next(fact for fact in told.facts if "555-0142" in str(fact.value))
        memory.forget(organization="acme", fact_id=phone.id)
        kept = later.receipts()[0]
        assert "555-0142" not in memory.replay(kept).text
        assert "555-0142" not in later.context("Who rings about the Ulriken route?").text

    def test_what_is_over_is_not_said_again(self, memory: Memory, alice: Session) -> None:
        """Whoever says it again in as many words, before it was over; what is said later is."""
        alice.observe("My dentist is Dr Brandt.")
        alice.observe("Noted: your dentist is Dr Brandt.", speaker="assistant")
        alice.observe("My dentist is Dr Vo now.")
        later = someone(memory, "alice")
        assert said(later, "Who is my dentist?") == []
        alice.observe("I told Dr Brandt that he is my dentist no more.", speaker="assistant")
        assert len(said(later, "Who is my dentist?")) == 1

    def test_it_does_not_come_back_for_an_echo(self, memory: Memory, alice: Session) -> None:
        """A turn that states what is over only mentions what others state with the same name."""
        alice.observe("Oslo has the Munch museum.")
        alice.observe("The capital of Norway is Oslo.")
        alice.observe("The capital of Norway is Bergen now.")
        later = someone(memory, "alice")
        assert not any("Norway" in one for one in said(later, "What is the capital of Norway?"))

    def test_what_one_may_not_see_is_not_said(self, memory: Memory) -> None:
        """Nor a turn that repeats it."""
        memory.declare("salary", requires=["hr"])
        full = someone(memory, "alice", permissions=["hr"])
        full.observe("My salary is 5000 EUR.")
        full.observe("The bank asked for the salary of 5000 EUR.", speaker="assistant")
        asked = "What is my salary, and what did the bank ask for?"
        assert said(someone(memory, "alice", permissions=["hr"]), asked) != []
        assert said(someone(memory, "alice"), asked) == []
