"""Examples out of dialogues and out of files of pairs, as the recipe makes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.evaluation.dialogues import added, case, changed, system, user
from training.dialogues import located, of_dialogues, of_pairs
from training.examples import Example

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


def asked(tmp_path: Path, events: list[dict[str, Any]]) -> list[Example]:
    return list(of_dialogues(written(tmp_path / "c.jsonl.gz", case("people", "6", "4", events))))


def test_a_question_of_the_pipeline_comes_with_its_answer(tmp_path: Path) -> None:
    """Where a turn replaces a value, the example marks the old one and points at the new one."""
    examples = asked(tmp_path, BOOKED)
    assert examples
    for example in examples:
        assert example.turn == "Sorry, make it 6 people."
        told = [m for m in example.marks if example.statement[m.start : m.end].startswith("4")]
        assert [mark.label for mark in told] == ["replace"]
        assert told[0].new is not None
        assert example.reply[slice(*told[0].new)] == "6"


def test_a_value_that_the_data_leave_alone_is_not_replaced(tmp_path: Path) -> None:
    """Where the data name no change, every answer is that nothing was replaced."""
    labels = {mark.label for example in asked(tmp_path, KEPT) for mark in example.marks}
    assert labels <= {"not_replaced"}


def test_a_pair_of_a_file_becomes_an_example_with_one_mark(tmp_path: Path) -> None:
    """The mark is the value between the brackets; the new value is found in the reply."""
    said = {"old": "A table for « 4 » at 7.", "new": "How many? ¦ There are 6 of us.", "id": "d1:2"}
    path = written(
        tmp_path / "p.jsonl.gz", {**said, "y": 1, "newv": "6"}, {**said, "y": 0, "kind": "other"}
    )
    replaced, left = of_pairs(path)
    assert replaced.statement == left.statement == "A table for 4 at 7."
    (mark,) = replaced.marks
    assert (mark.start, mark.end, mark.label) == (12, 13, "replace")
    assert mark.new is not None
    assert replaced.reply[slice(*mark.new)] == "6"
    assert [(mark.label, mark.new) for mark in left.marks] == [("not_replaced", None)]
    assert replaced.group == "d1"


def test_a_value_is_located_as_whole_words_where_it_is_said_last() -> None:
    """Six is not in sixteen, and of two places the later one counts."""
    assert located("16 or 6, yes 6.", ["6"]) == (13, 14)
    assert located("at 16:00", ["noon", "6"]) is None
