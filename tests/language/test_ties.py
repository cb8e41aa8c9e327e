"""What follows and what waits, as it is said: repaired when its base changes."""

from __future__ import annotations

import pytest

import incumbent
from incumbent.model.fact import Status


@pytest.fixture
def ann(memory: incumbent.Memory) -> incumbent.Session:
    """Somebody who talks."""
    return memory.session(user_id="ann", organization="acme")


def told(session: incumbent.Session, query: str) -> str:
    return session.context(query, budget=2000).text


def test_a_rule_takes_effect_when_its_base_becomes_what_it_says(ann: incumbent.Session) -> None:
    """Of two rules, the one holds whose case came about."""
    ann.observe("The venue is Porto, so the fee is $40.")
    ann.observe("If the venue changes to Graz, the fee becomes $50.")
    ann.observe("If the venue changes to Ghent, the fee becomes $60.")
    ann.observe("The venue is now Ghent.")
    assert ann.current("fee") == "$60"
    text = told(ann, "What is the fee?")
    assert "$40" not in text
    assert "$50" not in text


def test_a_rule_goes_on_waiting_when_its_base_becomes_something_else(
    ann: incumbent.Session,
) -> None:
    """What follows is not known then; and once the case comes about after all, it is."""
    ann.observe("The venue is Porto, so the fee is $40.")
    ann.observe("Once the venue moves to Graz, the fee will be $50.")
    ann.observe("The venue is now Ghent.")
    assert "fee: not known, recalculate" in told(ann, "What is the fee?")
    ann.observe("The venue is now Graz.")
    assert ann.current("fee") == "$50"


def test_a_rule_whose_case_is_so_already_holds(ann: incumbent.Session) -> None:
    """It follows from the base, and is in doubt when that changes."""
    ann.observe("The venue is Porto.")
    ann.observe("Whenever the venue is Porto, the fee is $40.")
    assert ann.current("fee") == "$40"
    ann.observe("The venue is now Graz.")
    assert "$40" not in told(ann, "What is the fee?")


def test_what_comes_about_leaves_other_statements_alone(ann: incumbent.Session) -> None:
    """Though none of them has a name, only the one that the rule is about goes."""
    ann.observe("Mrs. Lindqvist has a garden full of dahlias.")
    ann.observe("Because the service contract is with Quillon the generator runs on wood pellets.")
    ann.observe("Once the service contract is given to Brightwell, the generator runs on propane.")
    ann.observe("The service contract is now with Brightwell.")
    text = told(ann, "What do you know of the garden, the contract and the generator?")
    assert "dahlias" in text
    assert "Brightwell" in text
    assert "propane" in text
    assert "wood pellets" not in text


def test_undoing_the_change_puts_the_rule_back_to_waiting(ann: incumbent.Session) -> None:
    """As if the base had never changed: the old value holds, and the rule waits."""
    ann.observe("The venue is Porto. The fee is $40.")
    ann.observe("If the venue becomes Graz, the fee becomes $50.")
    change = ann.observe("The venue is now Graz.").verdicts[0]
    assert ann.current("fee") == "$50"
    ann.undo(change)
    assert (ann.current("venue"), ann.current("fee")) == ("Porto", "$40")
    ann.observe("The venue is now Graz.")
    assert ann.current("fee") == "$50"


def test_a_written_fact_can_say_what_its_base_must_become(ann: incumbent.Session) -> None:
    """`Source.becomes` makes a structured write wait for one value among many."""
    ann.write("venue", "Porto")
    ann.write("fee", "$40")
    source = incumbent.Source(becomes=("Graz",))
    fact = ann.write("fee", "$50", when_superseded="venue", source=source).fact
    assert fact is not None
    assert fact.status is Status.WAITING
    ann.write("venue", "Ghent")
    assert ann.current("fee") == "$40"
    ann.write("venue", "Graz")
    assert ann.current("fee") == "$50"


def test_what_was_said_of_a_thing_is_changed_by_its_name(ann: incumbent.Session) -> None:
    """However the value was put, and however long ago."""
    ann.observe("The generator runs on propane.")
    for number in range(45):
        ann.observe(f"Chapter {number + 1} is about whales.")
    ann.observe("We switched the generator to diesel.")
    text = told(ann, "What about the generator?")
    assert "the generator to diesel" in text
    assert "propane" not in text


