"""Golden files: what a model reads in real situations, byte for byte.

`INCUMBENT_UPDATE_GOLDEN=1` writes them anew; read the difference before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import incumbent
from incumbent.testing import SteppingClock
from tests.context.situations import SITUATIONS, Scene

GOLDEN = Path(__file__).parents[1] / "golden"
# The embedder that users get.
AS_USED = incumbent.Settings(durability="process")
UPDATE = os.environ.get("INCUMBENT_UPDATE_GOLDEN") == "1"


@pytest.fixture(params=SITUATIONS)
def scenes(request: pytest.FixtureRequest, where: str) -> list[Scene]:
    """The contexts of a situation, on a clock that only the situation moves."""
    clock = SteppingClock()
    with incumbent.open(where, clock=clock, settings=AS_USED) as memory:
        return SITUATIONS[request.param](memory, clock)


def test_a_context_reads_as_its_golden_file(scenes: list[Scene]) -> None:
    """The same state, query and clock give the same bytes, on every store."""
    for scene in scenes:
        path = GOLDEN / f"{scene.name}.txt"
        text = scene.context.text + "\n"
        if UPDATE:
            path.write_bytes(text.encode())
        assert path.read_bytes().decode() == text, f"{path.name} reads otherwise"


def test_a_context_says_what_matters_and_nothing_dead(scenes: list[Scene]) -> None:
    """Whatever the golden file says, the words that count are in it and the dead ones are not."""
    for scene in scenes:
        text = scene.context.text
        assert [words for words in scene.says if words not in text] == [], scene.name
        assert [words for words in scene.dead if words in text] == [], scene.name


def test_a_context_keeps_its_budget(scenes: list[Scene]) -> None:
    """The ceiling holds in every situation."""
    assert all(scene.context.tokens <= scene.context.budget for scene in scenes)


def test_every_golden_file_is_of_some_situation(tmp_path: Path) -> None:
    """None is left over from a situation that is no more."""
    names: set[str] = set()
    for number, situation in enumerate(SITUATIONS.values()):
        clock = SteppingClock()
        with incumbent.open(tmp_path / f"{number}.db", clock=clock, settings=AS_USED) as memory:
            names.update(f"{scene.name}.txt" for scene in situation(memory, clock))
    assert {path.name for path in GOLDEN.iterdir()} == names
