"""Marking: texts in stretches, whatever the marks, and nothing hidden in them."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from incumbent.inspector.marking import TextMark, inert_json, marked, plainly

TEXTS = st.text(max_size=60)
PLACES = st.integers(min_value=-5, max_value=70)
MARKS = st.lists(
    st.builds(
        TextMark,
        start=PLACES,
        end=PLACES,
        kind=st.sampled_from(("statement", "fact", "value", "unreal")),
        about=st.sampled_from(("", "a", "b")),
        gone=st.booleans(),
    ),
    max_size=8,
)


@given(TEXTS, MARKS)
def test_the_stretches_put_together_are_the_text(text: str, marks: list[TextMark]) -> None:
    """Nothing is lost, nothing is there twice, however the marks overlap."""
    assert "".join(one.text for one in marked(text, marks)) == text
    assert all(one.text for one in marked(text, marks))


@given(TEXTS, MARKS)
def test_each_character_is_under_the_marks_that_cover_it(text: str, marks: list[TextMark]) -> None:
    """Those and no others, the widest first."""
    at = 0
    for stretch in marked(text, marks):
        for place in range(at, at + len(stretch.text)):
            covering = [one for one in marks if one.start <= place < one.end]
            assert sorted(map(repr, stretch.marks)) == sorted(map(repr, covering))
        widths = [one.end - one.start for one in stretch.marks]
        assert widths == sorted(widths, reverse=True)
        at += len(stretch.text)


def test_the_narrowest_mark_leads_to_its_fact() -> None:
    """A value within a statement within another."""
    found = marked("I moved to Oak Ave", [_fact(0, 18, "wide"), _value(11, 18, "near")])
    assert [(one.text, one.nearest.about if one.nearest else None) for one in found] == [
        ("I moved to ", "wide"),
        ("Oak Ave", "near"),
    ]


def test_a_value_that_another_fact_still_has_is_not_gone() -> None:
    """It is struck out only where nothing that holds says it."""
    dead, live = _value(0, 4, "old", gone=True), _value(0, 4, "new")
    assert marked("blue", [dead])[0].is_gone
    assert not marked("blue", [dead, live])[0].is_gone
    assert not marked("blue", [TextMark(0, 4, "unreal", "x", gone=True)])[0].is_gone


@given(st.text())
def test_nothing_turns_or_hides_a_text(text: str) -> None:
    """Characters that do are named; line breaks stay."""
    shown = plainly(text)
    assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200b\u200f\x00\x1b")
    assert shown.count("\n") == text.count("\n")


@given(st.text())
def test_messages_say_the_same_with_what_hides_escaped(text: str) -> None:
    """A copy of them is what a model would be sent."""
    told = inert_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(told) == [text]
    assert "\u202e" not in told


def _fact(start: int, end: int, about: str) -> TextMark:
    return TextMark(start, end, "fact", about)


def _value(start: int, end: int, about: str, *, gone: bool = False) -> TextMark:
    return TextMark(start, end, "value", about, gone)
