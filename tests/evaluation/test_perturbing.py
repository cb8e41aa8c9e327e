"""Perturbed copies of timelines: other words, the same story."""

from __future__ import annotations

from typing import Any

import pytest

from incumbent_eval.perturbing import perturbed


def a_timeline() -> dict[str, Any]:
    write = {"id": "F-1", "layer": "persistent_facts", "key": "vendor_price", "value": "$4,200"}
    return {
        "id": "T-1",
        "track": "supersession",
        "initial_state": {
            "identity_role": {"user_name": "Sarah", "authority": "manager"},
            "persistent_facts": [
                {**write, "ts": "2026-01-05T09:00:00", "supersedes": None},
                {**write, "id": "F-2", "key": "seats", "value": "35", "supersedes": "vendor_price"},
            ],
        },
        "events": [
            {
                "type": "conversation_turn",
                "ts": f"2026-01-05T09:{minute:02}:00",
                "speaker": "user",
                "text": f"Sarah from BrightSoft says the vendor wants $4,200 for {minute} seats.",
            }
            for minute in range(10, 30)
        ]
        + [
            {
                "type": "query",
                "ts": "2026-01-05T10:00:00",
                "prompt": "What does the vendor want, Sarah?",
                "ground_truth": {
                    "must_mention": ["$4,200", "vendor"],
                    "must_not_mention": ["BrightSoft"],
                },
            }
        ],
    }


def turns_of(timeline: dict[str, Any]) -> list[str]:
    return [e["text"] for e in timeline["events"] if e["type"] == "conversation_turn"]


def test_the_same_seed_gives_the_same_copy() -> None:
    assert perturbed(a_timeline(), 3) == perturbed(a_timeline(), 3)
    assert perturbed(a_timeline(), 3) != perturbed(a_timeline(), 4)


def test_the_timeline_itself_is_left_as_it_was() -> None:
    timeline = a_timeline()
    perturbed(timeline, 3)
    assert timeline == a_timeline()


@pytest.mark.parametrize("word", ["Sarah", "BrightSoft", "4,200", "vendor"])
def test_names_numbers_and_nouns_are_exchanged_everywhere(word: str) -> None:
    """In turns, facts, keys, queries and what a query asks for."""
    copy = perturbed(a_timeline(), 3)
    assert word not in repr({**copy, "id": ""})


def test_what_a_query_asks_for_is_what_the_turns_say() -> None:
    copy = perturbed(a_timeline(), 3)
    truth = copy["events"][-1]["ground_truth"]
    said = " ".join(turns_of(copy))
    for phrase in (*truth["must_mention"], *truth["must_not_mention"]):
        assert phrase in said


def test_pointers_lead_where_they_led() -> None:
    first, second = sorted(
        perturbed(a_timeline(), 3)["initial_state"]["persistent_facts"], key=lambda f: str(f["id"])
    )
    assert second["supersedes"] == first["key"]


def test_people_talk_of_other_things_in_between() -> None:
    before, after = a_timeline(), perturbed(a_timeline(), 3)
    assert len(turns_of(after)) > len(turns_of(before))
    times = [event["ts"] for event in after["events"]]
    assert times == sorted(times)
