"""The Vercel AI SDK: the package for Node.js in `packages/ai-sdk`, and the page on it.

The contract of adapters is written there in TypeScript, for the SDK's own fake model, against a
`incumbent serve` that the tests start.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pages import ROOT, blocks
from tests.patience import PATIENCE
from tests.service.running import serving
from tests.test_docs import SERVED, matches

PACKAGE = ROOT / "packages" / "ai-sdk"
PAGE = ROOT / "docs" / "integrations" / "vercel-ai.md"


@pytest.fixture(scope="module")
def built() -> Path:
    """The package with its types checked and its JavaScript made."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not here, and the adapter for the Vercel AI SDK needs them")
    if not (PACKAGE / "node_modules" / "ai").exists():
        pytest.skip("the Vercel AI SDK is not installed: make integrations")
    done = run("npm", "run", "--silent", "build", cwd=PACKAGE)
    assert done.returncode == 0, done.stdout
    return PACKAGE


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "INCUMBENT_PYTHON": sys.executable, "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE,
    )


@pytest.mark.slow
def test_the_contract_of_adapters_holds(built: Path) -> None:
    """The types of the tests are right too, and none of them fails."""
    done = run("npm", "test", "--silent", cwd=built)
    assert done.returncode == 0, done.stdout


def test_the_page_on_it_holds(built: Path, tmp_path: Path) -> None:
    """The programs of the page run as one, and print what the page shows."""
    programs = [block for block in blocks(PAGE) if block.language == "js"]
    assert programs
    installed = tmp_path / "node_modules"
    installed.mkdir()
    (installed / "ai").symlink_to(built / "node_modules" / "ai")
    ours = installed / package()["name"]
    ours.parent.mkdir()
    ours.symlink_to(built)
    with serving(str(tmp_path / "agent.db"), tmp_path) as service:
        text = "\n".join(block.text for block in programs).replace(SERVED, service.address)
        (tmp_path / "page.mjs").write_text(text, encoding="utf-8")
        done = run("node", "page.mjs", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert matches("".join(block.promised or "" for block in programs), done.stdout), done.stdout


def test_the_package_needs_nothing_but_the_sdk() -> None:
    """It has no dependencies of its own, and its lock file has exact versions and no addresses."""
    assert package().keys() & {"dependencies", "optionalDependencies"} == set()
    assert package()["peerDependencies"].keys() == {"ai", "@ai-sdk/provider"}
    lock = json.loads((PACKAGE / "package-lock.json").read_text(encoding="utf-8"))
    assert [name for name, one in lock["packages"].items() if "resolved" in one] == []


def package() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    return found
