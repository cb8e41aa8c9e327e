"""What reading misses today: expected failures, each with its reason."""

from __future__ import annotations

import pytest

_LATE = "a turn that takes back does not go by its own time"
MISSED = {
    ("test_only_ones_own_words_ask_for_everything_to_be_erased", ""): (
        "a request under a condition asks for everything"
    ),
    ("test_a_turn_that_takes_back_ends_the_fact_at_its_own_time", ""): _LATE,
    ("test_a_late_retraction_does_not_end_what_was_said_after_it", ""): _LATE,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = getattr(item, "originalname", item.name)
        for (wanted, part), reason in MISSED.items():
            if name == wanted and part in item.name:
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