def test_a_conclusion_finds_a_base_from_long_ago(ann: incumbent.Session) -> None:
    """What it follows from may have been said before all that is still at hand."""
    ann.observe("The landlord is Osterman.")
    for number in range(45):
        ann.observe(f"Chapter {number + 1} is about whales.")
    ann.observe("Because of the landlord, the rent is $900.")
    ann.observe("The landlord is now Norvane.")
    assert "$900" not in told(ann, "What is the rent?")


def test_a_statement_does_not_replace_what_it_follows_from(ann: incumbent.Session) -> None:
    """To name a thing as the reason is not to change it."""
    ann.observe("The model is the Atlas Mini.")
    ann.observe("The contract is with Quillon; it was chosen because of the model.")
    assert ann.current("model") == "the Atlas Mini"


def test_a_circle_of_reasons_refuses_no_turn(ann: incumbent.Session) -> None:
    """What would rest on itself is stored without that."""
    ann.observe("The fee is $40. It depends on the venue.")
    ann.observe("The venue is Porto, based on the fee.")
    ann.observe("The fee depends on the venue.")
    assert (ann.current("fee"), ann.current("venue")) == ("$40", "Porto")


def test_a_thing_that_is_to_be_deleted_is_taken_back(ann: incumbent.Session) -> None:
    """The very thing that is named, and not another that belongs to the same."""
    ann.observe("The menu for the gala is fish. The band for the gala is Blue Note.")
    ann.observe("Delete the band for the gala.")
    text = told(ann, "What about the gala?")
    assert "Blue Note" not in text
    assert "fish" in text


def test_what_cannot_be_deleted_is_a_request(ann: incumbent.Session) -> None:
    """To remove what was never on record is something that is asked for."""
    assert ann.observe("Remove the olives from the pizza.").facts


def test_whoever_tells_of_themselves_ends_nothing_else(ann: incumbent.Session) -> None:
    """A lost glove is no news of the fee."""
    ann.observe("The fee is $40.")
    ann.observe("I lost my left glove somewhere.")
    ann.observe("Sorry, I got distracted.")
    assert ann.current("fee") == "$40"


@pytest.mark.parametrize(
    "turn",
    [
        "I took the landlord as the starting point and arrived at $900 for the rent.",
        "The way the landlord is at present, we land on $900 for the rent.",
        "The rent is $900. If you want to know where that comes from, look at the landlord.",
        "It's the landlord that decides the rent, and for the moment the rent is $900.",
    ],
)
def test_what_rests_on_a_known_thing_falls_with_it(ann: incumbent.Session, turn: str) -> None:
    """However it is put, as long as the thing is named."""
    ann.observe("The landlord is Osterman.")
    ann.observe(turn)
    assert "$900" in told(ann, "What is the rent?")
    ann.observe("The landlord is now Norvane.")
    assert "$900" not in told(ann, "What is the rent?")


@pytest.mark.parametrize(
    "turn",
    [
        "The cook is Ines Prado. Why is that? Because the menu is lamb.",
        "Going by the menu (lamb), the cook is Ines Prado.",
        "The menu is lamb, and the cook is Ines Prado on account of that.",
    ],
)
def test_a_reason_told_in_the_same_breath_is_what_the_other_rests_on(
    ann: incumbent.Session, turn: str
) -> None:
    """Also where neither was known before."""
    ann.observe(turn)
    assert "lamb" in told(ann, "What is the menu?")
    ann.observe("The menu is now trout.")
    text = told(ann, "What about the menu and the cook?")
    assert "trout" in text
    assert "Ines Prado" not in text


def test_a_rule_may_take_two_sentences(ann: incumbent.Session) -> None:
    """What is supposed in the first is the case of the second, and changes nothing yet."""
    ann.observe("The venue is Porto. The fee is $40.")
    ann.observe("It could be that the venue moves to Graz. In that event, the fee becomes $50.")
    assert (ann.current("venue"), ann.current("fee")) == ("Porto", "$40")
    ann.observe("The venue is now Graz.")
    assert ann.current("fee") == "$50"


