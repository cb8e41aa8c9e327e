"""The repository: what it must hold, and what must not get into it."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import incumbent
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

# Written so that this file does not match itself.
MACHINE_PATHS = re.compile(
    r"/(?:wo[r]k|ro[o]t|ho[m]e/\w+|Use[r]s/\w+|o[p]t/\w+)/|[A-Z]:\\+Use[r]s",
)
REGISTRIES = re.compile(
    r"pypi\.o[r]g|registry\.np[m]|pythonho[s]ted|index-u[r]l|artifacto[r]y|devp[i]|jf[r]og|--find-link[s]"
)


def tracked() -> list[Path]:
    """Every file that git has, or would take: what a clone gets."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    if done.returncode != 0:
        pytest.skip("this is not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def lines_that_match(pattern: re.Pattern[str]) -> list[str]:
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        if not pattern.search(text):  # far quicker than line by line
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    return found


def test_no_file_names_a_path_of_some_machine() -> None:
    """What is in the repository works anywhere, so it names no folder of anybody's machine."""
    assert lines_that_match(MACHINE_PATHS) == []


def test_no_file_names_a_package_registry() -> None:
    """Where packages come from is the business of whoever installs."""
    assert lines_that_match(REGISTRIES) == []


# The word for a fact's time in office, as the stores and the prose have it.
IN_OFFICE = re.compile(
    r"(?:\b(?:a|its|the|this|earlier|present|new|whose|blank|fact's) |version, |\| )"
    r"\*?tenure\b(?!\.\w)"
    r"|\{tenure\}|\bTENURE\b|\"(?:kind\": \"|fact\", \")?tenure\"|until, \*tenure|\btenure\[\d\]"
    r"|\btenure = EarlierTenure|tenures, tenure\)|tenure of a change",
    re.IGNORECASE,
)
WEIGHTS = (".onnx", ".npz", ".txt", ".png")  # and the words that a model knows, and pictures
# What was made under the former name is still read.
FORMER_NAME = {
    'src/incumbent/stores/exports.py: _FORMER_FORMAT = "tenure-export"',
    'src/incumbent/stores/postgres/schema.py: _FORMER_SCHEMA = "tenure"',
}


def test_the_former_name_is_gone() -> None:
    """*Tenure* is the word for a fact's time in office, and nothing else in code and docs."""
    found = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(("src/", "docs/", "README.md")) and path.suffix not in WEIGHTS:
            for line in path.read_text(encoding="utf-8").splitlines():
                rest = IN_OFFICE.sub("", line)
                if re.search(r"\btenure\b", rest, re.IGNORECASE):
                    found.append(f"{name}: {line.strip().partition('  #')[0]}")
    assert set(found) <= FORMER_NAME


def test_no_file_is_big() -> None:
    """No file of the repository is over a megabyte but the weights of the models, and none of them
    over 30."""
    big = {path.name: path.stat().st_size for path in tracked() if path.stat().st_size > 1_000_000}
    pieces = {f"reader.onnx.{number}" for number in range(1, 6)}
    assert big.keys() == {"minilm.onnx", "static.npz", "reader.onnx", *pieces}
    assert max(big.values()) < 30_000_000


@pytest.mark.parametrize(
    "target",
    [
        *("setup", "demo", "test", "check", "lint", "bench", "docs", "mcp", "integrations"),
        *("dropin", "reader", "clean", "ci"),
    ],
)
def test_make_knows_its_targets(target: str) -> None:
    """Every promised target is there, described in `make help`, and can be planned."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    for arguments in (["help"], ["--dry-run", target]):
        done = subprocess.run(
            ["make", "--no-print-directory", *arguments],
            cwd=ROOT,
            env=plain,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        if arguments == ["help"]:
            assert re.search(rf"^{target}\s+\w", done.stdout, re.MULTILINE)


def test_ci_runs_the_tests() -> None:
    """`.ci/run` can be executed and does what `make ci` does."""
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make ci" in script.read_text(encoding="utf-8").splitlines()


def test_there_is_one_version() -> None:
    """The version of the project, of the package and of the changelog's newest entry agree."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## .*?(\d+\.\d+\.\d+)", changelog, re.MULTILINE)[0]
    assert PROJECT["project"]["version"] == incumbent.__version__ == newest


def test_the_licence_is_apache() -> None:
    """The licence is declared, and its text is in the repository."""
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def wanted(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """What a distribution needs on this machine."""
    for line in requires(name) or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": e}) for e in extras | {""}):
            yield requirement


def everything_installed() -> set[str]:
    """The project's dependencies and those of its dev extra, with theirs, to any depth."""
    project = PROJECT["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    queue = [Requirement(line) for line in lines]
    seen: set[tuple[str, frozenset[str]]] = set()
    while queue:
        requirement = queue.pop()
        entry = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if entry not in seen:
            seen.add(entry)
            queue.extend(wanted(*entry))
    return {name for name, _ in seen}


def test_every_dependency_is_pinned() -> None:
    """`constraints.txt` has an exact version for all that a set-up installs."""
    pinned = {canonicalize_name(line.partition("==")[0]) for line in PINS}
    assert everything_installed() - pinned == set()


def test_pins_are_names_and_versions_only() -> None:
    """A pin is `name==version`, each name once: no address, no option, no hash."""
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in PINS)
    names = [canonicalize_name(line.partition("==")[0]) for line in PINS]
    assert len(names) == len(set(names))
