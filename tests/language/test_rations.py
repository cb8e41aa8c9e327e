"""How much of a turn a detector is asked about."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import incumbent
from incumbent.language.detection import Judged, Pair, Relation, RuleDetector

MOST = 200
THINGS = ["venue", "budget", "price", "hotel", "lead", "code", "room", "owner", "client"]


class CountingDetector:
    """Judges by the rules, and counts the pairs that it is asked about."""

    name = "counting"
    reach = Relation.APART

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Judged]:
        self.asked += len(pairs)
        return RuleDetector().judge(pairs)


@pytest.mark.parametrize("corrections", [100, 400])
def test_a_turn_of_corrections_asks_no_more_of_a_detector_the_longer_it_is(
    corrections: int,
) -> None:
    """What is beyond its share is judged by the rules, so that others do not wait."""
    detector = CountingDetector()
    settings = incumbent.Settings(durability="process", embedder=None, detector=detector)
    turn = " ".join(
        f"{THINGS[n % 9]} is {n}. No, {THINGS[(n + 3) % 9]}." for n in range(corrections)
    )
    with incumbent.open(":memory:", settings=settings) as memory:
        session = memory.session(user_id="ann")
        session.observe("The venue is Lyon.")
        session.observe(turn)
        session.observe("The venue is Porto.")
        assert session.current("venue") == "Porto"
    assert 0 < detector.asked <= MOST
