"""Encoding: scenes become pieces as the model reads them, each with what is right about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from incumbent.reading.learned.model import BECOMES, KINDS
from incumbent.reading.learned.pieces import MOST, Age, Beside, encode
from training.encode import arrays, save
from training.scenes import KnownText, Line, Place, Scene, Value

STATED = "Book a table for 4 at 7 pm."
ASKED, TURN = "How many?", "Sorry, make that 6 people."
OVER = Value(17, 18, True, Place(17, 18))
CHANGED = Scene(
    ASKED,
    TURN,
    (KnownText(STATED, Age.JUST, "part", 0, Place(17, 18), (OVER,), is_whole=True),),
    (Line(0, len(TURN), KINDS.index("states"), ((17, 18, 1),)),),
    "own",
    tells_cuts=True,
)


def test_the_value_that_is_over_and_the_new_one_are_where_the_model_reads_them() -> None:
    """The piece of the 4 is over, the statement changes in part, and the 6 is pointed at."""
    made = arrays([CHANGED])
    read = encode(ASKED, TURN, [Beside(STATED, Age.JUST)])
    assert made["ids"].tolist() == list(read.ids)
    (four,) = read.in_known(0, (17, 18))
    assert made["over"][four] == 1
    assert made["over"][four - 1] == 0
    assert made["known"].tolist() == [
        [0, read.signs[0], BECOMES.index("part"), read.in_turn((0, 1))[0]]
    ]
    (six,) = read.in_turn((17, 18))
    assert [0, four, six, six] in made["news"].tolist()
    assert made["tags"][six] == 1
    assert made["kinds"][six] == KINDS.index("states")


def test_what_is_not_known_teaches_nothing() -> None:
    """Without labels no piece and no statement has any."""
    made = arrays([Scene(ASKED, TURN, (KnownText(STATED, Age.HERE),))])
    assert set(made["over"].tolist()) == set(made["kinds"].tolist()) == {-1}
    assert made["known"][0, 2:].tolist() == [-1, -1]
    assert len(made["news"]) == 0


@pytest.mark.parametrize("much", ["so ", "x=1;", "? ", "\n", "é"])
def test_a_run_is_bounded_whatever_was_said(much: str) -> None:
    """Each part has a share of the pieces, and statements for which there is no room are left."""
    beside = [Beside(much * 2_000, Age.BEFORE)] * 20
    read = encode(much * 2_000, much * 2_000, beside)
    assert len(read.ids) <= MOST
    assert len(read.knowns) == len(read.signs) <= 20


def test_scenes_are_written_one_after_the_other(tmp_path: Path) -> None:
    """The file tells where each begins, and how many there are."""
    assert save(tmp_path / "s.npz", [CHANGED, CHANGED]) == 2
    with np.load(tmp_path / "s.npz") as found:
        first, second, end = found["begins"].tolist()
        assert found["ids"][first:second].tolist() == found["ids"][second:end].tolist()
        assert found["known"][:, 0].tolist() == [0, 1]
