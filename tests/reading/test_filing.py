"""What comes of a reading: whole statements, brackets, terms, rules and requests, on a memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import incumbent
from incumbent.testing import SteppingClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[incumbent.Memory]:
    settings = incumbent.Settings(embedder="static")
    with incumbent.open(":memory:", clock=SteppingClock(MONDAY), settings=settings) as opened:
        yield opened


@pytest.fixture
def ann(memory: incumbent.Memory) -> incumbent.Session:
    return memory.session(user_id="ann", authority="manager", organization="acme")


def values(session: incumbent.Session) -> set[str]:
    return {str(fact.value) for fact in session.facts()}


def test_a_changed_value_stands_in_brackets(ann: incumbent.Session) -> None:
    """The rest of the statement is kept as it was said, and its sources are both turns."""
    ann.observe("We need 40 desks by Friday.", ref="m1")
    observed = ann.observe("No, 45 desks.", ref="m2")
    assert values(ann) == {"We need [45] desks by Friday."}
    [fact] = observed.facts
    assert [said.ref for said in fact.source.earlier] == ["m1"]
    assert [part.text for part in fact.parts] == ["45", "Friday"]
    assert all(str(fact.value)[part.start : part.end] == part.text for part in fact.parts)


def test_a_named_value_is_superseded_at_its_address(ann: incumbent.Session) -> None:
    """The subject is part of the address: another's is left alone."""
    ann.observe("My address is 1 Main St. My sister's address is 9 Elm Rd.")
    ann.observe("My address is 2 Oak Ave.")
    assert ann.current("address") == "2 Oak Ave"
    assert ann.current("address", "sister") == "9 Elm Rd"


def test_true_statements_of_others_survive_each_other(ann: incumbent.Session) -> None:
    """Whoever else is said to be something of the same kind, in the same words."""
    said = ["Madame du Barry is a citizen of France.", "Vijay Mallya is a citizen of India."]
    for sentence in said:
        ann.observe(sentence)
    assert values(ann) == set(said)


def test_a_change_that_begins_on_a_day_takes_over_on_that_day(memory: incumbent.Memory) -> None:
    """Until then the present one holds, and from then on it does not."""
    ann = memory.session(user_id="ann", organization="acme")
    ann.observe("The rent is 800 euros.")
    ann.observe("From 1 February the rent is 900 euros.")
    assert ann.current("rent") == "800 euros"
    later = ann.as_of(datetime(2026, 2, 10, tzinfo=UTC))
    assert later.current("rent") == "900 euros"


def test_a_rule_is_a_constraint(ann: incumbent.Session) -> None:
    """Stated by somebody who may bind, it is shown as one."""
    ann.observe("Employees may not accept gifts.")
    assert "Employees may not accept gifts." in ann.context("May I take it?").text
    assert [fact.is_constraint for fact in ann.facts()] == [True]


def test_what_somebody_wants_forgotten_is_erased(ann: incumbent.Session) -> None:
    """By its name, and nothing else with it."""
    ann.observe("My phone number is 555-0100. The ferry leaves at noon.")
    observed = ann.observe("Please forget my phone number.")
    assert len(observed.erasures) == 1
    assert values(ann) == {"The ferry leaves at noon."}


def test_taking_it_back_undoes_the_last_statement(ann: incumbent.Session) -> None:
    """The one before it stays."""
    ann.observe("The ferry leaves at noon.")
    ann.observe("The bus leaves at one.")
    ann.observe("Take that back.")
    assert values(ann) == {"The ferry leaves at noon."}


def test_a_quotation_ends_nothing(ann: incumbent.Session) -> None:
    """Whatever it says of what is known."""
    ann.observe("My phone number is 555-0100.")
    ann.observe('Tom wrote: "please forget my phone number".')
    ann.observe("> My phone number is 555-0199.")
    ann.observe("Subject: hello\nHi all,\nplease forget my phone number.\nBest, Tom")
    assert ann.current("phone_number") == "555-0100"


def test_an_assistant_touches_no_word_of_a_person(ann: incumbent.Session) -> None:
    """What it reports as done is kept as its own."""
    ann.observe("We need 40 desks by Friday.")
    ann.observe("Booked: 45 desks by Friday.", speaker="assistant")
    assert values(ann) == {"We need 40 desks by Friday.", "Booked: 45 desks by Friday."}


