"""`make test` stays quick without a clock: slow modules are named, and nothing is only slow."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import STORES
from tests.patience import PATIENCE
from tests.selection import FAST, SLOW, TESTS, slow_module
from tests.service.running import ROOT, environment

ONLY_SLOW = {"test_wheel.py"}
"""Promises that nothing quick can hold: a wheel has to be built to be looked at."""


def selected(*options: str, thorough: bool = False) -> set[str]:
    """The tests that pytest chooses, without their folders."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *options],
        cwd=ROOT,
        env={**environment(), **({"INCUMBENT_THOROUGH": "1"} if thorough else {})},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return {line.rpartition("/")[2] for line in done.stdout.splitlines() if "::" in line}


def test_what_is_named_as_slow_is_there() -> None:
    """Each module of the list exists, and says why it is slow."""
    assert [name for name in SLOW if not (TESTS / name).is_file()] == []
    assert all(SLOW.values())


def test_every_folder_of_tests_has_a_quick_module() -> None:
    """No kind of promise is left to `make check` alone, but those that are named here."""
    folders: dict[str, list[bool]] = {}
    for module in TESTS.rglob("test_*.py"):
        folder = module.parent.relative_to(TESTS).as_posix()
        folders.setdefault(folder, []).append(slow_module(module))
    assert [folder for folder, slow in folders.items() if all(slow)] == []
    assert {name for name in SLOW if "/" not in name} == ONLY_SLOW


def test_make_selects_as_the_tests_expect() -> None:
    """`make test` leaves out what is slow; `make check` and `make soak` leave out nothing."""
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    runs = [line.strip() for line in lines if "$(BIN)/pytest" in line and "$(TESTS)" in line]
    test, check, soak = runs
    assert f"-m '{FAST}'" in test
    assert "INCUMBENT_" not in test
    assert re.search(r"INCUMBENT_THOROUGH=1 .*pytest(?!.* -m )", check)
    assert re.search(r"INCUMBENT_SOAK=1 .*pytest(?!.* -m )", soak)


@pytest.mark.slow
def test_check_runs_what_test_runs_on_more_stores() -> None:
    """Whatever the quick selection has, the whole has too, and on every store."""
    modules = [f"{TESTS}/rules", f"{TESTS}/behaviour/test_authority.py", f"{TESTS}/test_crash.py"]
    quick, whole = selected("-m", FAST, *modules), selected(*modules, thorough=True)
    assert quick < whole
    on = {name.rpartition("[")[2].rstrip("]") for name in whole if "test_authority" in name}
    assert on >= set(STORES)
