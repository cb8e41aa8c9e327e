"""What follows and what waits, as it is said: repaired when its base changes."""

from __future__ import annotations

import pytest

import tenure
from tenure.model.fact import Status


@pytest.fixture
def ann(memory: tenure.Memory) -> tenure.Session:
    """Somebody who talks."""
    return memory.session(user_id="ann", organization="acme")


def told(session: tenure.Session, query: str) -> str:
    return session.context(query, budget=2000).text


def test_a_rule_takes_effect_when_its_base_becomes_what_it_says(ann: tenure.Session) -> None:
    """Of two rules, the one holds whose case came about."""
    ann.observe("The venue is Porto, so the fee is $40.")
    ann.observe("If the venue changes to Graz, the fee becomes $50.")
    ann.observe("If the venue changes to Ghent, the fee becomes $60.")
    ann.observe("The venue is now Ghent.")
    assert ann.current("fee") == "$60"
    text = told(ann, "What is the fee?")
    assert "$40" not in text
    assert "$50" not in text


def test_a_rule_goes_on_waiting_when_its_base_becomes_something_else(ann: tenure.Session) -> None:
    """What follows is not known then; and once the case comes about after all, it is."""
    ann.observe("The venue is Porto, so the fee is $40.")
    ann.observe("Once the venue moves to Graz, the fee will be $50.")
    ann.observe("The venue is now Ghent.")
    assert "fee: not known, recalculate" in told(ann, "What is the fee?")
    ann.observe("The venue is now Graz.")
    assert ann.current("fee") == "$50"


def test_a_rule_whose_case_is_so_already_holds(ann: tenure.Session) -> None:
    """It follows from the base, and is in doubt when that changes."""
    ann.observe("The venue is Porto.")
    ann.observe("Whenever the venue is Porto, the fee is $40.")
    assert ann.current("fee") == "$40"
    ann.observe("The venue is now Graz.")
    assert "$40" not in told(ann, "What is the fee?")


def test_undoing_the_change_puts_the_rule_back_to_waiting(ann: tenure.Session) -> None:
    """As if the base had never changed: the old value holds, and the rule waits."""
    ann.observe("The venue is Porto. The fee is $40.")
    ann.observe("If the venue becomes Graz, the fee becomes $50.")
    change = ann.observe("The venue is now Graz.").verdicts[0]
    assert ann.current("fee") == "$50"
    ann.undo(change)
    assert (ann.current("venue"), ann.current("fee")) == ("Porto", "$40")
    ann.observe("The venue is now Graz.")
    assert ann.current("fee") == "$50"


def test_a_written_fact_can_say_what_its_base_must_become(ann: tenure.Session) -> None:
    """`Source.becomes` makes a structured write wait for one value among many."""
    ann.write("venue", "Porto")
    ann.write("fee", "$40")
    source = tenure.Source(becomes=("Graz",))
    fact = ann.write("fee", "$50", when_superseded="venue", source=source).fact
    assert fact is not None
    assert fact.status is Status.WAITING
    ann.write("venue", "Ghent")
    assert ann.current("fee") == "$40"
    ann.write("venue", "Graz")
    assert ann.current("fee") == "$50"


def test_what_was_said_of_a_thing_is_changed_by_its_name(ann: tenure.Session) -> None:
    """However the value was put, and however long ago."""
    ann.observe("The generator runs on propane.")
    for number in range(45):
        ann.observe(f"Chapter {number + 1} is about whales.")
    ann.observe("We switched the generator to diesel.")
    text = told(ann, "What about the generator?")
    assert "runs on diesel" in text
    assert "propane" not in text


def test_a_conclusion_finds_a_base_from_long_ago(ann: tenure.Session) -> None:
    """What it follows from may have been said before all that is still at hand."""
    ann.observe("The landlord is Osterman.")
    for number in range(45):
        ann.observe(f"Chapter {number + 1} is about whales.")
    ann.observe("Because of the landlord, the rent is $900.")
    ann.observe("The landlord is now Norvane.")
    assert "$900" not in told(ann, "What is the rent?")


def test_a_statement_does_not_replace_what_it_follows_from(ann: tenure.Session) -> None:
    """To name a thing as the reason is not to change it."""
    ann.observe("The model is the Atlas Mini.")
    ann.observe("The contract is with Quillon; it was chosen because of the model.")
    assert ann.current("model") == "the Atlas Mini"


def test_a_circle_of_reasons_refuses_no_turn(ann: tenure.Session) -> None:
    """What would rest on itself is stored without that."""
    ann.observe("The fee is $40. It depends on the venue.")
    ann.observe("The venue is Porto, based on the fee.")
    ann.observe("The fee depends on the venue.")
    assert (ann.current("fee"), ann.current("venue")) == ("$40", "Porto")


def test_a_thing_that_is_to_be_deleted_is_taken_back(ann: tenure.Session) -> None:
    """The very thing that is named, and not another that belongs to the same."""
    ann.observe("The menu for the gala is fish. The band for the gala is Blue Note.")
    ann.observe("Delete the band for the gala.")
    text = told(ann, "What about the gala?")
    assert "Blue Note" not in text
    assert "fish" in text


def test_what_cannot_be_deleted_is_a_request(ann: tenure.Session) -> None:
    """To remove what was never on record is something that is asked for."""
    assert ann.observe("Remove the olives from the pizza.").facts


def test_whoever_tells_of_themselves_ends_nothing_else(ann: tenure.Session) -> None:
    """A lost glove is no news of the fee."""
    ann.observe("The fee is $40.")
    ann.observe("I lost my left glove somewhere.")
    ann.observe("Sorry, I got distracted.")
    assert ann.current("fee") == "$40"
