"""The built wheel works by itself: installed in a fresh environment, with the sources out of reach.

Nothing is fetched. The dependencies are lent by the environment that runs the tests, in a way that
does not lend it the sources: a folder named in a .pth file has its own .pth files ignored, and an
editable installation is one of those.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import incumbent
from tests.pages import ROOT, blocks
from tests.patience import PATIENCE


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command without the variables that could lead it back to the sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    kept["PYTHONIOENCODING"] = "utf-8"
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this tree."""
    out = tmp_path_factory.mktemp("dist")
    run(
        *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT),
        cwd=out,
    )
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment that has the wheel installed."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=False)
    names = {"base": str(home), "platbase": str(home)}
    scripts = Path(sysconfig.get_path("scripts", "venv", names))
    site = Path(sysconfig.get_path("purelib", "venv", names))
    interpreter = scripts / Path(sys.executable).name
    lent = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "lent.pth").write_text("\n".join(sorted(lent)), encoding="utf-8")
    install = ("install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", wheel)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", interpreter)
    run(*pip, *install, cwd=home)
    return interpreter


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    """Every source file of the package is in the wheel, types marker and SQL included."""
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "incumbent").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert inside == expected
    assert "incumbent/py.typed" in inside
    assert "incumbent/stores/sqlite/queries.sql" in inside


def test_the_wheel_carries_its_licence(wheel: Path) -> None:
    """The metadata name the licence, and its text comes along."""
    archive = zipfile.ZipFile(wheel)
    info = f"incumbent-{incumbent.__version__}.dist-info"
    metadata = archive.read(f"{info}/METADATA").decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert f"{info}/licenses/LICENSE" in archive.namelist()


def test_the_first_screen_of_the_readme_runs_on_the_wheel(python: Path, tmp_path: Path) -> None:
    """The first snippet of the README runs against the wheel alone and prints what it says."""
    first = next(block for block in blocks(ROOT / "README.md") if block.language == "python")
    (tmp_path / "first.py").write_text(first.text, encoding="utf-8")
    assert run(python, "first.py", cwd=tmp_path) == first.promised
    assert (tmp_path / "agent.db").exists()


def test_the_wheel_is_what_was_tested(python: Path, tmp_path: Path) -> None:
    """The fresh environment imports its own copy, and the sources are not on its path."""
    told = "incumbent.__version__, incumbent.__file__, *sys.path"
    program = f"import sys, incumbent; print({told}, sep='\\n')"
    version, file, *path = run(python, "-c", program, cwd=tmp_path).splitlines()
    assert version == incumbent.__version__
    assert Path(file).is_relative_to(python.parents[1])
    assert str(ROOT / "src") not in path


def test_a_context_is_built_on_the_wheel(python: Path, tmp_path: Path) -> None:
    """The tokenizer that counts a context is found through the wheel's own dependencies."""
    program = (
        "import incumbent\n"
        "alice = incumbent.open(':memory:').session(user_id='alice')\n"
        "alice.write('colour', 'green')\n"
        "context = alice.context('Which colour?', budget=200)\n"
        "print('- colour: green' in context.text, 0 < context.tokens <= 200)\n"
    )
    assert run(python, "-c", program, cwd=tmp_path) == "True True\n"


def test_the_command_is_installed(python: Path, tmp_path: Path) -> None:
    """`incumbent --help` works as installed, by its own name."""
    command = python.parent / ("incumbent.exe" if os.name == "nt" else "incumbent")
    assert "write" in run(command, "--help", cwd=tmp_path)
