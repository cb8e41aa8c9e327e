"""Scope: drafts, suppositions and sessions stay where they belong."""

from __future__ import annotations

from dataclasses import replace

from incumbent_eval.conformance.checks import ADA, BOB, Trial, check
from incumbent_eval.systems import Ability

GROUP = "scope"

_QUERY = "Where is the offsite?"
_ELSEWHERE = replace(ADA, session="two")


@check(GROUP, Ability.WRITE, Ability.DRAFT)
def a_draft_stays_out(trial: Trial) -> None:
    """A proposal that is not committed is not in a normal context."""
    trial.write("offsite budget", "8000 pounds")
    trial.write("offsite place", "Tromso", scope="draft")
    for who in (ADA, BOB):
        trial.expect(_QUERY, says=["8000 pounds"], lacks=["Tromso"], who=who)


@check(GROUP, Ability.WRITE, Ability.DRAFT)
def a_supposition_stays_out(trial: Trial) -> None:
    """A "what if" never touches real decisions."""
    trial.write("offsite budget", "8000 pounds")
    trial.write("offsite place", "Tromso", scope="hypothetical")
    for who in (ADA, BOB):
        trial.expect(_QUERY, says=["8000 pounds"], lacks=["Tromso"], who=who)


@check(GROUP, Ability.WRITE, Ability.DRAFT)
def drafts_and_suppositions_replace_nothing_real(trial: Trial) -> None:
    """At the address of a real value, the real value stays."""
    trial.write("offsite place", "Porto")
    trial.write("offsite place", "Tromso", scope="draft")
    trial.write("offsite place", "Nairobi", scope="hypothetical")
    trial.expect(_QUERY, says=["Porto"], lacks=["Tromso", "Nairobi"])


@check(GROUP, Ability.WRITE, Ability.SUPERSEDE, Ability.DRAFT)
def a_draft_that_names_its_target_replaces_nothing_real(trial: Trial) -> None:
    """Naming its target does not make a draft real."""
    real = trial.write("offsite place", "Porto")
    trial.attempt(lambda: trial.write("offsite town", "Tromso", scope="draft", supersedes=real))
    trial.attempt(
        lambda: trial.write("offsite city", "Nairobi", scope="hypothetical", supersedes=real)
    )
    trial.expect(_QUERY, says=["Porto"], lacks=["Tromso", "Nairobi"])


@check(GROUP, Ability.WRITE, Ability.DRAFT)
def what_was_a_draft_can_become_real(trial: Trial) -> None:
    """Committing is a supersession like any other."""
    trial.write("offsite place", "Porto")
    trial.write("offsite place", "Tromso", scope="draft")
    trial.write("offsite place", "Tromso")
    trial.expect(_QUERY, says=["Tromso"], lacks=["Porto"])


@check(GROUP, Ability.WRITE, Ability.DEPEND, Ability.DRAFT)
def a_supposition_puts_nothing_real_into_doubt(trial: Trial) -> None:
    """A value that follows from a real one stands, whatever somebody supposes about that one."""
    place = trial.write("offsite place", "Porto")
    trial.write("flight cost", "240 pounds", depends_on=(place,))
    trial.write("offsite place", "Nairobi", scope="hypothetical")
    query = "Where is the offsite, and what do flights cost?"
    trial.expect(query, says=["Porto", "240 pounds"], lacks=["Nairobi"])


@check(GROUP, Ability.OBSERVE, Ability.DRAFT)
def a_supposition_in_conversation_replaces_nothing(trial: Trial) -> None:
    """Asking "what if" changes nothing."""
    trial.observe("My dentist appointment is on 12 June.")
    trial.observe("What if my dentist appointment were on 30 June?")
    trial.expect("When is my dentist appointment?", says=["12 June"])


@check(GROUP, Ability.WRITE, Ability.SESSION)
def what_is_of_a_session_stays_in_it(trial: Trial) -> None:
    """Another session of the same person does not see it."""
    trial.write("tone", "like a pirate", scope="session", is_private=True)
    trial.write("language", "Portuguese", is_private=True)
    query = "How do I want to be talked to?"
    trial.expect(query, says=["like a pirate", "Portuguese"])
    trial.expect(query, says=["Portuguese"], lacks=["pirate"], who=_ELSEWHERE)


@check(GROUP, Ability.WRITE, Ability.SESSION)
def a_narrower_value_stands_in_front_of_a_wider_one(trial: Trial) -> None:
    """The narrower value counts where it applies; elsewhere the wider one was never superseded."""
    trial.write("report format", "spreadsheet", is_private=True)
    trial.write("report format", "slides", scope="session", is_private=True)
    query = "In which format do I want the report?"
    trial.expect(query, says=["slides"], lacks=["spreadsheet"])
    trial.expect(query, says=["spreadsheet"], lacks=["slides"], who=_ELSEWHERE)
