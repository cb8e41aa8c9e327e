"""Whether two statements are put alike, and each of another thing of its kind."""

from __future__ import annotations

import pytest

from incumbent.language.things import tells_of_another


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Printer two has 40 sheets.", "Printer three has 90 sheets."),
        ("Ida reports to Paul.", "Karl reports to Lea."),
        ("The room in Ghent costs 40.", "The room in Bruges costs 55."),
        ("The deal with Olsen ends in May.", "The deal with Patel was signed on Monday."),
        ("The morning class is at 9.", "The evening class is at 7."),
    ],
)
def test_what_differs_in_thing_and_value_is_about_another_thing(old: str, new: str) -> None:
    """A correction would change one of the two."""
    assert tells_of_another(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ida reports to Paul.", "Ida reports to Lea."),
        ("The class is on Monday at 9.", "the class is on Friday at 10"),
        ("Our office is in Lyon.", "The new office is in Nice."),
        ("Checkup is on 3 May.", "checkup appointment: 9 May"),
        ("Ida drives us to the lake.", "Karl drives us to the lake."),
    ],
)
def test_what_differs_in_one_of_them_may_be_a_correction(old: str, new: str) -> None:
    """The thing is the same, or the value is."""
    assert not tells_of_another(new, old)
