"""Editorial brackets stand around what changed, one pair around each stretch."""

from __future__ import annotations

import pytest

from incumbent.reading.amending import amended


@pytest.mark.parametrize(
    ("text", "old", "made"),
    [
        ("We need 40 desks.", "40", "We need [45] desks."),
        ("We need [40] desks.", "40", "We need [45] desks."),
        ("It goes mon fri [2pm].", "mon fri [2pm", "It goes [45]."),
        ("[grass is 25 every week]; x", "25", "[grass is 45 every week]; x"),
        ("[grass is 25 every week]; x", "every week", "[grass is 25] [45]; x"),
        ("It goes fri [2pm and 3pm] here", "fri [2pm", "It goes [45] [and 3pm] here"),
    ],
)
def test_a_change_of_a_change_has_its_own_brackets(text: str, old: str, made: str) -> None:
    """None is left open, and what an earlier change brought stays in its own."""
    start = text.index(old)
    assert amended(text, (start, start + len(old)), "45") == made
