"""How one fact takes the place of another."""

from __future__ import annotations

from datetime import timedelta

import pytest

import incumbent
from incumbent import Memory, Outcome, Rule, Session, Status
from incumbent.testing import SteppingClock
from tests.behaviour.people import FOR_ALL, current, fact, someone


def test_the_first_statement_at_an_address_is_established(alice: Session) -> None:
    """Nobody held the address, so the candidate is the first."""
    verdict = alice.write("venue", "Lyon")
    assert (verdict.outcome, verdict.rule) == (Outcome.ESTABLISHED, Rule.FIRST)
    assert verdict.took_office


def test_a_conflicting_value_retires_the_incumbent(alice: Session) -> None:
    """The old fact is kept, invalid, and both pointers agree."""
    old = alice.write("venue", "Lyon")
    new = alice.write("venue", "Paris")
    assert alice.current("venue") == "Paris"
    assert fact(alice, old).superseded_by == new.fact_id
    assert fact(alice, new).supersedes == old.fact_id
    assert fact(alice, old).value == "Lyon"


def test_other_subjects_are_other_addresses(alice: Session) -> None:
    """The same key about two subjects holds two facts."""
    alice.write("phone", "1", subject="ann")
    alice.write("phone", "2", subject="ben")
    assert (alice.current("phone", "ann"), alice.current("phone", "ben")) == ("1", "2")
    assert alice.current("phone") is None


def test_two_people_have_their_own_address(memory: Memory, alice: Session) -> None:
    """A key with no subject is the writer's own, and touches nobody else's."""
    bob = someone(memory, "bob")
    alice.write("address", "1 Main St")
    assert bob.write("address", "2 Elm Rd").outcome is Outcome.ESTABLISHED
    assert (alice.current("address"), bob.current("address")) == ("1 Main St", "2 Elm Rd")


def test_a_superseded_id_leads_to_the_end_of_its_chain(alice: Session) -> None:
    """Naming an old fact supersedes what has taken its place since."""
    first = alice.write("plan_a", "A")
    second = alice.write("plan_b", "B", supersedes=first.fact_id)
    third = alice.write("plan_c", "C", supersedes=first.fact_id)
    assert third.superseded == (second.fact_id,)
    assert current(alice) == {"plan_c": "C"}


def test_a_named_target_and_the_incumbent_both_give_way(alice: Session) -> None:
    """One candidate may retire what it names and what holds its own address."""
    named = alice.write("old_rate", 5)
    held = alice.write("rate", 6)
    verdict = alice.write("rate", 7, supersedes="old_rate")
    assert set(verdict.superseded) == {named.fact_id, held.fact_id}
    assert current(alice) == {"rate": 7}
    assert set(fact(alice, verdict).predecessors) == {named.fact_id, held.fact_id}


def test_a_key_of_several_facts_is_no_target(alice: Session, memory: Memory) -> None:
    """Where a key stands for several facts, the caller has to name one by its id."""
    memory.declare("speaks", multi_valued=True)
    alice.write("speaks", "French")
    alice.write("speaks", "Greek")
    with pytest.raises(incumbent.AmbiguousTarget):
        alice.write("speaks", "Latin", supersedes="speaks")


def test_a_chain_that_ended_can_be_taken_up_again(alice: Session) -> None:
    """After a retraction the address is free for a new first fact."""
    alice.write("venue", "Lyon")
    alice.retract("venue")
    assert alice.write("venue", "Lyon").outcome is Outcome.ESTABLISHED
    assert alice.current("venue") == "Lyon"


def test_an_equal_value_confirms_and_makes_no_second_fact(alice: Session) -> None:
    """Repetition is not evidence: there is one fact, and three entries in its log."""
    first = alice.write("venue", "Lyon")
    for _ in range(2):
        again = alice.write("venue", "Lyon")
        assert (again.outcome, again.rule) == (Outcome.CONFIRMED, Rule.SAME_VALUE)
        assert again.fact_id == first.fact_id
    assert len(alice.history("venue")) == 1
    assert len(alice.explain("venue").verdicts) == 3


def test_a_confirmation_by_someone_higher_raises_the_standing(memory: Memory) -> None:
    """Whoever contradicts the fact now contradicts the one who repeated it."""
    low, high = someone(memory, "mia"), someone(memory, "mia", "executive")
    low.write("class", "economy")
    confirmed = high.write("class", "economy")
    assert confirmed.fact is not None
    assert (confirmed.fact.authority, confirmed.fact.standing) == ("employee", "executive")
    assert low.write("class", "first").outcome is Outcome.OVERRULED
    high.undo(confirmed)
    assert low.write("class", "first").outcome is Outcome.SUPERSEDED


