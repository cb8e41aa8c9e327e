"""The model that ships: what it says of plain turns, and what is said of damaged files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import incumbent
from incumbent.reading.learned.model import BECOMES, FORMAT, KINDS, WEIGHTS, Model, load
from incumbent.reading.learned.pieces import Age, Beside
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
STATED = Beside("Book a table for 4 at 7 pm.", Age.JUST)
OTHER = Beside("My dentist is Dr. Weber.", Age.BEFORE)
TURN = "Sorry, make that 5 people."
SAID = """
import json
from incumbent.reading.learned.model import Model
from incumbent.reading.learned.pieces import Age, Beside
read = Model().read("", "Sorry, make that 5 people.", [Beside("A table for 4.", Age.JUST)])
print(json.dumps([read.becomes, read.over(0, (12, 13)), read.new(0, (12, 13))]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the files that ship, to be damaged."""
    copied = tmp_path / "weights"
    shutil.copytree(WEIGHTS, copied)
    return copied


def card() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((WEIGHTS / "reader.json").read_text(encoding="utf-8"))
    return read


def test_the_shipped_model_has_the_hash_of_its_card() -> None:
    """The file in the package is the one that reader.json and docs/detector.md name."""
    content = (WEIGHTS / "reader.onnx").read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    assert card()["sha256"] == sha256
    assert card()["format"] == FORMAT
    assert len(content) <= 30_000_000
    page = (ROOT / "docs" / "detector.md").read_text(encoding="utf-8")
    assert sha256 in page
    assert f"{len(content):,} bytes" in page


def test_a_change_of_mind_is_seen_with_the_new_value() -> None:
    """The 4 is over and the 5 takes its place; the time stands, and so does another thing."""
    read = load().read("", TURN, [OTHER, STATED])
    assert read.over(1, (17, 18)) > 0.8 > 0.3 > read.over(1, (22, 26))
    found = read.new(1, (17, 18))
    assert found is not None
    assert TURN[slice(*found[0])] == "5"
    assert read.becomes[0]["leaves"] > 0.9


def test_every_stretch_is_of_some_kind() -> None:
    """A question is taken for one, and chances are shares of one."""
    turn = "We moved to Lyon. Do you know a good dentist there?"
    read = load().read("", turn)
    told, asked = read.kinds((0, 17)), read.kinds((18, len(turn)))
    assert told is not None
    assert asked is not None
    assert set(told) == set(KINDS)
    assert sum(told.values()) == pytest.approx(1, abs=1e-4)
    assert told["states"] > 0.5
    assert asked["asks"] > told["asks"]


def test_answers_are_shares_for_each_statement_that_there_was_room_for() -> None:
    """Of thirty long statements some are left out, and nothing fails."""
    read = load().read("", TURN, [Beside("word " * 60, Age.BEFORE)] * 30)
    assert 0 < len(read.becomes) < 30
    for one in read.becomes:
        assert set(one) == set(BECOMES)
        assert sum(one.values()) == pytest.approx(1, abs=1e-4)


def test_every_process_reads_alike() -> None:
    """The same text gives the same numbers, to the last bit."""
    said = {
        subprocess.run(
            [sys.executable, "-c", SAID],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=True,
        ).stdout
        for _ in range(2)
    }
    assert len(said) == 1


def cut(folder: Path) -> None:
    path = folder / "reader.onnx"
    path.write_bytes(path.read_bytes()[:-1000])


def lose(folder: Path) -> None:
    (folder / "reader.onnx").unlink()


def lose_card(folder: Path) -> None:
    (folder / "reader.json").unlink()


def write_card(**changes: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "reader.json").write_text(json.dumps({**card(), **changes}), encoding="utf-8")

    return write


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, "is damaged or of another version"),
        (lose, "is missing"),
        (lose_card, "is missing"),
        (write_card(format=FORMAT + 1), f"this Incumbent reads format {FORMAT}"),
        (write_card(calibration={}), "cannot be read"),
        (
            write_card(calibration={"sharpness": "nan", "slope": 1, "shift": 0}),
            "calibration is no numbers",
        ),
    ],
)
def test_a_damaged_file_is_said_with_what_to_do(
    folder: Path, damage: Callable[[Path], None], told: str
) -> None:
    """The message names the fix."""
    damage(folder)
    with pytest.raises(incumbent.DamagedModel, match=told) as error:
        Model(folder)
    assert 'reader="rules"' in str(error.value)
    assert "pip install" in str(error.value)
