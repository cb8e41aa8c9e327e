"""Dialogues in which people change their mind: how they are read, run and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

import incumbent
from incumbent.model.errors import InvalidInput
from incumbent_eval import cases
from incumbent_eval.cases import Case, Event, ValueChange
from incumbent_eval.figures import Detection, Joint, Share
from tests.evaluation.dialogues import MOVED, ROWS, case, written

PLAIN = incumbent.Settings(embedder=None)


def test_cases_of_one_dialogue_share_its_run(tmp_path: Path) -> None:
    """Cases with the same turns are one dialogue, so that its turns are counted once."""
    dialogues = cases.read_dialogues(written(tmp_path / "some.jsonl", ROWS))
    assert [len(dialogue.cases) for dialogue in dialogues] == [2, 1]
    assert [event.speaker for event in dialogues[0].events[:2]] == ["user", "assistant"]
    assert dialogues[0].events[4].changes == (
        ValueChange("Post/address", ("4 Quay Street",), ("9 Mill Lane",)),
    )


def test_values_come_as_a_list_of_ways_or_as_one(tmp_path: Path) -> None:
    """Both collections' shapes are read: lists with a service, plain strings without one."""
    events = [
        {
            "speaker": "user",
            "text": "x",
            "time": 0,
            "adds": [{"slot": "hotel-area", "value": "east"}],
        }
    ]
    [dialogue] = cases.read_dialogues(
        written(tmp_path / "some.jsonl", [case("area", "east", "west", events)])
    )
    assert dialogue.events[0].adds == (ValueChange("/hotel-area", ("east",)),)


def test_a_limit_counts_cases(tmp_path: Path) -> None:
    """The first so many cases, whatever dialogues they belong to."""
    dialogues = cases.read_dialogues(written(tmp_path / "some.jsonl", ROWS), limit=1)
    assert [len(dialogue.cases) for dialogue in dialogues] == [1]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    """The message says what a line should have."""
    path = written(tmp_path / "other.jsonl", [{"id": "1", "events": [{"text": "x"}]}])
    with pytest.raises(InvalidInput, match=r"no file of cases.*must_contain_any"):
        cases.read_dialogues(path)


def test_live_values_are_the_last_of_each_slot() -> None:
    """What was replaced is not live any more, what replaced it is; other slots stand."""
    events = [
        Event(
            "user",
            "",
            0,
            adds=(ValueChange("a/size", ("small",)), ValueChange("b/size", ("huge",))),
        ),
        Event("user", "", 1, changes=(ValueChange("a/size", ("large", "big"), ("small",)),)),
    ]
    assert cases.live_values(events) == {"a/size": ("large", "big"), "b/size": ("huge",)}


def test_retired_values_are_matched_once_each() -> None:
    """One retired rightly under another surface, one wrongly, and one that should have gone."""
    gold = [("5 pm", "17:00"), ("Oslo",)]
    assert cases.compared(["5pm", "Bergen"], gold) == Detection(1, 1, 1)
    assert cases.compared(["Oslo", "Oslo"], [("Oslo",)]) == Detection(1, 1, 0)
    assert cases.compared([], []) == Detection()


def test_a_case_wants_the_current_value_and_no_stale_one() -> None:
    """The halves are counted apart, and only both together count jointly."""
    asked = Case("x-size", "?", ("large", "big"), ("small",))
    assert cases.scored(asked, "a big one") == Joint(1, 1, 1, 1)
    assert cases.scored(asked, "not small but big") == Joint(1, 0, 0, 1)
    assert cases.scored(asked, "whatever") == Joint(0, 1, 0, 1)


def test_a_live_value_is_held_retired_or_neither() -> None:
    """Held where a fact in office says it; retired where only one out of office does."""
    with incumbent.open(":memory:", settings=PLAIN) as memory:
        session = memory.session(user_id="person")
        first = session.write("order", "two loaves for Ann on Monday")
        second = session.write("order", "three loaves for Ann", supersedes=first.fact_id)
        taken_back = session.write("drink", "a jug of cider")
        session.retract("drink")
        live = {
            "who": ("Ann",),
            "when": ("Monday", "the 2nd"),
            "drink": ("cider",),
            "said by nobody": ("Friday",),
        }
        ids = [verdict.fact_id for verdict in (first, second, taken_back)]
        retired, held = cases.kept(session, live, ids)
    assert held == Share(1, 4)
    assert retired == Share(2, 4)


