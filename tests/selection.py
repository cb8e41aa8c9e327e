"""What `make test` leaves to `make check`: modules of tests that are slow by nature, and why.

A single slow test carries `@pytest.mark.slow` itself. A module that is slow as a whole is named
here instead, so that `make test` does not even load it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

FAST = "not slow"
"""The expression that `make test` selects tests with."""

TESTS = Path(__file__).parent

_RUNS = "whole evaluations, run"
_KILLS = "kills processes, again and again"
_SERVERS = "starts, stops and fills database servers of its own"

SLOW = {
    "evaluation/test_asof.py": _RUNS,
    "evaluation/test_commands.py": _RUNS,
    "evaluation/test_conformance.py": _RUNS,
    "evaluation/test_gate.py": _RUNS,
    "evaluation/test_isolation.py": _RUNS,
    "evaluation/test_repair.py": _RUNS,
    "evaluation/test_report.py": _RUNS,
    "evaluation/test_retrieval.py": _RUNS,
    "evaluation/test_scoped.py": _RUNS,
    "evaluation/test_systems_commands.py": _RUNS,
    "postgres/test_bad_servers.py": _SERVERS,
    "postgres/test_crashes.py": _KILLS,
    "llm/test_end_to_end.py": "loads a model and asks it",
    "postgres/test_crowd.py": "a crowd of writers, for seconds",
    "postgres/test_local.py": _SERVERS,
    "postgres/test_migrations.py": "runs the code of every version",
    "postgres/test_network.py": "waits for connections that never answer",
    "postgres/test_replica.py": _SERVERS,
    "test_wheel.py": "builds the package and installs it",
}


def slow_module(path: Path) -> bool:
    """Whether a module of tests is slow as a whole."""
    return path.is_relative_to(TESTS) and path.relative_to(TESTS).as_posix() in SLOW


def sampled(values: Iterable[Any], every: int = 5) -> list[Any]:
    """Values to test with: each fifth always, the others where slow tests are wanted, too."""
    return [
        value if number % every == 0 else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
