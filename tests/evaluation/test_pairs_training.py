"""The parts of the recipe that measure: how probabilities are to be read, and where forms go."""

from __future__ import annotations

import numpy as np
import pytest

from incumbent.language.learned.model import Opinion, load
from training.calibrate import Answers, Scale, answers, fit, halves, told
from training.confusion import measured, points_right, said
from training.examples import Example, Mark

STATED = "A table for 4 at 7 pm."
ASKED = "How many of you will come?"


def example(turn: str, label: str = "replace", group: str = "") -> Example:
    """A turn after a table was asked for; where it replaces, the 6 in it is the new value."""
    at = len(ASKED) + 3 + turn.find("6")
    new = (at, at + 1) if label == "replace" else None
    mark = Mark(12, 13, "replace" if label == "replace" else "leave", new)
    return Example(STATED, ASKED, turn, (mark,), "own", "own", group)


CHANGED = example("Sorry, there will be 6 of us.")
LEFT = example("Lovely weather today, is it not?", "leave")


class TestCalibrating:
    def test_a_known_scale_is_found_again(self) -> None:
        """Answers that come as the scaled odds say give back that slope and shift."""
        random = np.random.default_rng(5)
        odds = random.normal(0, 4, 60_000)
        scale = Scale(0.5, -1.0)
        gold = random.random(60_000) < scale.read(odds)
        found = fit(Answers(odds, gold))
        assert found.slope == pytest.approx(0.5, abs=0.02)
        assert found.shift == pytest.approx(-1.0, abs=0.05)

    def test_answers_that_are_told_apart_by_the_odds_keep_a_finite_slope(self) -> None:
        """Else one clean file would make every probability 0 or 1."""
        odds = np.array([-3.0, -2.0, 2.0, 3.0])
        assert 0 < fit(Answers(odds, odds > 0)).slope < 10

    def test_what_belongs_to_one_dialogue_is_on_one_side(self) -> None:
        """Half of the dialogues, not of the examples."""
        found = [example("6", group=name) for name in "aababc"]
        first, second = halves(found)
        assert [one.group for one in first] == ["a", "a", "a"]
        assert [one.group for one in second] == ["b", "b", "c"]

    def test_the_model_is_read_and_the_figures_are_told(self) -> None:
        """One change and one that is none, both right."""
        found = answers([CHANGED, LEFT], load())
        assert found.gold.tolist() == [True, False]
        assert found.odds[0] > 0 > found.odds[1]
        assert "100.0 % / 100.0 %" in told("own", found, Scale())


class TestConfusion:
    def test_what_is_likeliest_is_what_was_said(self) -> None:
        """A value that could not be read is left alone."""
        assert said(Opinion(0.1, 0.2, 0.3, 0.4, None, False)) == "retract"
        assert said(None) == "leave"

    def test_a_place_in_the_turn_before_is_no_place_in_the_turn(self) -> None:
        """The same characters count only where the new value is."""
        [mark] = CHANGED.marks
        begin = CHANGED.turn.find("6")
        span = (begin, begin + 1)
        assert points_right(CHANGED, mark, Opinion(0, 1, 0, 0, span, False))
        assert not points_right(CHANGED, mark, Opinion(0, 1, 0, 0, span, True))

    def test_forms_say_how_many_are_right_and_where_they_went(self) -> None:
        """A row for each form and what should become of its values, and one for all."""
        rows = list(measured([CHANGED, LEFT], load()).rows())
        assert rows == [
            ("own", "leave", "1", "100.0 %", "1", "0", "0", "0", ""),
            ("own", "replace", "1", "100.0 %", "0", "1", "0", "0", "100.0 %"),
            ("all", "", "2", "100.0 %", "1", "1", "0", "0", ""),
        ]
