"""Kinship: whether two words name alternatives of one kind, as Chinese and Turkish food do.

Word vectors tell that much: words that stand in the same places are near each other. They do not
tell which of two is meant, and nothing here decides by them alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from incumbent.model.text_cache import remembering
from incumbent.search.embedders import load

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

KIN: Final = 0.25
"""From here on two words are of a kind. Measured on pairs such as cheap and expensive (0.76), red
and blue (0.65), Belgian and Turkish (0.32) against cheap and Chinese (-0.04), new and red (0.2)."""


@remembering(8_192)
def _direction(text: str) -> npt.NDArray[np.float32]:
    row: npt.NDArray[np.float32] = load("static").embed([text])[0]
    return row


@remembering(16_384)
def kinship(left: str, right: str) -> float:
    """How near two words are: 1 for the same, around 0 for words of different kinds."""
    return float(_direction(left.lower()) @ _direction(right.lower()))
