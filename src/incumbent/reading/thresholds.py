"""The numbers that reading goes by, and what was measured for each."""

from __future__ import annotations

from typing import Final

WEIGHTS: Final = (
    0.506,
    1.121,
    -0.299,
    -0.044,
    0.394,
    -1.124,
    0.381,
    0.927,
    1.047,
    0.079,
    0.484,
    -0.766,
    -0.726,
    0.806,
    0.118,
    -1.185,
    -0.272,
    -1.432,
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
