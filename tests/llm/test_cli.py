"""`incumbent observe --llm` and `incumbent usage`, against a server on this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from incumbent.cli import app
from tests.llm.scripted import answer, entry
from tests.llm.servers import Trickster, completion, served

ILL = "Peanuts make me ill."
ONE = completion(json.dumps(answer(entry("s1"))))
NAMED = entry("s1", attribute="allergy", value="Peanuts")
ALLERGY = completion(json.dumps(answer(NAMED)))
LIE = completion(json.dumps(answer(entry("s1", says="Cashews make Bob ill."))))
Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as ann of acme, in an empty folder, with a key in the environment."""
    monkeypatch.setenv("INCUMBENT_USER", "ann")
    monkeypatch.setenv("INCUMBENT_ORGANIZATION", "acme")
    monkeypatch.setenv("INCUMBENT_EMBEDDER", "none")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == code, (result.output, result.exception)
        assert "sk-very-secret" not in result.output
        return str(result.output)

    return invoke


def test_a_single_turn_tells_of_the_opinion(run: Run) -> None:
    """What the model made of it is shown with the rest, and what was dropped with the reason."""
    with served(Trickster(ALLERGY)) as server:
        told = run("observe", "--text", ILL, "--llm", "openai:x", "--llm-url", server.address)
    assert "established  allergy = Peanuts" in told
    assert "opinion of openai:x: 1 accepted" in told
    assert run("current", "allergy").strip() == "Peanuts"
    with served(Trickster(LIE)) as server:
        told = run(
            "observe",
            "--text",
            "So it goes with us.",
            "--llm",
            "openai:x",
            "--llm-url",
            server.address,
        )
    assert "dropped" in told
    assert "a name or a number that nobody said" in told


def test_a_file_is_read_in_batches(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns are looked at several at a time, and the tally has what came of it."""
    turns = [{"role": "user", "content": ILL}]
    turns += [{"role": "user", "content": f"Shelf {number} is full."} for number in range(9)]
    Path("chat.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    server = Trickster()

    def every() -> tuple[int, bytes]:
        names = re.findall(r'"(s\d+)\\*":', json.dumps(server.bodies[-1]["messages"][-1]))
        rest = [entry(name) for name in dict.fromkeys(names) if name != "s1"]
        first = NAMED if len(server.bodies) == 1 else entry("s1")
        return completion(json.dumps(answer(first, *rest)))

    server.replies = [every]
    with served(server):
        monkeypatch.setenv("INCUMBENT_LLM", "vllm:x")
        monkeypatch.setenv("INCUMBENT_LLM_URL", server.address)
        told = run("observe", "chat.jsonl")
        assert "opinions" in told
        assert "on 10 turn(s): 1 accepted" in told
        assert 2 <= len(server.bodies) <= 10
        again = json.loads(run("observe", "chat.jsonl", "--json"))
        assert (again["before"], again["advised"]) == (10, 0)
    assert run("current", "allergy").strip() == "Peanuts"


def test_verbose_json_has_every_opinion(run: Run) -> None:
    """Each observation has its opinion as it was in the end."""
    Path("chat.jsonl").write_text(json.dumps({"role": "user", "content": ILL}) + "\n")
    with served(Trickster(ALLERGY)) as server:
        document = json.loads(
            run(
                "observe",
                "chat.jsonl",
                "-v",
                "--json",
                "--llm",
                "vllm:x",
                "--llm-url",
                server.address,
            )
        )
    (made,) = document["observations"]
    assert made["opinion"]["status"] == "given"
    assert [one["outcome"] for one in made["opinion"]["proposals"]] == ["accepted"]
    assert document["advised"] == 1


def test_a_provider_that_is_gone_is_told_at_the_end(run: Run) -> None:
    """The turns are observed, and one line says that nobody answered."""
    Path("chat.jsonl").write_text(json.dumps({"role": "user", "content": ILL}) + "\n")
    told = run("observe", "chat.jsonl", "--llm", "vllm:x", "--llm-url", "http://127.0.0.1:9/v1")
    assert "on 1 turn(s), the offline reading stands: the provider could not be reached" in told


def test_a_trial_asks_no_model(run: Run) -> None:
    """--dry-run keeps nothing, so it spends nothing either."""
    Path("chat.jsonl").write_text(json.dumps({"role": "user", "content": ILL}) + "\n")
    with served(Trickster(ALLERGY)) as server:
        run("observe", "chat.jsonl", "--dry-run", "--llm", "vllm:x", "--llm-url", server.address)
    assert server.bodies == []


def test_usage_is_shown_by_day(run: Run) -> None:
    """A row for each day and model, and the same as JSON; a note where there is none."""
    run("write", "x", "1")
    assert "no model was asked for organization 'acme'" in run("usage")
    with served(Trickster(ONE)) as server:
        for text in (ILL, "Shelf 2 is full."):
            run("observe", "--text", text, "--llm", "vllm:x", "--llm-url", server.address)
    lines = run("usage").splitlines()
    assert lines[0].split() == [
        *("day", "(UTC)", "model", "calls", "failed", "turns"),
        *("tokens", "in", "tokens", "out", "cost"),
    ]
    assert lines[1].split()[1:] == ["vllm:x", "2", "0", "2", "1,400", "60", "0.0000"]
    (used,) = json.loads(run("usage", "--json", "--days", "1"))["usage"]
    assert (used["calls"], used["input_tokens"], used["cost"]) == (2, 1400, 0.0)
    assert "at least 1" in run("usage", "--days", "0", code=2)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--llm", "gpt"], '"provider:name"'),
        (["--llm", "vllm:x"], "needs base_url="),
        (["--llm", "openai:x", "--llm-url", "nowhere"], "must be an address"),
        (["--llm", "openai:x", "--llm-timeout", "0"], "more than 0 seconds"),
        (["--llm", "openai:x", "--llm-calls", "-1"], "calls_per_day must be a whole number"),
    ],
)
def test_bad_options_are_refused(run: Run, options: list[str], told: str) -> None:
    """Nothing is observed, and one line says what is wrong."""
    assert told in run("observe", "--text", ILL, *options, code=2)


def test_a_budget_of_calls_holds_over_commands(run: Run) -> None:
    """Each command is a process, and they share the budget of the day."""
    with served(Trickster(ONE)) as server:
        told = [
            run("observe", "--text", f"Shelf {number} is full.", "--llm", "vllm:x",
                "--llm-url", server.address, "--llm-calls", "1")
            for number in range(2)
        ]  # fmt: skip
    assert "opinion of vllm:x: 1 agreed" in told[0]
    assert "the budget of 1 calls a day is exhausted (1 used)" in told[1]
    assert len(server.bodies) == 1
