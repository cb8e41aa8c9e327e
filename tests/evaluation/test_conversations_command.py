"""The command `incumbent eval conversations`, on a small file of our own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from incumbent.cli import app
from tests.evaluation.conversations import MOVED, written

ONE = ("--workers", "1", "--embedder", "none", "--reader", "rules", "--system", "none")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no data."""
    monkeypatch.delenv("INCUMBENT_BENCH_DATA", raising=False)
    monkeypatch.delenv("INCUMBENT_EMBEDDER", raising=False)
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["eval", "conversations", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_prints_a_row_for_each_file_and_their_total() -> None:
    """Ours, the transcript, the last six turns; then what became of the values."""
    written(Path("one.txt"))
    written(Path("two.txt"))
    out = run("one.txt", "two.txt", *ONE).stdout
    row = r" +1 +3 +66\.7 % +33\.3 % +33\.3 % +100\.0 % +50\.0 %"
    assert re.search(rf"^one{row}", out, re.MULTILINE)
    assert re.search(rf"^two{row}", out, re.MULTILINE)
    assert re.search(r"^all +2 +6 +66\.7 %", out, re.MULTILINE)
    assert re.search(r"^values that hold +of +live +demoted +gone", out, re.MULTILINE)
    assert re.search(r"^one +2 +100\.0 % +0\.0 % +0\.0 %", out, re.MULTILINE)


def test_prints_what_went_wrong_to_read() -> None:
    """Questions with their contexts, and facts that were wrongly retired."""
    written(Path("own.txt"), MOVED.replace(" [replaces 1]", " [adds 1]"))
    out = run("own.txt", "--failures", "3", *ONE).stdout
    assert "## own, own-1: What colour is the cat?" in out
    assert "missing: nobody said" in out
    assert "# Identity" in out
    assert "## own, own-1: wrongly retired (" in out
    assert "lost:    9 Mill Lane" in out


def test_prints_json() -> None:
    """One document with the figures; with failures also what went wrong."""
    written(Path("own.txt"))
    [told] = json.loads(run("own.txt", "--json", *ONE).stdout)["files"]
    assert (told["name"], told["questions"]["joint"], told["changed"]["of"]) == ("own", 0.6667, 1)
    assert "failed" not in told
    [told] = json.loads(run("own.txt", "--json", "--failures", "1", *ONE).stdout)["files"]
    assert told["failed"][0]["missing"] == ["nobody said"]


def test_takes_the_folder_of_the_data() -> None:
    """All its files, where none is named; every K-th conversation of them, at most N."""
    text = "".join(MOVED.replace("own-1", f"own-{n}") for n in range(5))
    written(Path("data/conversations/own.txt"), text)
    told = run("--data", "data", "--every", "2", "--limit", "2", "--json", *ONE).stdout
    assert json.loads(told)["files"][0]["conversations"] == 2


def test_a_wrong_call_is_refused_with_the_fix() -> None:
    """No data, no such file, a mistake in a file, a system that is not known."""
    assert "--data FOLDER" in run(code=2).stderr
    assert "there is no file none.txt" in run("none.txt", *ONE, code=2).stderr
    written(Path("own.txt"), MOVED.replace("[replaces 1]", "[replaces 9]"))
    assert "own.txt, line 10: points to no" in run("own.txt", *ONE, code=2).stderr
    written(Path("own.txt"))
    told = run("own.txt", *ONE, "--system", "abacus", code=2).stderr
    assert "--system 'abacus' is not one of none, incumbent, transcript" in told
    Path("data").mkdir()
    assert "data has no folder conversations" in run("--data", "data", *ONE, code=2).stderr
