"""Changes that begin or end on a day, story by story, with a clock that the test moves."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.testing import SteppingClock

MONDAY = datetime(2026, 1, 5, 9, tzinfo=UTC)


def stories(name: str) -> list[dict[str, Any]]:
    told = tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))
    found: list[dict[str, Any]] = told["story"]
    return found


def played(story: dict[str, Any]) -> list[tuple[date, str]]:
    """What does not hold that should, and what holds that should not, on each day."""
    clock = SteppingClock(MONDAY)
    settings = incumbent.Settings(embedder="static", detector="reading")
    wrong = []
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        for said in story["told"]:
            ann.observe(said)
            clock.advance(hours=1)
        for day in story["days"]:
            clock.move_to(datetime.combine(day["on"], time(12), UTC))
            known = " | ".join(f"{fact.key} {fact.value}" for fact in ann.facts())
            wrong += [(day["on"], f"no {one}: {known}") for one in day["live"] if one not in known]
            gone = day.get("gone", ())
            wrong += [(day["on"], f"still {one}: {known}") for one in gone if one in known]
    return wrong


@pytest.mark.parametrize("story", stories("days.toml"), ids=lambda story: story["told"][-1])
def test_a_change_begins_and_ends_on_its_day(story: dict[str, Any]) -> None:
    """Before it what was so stands, in its time it stands alone, and after it no more."""
    assert played(story) == []
