"""Rules and rights in talk: for whom they are, who may change them, and what they leave alone."""

from __future__ import annotations

import pytest

import incumbent


def someone(memory: incumbent.Memory, authority: str, chat: str = "") -> incumbent.Session:
    return memory.session(
        user_id=authority,
        authority=authority,
        organization="acme",
        session_id=f"{authority}{chat}",
    )


def live(session: incumbent.Session) -> set[str]:
    return {str(fact.value) for fact in session.facts()}


@pytest.mark.parametrize(
    ("rung", "text"),
    [
        ("executive", "Nobody may share customer data with contractors."),
        ("executive", "Only managers may approve refunds over 200 euros."),
        ("manager", "Everybody needs to log their hours by Friday noon."),
        ("manager", "Night visitors must sign in at the desk."),
        ("policy", "Expenses above 500 euros require two signatures."),
        ("policy", "Remote work is limited to two days a week."),
    ],
)
def test_a_rule_for_all_by_somebody_who_may_binds_everybody(
    memory: incumbent.Memory, rung: str, text: str
) -> None:
    """Said of nobody in particular, or of all of a kind, by one who may speak for all."""
    someone(memory, rung).observe(text)
    (found,) = someone(memory, "employee").facts()
    assert found.value == text
    assert found.is_constraint


@pytest.mark.parametrize(
    ("rung", "text"),
    [
        ("employee", "Nobody may use the blue printer."),
        ("manager", "My kids have to be picked up at four."),
        ("manager", "The recipe requires three eggs."),
        ("manager", "Nobody can tell my twin and me apart."),
        ("policy", "My flat is limited to two guests."),
        ("policy", "Tom may be late again."),
        ("policy", "Anna has to leave early on Fridays."),
        ("policy", "Priya needs to see a doctor."),
    ],
)
def test_what_is_no_rule_for_all_stays_with_its_speaker(
    memory: incumbent.Memory, rung: str, text: str
) -> None:
    """Because they may not speak for all, or do not."""
    someone(memory, rung).observe(text)
    assert live(someone(memory, "guest")) == set()


def test_a_rule_leaves_alone_what_people_say_of_other_things(memory: incumbent.Memory) -> None:
    """It overrules nobody who speaks of something else."""
    someone(memory, "policy").observe("Contractors must not enter hall 2.")
    said = {"My dog likes long walks.", "The red folder is on the shelf."}
    for text in sorted(said):
        someone(memory, "employee").observe(text)
    assert said < live(someone(memory, "employee"))


def test_a_rule_is_lifted_by_words_on_another_day(memory: incumbent.Memory) -> None:
    """By somebody who may rule on it, and for everybody."""
    someone(memory, "policy").observe("Employees must not take laptops home.")
    said = "Employees may take laptops home again."
    someone(memory, "policy", "later").observe(said)
    assert live(someone(memory, "employee")) == {said}


def test_a_rule_stands_whatever_is_proposed_from_below(memory: incumbent.Memory) -> None:
    """The proposal is its author's, beside the rule."""
    rule = "Remote work is limited to two days a week."
    said = "I think remote work should be three days a week."
    someone(memory, "policy").observe(rule)
    someone(memory, "employee").observe(said)
    assert live(someone(memory, "employee")) == {rule, said}
    assert live(someone(memory, "guest")) == {rule}


def test_what_one_may_do_is_kept(memory: incumbent.Memory) -> None:
    """A permission reads like a supposition, and is none."""
    said = {
        "Everyone may take laptops out of the building.",
        "Ben may take the car out of the garage again.",
    }
    for text in sorted(said):
        someone(memory, "policy").observe(text)
    assert live(someone(memory, "policy")) == said
