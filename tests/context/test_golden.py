"""Golden files: what a model reads in real situations, byte for byte.

`INCUMBENT_UPDATE_GOLDEN=1` writes them anew; read the difference before you keep it.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

import incumbent
from incumbent.testing import SteppingClock
from tests.context.situations import SITUATIONS, Scene

GOLDEN = Path(__file__).parents[1] / "golden"
# The embedder that users get, for it decides on the order of lines.
AS_USED = incumbent.Settings(durability="process")
UPDATE = os.environ.get("INCUMBENT_UPDATE_GOLDEN") == "1"
# Where the files were made, every byte counts. On another processor the 8-bit model rounds in
# another way, so there neighbours may change places whose scores are this near: an allowance, on
# the safe side of the one pair (.0009 apart) that was seen to.
MADE_ON = "x86_64"
AS_GOOD = 0.0 if platform.machine() == MADE_ON else 0.01


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
        golden = path.read_bytes().decode()
        assert _as_on_this_processor(golden, scene.context) == text, f"{path.name} reads otherwise"


def _as_on_this_processor(golden: str, context: incumbent.Context) -> str:
    """A golden file with neighbours exchanged that are as good as each other, where they stand the
    other way round in a context. Everything else stays as it is, and so does their number."""
    scores = {line.text: line.score for line in context.lines if line.score is not None}
    order = list(scores)

    def stand_the_other_way_round(one: str, other: str) -> bool:
        if one not in scores or other not in scores:
            return False
        near = abs(scores[one] - scores[other]) < AS_GOOD
        return near and order.index(one) > order.index(other)

    lines = golden.split("\n")
    for _ in order:
        for place in range(len(lines) - 1):
            if stand_the_other_way_round(*lines[place : place + 2]):
                lines[place : place + 2] = reversed(lines[place : place + 2])
    return "\n".join(lines)


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
