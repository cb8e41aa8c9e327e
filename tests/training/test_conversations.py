"""The corpus of conversations: its format, and what is kept aside of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from incumbent_eval.conversations.format import MarkedConversation, read_conversations
from training.agreement import SECOND, both
from training.make import CONVERSATIONS, DEVELOPMENT, FINAL

PARTS = sorted(path for path in CONVERSATIONS.glob("*.txt") if path != SECOND)
AT_LEAST = 3_000


def bare(conversation: MarkedConversation) -> list[tuple[str, list[str]]]:
    """What was said, without annotation."""
    return [
        (turn.speaker, [line.text for line in turn.lines if line.text])
        for turn in conversation.turns
    ]


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_a_part_follows_the_format(path: Path) -> None:
    """Every line is understood, every relation leads somewhere, and something is asked."""
    found = list(read_conversations(path))
    assert found
    assert all(one.questions and one.turns for one in found)


def test_there_are_enough_and_each_has_a_name_of_its_own() -> None:
    """Ids are unique over all parts."""
    ids = Counter(one.id for path in PARTS for one in read_conversations(path))
    assert [name for name, count in ids.items() if count > 1] == []
    assert len(ids) >= AT_LEAST


def test_parts_are_kept_aside() -> None:
    """For development and for the final figures, a long part and a short one each."""
    stems = {path.stem for path in PARTS}
    assert stems.issuperset({*DEVELOPMENT, *FINAL})
    assert not set(DEVELOPMENT) & set(FINAL)


def test_a_tenth_is_annotated_twice_in_the_same_words() -> None:
    """The second annotation is of the same lines, so that the two can be compared."""
    pairs = list(both())
    assert len(pairs) >= AT_LEAST // 10
    assert [one.id for one, other in pairs if bare(one) != bare(other)] == []
