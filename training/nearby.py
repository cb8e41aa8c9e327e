"""Scenes that nobody labelled: a turn beside what others said that is nearest to it in meaning.

A teacher tells what it makes of them, and the model that ships learns from that alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final

import numpy as np

from incumbent.reading.learned.pieces import Age
from training.scenes import KnownText, Scene

_NEAREST: Final = 40
_READ: Final = 400
_AT_ONCE: Final = 256


def nearby(known: Sequence[str], turns: Sequence[str], embed: Any, rng: Random) -> Iterator[Scene]:
    """Each turn beside the nearest of what is known, and now and then something further off."""
    texts = list(dict.fromkeys(known))
    vectors = _vectors(texts, embed)
    for turn, vector in zip(turns, _vectors(turns, embed), strict=True):
        order = [n for n in np.argsort(-(vectors @ vector))[:_NEAREST] if texts[n] != turn]
        near = order[: rng.randint(3, 6)]
        far = rng.sample(order[6:], rng.randint(0, 2))
        chosen = [KnownText(texts[n], rng.choice(list(Age))) for n in (*near, *far)]
        rng.shuffle(chosen)
        yield Scene("", turn, tuple(chosen), (), "nearby")


def _vectors(texts: Sequence[str], embed: Any) -> Any:
    short = [text[:_READ] for text in texts]
    return np.concatenate(
        [embed.embed(short[n : n + _AT_ONCE]) for n in range(0, len(short), _AT_ONCE)]
    )
