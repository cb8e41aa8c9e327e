"""When a text says a value, and when a context mentions a phrase."""

from __future__ import annotations

import pytest

from incumbent_eval.phrases import mentions, phrase_of
from incumbent_eval.spoken import SpokenText, same_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A table at Luigi's, please.", "luigi's"),
        ("A table at Luigi 's , please .", "Luigi's"),
        ("I do n't mind the rain", "don't mind"),
        ("at 5pm sharp", "5 pm"),
        ("at 5 P.M. sharp", "5pm"),
        ("it costs $1,200 a month", "1200"),
        ("Saint-Denis it is", "Saint Denis"),
        ("The ‘Blue Room’ is free", "blue room"),
        ("the 4th of May", "4th"),
    ],
)
def test_a_value_is_said_whatever_its_case_and_spacing(text: str, value: str) -> None:
    """Case, contractions cut off or not, and the ways to write the half of the day are one."""
    assert SpokenText(text).says(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("at 11:30", "1"),
        ("at 11:30", "30"),
        ("at 11:30", "11"),
        ("on the 4th", "4"),
        ("for 45 people", "4"),
        ("a room in Yorkshire", "York"),
        ("red wine, white bread", "red bread"),
        ("it is 3.5 miles", "5"),
        ("anything at all", ""),
        ("anything at all", "–"),
    ],
)
def test_a_part_of_a_token_is_not_said(text: str, value: str) -> None:
    """Numbers, times and words count only as a whole, and tokens only next to each other."""
    assert not SpokenText(text).says(value)


def test_one_way_to_put_a_value_is_enough() -> None:
    """A value with several surfaces is said by any of them."""
    said = SpokenText("to the airport in Oslo")
    assert said.says_any(["OSL", "Oslo"])
    assert not said.says_any(["OSL", "Gardermoen"])


def test_two_texts_are_the_same_value_when_one_stands_in_the_other() -> None:
    """A value may be put at more or less length, but shared letters do not make it the same."""
    assert same_value("Oslo", "Oslo, Norway")
    assert same_value("5 pm", "5pm")
    assert not same_value("Oslo", "Oslofjord")


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The budget is $45K.", "$45K"),
        ("a rate of 10%.", "10%"),
        ("DO NOT SHIP before Monday", "do not ship"),
        ("please don't ship", "do not ship"),
        ("we do not ship", "don't ship"),
        ("we can't exceed it", "cannot exceed"),
        ("you should not wait", "shouldn't wait"),
        ("it was postponed", "cancelled|postponed"),
        ("order 17 is late", r"regex:order \d+"),
        ("See #4711.", "#"),
    ],
)
def test_a_phrase_is_mentioned(text: str, phrase: str) -> None:
    """Alternatives, patterns and contractions count; edges that are no letters need no border."""
    assert mentions(text, phrase)


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("nearby shops", "by"),
        ("a total of $450", "$45"),
        ("an order of 1000", "100"),
        ("recalculated yesterday", "recalculat"),
        ("it was postponed", "cancelled|moved"),
        ("anything", ""),
        ("anything", "|"),
    ],
)
def test_a_phrase_inside_a_word_is_not_mentioned(text: str, phrase: str) -> None:
    """An edge of a phrase that is a letter or digit must be the edge of a word."""
    assert not mentions(text, phrase)


def test_a_requirement_is_a_phrase_or_has_one() -> None:
    """Both shapes that the suite uses give the phrase."""
    assert phrase_of("late") == phrase_of({"phrase": "late", "kind": "superseded"}) == "late"
