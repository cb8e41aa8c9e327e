"""The gist of a turn: what it does with the things that it names, however freely it is put."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from incumbent.language.gist import Act, Gist, gist
from incumbent.language.skeleton import kind_of


@dataclass
class Record:
    """What is known of some things, by their names."""

    values: Mapping[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return name.lower() in self.values

    def says(self, name: str, value: str) -> bool:
        return self.values.get(name.lower(), "").lower() == value.lower()

    def kind(self, name: str) -> str:
        value = self.values.get(name.lower())
        return kind_of(value) if value else ""

    def held(self, text: str) -> Sequence[str]:
        return tuple(self.values.values())


KNOWN = Record({"the venue": "Porto", "the fee": "$40", "the band": "Blue Note"})


def told(found: Gist | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(pair.thing.text.lower(), pair.value.text) for pair in found.pairs]


@pytest.mark.parametrize(
    "turn",
    [
        "A little bird tells me the parking code is KX-210.",
        "Under the parking code you will find KX-210.",
        "The parking code? That would be KX-210.",
        "Please jot down KX-210 for the parking code.",
        "Moving on to the parking code: KX-210.",
        "As for the parking code, it is KX-210, if I read this scribble right.",
        "Haha, the parking code is KX-210.",
        "The parking code is KX-210, in case a visitor wants it.",
        "KX-210. That is the parking code.",
        "With the parking code we have KX-210.",
        "The parking code (somebody mislaid the letter) is KX-210.",
        "Can you believe it, the parking code is KX-210.",
    ],
)
def test_a_value_is_told_of_a_thing_whatever_stands_around_it(turn: str) -> None:
    """A turn that names one thing and one value is about the two."""
    found = gist(turn, Record())
    assert told(found) == [("the parking code", "KX-210")]
    assert found is not None
    assert found.act is Act.STATES


@pytest.mark.parametrize(
    "turn",
    [
        "Porto is out, we are doing Graz for the venue.",
        "The venue: Porto -> Graz",
        "You had Porto for the venue. That is over; Graz is the new one.",
        "Swap Porto for Graz as the venue, would you?",
        "The venue has gone from Porto to Graz.",
        "The venue won't be Porto; it'll be Graz.",
        "The venue: new value Graz, old value Porto.",
    ],
)
def test_of_two_values_the_one_on_record_is_the_old_one(turn: str) -> None:
    """What is known tells which of them is new."""
    found = gist(turn, KNOWN)
    assert told(found) == [("the venue", "Graz")]


@pytest.mark.parametrize(
    "turn",
    [
        "With Graz for the hall, we end up with $75 for the ticket.",
        "The ticket costs $75. Why? Because the hall is Graz.",
        "They gave us $75 for the ticket seeing as the hall is Graz.",
        "The hall is Graz, ergo the ticket costs $75.",
        "The ticket depends on the hall: the latter is Graz, so the former costs $75.",
        "The hall is Graz, and the ticket costs $75 on account of that.",
        "The hall is Graz and bc of that the ticket costs $75.",
        "The ticket costs $75 and we worked that out from the hall, which is Graz.",
        "You want to know why the ticket costs $75? The hall is Graz.",
        "Of these two, one comes from the other: the hall is Graz, the ticket costs $75.",
        "After we heard that the hall is Graz, the ticket was quickly found: it costs $75.",
    ],
)
def test_a_reason_is_told_from_what_follows(turn: str) -> None:
    """The reason comes first, wherever it stands."""
    found = gist(turn, Record())
    assert told(found) == [("the hall", "Graz"), ("the ticket", "$75")]
    assert found is not None
    assert found.act is Act.CONCLUDES


@pytest.mark.parametrize(
    "turn",
    [
        "I took the venue as the starting point and arrived at $75 for the ticket.",
        "With the venue as it stands, the ticket costs $75.",
        "The ticket costs $75 (goes by the venue).",
        "Why $75 for the ticket? Because of the venue.",
        "The ticket was figured out using the venue. Result: $75.",
        "You can tell from the venue that the ticket costs $75.",
        "The ticket costs $75, and the venue is to blame.",
        "It was the venue that tipped the scales: the ticket costs $75.",
        "The ticket costs $75, courtesy of the venue.",
        "From the venue we get $75 for the ticket.",
        "Here the venue is the deciding factor, the ticket costs $75.",
        "The ticket, dictated by the venue, costs $75.",
    ],
)
def test_a_thing_that_is_only_named_is_what_the_other_rests_on(turn: str) -> None:
    """Any word for what goes by what will do."""
    found = gist(turn, KNOWN)
    assert told(found) == [("the ticket", "$75")]
    assert found is not None
    assert (found.act, found.bases) == (Act.RESTS, ("the venue",))


@pytest.mark.parametrize(
    "turn",
    [
        "Suppose the venue becomes Graz one day. Then the fee will be $75.",
        "I'd want $75 for the fee, but not before the venue moves to Graz.",
        "There's talk of Graz for the venue. If that comes true, the fee goes to $75.",
        "On the condition that the venue is moved to Graz, we are to use $75 for the fee.",
        "The fee stays as it is - unless the venue becomes Graz, because then the fee is $75.",
        "Graz for the venue would mean $75 for the fee.",
        "The venue becomes Graz? Then the fee becomes $75.",
        "Nothing happens to the fee until the venue becomes Graz, in that case it will be $75.",
        "Were the venue to change to Graz, the fee would have to go to $75.",
        "In the improbable event that the venue becomes Graz, the fee will be $75.",
        "A change of the venue to Graz means $75 for the fee.",
    ],
)
def test_a_case_is_told_from_what_waits_for_it(turn: str) -> None:
    """The case comes first, wherever it stands."""
    found = gist(turn, KNOWN)
    assert told(found) == [("the venue", "Graz"), ("the fee", "$75")]
    assert found is not None
    assert found.act is Act.WAITS


@pytest.mark.parametrize(
    "turn",
    [
        "That thing about the band? Bin it.",
        "From today we do without the band.",
        "I want nothing saved about the band.",
        "There's no such thing as the band any longer.",
        "Let's pretend I never mentioned the band.",
        "Would you mind wiping the band from memory?",
        "The band went out the window.",
        "The band is off the table.",
        "I no longer want the band stored anywhere.",
        "I'm withdrawing the band.",
        "The whole affair with the band is closed.",
    ],
)
def test_a_thing_is_taken_off_the_record(turn: str) -> None:
    """However somebody asks for it, or says that it is no more."""
    found = gist(turn, KNOWN)
    assert found is not None
    assert (found.act, found.removed.lower()) == (Act.REMOVES, "the band")


@pytest.mark.parametrize(
    "turn",
    [
        "Is the venue still Porto, or is it Graz now?",
        "Is the venue Graz? I need to know.",
        "I doubt that the venue is Graz.",
        "Bob thinks the venue is Graz.",
        "The venue is not Graz.",
        "The venue used to be Graz.",
        "Last year the venue was Graz.",
        "Maybe the venue is Graz.",
        "We could make Graz the venue.",
        "If the venue had been Graz, the fee would have been $75.",
        "When the venue was Graz, the fee was $75.",
        "Unless it rains, the venue is Graz.",
        "The fee is at most $75.",
        "The venue in Graz is closed.",
        "Don't forget the band.",
        "Please don't delete the band.",
        "Did you delete the band?",
        "I deleted the file with photos of the band.",
        "The band can be cancelled free of charge.",
        "It is clear who booked the band.",
        "He asked me to forget the keys, not the band.",
        "I told Anna about the venue and the fee.",
        "I like the venue, so I told my sister about the fee.",
        "The band is so loud.",
        "We have been at the venue since Friday.",
        "The change to the band has been cancelled.",
        "We don't have the band yet.",
        "The band isn't finished with the first song.",
        "What would you say if the venue were Graz?",
        "Had the venue been Graz, the fee would be $75.",
        "Nobody asked why the venue should be Graz.",
        "I bet the venue is Graz.",
        "The fee is $40 and I like the venue.",
    ],
)
def test_what_nobody_stands_by_has_no_gist(turn: str) -> None:
    """Questions, doubts, hearsay, bounds, the past, and what is said of something else."""
    assert gist(turn, KNOWN) is None


@pytest.mark.parametrize(
    "turn",
    [
        "The hall is Graz and the ticket costs $75.",
        "For your list: the hall is Graz; the ticket costs $75.",
    ],
)
def test_several_values_of_several_things_are_each_told(turn: str) -> None:
    """Nothing follows from the other, and neither is lost in it."""
    found = gist(turn, Record())
    assert told(found) == [("the hall", "Graz"), ("the ticket", "$75")]
    assert found is not None
    assert found.act is Act.LISTS


def test_a_number_after_a_thing_tells_which_one_is_meant() -> None:
    """A label is no value."""
    found = gist("The state of ticket 4471 is pending.", Record())
    assert found is None or told(found) == [("the state of ticket 4471", "pending")]


def test_no_turn_takes_long() -> None:
    """What is longer than a few sentences is not searched at all."""
    assert gist("The venue is Graz, so the fee is $75. " * 100, KNOWN) is None
