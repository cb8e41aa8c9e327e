"""The numbers that reading goes by, and what was measured for each."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = (
    0.504,
    1.146,
    -0.392,
    -0.052,
    0.401,
    -1.095,
    0.421,
    0.927,
    1.083,
    0.069,
    0.492,
    -0.769,
    -0.744,
    0.798,
    0.104,
    -1.325,
    0.396,
    -0.297,
    -1.427,
)
"""What each feature of `relating.FEATURES` counts; `training.relate` learns them."""
ENDED: Final = 0.7
"""From here on a statement is superseded."""
DOUBTED: Final = 0.4
"""From here on it is possibly outdated."""
DOUBTED_ALIKE: Final = 0.53
"""The same where both say nearly the same words: there it is mostly one more of a kind."""
ALIKE: Final = 0.4
"""So much of the earlier statement is said again by one that is alike."""
CUE: Final = 0.1
"""How much less likely it may be where a correction is announced."""
READ: Final = 4
"""So many things that a turn may be about are read beside it."""
PART: Final = 0.5
"""From here on one value of a statement is changed, where the model names both stretches."""
AT_HAND: Final = 3
"""So many of the last things said here are read beside a turn that has values of their kinds."""
TOLD: Final = 0.85
"""How likely it is that a correction of one stretch, of the same thing by its name, is meant so."""
