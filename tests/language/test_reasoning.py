"""Reasons, conditions and changes: how clauses hang together, told by words alone."""

from __future__ import annotations

import pytest

from incumbent.language.reasoning import relation, strands, value_told, waiting


@pytest.mark.parametrize(
    "sentence",
    [
        "The venue is Porto, so the fee is $40.",
        "Since the venue is Porto, the fee is $40.",
        "The fee is $40 because the venue is Porto.",
        "The venue is Porto; as a consequence, the fee is $40.",
        "While the venue is Porto, the fee is $40.",
        "OK, given that the venue is Porto, the fee is $40.",
    ],
)
def test_a_reason_and_what_follows_are_two_statements(sentence: str) -> None:
    """The reason comes first, and what follows from it says that it does."""
    first, second = strands(sentence)
    assert first.text.lower() == "the venue is porto"
    assert not first.follows
    assert second.text.lower() == "the fee is $40"
    assert second.follows


@pytest.mark.parametrize(
    "sentence",
    [
        "Based on the venue, the fee is $40.",
        "The fee is $40, which rests on the venue.",
        "The fee is $40 thanks to the venue.",
        "We calculated the fee from the venue: it is $40.",
        "The fee hinges on the venue, so it is $40.",
        "The fee is $40, provided the venue stays the same.",
    ],
)
def test_a_reason_that_is_only_named_is_a_base(sentence: str) -> None:
    """Where the reason is named and not told, the statement knows what it follows from."""
    (only,) = strands(sentence)
    assert only.text.lower() == "the fee is $40"
    assert only.bases == ("the venue",)


def test_several_bases_are_told_apart() -> None:
    """What follows from two things names both."""
    (only,) = strands("The fee is $40, given the venue for the gala and our headcount.")
    assert only.bases == ("the venue for the gala", "our headcount")


@pytest.mark.parametrize(
    "sentence",
    [
        "I like the hotel because the room is big.",
        "The fee is $40, isn't it so?",
        "Since Friday I have been ill.",
        "So what do we do?",
        "The fee is $40 and the venue is Porto.",
        "The hosting cost for the project",
    ],
)
def test_what_gives_no_reason_is_left_as_it_is(sentence: str) -> None:
    """A sentence is only taken apart where two things that are named hang together."""
    assert strands(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("The fee has changed: it is $50 now.", "The fee is $50 now"),
        ("The fee isn't $40 any more, it's $50.", "The fee is $50"),
        ("The change to the fee was reversed, it is $40 again.", "the fee is $40 again"),
        ("The fee, I believe, is $40.", "The fee is $40"),
    ],
)
def test_it_stands_for_the_thing_that_was_named(sentence: str, told: str) -> None:
    """What is said of "it" is said of the thing that the sentence speaks of."""
    (only,) = strands(sentence)
    assert only.text == told


@pytest.mark.parametrize(
    ("sentence", "thing", "bases"),
    [
        ("The fee depends on the venue.", "The fee", ("the venue",)),
        ("That hinges on the venue.", "", ("the venue",)),
        ("If the venue changes, so does this.", "", ("the venue",)),
        ("It changes whenever the venue does.", "", ("the venue",)),
    ],
)
def test_a_relation_says_what_something_follows_from(
    sentence: str, thing: str, bases: tuple[str, ...]
) -> None:
    """Without a value, it is still known what hangs on what."""
    found = relation(sentence)
    assert found is not None
    assert (found.thing, found.bases) == (thing, bases)


@pytest.mark.parametrize(
    "sentence",
    [
        "If the venue becomes Porto, the fee is $40.",
        "If the venue ever changes to Porto, then the fee is $40.",
        "The fee is $40 as soon as the venue is Porto.",
        "In the event that we move the venue to Porto, the fee is $40.",
        "If the venue is replaced by Porto, the fee is $40.",
        "Should the venue turn out to be Porto, the fee is $40.",
        "Keep in mind: once the venue has moved to Porto, the fee is $40.",
    ],
)
def test_what_waits_names_what_it_waits_for(sentence: str) -> None:
    """A condition on what a thing becomes tells the thing, the value and what is so then."""
    found = waiting(sentence)
    assert found is not None
    assert (found.base.lower(), found.becomes) == ("the venue", "Porto")
    assert found.then.lower() == "the fee is $40"


@pytest.mark.parametrize(
    "sentence",
    [
        "If the venue is not Porto, the fee is $40.",
        "If it rains, take an umbrella.",
        "When do we meet, and is the fee $40?",
        "If the venue becomes Porto, is the fee $40?",
        "The fee is $40.",
    ],
)
def test_what_waits_for_nothing_is_no_rule(sentence: str) -> None:
    """Questions, denials and plain statements wait for nothing."""
    assert waiting(sentence) is None


@pytest.mark.parametrize(
    ("clause", "thing", "value", "is_change"),
    [
        ("The fee is now $50", "The fee", "$50", False),
        ("We moved the launch from 3 May to 9 May.", "the launch", "9 May", True),
        ("We're keeping teal for the walls.", "the walls", "teal", True),
        ("The heating is back to gas.", "The heating", "gas", True),
        ("The venue stays in Porto.", "The venue", "Porto", True),
        ("Mia's ticket costs $40, not $30.", "Mia's ticket", "$40", False),
    ],
)
def test_a_clause_tells_a_value_of_a_thing(
    clause: str, thing: str, value: str, is_change: bool
) -> None:
    """The thing, its value, and whether it was changed to that."""
    told = value_told(clause)
    assert told is not None
    assert (told.thing, told.value, told.is_change) == (thing, value, is_change)


def test_no_sentence_takes_long() -> None:
    """What is longer than a sentence is not searched at all."""
    assert strands("The fee is $40 because the venue is Porto. " * 100) == []
    assert waiting("If the venue becomes Porto, the fee is $40. " * 100) is None
