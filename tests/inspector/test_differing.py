"""The difference of two contexts: every line once, and what changed beside what it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from incumbent.context.document import Line
from incumbent.inspector.differing import compared_words, counts, difference

SECTIONS = st.sampled_from(("Identity", "Facts", "History", "Working set"))
LINES = st.lists(
    st.builds(
        Line,
        section=SECTIONS,
        text=st.sampled_from(("- a: 1", "- a: 2", "- b: 1", "- 2026-01-02: tea", "User: alice")),
        fact_id=st.sampled_from((None, "one", "two", "three")),
    ),
    max_size=8,
)


@given(LINES, LINES)
def test_every_line_is_in_one_pair(before: list[Line], after: list[Line]) -> None:
    """Of both contexts, and a pair says rightly what became of it."""
    pairs = difference(before, after)
    assert _same(before, [one.before for one in pairs if one.before])
    assert _same(after, [one.after for one in pairs if one.after])
    for pair in pairs:
        if pair.kind in ("same", "changed"):
            assert pair.before is not None
            assert pair.after is not None
            moved = pair.before.section != pair.after.section
            assert (pair.kind == "same") == (pair.before.text == pair.after.text and not moved)
        else:
            assert (pair.before is None) == (pair.kind == "added")


@given(LINES)
def test_a_context_does_not_differ_from_itself(lines: list[Line]) -> None:
    """All its lines are the same."""
    assert {one.kind for one in difference(lines, lines)} <= {"same"}


@given(LINES, LINES)
def test_what_is_added_one_way_is_gone_the_other(before: list[Line], after: list[Line]) -> None:
    """And as many lines change in both directions."""
    there, back = counts(difference(before, after)), counts(difference(after, before))
    assert there.get("added", 0) == back.get("gone", 0)
    assert there.get("changed", 0) == back.get("changed", 0)


def test_a_new_value_stands_beside_the_old_one() -> None:
    """Though another fact gives it, and the old one went into the history."""
    old = Line("Facts", "- status: approved", "f1")
    new = Line("Facts", "- status: cancelled", "f2")
    past = Line("History", "- status: approved (1 to 2, superseded)", "f1")
    pairs = difference([old], [new, past])
    assert [(one.kind, one.before, one.after) for one in pairs] == [
        ("changed", old, new),
        ("added", None, past),
    ]


def test_a_fact_that_went_to_another_section_is_found_there() -> None:
    """With the section that it left."""
    before = Line("Facts", "- cost: 12", "f1")
    after = Line("To recalculate", "- cost: not known, recalculate", "f1")
    (pair,) = difference([before], [after])
    assert (pair.kind, pair.moved_from, pair.section) == ("changed", "Facts", "To recalculate")


def test_statements_of_one_day_are_not_taken_for_one_another() -> None:
    """Their label is the day alone."""
    before, after = Line("Facts", "- 2026-01-02: I like tea"), Line("Facts", "- 2026-01-02: Rex")
    assert [one.kind for one in difference([before], [after])] == ["added", "gone"]


@given(st.text(max_size=80), st.text(max_size=80))
def test_words_put_together_are_the_lines(before: str, after: str) -> None:
    """And what is not marked is the same in both."""
    left, right = compared_words(before, after)
    assert "".join(run.text for run in left) == before
    assert "".join(run.text for run in right) == after
    assert [run.text for run in left if not run.differs] == [
        run.text for run in right if not run.differs
    ]


def test_long_lines_are_compared_as_a_whole() -> None:
    """Which takes no time worth speaking of."""
    left, right = compared_words("a " * 5_000, "b " * 5_000)
    assert [run.differs for run in (*left, *right)] == [True, True]


def _same(lines: list[Line], others: list[Line]) -> bool:
    return sorted(map(repr, lines)) == sorted(map(repr, others))
