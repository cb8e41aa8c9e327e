"""The files of the learned detector: what is wrong with them is said, and nothing else is read."""

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
from incumbent.language.learned.model import FORMAT, WEIGHTS, Model, Opinion, load
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
MEND = 'detector="rules"'
ASKED = (
    ("Book a table for 4 at 7 pm.", ((17, 18), (22, 26)), "", "Sorry, make that 5 people."),
    ("My dentist is Dr. Weber.", ((14, 23),), "Noted.", "I see Dr. Rossi these days."),
    ("We meet on Monday.", ((11, 17),), "Shall we say Tuesday?", "Yes, let's."),
    ("I live in Lyon.", ((10, 14),), "", "Nice weather today."),
)
SAID = """
import json, sys
from incumbent.language.learned.model import Model
model, said = Model(), []
for statement, marked, previous, turn in json.loads(sys.stdin.read()):
    said.append(repr(model.read(statement, [tuple(m) for m in marked], previous, turn)))
print(json.dumps(said))
"""
TALK = """
import incumbent
settings = incumbent.Settings(embedder=None{option})
try:
    with incumbent.open(":memory:", settings=settings) as memory:
        session = memory.session(user_id="ana")
        session.observe("My address is 9 Mill Lane.")
        session.observe("Actually, my address is 4 Quay Street.")
        print(session.current("address"))
except incumbent.DamagedModel as error:
    print(error)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the files that ship, to be damaged."""
    copied = tmp_path / "weights"
    shutil.copytree(WEIGHTS, copied)
    return copied


def card() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((WEIGHTS / "detector.json").read_text(encoding="utf-8"))
    return read


def in_a_process(program: str, *, sources: Path, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=given,
        env={**os.environ, "PYTHONPATH": str(sources)},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_shipped_model_has_the_hash_of_its_card() -> None:
    """The file in the package is the one that detector.json and docs/detector.md name."""
    content = (WEIGHTS / "detector.onnx").read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    assert card()["sha256"] == sha256
    assert card()["format"] == FORMAT
    assert len(content) <= 25_000_000
    page = (ROOT / "docs" / "detector.md").read_text(encoding="utf-8")
    assert sha256 in page
    assert f"{len(content):,} bytes" in page
    calibration = card()["calibration"]
    assert f"slope {calibration['slope']}, shift {calibration['shift']}" in page


def test_a_copy_of_the_files_reads_like_the_original(folder: Path) -> None:
    """Where the files are makes no difference."""
    assert [Model(folder).read(*a) for a in ASKED] == [load().read(*a) for a in ASKED]


def cut(folder: Path) -> None:
    path = folder / "detector.onnx"
    path.write_bytes(path.read_bytes()[:-1000])


def flip(folder: Path) -> None:
    path = folder / "detector.onnx"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def write_card(**changes: Any) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "detector.json").write_text(json.dumps({**card(), **changes}), encoding="utf-8")

    return write


def write_text(text: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "detector.json").write_text(text, encoding="utf-8")

    return write


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param(lambda f: (f / "detector.onnx").unlink(), "is missing", id="no model"),
        pytest.param(lambda f: (f / "detector.json").unlink(), "is missing", id="no card"),
        pytest.param(shutil.rmtree, "is missing", id="no folder"),
        pytest.param(cut, "damaged or of another version", id="truncated"),
        pytest.param(flip, "damaged or of another version", id="one bit"),
        pytest.param(
            lambda f: (f / "detector.onnx").write_bytes(b""), "another version", id="empty"
        ),
        pytest.param(write_card(sha256="0" * 64), "expected 000000000000", id="another hash"),
        pytest.param(write_card(format=FORMAT + 1), f"reads format {FORMAT}", id="another format"),
        pytest.param(write_card(format=None), f"reads format {FORMAT}", id="no format"),
        pytest.param(write_card(weights=[1.0]), "weights", id="too few weights"),
        pytest.param(write_card(calibration={}), "cannot be read", id="no calibration"),
        pytest.param(write_card(calibration={"slope": "steep", "shift": 0}), "steep", id="words"),
        pytest.param(write_text("{"), "cannot be read", id="half a card"),
        pytest.param(write_text("[]"), "cannot be read", id="a list"),
        pytest.param(write_text(""), "cannot be read", id="an empty card"),
    ],
)
def test_damaged_files_are_refused_with_what_helps(
    folder: Path, damage: Callable[[Path], object], told: str
) -> None:
    """Files that are missing, cut or not the right ones: the error names the file and the fix."""
    damage(folder)
    with pytest.raises(incumbent.DamagedModel) as error:
        Model(folder)
    assert str(folder) in str(error.value)
    assert told in str(error.value)
    assert MEND in str(error.value)


@pytest.fixture(scope="module")
def package_without_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it would be installed, less the files of the model."""
    sources = tmp_path_factory.mktemp("package")
    ignored = shutil.ignore_patterns("detector.onnx", "detector.json", "__pycache__")
    shutil.copytree(ROOT / "src" / "incumbent", sources / "incumbent", ignore=ignored)
    return sources


def test_rules_work_without_the_model(package_without_model: Path) -> None:
    """`detector="rules"` needs none of the files."""
    program = TALK.format(option=', detector="rules"')
    assert in_a_process(program, sources=package_without_model) == "4 Quay Street"


@pytest.mark.parametrize("detector", ["learned", "both"])
def test_the_model_is_missed_where_it_is_asked_for(
    package_without_model: Path, detector: str
) -> None:
    """Without its files, a detector that needs the model says so instead of doing without."""
    program = TALK.format(option=f', detector="{detector}"')
    told = in_a_process(program, sources=package_without_model)
    assert "detector.json is missing" in told
    assert MEND in told


def test_another_process_has_the_same_opinion() -> None:
    """The same input gives the same opinion to the last bit, whatever was read before."""
    mine: list[tuple[Opinion | None, ...]] = [load().read(*a) for a in reversed(ASKED)]
    theirs = in_a_process(SAID, sources=ROOT / "src", given=json.dumps(ASKED))
    assert json.loads(theirs) == [repr(opinions) for opinions in reversed(mine)]
