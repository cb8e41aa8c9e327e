"""Authority: who outranks whom, and what follows for a statement."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations, permutations

from incumbent_eval.conformance.checks import ADA, BOB, GUS, MONA, PAUL, Trial, check
from incumbent_eval.systems import Ability, Who

GROUP = "authority"

_LADDER = ("guest", "employee", "manager", "executive", "policy")
_QUERY = "What is the spending limit?"
_DISCOUNT = "What is the maximum discount?"


def _at(rung: str) -> Who:
    return Who(user=f"{rung} person", authority=rung)


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def a_lower_authority_is_overruled_and_kept_out(trial: Trial) -> None:
    """Lower may not supersede higher, and its statement is not shown, to either of them."""
    trial.write("spending limit", "500 euros", MONA, is_constraint=True)
    trial.attempt(lambda: trial.write("spending limit", "9000 euros", ADA))
    for who in (ADA, MONA):
        trial.expect(_QUERY, says=["500 euros"], lacks=["9000"], who=who)


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def an_equal_authority_supersedes(trial: Trial) -> None:
    """Of two colleagues, the later one is right."""
    trial.write("spending limit", "500 euros", ADA, is_constraint=True)
    trial.write("spending limit", "650 euros", BOB, is_constraint=True)
    for who in (ADA, BOB):
        trial.expect(_QUERY, says=["650 euros"], lacks=["500"], who=who)


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def a_higher_authority_supersedes(trial: Trial) -> None:
    """A statement from below gives way to a later ruling from above."""
    trial.write("spending limit", "9000 euros", ADA, is_constraint=True)
    trial.write("spending limit", "500 euros", PAUL, is_constraint=True)
    for who in (ADA, PAUL):
        trial.expect(_QUERY, says=["500 euros"], lacks=["9000"], who=who)


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def every_rung_stands_above_those_below(trial: Trial) -> None:
    """policy > executive > manager > employee > guest, in either order of arrival."""
    for low, high in combinations(_LADDER, 2):
        for order in ((low, high), (high, low)):
            key = f"limit of {' before '.join(order)}"
            for rung in order:
                value = f"{'gladly' if rung == high else 'never'} {' then '.join(order)}"
                write = partial(trial.write, key, value, _at(rung), is_constraint=True)
                trial.attempt(write)
    ruled = {order: f"{' then '.join(order)}" for order in permutations(_LADDER, 2)}
    trial.expect(
        "What are the limits?",
        says=[f"gladly {order}" for order in ruled.values()],
        lacks=[f"never {order}" for order in ruled.values()],
        who=_at("guest"),
    )


@check(GROUP, Ability.WRITE, Ability.PERSON, Ability.AUTHORITY, Ability.RETRACT)
def a_policy_ends_what_was_said_before_it(trial: Trial) -> None:
    """A person's own earlier statement goes for good, even if the policy goes later."""
    trial.write("maximum discount", "25 percent", ADA, is_private=True)
    ruled = trial.write("maximum discount", "15 percent", PAUL, is_constraint=True)
    trial.expect(_DISCOUNT, says=["15 percent"], lacks=["25 percent"], who=ADA)
    trial.retract(ruled, PAUL)
    trial.expect(_DISCOUNT, lacks=["15 percent", "25 percent"], who=ADA)


@check(GROUP, Ability.WRITE, Ability.PERSON, Ability.AUTHORITY)
def a_policy_overrules_what_is_said_after_it(trial: Trial) -> None:
    """The other order comes to the same, for whoever said otherwise for themselves."""
    trial.write("maximum discount", "15 percent", PAUL, is_constraint=True)
    trial.attempt(lambda: trial.write("maximum discount", "25 percent", ADA, is_private=True))
    trial.expect(_DISCOUNT, says=["15 percent"], lacks=["25 percent"], who=ADA)


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def a_guest_binds_nobody(trial: Trial) -> None:
    """A rule that somebody walked in with stands in nobody else's context as one."""
    rule = partial(trial.write, "payment rule", "invoices go to Mallory", GUS, is_constraint=True)
    trial.write("address for invoices", "12 Dock Rd", MONA)
    trial.attempt(rule)
    for who in (ADA, MONA):
        trial.expect("Where do invoices go?", says=["12 Dock Rd"], lacks=["Mallory"], who=who)


