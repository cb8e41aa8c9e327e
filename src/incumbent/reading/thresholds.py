"""The numbers that reading goes by, and what was measured for each."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = (
    0.595,
    -0.119,
    0.905,
    -1.268,
    -0.191,
    0.246,
    -0.58,
    0.306,
    1.459,
    1.1,
    -0.084,
    0.576,
    -1.057,
    -1.099,
    0.727,
    -0.287,
    -1.673,
    0.617,
    -0.066,
    -0.762,
)
"""What each feature of `relating.FEATURES` counts; `training.relate` learns them."""
VALUE_WEIGHTS: Final = (
    0.482,
    -0.037,
    -0.458,
    0.628,
    0.233,
    0.386,
    -0.007,
    0.473,
    -1.155,
    0.063,
    -0.762,
    -1.863,
    1.001,
    0.324,
    0.458,
    -1.329,
)
"""The same for `relating.VALUE_FEATURES`."""
ENDED: Final = 0.72
"""From here on a statement is superseded."""
DOUBTED: Final = 0.5
"""From here on it is possibly outdated."""
DOUBTED_ALIKE: Final = 0.65
"""The same where both say nearly the same words: there it is mostly one more of a kind."""
ALIKE: Final = 0.4
"""So much of the earlier statement is said again by one that is alike."""
CUE: Final = 0.1
"""How much less likely it may be where a correction is announced."""
READ: Final = 4
"""So many things that a turn may be about are read beside it."""
PART: Final = 0.65
"""From here on one value of a statement is over."""
EVEN: Final = 0.5
"""So likely must the model by itself hold a value to be over."""
OWN: Final = 0.9
"""So surely must something be stated that reads as if it were retold, to be the person's word."""
AT_HAND: Final = 3
"""So many of the last things said here are read beside a turn that has values of their kinds."""
TOLD: Final = 0.85
"""How likely it is that a correction of one stretch, of the same thing by its name, is meant so."""
