"""Timelines of a suite, written here by hand, played into a memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

import incumbent
from incumbent_eval.timelines import TimelinePlayer, rung_of

PLAIN = incumbent.Settings(embedder=None)


@contextmanager
def playing(
    *facts: dict[str, Any], authority: str = "Baker", **state: Any
) -> Iterator[TimelinePlayer]:
    """A player that has taken up an initial state."""
    player = TimelinePlayer(budget=800, settings=state.pop("settings", PLAIN))
    who = {"user_name": "Rosa", "authority": authority, "organization": "Hill Bakery"}
    environment = {"now": "2026-03-02T08:00:00", **state.pop("environment", {})}
    player.begin(
        {
            "identity_role": who,
            "persistent_facts": [told(**fact, ts="2026-03-01T08:00:00") for fact in facts],
            "environment": environment,
            **state,
        }
    )
    try:
        yield player
    finally:
        player.close()


def told(
    key: str, value: str, *, id: str = "W-1", level: str = "peer", **more: Any
) -> dict[str, Any]:
    """A write as the suite has it."""
    source = {"type": "user", "authority": level}
    return {
        "id": id,
        "layer": "persistent_facts",
        "key": key,
        "value": value,
        "source": source,
        **more,
    }


def event(minute: int, *writes: dict[str, Any], kind: str = "state_write") -> dict[str, Any]:
    return {"ts": f"2026-03-02T09:{minute:02}:00", "type": kind, "writes": list(writes)}


def turn(minute: int, text: str, speaker: str = "user") -> dict[str, Any]:
    ts = f"2026-03-02T09:{minute:02}:00"
    return {"ts": ts, "type": "conversation_turn", "speaker": speaker, "text": text}


def test_who_is_asking_and_what_is_known_reach_the_context() -> None:
    """Identity, facts, surroundings and the desk of an initial state are all there."""
    desk = [{"item_type": "objective", "content": "plan the week", "ts": "2026-03-02T08:00:00"}]
    known = {"key": "oven", "value": "the stone oven is cold"}
    with playing(known, environment={"weather": "frost"}, working_set=desk) as player:
        text = player.ask("Which oven is cold?").text
    for part in ("Rosa", "baker (employee)", "Hill Bakery", "stone oven is cold"):
        assert part in text
    assert "plan the week" in text
    assert "weather: frost" in text
    assert "2026-03-02" in text


def test_a_pointer_holds_a_key() -> None:
    """A supersession that names a key under another key retires what sits there."""
    with playing() as player:
        player.take(event(1, told("flour", "forty sacks of rye")))
        player.take(
            event(2, told("flour_v2", "none at all", supersedes="flour"), kind="supersession")
        )
        text = player.ask("How much flour is there?").text
    assert "none at all" in text
    assert "forty sacks" not in text


def test_a_pointer_holds_an_id() -> None:
    """A supersession that names an id retires that write, not another one at a like key."""
    with playing() as player:
        player.take(event(1, told("flour", "forty sacks of rye", id="F-1")))
        player.take(event(2, told("salt", "two sacks of salt", id="F-2")))
        player.take(event(3, told("stock", "no rye left", id="F-3", supersedes="F-1")))
        text = player.ask("What is in stock?").text
    assert "no rye left" in text
    assert "two sacks of salt" in text
    assert "forty sacks" not in text


def test_an_id_that_writes_share_points_nowhere() -> None:
    """Where ids collide, naming one retires nothing; the key still tells."""
    with playing() as player:
        player.take(event(1, told("flour", "forty sacks of rye", id="W-AUTO")))
        player.take(event(2, told("salt", "two sacks of salt", id="W-AUTO")))
        player.take(event(3, told("note", "closed on Monday", id="W-AUTO", supersedes="W-AUTO")))
        text = player.ask("What is in stock?").text
    assert "forty sacks of rye" in text
    assert "two sacks of salt" in text


def test_a_pointer_to_nothing_is_left_out() -> None:
    """What supersedes or rests on something that was never written is written all the same."""
    with playing() as player:
        player.take(event(1, told("flour", "none at all", supersedes="never", depends_on=["nor"])))
        assert "none at all" in player.ask("How much flour is there?").text


def test_events_are_taken_up_in_the_order_of_their_times() -> None:
    """The later of two writes wins, wherever it stands in the list."""
    with playing() as player:
        player.take(event(9, told("price", "four crowns")))
        player.take(event(3, told("price", "three crowns")))
        text = player.ask("What is the price?").text
    assert "four crowns" in text
    assert "three crowns" not in text


def test_what_rests_on_a_changed_base_is_to_be_recalculated() -> None:
    """A dependency by id makes the derived value unknown when its base is superseded."""
    with playing() as player:
        player.take(event(1, told("price", "three crowns", id="F-1")))
        player.take(event(2, told("takings", "ninety crowns", id="F-2", depends_on=["F-1"])))
        change = told("price", "four crowns", id="F-3", supersedes="F-1")
        player.take(event(3, change, kind="supersession"))
        text = player.ask("What are the takings?").text
    assert "recalculate" in text
    assert "ninety" not in text


def test_a_write_carries_the_authority_of_its_source() -> None:
    """A colleague's later word at the same key does not put out what the policy says."""
    with playing() as player:
        player.take(event(1, told("discount", "five crowns at most", level="policy")))
        player.take(event(2, told("discount", "nine crowns", level="peer")))
        text = player.ask("What discount can we give?").text
    assert "five crowns" in text
    assert "nine crowns" not in text