def test_a_confirmation_by_someone_lower_leaves_the_standing(memory: Memory) -> None:
    """Agreement from below takes nothing away."""
    low, high = someone(memory, "mia"), someone(memory, "mia", "executive")
    high.write("class", "economy")
    confirmed = low.write("class", "economy")
    assert confirmed.fact is not None
    assert confirmed.fact.standing == "executive"


def test_a_confirmation_refreshes_the_date(alice: Session, clock: SteppingClock) -> None:
    """What arrives late is compared with the last time the fact was said."""
    start = clock.now
    alice.write("venue", "Lyon", at=start)
    alice.write("venue", "Lyon", at=start + timedelta(hours=2))
    clock.advance(hours=3)
    late = alice.write("venue", "Paris", at=start + timedelta(hours=1))
    assert not late.took_office
    assert alice.current("venue") == "Lyon"


@pytest.mark.parametrize(
    "terms",
    [
        {"requires": ["hr"]},
        {"min_authority": "manager"},
        {"is_constraint": True},
        {"depends_on": ["base"]},
    ],
)
def test_a_restatement_on_other_terms_renews(memory: Memory, terms: dict[str, object]) -> None:
    """Other readers, grounds or kind make a new fact in the chain, of the same value."""
    hr = someone(memory, "hana", "manager", permissions=["hr"])
    hr.write("base", 1)
    first = hr.write("note", "x")
    again = hr.write("note", "x", **terms)  # type: ignore[arg-type]
    assert again.outcome is Outcome.SUPERSEDED
    assert again.superseded == (first.fact_id,)
    assert hr.history("note").values == ("x", "x")


def test_a_restatement_with_another_end_renews(alice: Session, clock: SteppingClock) -> None:
    """An offer that is repeated with a deadline has one from then on."""
    alice.write("offer", "10%")
    again = alice.write("offer", "10%", valid_until=clock.now + timedelta(days=1))
    assert again.outcome is Outcome.SUPERSEDED
    clock.advance(days=2)
    assert alice.current("offer") is None


def test_declared_multi_valued_keys_accumulate(alice: Session, memory: Memory) -> None:
    """Values join each other, equal ones confirm, and only a named one is superseded."""
    memory.declare("speaks", multi_valued=True)
    french = alice.write("speaks", "French")
    assert alice.write("speaks", "Greek").outcome is Outcome.ESTABLISHED
    assert alice.write("speaks", "French").outcome is Outcome.CONFIRMED
    alice.write("speaks", "Breton", supersedes=french.fact_id)
    assert sorted(alice.current("speaks")) == ["Breton", "Greek"]
    assert fact(alice, french).status is Status.SUPERSEDED


def test_a_declared_pattern_covers_its_keys_and_no_others(alice: Session, memory: Memory) -> None:
    """A pattern speaks of every key that matches it."""
    memory.declare("tag.*", multi_valued=True)
    for key in ("tag.colour", "tagged"):
        alice.write(key, "red")
        alice.write(key, "blue")
    assert sorted(alice.current("tag.colour")) == ["blue", "red"]
    assert alice.current("tagged") == "blue"


def test_a_key_cannot_be_multi_valued_and_time_sensitive(memory: Memory) -> None:
    """The newest of several values is one value."""
    with pytest.raises(incumbent.InvalidInput, match="both"):
        memory.declare("x", multi_valued=True, time_sensitive=True)


def test_write_many_sees_its_own_earlier_items(alice: Session) -> None:
    """Later items of a batch supersede, confirm and rest on earlier ones."""
    verdicts = alice.write_many(
        [
            {"key": "price", "value": 12},
            {"key": "total", "value": 120, "depends_on": ["price"]},
            {"key": "price", "value": 12},
            {"key": "price", "value": 15},
        ]
    )
    outcomes = [verdict.outcome for verdict in verdicts]
    assert outcomes == ["established", "established", "confirmed", "superseded"]
    assert [review.fact.key for review in alice.reviews()] == ["total"]
    assert [verdict.seq for verdict in verdicts] == sorted({verdict.seq for verdict in verdicts})


