"""Walls: nothing crosses an organization, and one person's facts are nobody else's."""

from __future__ import annotations

from dataclasses import replace

from incumbent_eval.conformance.checks import ADA, BOB, MONA, Trial, check
from incumbent_eval.systems import Ability, Who

GROUP = "isolation"

_STRANGER = Who(user="zoe", organization="globex", authority="policy")
_NAMESAKE = replace(ADA, organization="globex")
_QUERY = "What is the vault code?"


@check(GROUP, Ability.WRITE, Ability.ORGANIZATION)
def another_organization_sees_nothing(trial: Trial) -> None:
    """Whoever asks there, with whatever authority, under whatever name."""
    trial.write("vault code", "heron 4471", ADA)
    trial.expect(_QUERY, says=["heron 4471"], who=BOB)
    for who in (_STRANGER, _NAMESAKE):
        trial.expect(_QUERY, lacks=["heron", "4471"], who=who)


@check(GROUP, Ability.WRITE, Ability.ORGANIZATION)
def the_same_key_is_another_one_elsewhere(trial: Trial) -> None:
    """A write in one organization replaces nothing in another."""
    trial.write("vault code", "heron 4471", ADA)
    trial.write("vault code", "osprey 9205", _STRANGER)
    trial.expect(_QUERY, says=["heron 4471"], lacks=["osprey"], who=ADA)
    trial.expect(_QUERY, says=["osprey 9205"], lacks=["heron"], who=_NAMESAKE)


@check(GROUP, Ability.WRITE, Ability.SUPERSEDE, Ability.ORGANIZATION)
def naming_what_belongs_to_another_organization_does_nothing(trial: Trial) -> None:
    """A name from another organization does not let its holder replace the value."""
    theirs = trial.write("vault code", "heron 4471", ADA)
    trial.attempt(lambda: trial.write("vault code", "osprey 9205", _NAMESAKE, supersedes=theirs))
    trial.expect(_QUERY, says=["heron 4471"], lacks=["osprey"], who=ADA)
    trial.expect(_QUERY, lacks=["heron"], who=_NAMESAKE)


@check(GROUP, Ability.WRITE, Ability.RETRACT, Ability.ORGANIZATION)
def what_belongs_to_another_organization_cannot_be_taken_back(trial: Trial) -> None:
    """Nor can they take it back."""
    theirs = trial.write("vault code", "heron 4471", ADA)
    trial.attempt(lambda: trial.retract(theirs, _STRANGER))
    trial.attempt(lambda: trial.retract(theirs, _NAMESAKE))
    trial.expect(_QUERY, says=["heron 4471"], who=ADA)


@check(GROUP, Ability.OBSERVE, Ability.ORGANIZATION)
def what_is_said_stays_in_its_organization(trial: Trial) -> None:
    """A conversation is as little seen from elsewhere as what is written."""
    trial.observe("My vault code is heron 4471.", ADA)
    trial.expect(_QUERY, says=["heron 4471"], who=ADA)
    for who in (_STRANGER, _NAMESAKE):
        trial.expect(_QUERY, lacks=["heron", "4471"], who=who)


@check(GROUP, Ability.WRITE, Ability.PERSON)
def what_is_private_is_seen_by_nobody_else(trial: Trial) -> None:
    """A colleague does not see it, nor does somebody of higher authority."""
    trial.write("vault code", "heron 4471", ADA, is_private=True)
    trial.expect(_QUERY, says=["heron 4471"], who=ADA)
    for who in (BOB, MONA):
        trial.expect(_QUERY, lacks=["heron", "4471"], who=who)


@check(GROUP, Ability.WRITE, Ability.PERSON)
def two_people_have_each_their_own(trial: Trial) -> None:
    """Two private values under one key are two values, and the later replaces neither."""
    trial.write("vault code", "heron 4471", ADA, is_private=True)
    trial.write("vault code", "osprey 9205", BOB, is_private=True)
    trial.expect(_QUERY, says=["heron 4471"], lacks=["osprey"], who=ADA)
    trial.expect(_QUERY, says=["osprey 9205"], lacks=["heron"], who=BOB)


@check(GROUP, Ability.WRITE, Ability.RETRACT, Ability.PERSON)
def what_is_private_cannot_be_taken_back_by_another(trial: Trial) -> None:
    """Not even by somebody of higher authority."""
    hers = trial.write("vault code", "heron 4471", ADA, is_private=True)
    trial.attempt(lambda: trial.retract(hers, MONA))
    trial.expect(_QUERY, says=["heron 4471"], who=ADA)


@check(GROUP, Ability.OBSERVE, Ability.PERSON)
def what_one_person_says_of_themselves_is_theirs(trial: Trial) -> None:
    """A person's statement about themselves is not shown to a colleague."""
    trial.observe("My vault code is heron 4471.", ADA)
    trial.expect(_QUERY, says=["heron 4471"], who=ADA)
    trial.expect(_QUERY, lacks=["heron", "4471"], who=BOB)
