"""Talks: where in a turn a fact was read, and what became of what was said."""

from __future__ import annotations

import incumbent
from incumbent.inspector.marking import MarkedStretch, marked
from incumbent.inspector.talking import marks_of, passed_over, tried_marks, turn_shown

SAID = "My address is 123 Main St. What if we invited 40 people? I like tea."


def shown(session: incumbent.Session) -> list[list[MarkedStretch]]:
    """The turns of a session in stretches."""
    found = []
    for turn in session.list_turns():
        named = {*turn.fact_ids, *(spot.fact_id for spot in turn.spots)} - {""}
        facts = {one: fact for one in named if (fact := session.get(one)) is not None}
        found.append(marked(turn.text or "", marks_of(turn, facts)))
    return found


def test_the_words_that_a_fact_was_read_from_are_marked(alice: incumbent.Session) -> None:
    """Its value within them, and what is only supposed as that."""
    alice.observe(SAID)
    (turn,) = shown(alice)
    kinds = {one.text: one.kinds for one in turn}
    assert kinds["123 Main St"] == ("fact", "value")
    assert kinds["My address is "] == ("fact",)
    assert "unreal" in next(one.kinds for one in turn if "invited" in one.text)
    assert not any(one.is_gone for one in turn)


def test_a_value_that_was_replaced_is_struck_out(alice: incumbent.Session) -> None:
    """The words around it are not, nor the value that took its place."""
    alice.observe(SAID)
    alice.observe("I moved to 456 Oak Ave.")
    first, second = shown(alice)
    assert [one.text for one in first if one.is_gone] == ["123 Main St"]
    assert not any(one.is_gone for one in second)


def test_what_a_turn_changed_is_told_beside_it(alice: incumbent.Session) -> None:
    """In plain words, with what it replaced; decisions that are not known are counted."""
    alice.observe(SAID)
    alice.observe("I moved to 456 Oak Ave.")
    turn = alice.list_turns().items[1]
    (fact_id,) = turn.fact_ids
    facts = {fact_id: alice.facts("address")[0]}
    verdicts = {one.id: one for one in alice.explain(fact_id).verdicts}
    found = turn_shown(turn, facts, verdicts, alice.get)
    (decision,) = found.decisions
    assert decision.about == "address = 456 Oak Ave"
    assert ("replaces", "address = 123 Main St") in decision.more
    assert turn_shown(turn, facts, {}, alice.get).untold == 1


def test_a_trial_tells_what_became_no_fact(alice: incumbent.Session) -> None:
    """And what it was taken for; what it repeats has its words in another turn."""
    alice.observe("By the way, I like tea.")
    text = "What is my budget? I moved to 9 Elm St. I like tea."
    made = alice.rehearsal().observe(text)
    passed = {one.text: one.why for one in passed_over(made)}
    assert passed.get("What is my budget?") == "a question: it states nothing"
    stretches = marked(text, tried_marks(made, text))
    assert [one.text for one in stretches if "value" in one.kinds][:1] == ["9 Elm St"]
    assert "fact" not in {kind for one in stretches if "budget" in one.text for kind in one.kinds}
