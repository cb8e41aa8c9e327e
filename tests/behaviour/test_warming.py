"""What a command loads at its start, so that nobody who calls has to wait for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.patience import PATIENCE

FIRST = """
import json, sys
import incumbent
from incumbent.cli.listening import warm, warm_meanwhile
from tests.conftest import QUICK

memory = incumbent.open(":memory:", settings=QUICK)
if sys.argv[1] == "before":
    warm(memory)
elif sys.argv[1] == "meanwhile":
    import threading
    warm_meanwhile(memory)
    [one.join() for one in threading.enumerate() if one is not threading.main_thread()]
opened, known = [], set(sys.modules)
sys.addaudithook(lambda what, given: opened.append(str(given[0])) if what == "open" else None)
session = memory.session(user_id="ann")
session.observe("My flight to Graz leaves at 7:45pm on 3 May. No, at 8.")
session.context("When does it leave?")
assert session.facts()
print(json.dumps([*opened, *sorted(set(sys.modules) - known)]))
"""


def loaded(warmed: str) -> list[str]:
    """The files that a first turn and a first context open, and the modules that they load."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST, warmed],
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("warmed", ["before", "meanwhile"])
def test_a_first_turn_loads_nothing(warmed: str) -> None:
    """Neither a model nor language data nor a module is left for it."""
    assert loaded(warmed) == []


def test_without_warming_it_loads_much() -> None:
    """Which is what the test above would see."""
    assert len(loaded("never")) > 50