def test_a_dialogue_is_fed_asked_and_counted(tmp_path: Path) -> None:
    """The change is found at its turn and nowhere else, and the context has the new value only."""
    [dialogue, _] = cases.read_dialogues(written(tmp_path / "some.jsonl", ROWS))
    score = cases.run_dialogue(dialogue, PLAIN)
    assert [one.joint for one in score.cases] == [Joint(1, 1, 1, 1)] * 2
    assert "4 Quay Street" in score.cases[0].context
    assert score.turns == Detection(1, 0, 0)
    assert score.values == Detection(1, 0, 0)
    assert (score.retired, score.held) == (Share(0, 2), Share(2, 2))
    assert not score.contested
    assert len(score.seconds) == 4


def test_a_turn_that_is_refused_is_counted_as_missed_and_named(tmp_path: Path) -> None:
    """The run goes on without it, and the report tells which turn it was and why."""
    path = written(tmp_path / "some.jsonl", ROWS[:1])
    report = cases.run(path, settings=incumbent.Settings(embedder=None, max_turn_bytes=24))
    assert report.dialogues == 1
    assert any(told.startswith("I moved to 4 Quay Street.") for told in report.refused)
    assert report.joint.both == 0
    assert report.record()["refused_turns"] == report.refused


def test_the_baselines_stand_beside(tmp_path: Path) -> None:
    """The whole transcript has the stale value too; the last three turns lack the first one."""
    [dialogue, _] = cases.read_dialogues(written(tmp_path / "some.jsonl", ROWS))
    address, birthday = cases.run_dialogue(dialogue, PLAIN).cases
    assert address.transcript == Joint(1, 0, 0, 1)
    assert address.last_turns == Joint(1, 1, 1, 1)
    assert birthday.transcript == Joint(1, 1, 1, 1)
    assert birthday.last_turns == Joint(1, 1, 1, 1)


def test_a_run_gives_the_same_figures_every_time_and_with_any_workers(tmp_path: Path) -> None:
    """The clock is the dialogue's own, so nothing of a context depends on when it is run."""
    path = written(tmp_path / "some.jsonl", ROWS)
    runs = [cases.run(path, settings=PLAIN, workers=workers) for workers in (1, 1, 2)]
    told = [{**report.record(), "median_turn_ms": 0} for report in runs]
    assert told[0] == told[1] == told[2]
    assert [one.context for one in runs[0].failures] == [one.context for one in runs[2].failures]


def test_a_report_counts_dialogues_once_and_cases_each(tmp_path: Path) -> None:
    """Two of three cases are right; the one that cannot be is kept for people to read."""
    report = cases.run(
        written(tmp_path / "some.jsonl.gz".removesuffix(".gz"), ROWS), settings=PLAIN
    )
    made = report.record()
    assert (made["name"], made["dialogues"], made["cases"]["of"]) == ("some", 2, 3)
    assert made["cases"]["joint"] == pytest.approx(2 / 3, abs=1e-4)
    assert made["turns"]["right"] == 2
    assert {kind: joint["of"] for kind, joint in made["slots"].items()} == {
        "choice": 1,
        "date": 1,
        "name": 1,
    }
    [failure] = report.failures
    assert failure.case.slot == "name"
    assert failure.stale == ("May 3",)
    assert "May 3" in failure.context


def test_wrong_retirement_is_counted(tmp_path: Path) -> None:
    """Where the labels say that a replaced value still stands, its retirement counts as wrong."""
    stands = [{**event, "changes": []} if "changes" in event else event for event in MOVED]
    report = cases.run(
        written(tmp_path / "some.jsonl", [case("address", "9 Mill Lane", "x", stands)]),
        settings=PLAIN,
    )
    assert report.turns == Detection(0, 1, 0)
    assert report.retired == Share(1, 2)


@pytest.mark.parametrize(
    ("slot", "kind"),
    [
        ("visit_date", "date"),
        ("appointment_time", "time"),
        ("leaveAt", "time"),
        ("number_of_days", "number"),
        ("pickup_city", "place"),
        ("dentist_name", "name"),
        ("food", "choice"),
    ],
)
def test_slots_are_grouped_by_what_they_take(slot: str, kind: str) -> None:
    """The words of a slot's name tell what sort of value it takes."""
    assert cases.slot_kind(slot) == kind