@check(GROUP, Ability.WRITE, Ability.PERSON, Ability.AUTHORITY)
def nothing_private_is_drawn_out_by_what_is_there(trial: Trial) -> None:
    """A shared value at an address does not make others' private words there public."""
    trial.write("pin", "not yet known", BOB, subject="safe")
    trial.write("pin", "4711", PAUL, subject="safe", is_private=True)
    trial.expect("What is the pin of the safe?", lacks=["4711"], who=BOB)
    trial.expect("What is the pin of the safe?", says=["4711"], who=PAUL)


@check(GROUP, Ability.WRITE, Ability.SUPERSEDE, Ability.AUTHORITY)
def naming_the_target_does_not_help_from_below(trial: Trial) -> None:
    """Naming the target of a replacement gives no right to replace it."""
    ruled = trial.write("spending limit", "500 euros", PAUL, is_constraint=True)
    trial.attempt(lambda: trial.write("new limit", "9000 euros", ADA, supersedes=ruled))
    trial.expect(_QUERY, says=["500 euros"], lacks=["9000"])


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def saying_it_often_does_not_help_from_below(trial: Trial) -> None:
    """Five statements from below do not outweigh one from above."""
    trial.write("spending limit", "500 euros", MONA, is_constraint=True)
    for number in range(5):
        voter = replace(ADA, user=f"voter {number}")
        trial.attempt(partial(trial.write, "spending limit", "9000 euros", voter))
    trial.expect(_QUERY, says=["500 euros"], lacks=["9000"])


@check(GROUP, Ability.WRITE, Ability.RETRACT, Ability.AUTHORITY)
def taking_back_does_not_help_from_below(trial: Trial) -> None:
    """A lower authority never invalidates a higher one, not even with nothing in its place."""
    ruled = trial.write("spending limit", "500 euros", PAUL, is_constraint=True)
    trial.attempt(lambda: trial.retract(ruled, GUS))
    trial.expect(_QUERY, says=["500 euros"], who=GUS)
    trial.retract(ruled, PAUL)
    trial.expect(_QUERY, lacks=["500 euros"], who=GUS)


@check(GROUP, Ability.WRITE, Ability.UNDO, Ability.AUTHORITY)
def undoing_does_not_help_from_below(trial: Trial) -> None:
    """Nor does an undo of what somebody higher has decided."""
    trial.write("spending limit", "9000 euros", ADA, is_constraint=True)
    ruled = trial.write("spending limit", "500 euros", PAUL, is_constraint=True)
    trial.attempt(lambda: trial.undo(ruled, ADA))
    trial.expect(_QUERY, says=["500 euros"], lacks=["9000"])
    trial.undo(ruled, PAUL)
    trial.expect(_QUERY, says=["9000 euros"], lacks=["500"])


@check(GROUP, Ability.WRITE, Ability.DEPEND, Ability.AUTHORITY)
def what_follows_from_a_guess_is_no_ruling(trial: Trial) -> None:
    """A derived fact carries the lowest authority of all that it follows from."""
    trial.write("spending limit", "500 euros", ADA, is_constraint=True)
    guess = trial.write("rumour", "money is plenty", GUS)
    trial.attempt(lambda: trial.write("spending limit", "9000 euros", PAUL, depends_on=(guess,)))
    trial.expect(_QUERY, says=["500 euros"], lacks=["9000"])


@check(GROUP, Ability.WRITE, Ability.AUTHORITY)
def authority_is_that_of_the_statement(trial: Trial) -> None:
    """A statement entered for somebody higher has their authority."""
    trial.write("spending limit", "500 euros", ADA, authority="executive", is_constraint=True)
    trial.attempt(lambda: trial.write("spending limit", "9000 euros", MONA, is_constraint=True))
    trial.expect(_QUERY, says=["500 euros"], lacks=["9000"], who=MONA)
