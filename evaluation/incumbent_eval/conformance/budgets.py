"""Budget: a hard ceiling on the text, whatever is stored, with what was asked for in it."""

from __future__ import annotations

from collections.abc import Iterable

from incumbent_eval.conformance.checks import Trial, Unmet, check
from incumbent_eval.spoken import SpokenText
from incumbent_eval.systems import Ability

GROUP = "budget"

MANY = 3000
"""Facts in the check with thousands of them."""
_BUDGETS = (150, 300, 600, 1200, 2400)
_CUT = ("[cut]", "left out", "truncat", "omitted", "more fact", "not shown", "lack of room", "…")
"""Ways to say that something did not fit, in lower case."""
_WORDS = (
    *("amber", "basin", "cedar", "delta", "ember", "fjord"),
    *("grove", "haven", "inlet", "jetty", "knoll", "ledge"),
)


def _fill(trial: Trial, count: int) -> None:
    """Store the value that will be asked for, and then as many other facts, each with its own
    sentence."""
    trial.write("fire warden", "Ms Abernathy")
    for number in range(count):
        near, far = _WORDS[number % 12], _WORDS[number // 12 % 12]
        value = f"pallet {number} stands in bay {near} behind the {far} gate, checked twice"
        trial.write(f"pallet {number}", value)


def _expect_found(trial: Trial, budgets: Iterable[int]) -> None:
    """Ask a question that a single fact answers, and one that many facts bear on."""
    for budget in budgets:
        text = trial.expect_within("Who is the fire warden?", budget)
        if not SpokenText(text).says("Abernathy"):
            raise Unmet(f"at {budget} tokens it does not say 'Abernathy'", text)
        trial.expect_within("Which pallets stand in bay amber, or behind the amber gate?", budget)


@check(GROUP, Ability.WRITE, Ability.BUDGET)
def the_budget_holds_whatever_it_is(trial: Trial) -> None:
    """Five budgets, three hundred facts: never a token more, and what was asked for is there."""
    _fill(trial, 300)
    _expect_found(trial, _BUDGETS)


@check(GROUP, Ability.WRITE, Ability.BUDGET)
def the_budget_holds_with_thousands_of_facts(trial: Trial) -> None:
    """However much is stored, the text is no longer, and what was asked for is in it."""
    _fill(trial, MANY)
    _expect_found(trial, (200, 4000))


@check(GROUP, Ability.WRITE, Ability.BUDGET)
def the_budget_holds_with_one_very_long_value(trial: Trial) -> None:
    """A value of many pages is no way around it."""
    page = " ".join(_WORDS[number * 7 % 12] for number in range(400))
    trial.write("fire warden", "Ms Abernathy")
    trial.write("pallet minutes", " ".join(f"{page} {number}" for number in range(30)))
    _expect_found(trial, (400,))


@check(GROUP, Ability.WRITE, Ability.BUDGET)
def a_budget_that_is_far_too_small_is_held(trial: Trial) -> None:
    """Too small even for the identity, the text is cut; it is never exceeded."""
    trial.write("fire warden", "Ms Abernathy")
    trial.expect("Who is the fire warden?", says=["Abernathy"])
    for budget in (1, 5, 10, 20, 40):
        trial.expect_within("Who is the fire warden?", budget)


@check(GROUP, Ability.OBSERVE, Ability.BUDGET)
def the_budget_holds_for_what_was_said(trial: Trial) -> None:
    """Turns count like everything else."""
    trial.observe("My fire warden is Ms Abernathy.")
    for number in range(24):
        words = ", then the ".join(_WORDS[(number + step) % 12] for step in range(number % 12))
        trial.observe(f"On day {number} of my walk I passed the old mill, the bridge {words}.")
    trial.expect("Who is my fire warden?", says=["Abernathy"])
    for budget in _BUDGETS:
        trial.expect_within("Who is my fire warden?", budget)


@check(GROUP, Ability.WRITE, Ability.BUDGET)
def a_text_that_was_cut_says_so(trial: Trial) -> None:
    """Whoever reads a text from which something was left out for lack of room can tell."""
    _fill(trial, 40)
    query = "Which pallets stand in bay amber, or behind the amber gate?"
    for budget in (10, 25, 60, 120, 240):
        text = trial.expect_within(query, budget)
        trial.expect_word(text, _CUT, f"at {budget} tokens it does not say that it was cut")


@check(GROUP, Ability.OBSERVE, Ability.BUDGET)
def what_was_asked_for_is_not_pushed_out_by_what_came_later(trial: Trial) -> None:
    """Of what was said, a context takes what is relevant, however much else was said since."""
    trial.observe("The penguins are fed at noon by Mr Okoro.")
    for number, near in enumerate(_WORDS[:8]):
        trial.observe(f"Match {number} against {near.title()} Rovers ended in a draw, as usual.")
    trial.expect("Who feeds the penguins?", says=["Okoro"], budget=150)