def test_a_turn_observed_twice_is_filed_once(ann: incumbent.Session) -> None:
    """The same ref and the same words are the same turn."""
    ann.observe("The ferry leaves at noon.", ref="m1")
    assert ann.observe("The ferry leaves at noon.", ref="m1").repeated
    assert len(ann.facts()) == 1


def test_what_rests_on_something_that_changed_is_to_be_worked_out_again(
    ann: incumbent.Session,
) -> None:
    """By its reason, named in words, or by what was said right before it."""
    ann.observe("The menu is lamb.")
    ann.observe("The wine is Merlot because of the menu.")
    ann.observe("The guest count is 40. So the budget is 5,000 euros.")
    ann.observe("The menu is fish now.")
    ann.observe("The guest count is 60 now.")
    told = ann.context("Which wine, and what budget?").text
    assert "Merlot" not in told
    assert "5,000" not in told
    assert "budget: not known, recalculate" in told


def test_an_explicit_change_says_what_it_rests_on(ann: incumbent.Session) -> None:
    """The words for an explicit change; of others, the reader and its chance."""
    ann.observe("The menu is lamb.")
    [verdict] = ann.observe("The menu is fish now.").verdicts
    assert str(verdict) == '"The menu is fish now.": superseded (explicit)'
    assert set(verdict.evidence) >= {"reader", "chance"}
    ann.observe("My email is ann@old.example.")
    [verdict] = ann.observe("My email is ann@new.example.").verdicts
    assert str(verdict) == "email: superseded (implicit)"
    assert set(verdict.evidence) >= {"reader", "chance"}
    [verdict] = ann.observe("No, my email is a@b.example.").verdicts
    assert str(verdict) == "email: superseded (explicit)"
    assert verdict.reason == "No, my email is a@b.example."


def test_what_waits_for_a_change_takes_office_with_it(ann: incumbent.Session) -> None:
    """Until then it is not so."""
    ann.observe("Our lead is James.")
    waiting = "If the lead changes, the weekly report goes to Ada."
    ann.observe(waiting)
    assert values(ann) == {"James"}
    ann.observe("Our lead is Maria now.")
    assert values(ann) == {"Maria", waiting}


def test_a_turn_that_corrects_itself_keeps_what_it_ends_with(ann: incumbent.Session) -> None:
    """Within one turn, too, one value changes in brackets."""
    ann.observe("We need 40 desks by Friday. Sorry, 45 desks.")
    assert values(ann) == {"We need [45] desks by Friday."}


@pytest.mark.parametrize(
    ("first", "second", "stands"),
    [
        ("Ilse Brandt was born in Riga.", "Ilse Brandt was born in Tartu.", False),
        ("The capital of Morvane is Ekersund.", "The capital of Morvane is Talbot.", False),
        ("Ilse Brandt was born in Riga.", "Olaf Kern was born in Tartu.", True),
        ("Ilse Brandt speaks Latvian.", "Ilse Brandt speaks Estonian.", True),
        ("Ilse Brandt is allergic to nuts.", "Ilse Brandt is allergic to eggs.", True),
    ],
)
def test_what_has_one_at_a_time_is_in_doubt_once_another_is_said(
    ann: incumbent.Session, first: str, second: str, *, stands: bool
) -> None:
    """In the same words and without a word of change; where there can be several, and of another
    subject, both stand."""
    ann.observe(first)
    ann.observe(second)
    shown = ann.context(first, budget=800)
    facts = [line.text for line in shown.lines if line.section == "Facts"]
    assert any(second[-6:-1] in text for text in facts)
    assert any(first[-6:-1] in text for text in facts) is stands


def test_nobodys_words_are_edited_by_somebody_elses(ann: incumbent.Session) -> None:
    """What another person corrects stays in its own words, in doubt, with the correction beside."""
    ann.observe("We need 40 desks by Friday.", speaker="Babak")
    ann.observe("No, 45 desks.", speaker="Henrike")
    assert "We need 40 desks by Friday." in values(ann)
    [doubted] = [fact for fact in ann.facts() if fact.value == "No, 45 desks."]
    assert len(doubted.doubts) == 1