def test_a_batch_meets_what_took_office_in_it(alice: Session) -> None:
    """A fact that waited takes office with an earlier write; a later one on its matter meets it."""
    alice.write("venue", "Paris")
    waiting = alice.write("travel", "by train", when_superseded="venue")
    _, later = alice.write_many(
        [{"key": "venue", "value": "Rome"}, {"key": "travel", "value": "by plane"}]
    )
    assert later.superseded == (waiting.fact_id,)
    assert alice.current("travel") == "by plane"


def test_write_many_is_all_or_nothing(alice: Session) -> None:
    """A wrong item in a batch takes the right ones with it."""
    alice.write("kept", 1)
    with pytest.raises(incumbent.UnknownDependency):
        alice.write_many(
            [{"key": "a", "value": 1}, {"key": "b", "value": 2, "depends_on": ["nothing"]}]
        )
    assert current(alice) == {"kept": 1}
    assert len(alice.explain("kept").verdicts) == 1


def test_revert_puts_the_earlier_value_back_as_a_new_fact(alice: Session) -> None:
    """A reversion is a step forward in the chain, to a value from its past."""
    alice.write("plan", "A")
    alice.write("plan", "B")
    verdict = alice.revert("plan")
    assert (verdict.outcome, verdict.rule) == (Outcome.REVERTED, Rule.REVERSION)
    assert alice.history("plan").values == ("A", "B", "A")
    assert alice.current("plan") == "A"


def test_revert_goes_to_the_fact_that_is_named(alice: Session) -> None:
    """With an id, any value of the chain can come back."""
    first = alice.write("plan", "A")
    alice.write("plan", "B")
    alice.write("plan", "C")
    alice.revert("plan", first.fact_id)
    assert alice.history("plan").values == ("A", "B", "C", "A")


def test_revert_with_nothing_earlier_is_an_error(alice: Session) -> None:
    """A chain of one value has nowhere to go back to."""
    alice.write("plan", "A")
    with pytest.raises(incumbent.UnknownFact, match="no earlier value"):
        alice.revert("plan")


def test_revert_from_below_is_overruled(memory: Memory) -> None:
    """Going back is a statement like any other, judged by the same rules."""
    boss, eve = someone(memory, "bo", "executive"), someone(memory, "eve", permissions=FOR_ALL)
    eve.write("venue", "Lyon", memory_type="organizational")
    boss.write("venue", "Paris", memory_type="organizational")
    assert eve.revert("venue").outcome is Outcome.OVERRULED
    assert eve.current("venue") == "Paris"


def test_a_retraction_ends_the_chain_with_no_value(alice: Session) -> None:
    """Nothing takes the place of what was taken back."""
    alice.write("venue", "Lyon")
    alice.write("venue", "Paris")
    verdict = alice.retract("venue", "called off")
    assert (verdict.outcome, verdict.reason) == (Outcome.RETRACTED, "called off")
    assert alice.current("venue") is None
    assert [found.status for found in alice.history("venue")] == ["superseded", "retracted"]


def test_what_has_left_office_cannot_be_retracted(alice: Session) -> None:
    """There is nothing to take back of a superseded fact."""
    old = alice.write("venue", "Lyon")
    alice.write("venue", "Paris")
    with pytest.raises(incumbent.InvalidInput, match="superseded already"):
        alice.retract(old.fact_id)


def test_explain_lists_every_verdict_in_order(alice: Session) -> None:
    """Why a fact stands as it does: who said what, and by which rule it was decided."""
    alice.write("venue", "Lyon")
    alice.write("venue", "Lyon")
    alice.write("venue", "Paris")
    told = alice.explain("venue")
    assert told.fact.value == "Paris"
    assert [entry.outcome for entry in told.verdicts] == ["established", "confirmed", "superseded"]
    assert {entry.by for entry in told.verdicts} == {"alice"}
    assert told.chain.values == ("Lyon", "Paris")
    with pytest.raises(incumbent.UnknownFact):
        alice.explain("nothing")


def test_explain_shows_statements_that_never_took_office(memory: Memory) -> None:
    """An overruled proposal is kept, with the fact that overruled it."""
    ruling = someone(memory, "board", "policy").write("cap", "15%", subject="sales")
    eve = someone(memory, "eve")
    turned_away = eve.write("cap", "25%", subject="sales")
    told = eve.explain(turned_away.fact_id)
    assert told.verdicts[-1].evidence["overruled_by"] == ruling.fact_id
    assert told.fact.status is Status.OVERRULED
