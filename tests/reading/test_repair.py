"""Repair told in words: what one thing is, what rests on it, and how it changes."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
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


def played(story: dict[str, Any]) -> list[str]:
    """What does not hold that should, and what holds that should not."""
    clock = SteppingClock(MONDAY)
    settings = incumbent.Settings(embedder="static", detector="reading")
    with incumbent.open(":memory:", clock=clock, settings=settings) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        for said in story["told"]:
            ann.observe(said)
            clock.advance(minutes=3)
        facts = list(ann.facts())
        open_to = {review.fact.id for review in ann.reviews()}
    known = " | ".join(f"{fact.key} {fact.value}" for fact in facts)
    sure = " | ".join(f"{fact.key} {fact.value}" for fact in facts if fact.id not in open_to)
    wrong = [f"no {one}: {known}" for one in story["live"] if one not in known]
    return wrong + [f"still {one}: {sure}" for one in story["gone"] if one in sure]