@pytest.mark.parametrize(
    "turn",
    [
        "The latest change of the car has been withdrawn, so it's $300 once more.",
        "Ignore my last update on the car, $300 was right.",
        "Back to square one with the car: $300.",
    ],
)
def test_what_is_so_again_brings_back_what_rested_on_it(ann: incumbent.Session, turn: str) -> None:
    """The earlier value is put back, and what followed from it holds again."""
    ann.observe("The car costs $300.")
    ann.observe("The hotel is Casa Pilar, based on the car.")
    ann.observe("The car now costs $450.")
    assert "Casa Pilar" not in told(ann, "Which hotel?")
    ann.observe(turn)
    text = told(ann, "What about the car and the hotel?")
    assert "$300" in text
    assert "$450" not in text
    assert "Casa Pilar" in text


def test_a_change_keeps_one_statement_of_the_thing(ann: incumbent.Session) -> None:
    """What a thing costs now takes the place of what it was said to cost."""
    ann.observe("The car costs $300.")
    heard = ann.observe("The car now costs $450.")
    assert [str(fact.value).rstrip(".") for fact in heard.facts] == ["The car now costs $450"]


def test_what_is_named_as_replaced_is_not_repeated(ann: incumbent.Session) -> None:
    """Neither is it shown where the turn that replaced it named it."""
    ann.observe("The curtain colour is crimson.")
    ann.observe("Forget crimson. The curtain colour is now maroon.")
    text = told(ann, "What is the curtain colour?")
    assert "maroon" in text
    assert "crimson" not in text


def test_what_has_to_be_worked_out_again_is_believed_when_it_is(ann: incumbent.Session) -> None:
    """A value that is in doubt is no reason to doubt the next one."""
    ann.observe("The inspection is on 3 May.")
    ann.observe("The door code is XX-111, based on the inspection.")
    ann.observe("The inspection is now on 11 August.")
    ann.observe("On re-examination, the door code is LB-534.")
    assert ann.current("door_code") == "LB-534"


@pytest.mark.parametrize(
    "turn",
    [
        "If the venue were Graz, would the fee be $50?",
        "What happens to the fee when the venue changes?",
        "Bob thinks the venue is Graz.",
        "When the venue was Graz, the fee was $50.",
        "I like the venue, so I told my sister about the fee.",
        "The man from the venue called about the fee.",
        "The fee, like the venue, is a secret.",
        "Please don't delete the venue.",
        "The venue can be cancelled free of charge.",
        "I deleted the file with photos of the venue yesterday.",
        "He asked me to forget the keys, not the venue.",
        "Someone suggested Graz for the venue.",
        "The venue in Graz is closed.",
    ],
)
def test_what_only_looks_like_it_ties_and_ends_nothing(ann: incumbent.Session, turn: str) -> None:
    """Both things stand, and neither falls nor changes with the other."""
    ann.observe("The venue is Porto.")
    ann.observe("The fee is $40.")
    ann.observe(turn)
    assert (ann.current("venue"), ann.current("fee")) == ("Porto", "$40")
    ann.observe("The venue is now Graz.")
    assert ann.current("fee") == "$40"
    assert not ann.reviews()


def test_what_is_removed_and_then_said_to_be_gone_is_one_thing(ann: incumbent.Session) -> None:
    """ "It" is what was just removed, and not whatever was said last."""
    ann.observe("Our wall colour is teal.")
    ann.observe("Our landlord is Bluebarn.")
    ann.observe("Kindly remove our wall colour from your records; it has been done away with.")
    assert "teal" not in told(ann, "What is our wall colour?")
    assert ann.current("landlord") == "Bluebarn"


def test_of_two_things_in_one_breath_each_can_change_by_itself(ann: incumbent.Session) -> None:
    """What is said of the other stands."""
    ann.observe("The hall code is KX-210 and the ticket price is $75.")
    ann.observe("The hall code is now KX-300.")
    text = told(ann, "What are the hall code and the ticket price?")
    assert "KX-300" in text
    assert "$75" in text
    assert "KX-210" not in text


def test_the_end_of_a_change_is_not_the_end_of_the_thing(ann: incumbent.Session) -> None:
    """What was withdrawn is what was to be, and the thing is what it was."""
    ann.observe("My hotel is the Blue Heron.")
    ann.observe("My hotel is now the Old Foundry.")
    ann.observe("The last amendment to my hotel was withdrawn, so the Blue Heron applies again.")
    assert ann.current("hotel") == "the Blue Heron"
