"""Time: terms that begin and end by themselves, late arrivals, and looks at the past."""

from __future__ import annotations

from datetime import timedelta

from incumbent_eval.conformance.checks import Trial, check
from incumbent_eval.systems import Ability

GROUP = "time"

_DAY = timedelta(days=1)
_QUERY = "What is the price of the ticket?"


@check(GROUP, Ability.WRITE, Ability.VALIDITY)
def a_term_ends_by_itself(trial: Trial) -> None:
    """A value holds until its day, and from then on it does not, though nobody touched it."""
    trial.write("ticket price", "19 francs", valid_until=trial.now + 5 * _DAY)
    trial.write("ticket colour", "violet")
    trial.wait(days=4)
    trial.expect(_QUERY, says=["19 francs", "violet"])
    trial.wait(days=2)
    trial.expect(_QUERY, says=["violet"], lacks=["19 francs"])


@check(GROUP, Ability.WRITE, Ability.VALIDITY)
def a_term_begins_by_itself(trial: Trial) -> None:
    """A value that holds from next week on does not hold today."""
    trial.write("ticket colour", "violet")
    trial.write("ticket price", "19 francs", valid_from=trial.now + 5 * _DAY)
    trial.expect(_QUERY, says=["violet"], lacks=["19 francs"])
    trial.wait(days=6)
    trial.expect(_QUERY, says=["19 francs"])


@check(GROUP, Ability.WRITE, Ability.VALIDITY)
def a_planned_change_comes_on_its_day(trial: Trial) -> None:
    """Until then the old value holds, and afterwards the new one alone."""
    trial.write("ticket price", "19 francs")
    trial.write("ticket price", "23 francs", valid_from=trial.now + 5 * _DAY)
    trial.expect(_QUERY, says=["19 francs"], lacks=["23 francs"])
    trial.wait(days=6)
    trial.expect(_QUERY, says=["23 francs"], lacks=["19 francs"])


@check(GROUP, Ability.WRITE, Ability.VALIDITY)
def nothing_comes_back_when_a_term_ends(trial: Trial) -> None:
    """A superseded value stays superseded after the end of its successor."""
    trial.write("ticket price", "19 francs")
    trial.write("ticket price", "23 francs", valid_until=trial.now + 5 * _DAY)
    trial.write("ticket colour", "violet")
    trial.wait(days=6)
    trial.expect(_QUERY, says=["violet"], lacks=["19 francs", "23 francs"])


@check(GROUP, Ability.WRITE, Ability.LATE)
def an_old_statement_that_comes_late_does_not_win(trial: Trial) -> None:
    """Order is by the time of the statement, and not by its arrival."""
    trial.write("ticket price", "23 francs")
    trial.write("ticket price", "19 francs", said_at=trial.now - 3 * _DAY)
    trial.expect(_QUERY, says=["23 francs"], lacks=["19 francs"])


@check(GROUP, Ability.WRITE, Ability.LATE)
def statements_in_any_order_of_arrival_come_to_the_same(trial: Trial) -> None:
    """Five statements may arrive in any order: the last one said holds."""
    said = trial.now
    values = ("11 francs", "13 francs", "17 francs", "19 francs", "23 francs")
    trial.wait(days=9)
    for number in (2, 4, 0, 3, 1):
        trial.write("ticket price", values[number], said_at=said + number * _DAY)
    trial.expect(_QUERY, says=values[-1:], lacks=values[:-1])


@check(GROUP, Ability.WRITE, Ability.AS_OF)
def the_past_can_be_asked_for(trial: Trial) -> None:
    """A context of then has the value of then, and a context of now has the value of now."""
    trial.write("ticket price", "19 francs")
    then = trial.wait(days=3)
    trial.wait(days=3)
    trial.write("ticket price", "23 francs")
    trial.wait(days=3)
    trial.expect(_QUERY, says=["19 francs"], lacks=["23 francs"], as_of=then)
    trial.expect(_QUERY, says=["23 francs"], lacks=["19 francs"], as_of=trial.now)
    trial.expect(_QUERY, says=["23 francs"], lacks=["19 francs"])


@check(GROUP, Ability.WRITE, Ability.AS_OF, Ability.VALIDITY)
def what_was_known_then_can_be_asked_for(trial: Trial) -> None:
    """The value that held on Tuesday and the value known on Tuesday are two questions."""
    trial.write("ticket price", "19 francs")
    tuesday = trial.wait(days=2)
    monday = tuesday - _DAY
    trial.wait(days=2)
    trial.write("ticket price", "23 francs", valid_from=monday)
    trial.wait(days=1)
    trial.expect(_QUERY, says=["23 francs"], lacks=["19 francs"], as_of=tuesday)
    trial.expect(_QUERY, says=["19 francs"], lacks=["23 francs"], as_of=tuesday, known_at=tuesday)


@check(GROUP, Ability.WRITE, Ability.AS_OF, Ability.LATE)
def a_late_arrival_takes_its_place_in_the_past(trial: Trial) -> None:
    """It does not hold now, and it did hold then."""
    trial.write("ticket colour", "violet")
    before = trial.now
    trial.wait(days=6)
    trial.write("ticket price", "23 francs")
    trial.write("ticket price", "19 francs", said_at=before + _DAY)
    trial.expect(_QUERY, says=["23 francs"], lacks=["19 francs"])
    trial.expect(_QUERY, says=["19 francs"], lacks=["23 francs"], as_of=before + 2 * _DAY)


@check(GROUP, Ability.WRITE, Ability.AS_OF, Ability.RETRACT)
def what_was_taken_back_did_hold_before(trial: Trial) -> None:
    """History is kept: a retraction ends a value from its day on."""
    price = trial.write("ticket price", "19 francs")
    then = trial.wait(days=3)
    trial.wait(days=3)
    trial.retract(price)
    trial.wait(days=3)
    trial.expect(_QUERY, lacks=["19 francs"])
    trial.expect(_QUERY, says=["19 francs"], as_of=then, known_at=then)
