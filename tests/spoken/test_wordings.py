"""The wordings that reading is held against: written by people who had not seen the code.

`spec.toml` has the specification spoken, `reading.toml` what reading has to do besides, and
`commands.toml` orders that are no facts beside standing wishes that are. Here it is only held that
they are well-formed; what becomes of them is for the tests of reading.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
CASES = ("spec", "reading")


def _told(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_a_case_asks_for_values_that_its_turns_say(name: str) -> None:
    """Every value that must or must not be in a context is said in a turn, or names its speaker."""
    for case in _told(name)["case"]:
        said = "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in case["turns"])
        assert case["query"]
        assert case["must"] or case["must_not"], case["query"]
        for value in (*case["must"], *case["must_not"]):
            assert value in said, (case["query"], value)


@pytest.mark.parametrize("name", CASES)
def test_the_days_of_a_case_run_forward(name: str) -> None:
    """Turns stand in the order of their days."""
    for case in _told(name)["case"]:
        days = [turn.get("day", 0) for turn in case["turns"]]
        assert days == sorted(days), case["query"]


def test_every_vector_and_rule_of_the_specification_is_put_in_ten_wordings() -> None:
    """No group has fewer than five cases, and those of the specification ten each."""
    counts = Counter(case["about"] for case in _told("spec")["case"])
    assert sum(count >= 10 for count in counts.values()) >= 10
    assert min(counts.values()) >= 5


def test_orders_and_standing_wishes_are_told_apart() -> None:
    """There are 200 orders and 40 wishes, and no sentence is both."""
    told = _told("commands")
    orders, wishes = set(told["commands"]), set(told["standing"])
    assert (len(orders), len(wishes)) == (200, 40)
    assert orders.isdisjoint(wishes)
