"""Scenes out of dialogues, files of pairs and the smaller sources, as the recipe makes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

from tests.evaluation.dialogues import added, case, changed, system, user
from training.conversing import located
from training.dialogues import of_dialogues, of_pairs
from training.pairs import generate
from training.scenes import Scene
from training.siblings import items, scene, taught
from training.sources import generated, moments

BOOKED = [
    user(0, "Book a table for 4 people.", adds=[added("people", "4")]),
    system(1, "How many people will it be?"),
    user(2, "Sorry, make it 6 people.", changes=[changed("people", "4", "6")]),
]
KEPT = [BOOKED[0], BOOKED[1], user(2, "My sister has a table for 6 people tonight.")]


def written(path: Path, *rows: dict[str, Any]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in rows)
    return path


def played(tmp_path: Path, events: list[dict[str, Any]]) -> list[Scene]:
    path = written(tmp_path / "c.jsonl.gz", case("people", "6", "4", events))
    return list(of_dialogues(path, Random(1)))


def test_a_change_of_a_dialogue_marks_the_old_value_and_points_at_the_new_one(
    tmp_path: Path,
) -> None:
    """The statement is replaced, for its only value is."""
    (found,) = played(tmp_path, BOOKED)
    (known,) = found.known
    (value,) = known.values
    assert (known.text[value.start : value.end], value.is_over) == ("4", True)
    assert value.new is not None
    assert found.turn[value.new.start : value.new.end] == "6"
    assert known.becomes == "replaces"


def test_what_the_data_leave_alone_is_left(tmp_path: Path) -> None:
    """Where the data name no change, nothing is over."""
    (found,) = played(tmp_path, KEPT)
    assert [one.becomes for one in found.known] == ["leaves"]
    assert not any(value.is_over for one in found.known for value in one.values)


def test_pairs_of_one_turn_are_one_scene(tmp_path: Path) -> None:
    """Each is a statement beside it, with the value between the brackets."""
    said = {"old": "A table for « 4 » at 7.", "new": "How many? ¦ There are 6 of us.", "id": "d1:2"}
    path = written(
        tmp_path / "p.jsonl.gz", {**said, "y": 1, "newv": "6"}, {**said, "y": 0, "kind": "other"}
    )
    (found,) = of_pairs(path)
    assert [one.text for one in found.known] == ["A table for 4 at 7."] * 2
    assert [one.values[0].is_over for one in found.known] == [True, False]
    assert (found.previous, found.turn) == ("How many?", "There are 6 of us.")


def test_a_value_is_located_as_whole_words_where_it_is_said_last() -> None:
    """Six is not in sixteen, and of two places the later one counts."""
    assert located("", "16 or 6, yes 6.", "6") == (13, 14, False)
    assert located("6?", "at 16:00", "6") == (0, 1, True)
    assert located("", "at 16:00", "6") is None


def test_siblings_that_are_taught_say_which_stretches_are_over() -> None:
    """A pair that stands has no value that is over; one that is replaced has what is dead."""
    for source, item in items(taught()[:4]):
        (known,) = scene(item, source, Random(1)).known
        over = [known.text[one.start : one.end] for one in known.values if one.is_over]
        if item["label"] == "stands":
            assert known.becomes == "leaves"
            assert over == []


def test_moments_and_generated_pairs_are_scenes_whose_stretches_lie_in_their_texts() -> None:
    """What is over is in the statement, and what takes its place in the turn or before it."""
    made = [*moments(), *generated(generate(1, 1)[:200], Random(1))]
    assert len(made) > 300
    for one in made:
        for known in one.known:
            for value in known.values:
                assert 0 <= value.start < value.end <= len(known.text)
                if value.new is not None:
                    text = one.previous if value.new.in_previous else one.turn
                    assert text[value.new.start : value.new.end].strip()