@pytest.mark.parametrize(
    ("mark", "title", "seen"),
    [
        ("executive", "Baker", False),
        ("executive", "CEO", True),
        ("members of the board only", "CEO", False),
    ],
)
def test_a_restricted_fact_is_for_those_it_is_for(mark: str, title: str, seen: bool) -> None:
    """A mark that names a rung asks for that rung; any other for a permission of that name."""
    secret = told("recipe", f"[RESTRICTED: {mark}] seven herbs")
    with playing(authority=title) as player:
        player.take(event(1, secret))
        text = player.ask("What is in the recipe?").text
    assert ("seven herbs" in text) is seen
    assert "RESTRICTED" not in text


@pytest.mark.parametrize(("day", "seen"), [("20", True), ("01", False)])
def test_a_value_that_tells_its_term_ends_by_itself(day: str, seen: bool) -> None:
    """Past the day that a value names as its last, it is not in office."""
    with playing() as player:
        player.take(event(1, told("offer", f"nine crowns (valid through 2026-03-{day})")))
        assert ("nine crowns" in player.ask("What is the offer?").text) is seen


def test_a_draft_stays_out() -> None:
    """A write of draft scope is not what is so."""
    with playing() as player:
        player.take(event(1, told("price", "nine crowns", scope="draft")))
        assert "nine crowns" not in player.ask("What is the price?").text


def test_what_is_of_a_scope_stays_in_it() -> None:
    """An item marked with a scope goes to a branch of that name, not to the desk."""
    desk = [{"item_type": "context", "content": "[SCOPE: daydream] price: nine crowns"}]
    with playing(working_set=desk) as player:
        assert "nine crowns" not in player.ask("What is the price?").text


def test_a_later_reading_takes_the_place_of_an_earlier_one() -> None:
    """Signals that were read before are not fresh once others have been."""
    later = {**told("alarm", "oven two is on fire"), "layer": "environment"}
    with playing(environment={"weather": "frost"}) as player:
        player.take(event(30, later))
        text = player.ask("What now?").text
    assert "alarm: oven two is on fire" in text
    assert "frost" not in text
    assert "09:30" in text


def test_a_turn_that_is_refused_is_named_and_the_rest_goes_on() -> None:
    """What cannot be taken in is told with the reason; it does not end the timeline."""
    short = replace(PLAIN, max_turn_bytes=60)
    with playing(settings=short) as player:
        player.take(turn(1, "My address is 9 Mill Lane."))
        player.take(turn(2, "far too long " * 10))
        assert "9 Mill Lane" in player.ask("What is my address?").text
        [refused] = player.refused
    assert refused.startswith("far too long")


def test_a_turn_is_observed() -> None:
    """What the user says becomes state; what the assistant says does not."""
    with playing() as player:
        player.take(turn(1, "My address is 9 Mill Lane."))
        player.take(turn(2, "I moved to 4 Quay Street."))
        text = player.ask("What is my address?").text
    assert "4 Quay Street" in text
    assert "9 Mill Lane" not in text


@pytest.mark.parametrize(
    ("title", "rung"),
    [
        ("manager", "manager"),
        ("Night Shift Manager", "manager"),
        ("VP Ovens", "executive"),
        ("CBO", "executive"),
        ("Chief Bread Officer", "executive"),
        ("Account Executive", "employee"),
        ("Baker", "employee"),
        ("peer", "employee"),
        ("Customer", "employee"),
        ("board", "policy"),
    ],
)
def test_job_titles_stand_on_rungs(title: str, rung: str) -> None:
    """By the whole title, else by its last or first word; nobody is below a colleague."""
    assert rung_of(title) == rung
