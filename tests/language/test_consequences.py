"""Where a sentence gives a reason, and says with a value what follows from it."""

from __future__ import annotations

import pytest

from incumbent.language.consequences import consequence


@pytest.mark.parametrize(
    ("sentence", "base", "then"),
    [
        ("We are 12, so we need 3 tents.", "We are 12", "we need 3 tents."),
        ("The hall has 80 seats, which means 8 rows.", "The hall has 80 seats", "8 rows."),
        ("Since the film ends at 10, we eat at 10:30.", "the film ends at 10", "we eat at 10:30."),
    ],
)
def test_a_reason_and_what_follows_are_two_stretches_of_one_sentence(
    sentence: str, base: str, then: str
) -> None:
    """Both are the words of the sentence, as they stand."""
    found = consequence(sentence)
    assert found is not None
    assert (sentence[slice(*found.base)], sentence[slice(*found.then)]) == (base, then)


@pytest.mark.parametrize(
    "sentence", ["It rained, so we stayed in.", "I was so tired at 9.", "So far we have 12 of 20."]
)
def test_what_only_goes_on_with_a_story_is_not_cut(sentence: str) -> None:
    """Without values on both sides nothing is known to follow."""
    assert consequence(sentence) is None
