"""The command `incumbent eval answers`: questions go out blind, and answers are scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from incumbent.cli import app
from tests.evaluation.conversations import written

FAST = ("--embedder", "none", "--reader", "rules")
NO_MODEL = ("--system", "incumbent", "--system", "transcript", "--system", "bm25")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("INCUMBENT_EMBEDDER", raising=False)
    written(Path("own.txt"))


def run(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["eval", "answers", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("blind", name).read_text("utf-8").splitlines()]


def answer(name: str, rows: list[dict[str, Any]]) -> None:
    Path("blind", name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def beam() -> None:
    """A long chat of two messages, with one question."""
    folder = Path("data", "beam")
    folder.mkdir(parents=True)
    messages = [
        {"id": 0, "role": "user", "time": "March-15-2024", "text": "I sail on Sundays."},
        {"id": 1, "role": "assistant", "time": None, "text": "Enjoy the wind."},
    ]
    question = {
        "query": "When do I sail?",
        "type": "single",
        "evidence_ids": [0],
        "rubric": ["Sundays", "says nothing else"],
    }
    for name, rows in (("messages", messages), ("questions", [question])):
        told = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"one_{name}.jsonl").write_text(told, "utf-8")


def test_writes_each_question_with_the_context_of_each_system_and_tells_of_none() -> None:
    out = run("blind", "own.txt", *NO_MODEL, *FAST).stdout
    assert "9 questions in blind" in out
    rows = lines("questions.jsonl")
    assert [set(row) for row in rows] == [{"id", "context", "question"}] * 9
    assert any("# Identity" in row["context"] for row in rows)
    assert any("2026-03-02 user: My address is 9 Mill Lane." in row["context"] for row in rows)
    assert "answers.jsonl" in Path("blind", "HOW.txt").read_text("utf-8")


def test_search_by_meaning_shows_turns_in_order_of_time() -> None:
    run("blind", "own.txt", "--system", "meaning", *FAST)
    contexts = {row["question"]: row["context"] for row in lines("questions.jsonl")}
    shown = contexts["What is the user's address?"]
    assert shown.index("9 Mill Lane") < shown.index("4 Quay Street")


def test_scores_what_came_back_by_system_and_kind() -> None:
    """A dead value makes an answer wrong, whatever else it says."""
    run("blind", "own.txt", *NO_MODEL, *FAST)
    key = json.loads(Path("blind", "key.json").read_text("utf-8"))
    told = {"incumbent": "4 Quay Street, Pepper", "bm25": "9 Mill Lane, once; now 4 Quay Street"}
    answer(
        "answers.jsonl",
        [
            {"id": name, "answer": told[one["system"]]}
            for name, one in key.items()
            if one["system"] in told
        ],
    )
    found = json.loads(run("blind", "--json").stdout)
    assert found["right"]["incumbent/something changed"]["hits"] == 1
    assert found["right"]["incumbent/all"] == {"share": 0.6667, "hits": 2, "of": 3}
    assert found["right"]["bm25/all"]["hits"] == 0
    assert found["missing"] == 3
    assert "3 questions wait for an answer or a grade" in run("blind").stdout


def test_answers_about_long_chats_are_graded_blind_by_their_rubric() -> None:
    beam()
    run("blind", "--beam", "data", "--system", "bm25", *FAST)
    [row] = lines("questions.jsonl")
    assert row["context"] == "2024-03-15 user: I sail on Sundays."
    answer("answers.jsonl", [{"id": row["id"], "answer": "On Sundays."}])
    assert json.loads(run("blind", "--json").stdout)["missing"] == 1
    [grading] = lines("grading.jsonl")
    assert set(grading) == {"id", "question", "rubric", "answer"}
    answer("grades.jsonl", [{"id": row["id"], "met": 1.5}])
    found = json.loads(run("blind", "--json").stdout)
    assert found["points"]["bm25/single"]["share"] == 0.75
    assert found["missing"] == 0


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("answers.jsonl", {"id": "nobody", "answer": "4"}, "answers to no question"),
        ("answers.jsonl", {"answer": "4"}, "without id or answer"),
        ("grades.jsonl", {"id": "nobody", "met": 1}, "answers to no question"),
    ],
)
def test_what_does_not_belong_is_refused(name: str, row: dict[str, Any], message: str) -> None:
    run("blind", "own.txt", "--system", "bm25", *FAST)
    answer(name, [row])
    assert message in run("blind", code=2).stderr


def test_questions_are_not_written_over() -> None:
    """Somebody may be answering them."""
    run("blind", "own.txt", "--system", "bm25", *FAST)
    assert "has questions already" in run("blind", "own.txt", *FAST, code=2).stderr


def test_a_folder_without_questions_says_how_to_write_them() -> None:
    assert "incumbent eval answers blind FILE" in run("blind", code=2).stderr
