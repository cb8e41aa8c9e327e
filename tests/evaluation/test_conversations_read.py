"""Conversations that a model reads along, also one that is asked by files in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent_eval.conversations import play as playing
from incumbent_eval.conversations.format import read_conversations
from tests.evaluation.conversations import written
from tests.evaluation.test_conversations_command import ONE, run
from tests.llm.scripted import Scripted, does, keeping, reading, said, sentences

NOTHING: dict[str, Any] = {"statements": []}


def requests(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.request.json"))


def answer(request: Path, content: Any = NOTHING) -> None:
    """Put an answer beside a request."""
    name = request.name.replace(".request.", ".answer.")
    request.with_name(name).write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no settings of ours."""
    for name in (
        "INCUMBENT_BENCH_DATA",
        "INCUMBENT_EMBEDDER",
        "INCUMBENT_LLM",
        "INCUMBENT_LLM_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_a_sitting_is_one_request(tmp_path: Path) -> None:
    """The turns of a day go together, and what the model says has its effect on the figures."""
    [conversation] = read_conversations(written(tmp_path / "own.txt"))
    model = Scripted(keeping, reading(said("My address", does("Pepper", "ends"))))
    llm = incumbent.LLM(model, mode="background")
    settings = incumbent.Settings(embedder=None, reader="rules", llm=llm)
    score = playing.play(conversation, settings=settings)
    assert [len(sentences(ask)) > 0 for ask in model.asked] == [True, True]
    assert score.opinions is not None
    assert score.opinions.outcomes.keys() <= {"accepted", "agreed", "dropped"}


def test_requests_are_written_and_answers_read_until_none_is_missing() -> None:
    """The same command goes on where it stopped; the figures come at the end."""
    written(Path("own.txt"))
    folder = Path("asked")
    for missing in (1, 2):
        out = run("own.txt", "--requests", "asked", *ONE).stdout
        assert out.startswith(f"{missing} requests written, 1 answers missing: answer them")
        assert len(requests(folder)) == missing
        for request in requests(folder):
            answer(request)
    out = run("own.txt", "--requests", "asked", *ONE).stdout
    assert "own" in out
    assert "proposals of the model" in out
    assert len(requests(folder)) == 2


def test_a_request_that_is_made_again_is_the_same_file() -> None:
    """Byte for byte: instructions, what was said between fences, and the form of the answer."""
    written(Path("own.txt"))
    run("own.txt", "--requests", "asked", *ONE)
    [first] = requests(Path("asked"))
    before = first.read_bytes()
    first.unlink()
    run("own.txt", "--requests", "asked", *ONE)
    [again] = requests(Path("asked"))
    assert (again.name, again.read_bytes()) == (first.name, before)
    request = json.loads(before)
    assert set(request) == {"instructions", "text", "schema", "max_output_tokens"}
    fence, data, close = request["text"].split("\n")
    assert fence.strip("<>") == close.strip("</>")
    assert [turn.get("by", "user") for turn in json.loads(data)["turns"]] == [
        *("user", "assistant", "user")
    ]


def test_an_answer_counts_for_its_own_request_alone() -> None:
    """Another wording asks anew, and what waits of the old one is taken away."""
    written(Path("own.txt"))
    run("own.txt", "--requests", "asked", *ONE)
    [first] = requests(Path("asked"))
    answer(first)
    run("own.txt", "--requests", "asked", *ONE)
    stale = next(one for one in requests(Path("asked")) if one != first)
    text = Path("own.txt").read_text(encoding="utf-8")
    written(Path("own.txt"), text.replace("9 Mill Lane", "7 Mill Lane"))
    out = run("own.txt", "--requests", "asked", *ONE).stdout
    assert out.startswith("1 requests written, 1 answers missing")
    assert first.exists()
    assert not stale.exists()


def test_an_answer_that_is_no_json_leaves_the_offline_reading() -> None:
    """The conversation is played on, and the table tells of turns without an opinion."""
    written(Path("own.txt"))
    run("own.txt", "--requests", "asked", *ONE)
    [first] = requests(Path("asked"))
    first.with_name(first.name.replace(".request.", ".answer.")).write_text("{", encoding="utf-8")
    run("own.txt", "--requests", "asked", *ONE)
    answer(requests(Path("asked"))[-1])
    out = run("own.txt", "--requests", "asked", "--json", *ONE).stdout
    [report] = json.loads(out)["files"]
    assert report["opinions"]["turns_without"] == 3


def test_how_many_wait_is_told_as_json_too() -> None:
    """For a program that runs it again."""
    written(Path("own.txt"))
    out = run("own.txt", "--requests", "asked", "--json", *ONE).stdout
    assert json.loads(out) == {"requests": 1, "awaited": 1, "played": 0}
