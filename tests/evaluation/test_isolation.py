"""Isolation: no probe gets through to ours, and what is not kept apart is found out."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from incumbent_eval import isolation
from incumbent_eval.isolation import IsolationReport
from incumbent_eval.ours import IncumbentSystem
from incumbent_eval.systems import Ability, Entry, Refused, Who
from tests.conftest import SOAK
from tests.evaluation import broken
from tests.evaluation.broken import Sound


def probed(system: type[IncumbentSystem], probes: int = 150, seed: int = 3) -> IsolationReport:
    return isolation.run(system, probes=probes, seed=seed)


def walls(report: IsolationReport) -> set[str]:
    return {wall for wall, _ in report.by_road}


@pytest.mark.skipif(not SOAK, reason="make soak")
def test_nothing_gets_through_in_a_hundred_thousand_probes() -> None:
    """The long version: none through, in two thousand worlds."""
    report = isolation.run(Sound, probes=100_000, seed=17, workers=os.cpu_count() or 1)
    assert [leak.what for leak in report.leaks] == []


def test_nothing_gets_through_to_ours() -> None:
    """No secret by any road, no text shaped by others, and everybody finds their own."""
    report = probed(IncumbentSystem, probes=300)
    assert [leak.what for leak in report.leaks] == []
    assert (report.probes, report.cannot) == (300, ())
    assert report.compared > 30
    assert report.own.of > 20
    assert report.own.value == 1.0


@pytest.mark.parametrize(
    ("system", "wall"),
    [
        (broken.MixesOrganizations, "organization"),
        (broken.MixesPersons, "person"),
        (broken.MixesSessions, "session"),
    ],
)
def test_a_wall_that_is_missing_is_found(system: type[Sound], wall: str) -> None:
    """Over that wall secrets leak by every road, and over no other."""
    report = probed(system)
    roads = {road for found, road in report.by_road if found == wall}
    assert {"context", "look back", "account"} <= roads
    assert walls(report) <= {wall, "any"}


def test_drafts_that_are_shown_are_found() -> None:
    """What was only a draft is nobody's to see in a normal context."""
    assert "draft" in walls(probed(broken.ShowsEverything))


class CountsEverybody(Sound):
    """Tells how many values there are in all, whoever asks."""

    _count = 0

    def write(self, who: Who, entry: Entry) -> str:
        self._count += 1
        return super().write(who, entry)

    def context(self, who: Who, query: str, budget: int, **when: object) -> str:
        return f"{super().context(who, query, budget)}\n{self._count} values are on record."


def test_a_count_of_what_others_have_is_found() -> None:
    """No secret is said, and yet the text depends on what the reader may not know."""
    report = probed(CountsEverybody)
    assert walls(report) == {"any"}
    assert {road for _, road in report.by_road} == {"shaped by what it does not say"}


class Chatty(Sound):
    """Says in a refusal what it was about."""

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}

    def write(self, who: Who, entry: Entry) -> str:
        aims = [entry.supersedes, *entry.depends_on]
        try:
            written = super().write(who, entry)
        except Refused as refusal:
            about = ", ".join(self._values[aim] for aim in aims if aim)
            raise Refused(f"{refusal}; it is about {about}") from None
        self._values[written] = entry.value
        return written


def test_a_refusal_that_says_too_much_is_found() -> None:
    """The text of an error is a road like any other."""
    report = probed(Chatty)
    assert {road for _, road in report.by_road} == {"refusal"}


class KnowsWriters(Sound):
    """Keeps who wrote what."""

    def __init__(self) -> None:
        super().__init__()
        self._writers: dict[str, Who] = {}

    def write(self, who: Who, entry: Entry) -> str:
        written = super().write(who, entry)
        self._writers[written] = who
        return written


class Obliging(KnowsWriters):
    """Takes a value back for whoever asks, as if its writer had."""

    def retract(self, who: Who, written: str) -> None:
        super().retract(self._writers[written], written)


def test_a_value_that_strangers_can_take_back_is_found() -> None:
    """Nothing is said that should not be, but its owner does not find it any more."""
    report = probed(Obliging, probes=600)
    assert report.own.value is not None
    assert report.own.value < 1.0
    assert {road for _, road in report.by_road} == {"shaped by what it does not say"}


class ErasesForAnybody(KnowsWriters):
    """Erases a value for whoever asks, as if its writer had."""

    def erase(self, who: Who, written: str) -> None:
        super().erase(self._writers[written], written)


def test_a_value_that_strangers_can_erase_is_found() -> None:
    """Its owner does not find it any more."""
    report = probed(ErasesForAnybody, probes=600)
    assert report.own.value is not None
    assert report.own.value < 1.0


class Widens(Sound):
    """Takes what is private for everybody's where something of everybody's is there."""

    def __init__(self) -> None:
        super().__init__()
        self._shared: set[tuple[str, str]] = set()

    def write(self, who: Who, entry: Entry) -> str:
        place = (who.organization, entry.key)
        if not entry.is_private:
            self._shared.add(place)
        elif place in self._shared and entry.scope == "global":
            entry = replace(entry, is_private=False)
        return super().write(who, entry)


def test_a_bait_that_draws_private_things_out_is_found() -> None:
    """What was put there beforehand made private words everybody's."""
    assert "person" in walls(probed(Widens, probes=300))


class Confirms(Sound):
    """Says of a write whether something hidden says the same."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: set[str] = set()
        self._guesses: dict[str, str] = {}

    def write(self, who: Who, entry: Entry) -> str:
        written = super().write(who, entry)
        if entry.requires:
            self._secrets.add(entry.value)
        self._guesses[written] = entry.value
        return written

    def told(self, written: str) -> str:
        return "confirmed" if self._guesses[written] in self._secrets else super().told(written)


def test_a_guess_that_is_answered_is_found() -> None:
    """Right and wrong get different answers."""
    report = probed(Confirms, probes=300)
    assert ("permission", "guessing") in report.by_road


class ForgetsPermissions(Sound):
    """Shows what takes a permission to those who lack it."""

    def write(self, who: Who, entry: Entry) -> str:
        return super().write(who, replace(entry, requires=()))


def test_a_permission_that_is_not_asked_for_is_found() -> None:
    """Secrets leak over that wall."""
    assert "permission" in walls(probed(ForgetsPermissions))


class OnePerson(broken.MixesPersons):
    """Claims no walls but those between organizations and around drafts."""

    can = frozenset(Ability) - {Ability.PERSON, Ability.PERMISSION, Ability.SESSION}


class NoWalls(Sound):
    """Claims no wall at all."""

    can = frozenset({Ability.WRITE, Ability.OBSERVE})


def test_a_wall_that_is_not_claimed_is_named_and_not_counted() -> None:
    """A system for one person is probed on the walls that it has."""
    report = probed(OnePerson)
    assert report.cannot == ("person", "permission", "session")
    assert report.leaks == ()
    assert report.compared > 0
    none = probed(NoWalls)
    assert (none.probes, len(none.cannot)) == (0, 5)


def test_a_seed_decides_all_of_it() -> None:
    """The same seed gives the same leaks, and another one others."""
    first, again = (probed(broken.MixesOrganizations, 60).leaks for _ in range(2))
    assert first == again
    assert probed(broken.MixesOrganizations, 60, seed=4).leaks != first


def test_the_record_counts_by_wall_and_road() -> None:
    """What a program reads: how many, over which wall, by which road, with examples."""
    record = probed(broken.MixesOrganizations).record()
    assert record["leaks"] == sum(part["leaks"] for part in record["by_road"])
    assert record["probes"] == 150
    assert "came by the" in record["examples"][0]
