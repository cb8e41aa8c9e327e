"""Code does not change between a memory in this process and one elsewhere: the tests of behaviour,
through the client and a service.

The service runs in this process, on a SQLite file, and goes by the clock of the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import incumbent
from incumbent.testing import SteppingClock
from tests.behaviour import (
    test_approval,
    test_authority,
    test_forgetting,
    test_hardening,
    test_layers,
    test_reading,
    test_repair,
    test_scopes,
    test_supersession,
    test_time,
    test_undo,
    test_waiting,
)
from tests.conftest import QUICK, OpenMemory
from tests.service.shared import Shared

MODULES: tuple[ModuleType, ...] = (
    *(test_approval, test_authority, test_forgetting, test_hardening, test_layers, test_reading),
    *(test_repair, test_scopes, test_supersession, test_time, test_undo, test_waiting),
)

ELSEWHERE = {
    "test_titles_are_mapped_and_unknown_ones_are_the_lowest": "a service refuses an unknown title",
    "test_the_keys_of_a_user_go_with_the_user": "the store is where the service is",
}
"""Tests that cannot hold through a service, and why."""


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    found = Shared().start()
    yield found
    found.stop()


@pytest.fixture
def open_memory(shared: Shared, store_path: Path, clock: SteppingClock) -> Iterator[OpenMemory]:
    """Opens a memory behind the service; what is a setting is one of the service."""
    opened: list[incumbent.Memory] = []

    def open_with(**options: Any) -> incumbent.Memory:
        given = {"clock": clock, "settings": QUICK, **options}
        behind = incumbent.open(store_path, **given)
        opened.append(behind)
        opened.append(incumbent.open(shared.serve(behind), **given))
        return opened[-1]

    yield open_with
    for memory in reversed(opened):
        memory.close()


for _module in MODULES:
    for _name, _test in list(vars(_module).items()):
        if _name.startswith("test_") and _name not in ELSEWHERE:
            globals()[f"{_name}__{_module.__name__.rpartition('.')[2]}"] = _test


def test_every_exception_is_one() -> None:
    """What is said not to hold is there, so that none stays on the list by oversight."""
    there = {name for module in MODULES for name in vars(module)}
    assert set(ELSEWHERE) <= there
