"""Whether probabilities mean what they say, and how well they tell a yes from a no."""

from __future__ import annotations

import pytest

from incumbent_eval.calibration import (
    Bin,
    at,
    average_precision,
    bars,
    best,
    expected_error,
    reliability,
)
from incumbent_eval.figures import Detection


def test_answers_fall_into_bins_by_their_probability() -> None:
    """A bound belongs to the bin above it, and 1 to the last."""
    bins = reliability([0.05, 0.1, 0.95, 1.0], [False, True, True, False])
    assert [one.count for one in bins] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert bins[9].said == pytest.approx(0.975)
    assert bins[9].came == 0.5
    assert bins[5] == Bin(0.5, 0.6)


def test_probabilities_that_mean_what_they_say_have_no_error() -> None:
    """Of ten answers at 0.3, three are so."""
    assert expected_error(reliability([0.3] * 10, [True] * 3 + [False] * 7)) == pytest.approx(0)


def test_the_error_is_the_mean_gap_by_count() -> None:
    """Three answers that are off by 0.1, and one that is off by 0.5."""
    bins = reliability([0.1, 0.1, 0.1, 0.5], [False, False, False, True])
    assert expected_error(bins) == pytest.approx((3 * 0.1 + 0.5) / 4)
    assert expected_error(reliability([], [])) is None


def test_a_threshold_counts_from_itself_up() -> None:
    """What has exactly the threshold is found."""
    assert at([0.5, 0.4], [True, True], 0.5).found == Detection(1, 0, 1)


def test_the_best_threshold_takes_equal_probabilities_together() -> None:
    """Of two answers with the same probability none can be left out alone."""
    found = best([0.8, 0.8, 0.3], [True, False, False])
    assert (found.threshold, found.found) == (0.8, Detection(1, 1, 0))


def test_without_anything_to_find_there_is_no_average_precision() -> None:
    """And a best threshold that finds nothing."""
    assert average_precision([0.5], [False]) is None
    assert best([], []).found == Detection()


def test_average_precision_falls_with_every_wrong_answer_before_a_right_one() -> None:
    """Right, wrong, right: precision 1 at half of the recall, two thirds at the other half."""
    found = average_precision([0.9, 0.8, 0.7], [True, False, True])
    assert found == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_a_bar_ends_at_what_came_and_has_a_line_at_what_was_said() -> None:
    """Short of the line where fewer came than was said; an empty bin has none."""
    drawn = list(bars(reliability([0.95] * 4, [True, True, False, False])))
    assert drawn[9].endswith("█" * 20 + " " * 18 + "│")
    assert drawn[0] == "0.0–0.1        0"
