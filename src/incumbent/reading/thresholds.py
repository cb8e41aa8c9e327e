"""The numbers that reading goes by, and what was measured for each."""

from __future__ import annotations

from typing import Final

VALUE_WEIGHTS: Final = (
    0.41,
    0.043,
    -0.12,
    0.425,
    0.301,
    0.313,
    -0.001,
    -0.027,
    -0.767,
    0.133,
    -0.513,
    -1.669,
    1.024,
    0.358,
    0.31,
    -1.339,
)
"""What each feature of `relating.VALUE_FEATURES` counts; `training.relate` learns them."""
ENDED: Final = 0.65
"""From here on a statement is superseded."""
DOUBTED: Final = 0.5
"""From here on it is possibly outdated."""
DOUBTED_ALIKE: Final = 0.65
"""The same where both say nearly the same words: there it is mostly one more of a kind."""
ALIKE: Final = 0.4
"""So much of the earlier statement is said again by one that is alike."""
RESTATED: Final = 0.65
"""How likely it is that another value in the same words takes the place of the first: of such pairs
of siblings five in six were changes."""
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
