"""The demo and the examples run, and show what they promise."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import incumbent
from incumbent.cli import app
from incumbent.cli.story import STEPS
from tests.selection import sampled
from tests.servers import needs_own_server

# The others are recipes: `tests/recipes`.
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
    if "Prints:\n" in path.read_text(encoding="utf-8")
]


def tell(*arguments: str) -> str:
    """What the demo prints."""
    result = CliRunner().invoke(app, ["demo", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_demo_shows_every_outcome_with_its_reason() -> None:
    """Every outcome word begins a line of the demo, followed by a fact and a reason."""
    lines = [line.strip() for line in tell().splitlines()]
    for outcome in incumbent.Outcome:
        told = [line for line in lines if line.startswith(f"{outcome.value}  ")]
        assert told, outcome
        assert all(": " in line for line in told), told


def test_the_demo_begins_with_text() -> None:
    """A correction in a turn changes one value; what the assistant asks adds nothing."""
    first = tell().split(" 2  Mon ", 1)[0]
    assert "established  We need 50 desks by Friday." in first
    assert "nothing      to remember: asks" in first
    assert "superseded   We need [40] desks by Friday." in first
    assert "replaces We need 50 desks by Friday." in first
    assert "# not even through the transcript\n    False\n" in first


def test_the_demo_shows_repair_undo_the_past_and_the_proof() -> None:
    """What followed from a decision is told, and both axes of time and the erasure answer."""
    text = tell()
    assert "then total needs review: unit_price -> total" in text
    assert "then report_to = James takes office" in text
    assert "then report_to = James leaves office" in text
    assert "# what was true on Tuesday\n    280\n" in text
    assert "# what we knew on Tuesday\n    290\n" in text
    before, after = text.split("memory.forget(", 1)
    assert before.rstrip().removesuffix(">>>").rstrip().endswith("True")
    assert 'on_disk("555 0199")\n    False' in after


def test_the_demo_ends_with_a_context_that_holds_no_dead_value() -> None:
    """What a model reads has the limit, the facts, what to recalculate, and nothing that died."""
    text = tell()
    context = text.split("ann.context(asked", 1)[1].split("(left out", 1)[0]
    assert "# Constraints" in context
    assert "- [policy, executive] max_discount: 15%" in context
    assert "- unit_price: 280" in context
    assert "- total: not known, recalculate, because unit_price changed" in context
    assert "- turn_1: At [no longer current] each, [no longer current] in all." in context
    for dead in (
        "50 desks",
        "310",
        "290",
        "11600",
        "11,600",
        "25%",
        "Omar",
        "James",
        "Norde",
        "0199",
    ):
        assert dead not in context


def test_the_demo_tells_why_and_what_changed() -> None:
    """Lines show their scores with the best first, a replay is the same, a diff names the why."""
    ending = tell().split("ann.context(asked", 1)[1]
    scores = re.findall(r"^    (\d\.\d\d) +\S", ending, re.MULTILINE)
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert re.search(r"unit_price: 280  \(words \.\d\d meaning \.\d\d key", ending)
    assert ".text == context.text\n    True\n" in ending
    assert "changed      unit_price: 280 -> unit_price: 270: superseded since" in ending


def test_the_demo_is_the_same_every_time() -> None:
    """Two runs print the same bytes: no id and no wall clock shows."""
    assert tell() == tell()


def test_the_demo_fits_four_screens() -> None:
    """Short enough to read: at most 160 lines of at most 120 characters."""
    lines = tell().splitlines()
    assert len(lines) <= 160
    assert max(map(len, lines)) <= 120


def test_the_demo_prints_the_calls_that_it_runs() -> None:
    """Every call of the story is shown after a prompt, in order."""
    shown = [line.partition(">>> ")[2] for line in tell().splitlines() if ">>> " in line]
    assert shown[1:] == [call for step in STEPS for call in step.calls]


def test_the_demo_keeps_its_file_where_it_is_told_to(tmp_path: Path) -> None:
    """With --db the file stays, holds the story, and is healthy."""
    path = tmp_path / "demo.db"
    tell("--db", str(path))
    with incumbent.open(path) as memory:
        ann = memory.session(user_id="ann", organization="acme")
        assert ann.current("unit_price") == 270
        assert [memory.replay(receipt).intact for receipt in ann.receipts()] == [True]
    assert CliRunner().invoke(app, ["doctor", "--db", str(path)]).exit_code == 0


def test_the_demo_never_touches_a_file_that_exists(tmp_path: Path) -> None:
    """An existing file is refused, and one named by INCUMBENT_DB is left alone."""
    path = tmp_path / "mine.db"
    path.write_bytes(b"mine")
    result = CliRunner().invoke(app, ["demo", "--db", str(path)])
    assert result.exit_code == 2
    assert "exists" in result.stderr
    assert CliRunner().invoke(app, ["demo"], env={"INCUMBENT_DB": str(path)}).exit_code == 0
    assert path.read_bytes() == b"mine"


@needs_own_server
@pytest.mark.slow
def test_the_demo_is_the_same_on_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """With --postgres a server is started for it, every answer is the same, and nothing stays."""
    # A folder of its own, since others may run the demo; a short one, since sockets lie in it.
    with tempfile.TemporaryDirectory(prefix="d-") as folder:
        os.chmod(folder, 0o755)  # the server may run as another user
        monkeypatch.setattr(tempfile, "tempdir", folder)
        file, server = tell().splitlines(), tell("--postgres").splitlines()
        assert list(Path(folder).glob("incumbent-demo-*")) == []
    told = [line.replace("SQLite file", "PostgreSQL server") for line in file[:-1]]
    assert told == server[:-1]


@pytest.mark.slow
def test_the_demo_on_a_server_keeps_no_file() -> None:
    """--postgres together with --db is refused before anything is started."""
    result = CliRunner().invoke(app, ["demo", "--postgres", "--db", "demo.db"])
    assert result.exit_code == 2
    assert "leave --db out" in result.stderr


@pytest.mark.parametrize("example", sampled(EXAMPLES), ids=lambda path: path.stem)
def test_an_example_prints_what_its_docstring_says(example: Path, tmp_path: Path) -> None:
    """Each example runs by itself and prints the lines under "Prints:" in its docstring."""
    promised = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or ""
    expected = [line.strip() for line in promised.split("Prints:\n")[1].splitlines()]
    done = subprocess.run(
        [sys.executable, str(example)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(incumbent.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == expected
    assert list(tmp_path.iterdir()) == []
