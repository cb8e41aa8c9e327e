"""Text to vectors, offline. The port, and the two models that ship with Incumbent.

Nothing heavy is imported here: numpy and onnxruntime come with the first `load`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from incumbent.model.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

NAMES = ("minilm", "static")
"""The names that `load` knows: a small transformer, and a table of word vectors made from it."""


class Embedder(Protocol):
    """Gives each text a vector whose direction is its meaning.

    The same text gives the same bits whatever else is in the call, and in every run on one machine.
    Safe to share between threads. An embedder may also have `unrelated`, the cosine below which two
    texts are unrelated; without it, 0.2. And it may have `shares_batches`: True if several texts
    in one call take less than in calls of their own. Concurrent queries are then put together, so
    that each waits for the slowest of its batch, whoever asked it.
    """

    @property
    def name(self) -> str:
        """The model and its version: vectors of different names are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row of length 1 per text; a row of zeros for a text that has no words."""
        ...


_loaded: dict[str, Embedder] = {}
_lock = threading.Lock()


def load(name: str) -> Embedder:
    """The model of that name, read from the package once per process."""
    if name not in NAMES:
        known = " or ".join(f'"{known}"' for known in NAMES)
        raise InvalidInput(f"there is no embedder {name!r}; use {known}")
    with _lock:
        if name not in _loaded:
            _loaded[name] = _read(name)
        return _loaded[name]


def _read(name: str) -> Embedder:
    if name == "minilm":
        from incumbent.search.embedders.minilm import MiniLM

        return MiniLM()
    from incumbent.search.embedders.static import Static

    return Static()
