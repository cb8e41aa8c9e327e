"""Contexts of a memory that is too large to be ranked whole."""

from __future__ import annotations

import pytest

from incumbent.composing.inquiry import SMALL
from tests.conftest import QUICK, OpenMemory


@pytest.mark.parametrize("query", ["", "?"])
def test_without_a_question_the_newest_is_shown(open_memory: OpenMemory, query: str) -> None:
    """However much is known, nobody has to ask to be told something."""
    session = open_memory(settings=QUICK).session(user_id="ann")
    session.write_many(
        {"key": f"shelf_{number}", "value": f"box {number}"} for number in range(SMALL + 50)
    )
    text = session.context(query, budget=300).text
    assert f"box {SMALL + 49}" in text
    assert "shelf_3:" not in text
