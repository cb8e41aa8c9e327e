"""The table of forms × phrasings: what people say, and what must and must not change by it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.language.phrasings import FOLDER, OUTCOMES, Entry, entries, says, wrongs

REQUIRED = [entry for entry in entries() if entry.sure]
MISSED = dict(
    line.split(" | ", 1)
    for line in (FOLDER / "missed.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
"""The entries that the reader misses today, and why."""


def _case(entry: Entry) -> object:
    marks = [pytest.mark.xfail(strict=True, reason=MISSED[entry.id])] if entry.id in MISSED else []
    return pytest.param(entry, id=entry.id, marks=marks)


@pytest.mark.parametrize("entry", [_case(entry) for entry in REQUIRED])
def test_what_is_said_has_its_effect_and_no_other(entry: Entry) -> None:
    """What the turn changes is changed, what it does not touch stands, and the context agrees."""
    assert wrongs(entry) == []


def test_at_least_half_of_the_table_must_change_nothing() -> None:
    """Retiring what still stands is as bad as keeping what is dead, so both are asked for alike."""
    assert len(entries()) >= 360
    assert len(REQUIRED) >= 300
    for table in (entries(), REQUIRED):
        assert 2 * sum(entry.changes_nothing for entry in table) >= len(table)


def test_what_is_missed_is_in_the_table() -> None:
    """The list of what is missed names entries that are there."""
    assert MISSED.keys() - {entry.id for entry in REQUIRED} == set()


def test_every_entry_can_be_told_apart_and_can_fail() -> None:
    """Ids are unique, outcomes are known, and each entry asks for something that can be missed."""
    assert [id for id, count in Counter(entry.id for entry in entries()).items() if count > 1] == []
    for entry in entries():
        assert entry.outcome in (None, *OUTCOMES), entry.id
        assert (
            entry.retires
            or entry.brings
            or entry.together
            or entry.keeps
            or (entry.unreal or entry.retold or entry.lacks or entry.outcome)
        ), entry.id
        # Without a fact that could be retired, "retires nothing" would be true of anything.
        if entry.changes_nothing and any(turn.speaker != "assistant" for turn in entry.before):
            assert entry.keeps, entry.id


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("The fee is $4,500.", "$4,500", True),
        ("The fee is $4,500.", "$4", False),
        ("At 5:30 sharp", "5", False),
        ("At 5. Sharp", "5", True),
        ("On Floor 12", "floor 1", False),
        ("It is twelve", "12|TWELVE", True),
    ],
)
def test_values_are_found_as_whole_words_and_numbers(text: str, value: str, found: bool) -> None:
    """A value is in a text only where it is not part of a longer one; case does not matter."""
    assert says(text, value) is found
