"""Repair: the fate of values that follow from one that changed."""

from __future__ import annotations

from datetime import timedelta

from incumbent_eval.conformance.checks import Trial, check
from incumbent_eval.systems import Ability

GROUP = "repair"

_QUERY = "What do we know about the order: price, total, tax and invoice?"
_NEEDS = (Ability.WRITE, Ability.DEPEND)


@check(GROUP, *_NEEDS)
def what_follows_from_a_changed_value_is_not_shown(trial: Trial) -> None:
    """Its value is no longer known, and the context says so beside its name."""
    price = trial.write("unit price", "12 dollars")
    trial.write("order total", "1200 dollars", depends_on=(price,))
    trial.expect(_QUERY, says=["12 dollars", "1200 dollars"])
    trial.write("unit price", "15 dollars")
    trial.expect(_QUERY, says=["15 dollars"], lacks=["12 dollars"])
    trial.expect_unknown(_QUERY, "order total", "1200 dollars")


@check(GROUP, *_NEEDS)
def it_goes_to_any_depth(trial: Trial) -> None:
    """A value five steps away from the changed one is as unknown as one a step away."""
    base = trial.write("unit price", "12 dollars")
    values = ["1200 dollars", "1440 dollars", "1500 dollars", "1590 dollars", "1700 dollars"]
    keys = ["order total", "taxed total", "insured total", "shipped total", "invoice total"]
    for key, value in zip(keys, values, strict=True):
        base = trial.write(key, value, depends_on=(base,))
    trial.expect(_QUERY, says=values)
    trial.write("unit price", "15 dollars")
    trial.expect(_QUERY, says=["15 dollars"], lacks=values)
    trial.expect_unknown(_QUERY, "invoice total", values[-1])


@check(GROUP, *_NEEDS)
def what_does_not_follow_from_it_stays(trial: Trial) -> None:
    """Only values that rest on the changed one are in doubt."""
    price = trial.write("unit price", "12 dollars")
    weight = trial.write("unit weight", "3 kilos")
    trial.write("order total", "1200 dollars", depends_on=(price,))
    trial.write("order weight", "300 kilos", depends_on=(weight,))
    trial.write("unit price", "15 dollars")
    query = "What are the total and the weight of the order?"
    trial.expect(query, says=["300 kilos", "3 kilos", "15 dollars"], lacks=["1200 dollars"])


@check(GROUP, *_NEEDS)
def one_changed_base_of_two_is_enough(trial: Trial) -> None:
    """A value that follows from two others is not known once one of them changes."""
    price = trial.write("unit price", "12 dollars")
    count = trial.write("unit count", "100 pieces")
    trial.write("order total", "1200 dollars", depends_on=(price, count))
    trial.write("unit count", "90 pieces")
    trial.expect_unknown(_QUERY, "order total", "1200 dollars")


@check(GROUP, *_NEEDS)
def a_new_value_settles_it(trial: Trial) -> None:
    """A value that was worked out again is known again."""
    price = trial.write("unit price", "12 dollars")
    trial.write("order total", "1200 dollars", depends_on=(price,))
    raised = trial.write("unit price", "15 dollars")
    trial.write("order total", "1500 dollars", depends_on=(raised,))
    trial.expect(_QUERY, says=["1500 dollars"], lacks=["1200 dollars", "12 dollars"])


@check(GROUP, *_NEEDS, Ability.RETRACT)
def a_base_that_was_taken_back_carries_nothing(trial: Trial) -> None:
    """The values that followed from it are not known either."""
    price = trial.write("unit price", "12 dollars")
    trial.write("order total", "1200 dollars", depends_on=(price,))
    trial.retract(price)
    trial.expect_unknown(_QUERY, "order total", "1200 dollars")


@check(GROUP, *_NEEDS, Ability.UNDO)
def a_base_that_comes_back_lifts_the_doubt(trial: Trial) -> None:
    """When the change is undone, the dependents are known as before."""
    price = trial.write("unit price", "12 dollars")
    total = trial.write("order total", "1200 dollars", depends_on=(price,))
    trial.write("invoice", "1440 dollars", depends_on=(total,))
    raised = trial.write("unit price", "15 dollars")
    trial.expect(_QUERY, lacks=["1200 dollars", "1440 dollars"])
    trial.undo(raised)
    trial.expect(_QUERY, says=["12 dollars", "1200 dollars", "1440 dollars"], lacks=["15 dollars"])


@check(GROUP, *_NEEDS, Ability.UNDO)
def a_doubt_with_another_cause_remains(trial: Trial) -> None:
    """Undoing one of two changes does not settle a doubt that the other one caused."""
    price = trial.write("unit price", "12 dollars")
    count = trial.write("unit count", "100 pieces")
    trial.write("order total", "1200 dollars", depends_on=(price, count))
    raised = trial.write("unit price", "15 dollars")
    trial.write("unit count", "90 pieces")
    trial.undo(raised)
    trial.expect_unknown(_QUERY, "order total", "1200 dollars")


@check(GROUP, *_NEEDS, Ability.VALIDITY)
def a_base_whose_term_is_over_carries_nothing(trial: Trial) -> None:
    """A term that ends by itself puts the dependents of the value into doubt."""
    price = trial.write("unit price", "12 dollars", valid_until=trial.now + timedelta(days=4))
    trial.write("order total", "1200 dollars", depends_on=(price,))
    trial.expect(_QUERY, says=["12 dollars", "1200 dollars"])
    trial.wait(days=5)
    trial.expect_unknown(_QUERY, "order total", "1200 dollars")


@check(GROUP, Ability.WRITE, Ability.AWAIT)
def a_contingent_value_waits_for_its_base_to_go(trial: Trial) -> None:
    """It is not current before, and takes over when the base is replaced."""
    lead = trial.write("team lead", "Ana")
    trial.write("report reader", "Ana")
    trial.write("report reader", "James", when_superseded=lead)
    query = "Who is the team lead, and who reads the report?"
    trial.expect(query, says=["Ana"], lacks=["James"])
    trial.write("team lead", "Priya")
    trial.expect(query, says=["Priya", "James"], lacks=["Ana"])


@check(GROUP, Ability.WRITE, Ability.AWAIT, Ability.UNDO)
def undoing_the_departure_undoes_the_succession(trial: Trial) -> None:
    """When the base is back, the contingent value waits again."""
    lead = trial.write("team lead", "Ana")
    trial.write("report reader", "Oleg")
    trial.write("report reader", "James", when_superseded=lead)
    handover = trial.write("team lead", "Priya")
    trial.undo(handover)
    query = "Who is the team lead, and who reads the report?"
    trial.expect(query, says=["Ana", "Oleg"], lacks=["Priya", "James"])
