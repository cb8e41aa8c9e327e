"""What a system has to be able to do to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus import Fact

Vectors = NDArray[np.float32]
TOP = 50
"""How many results a search is asked for."""
BUDGET = 4_000
"""How many tokens a context may have."""


class Embedder(Protocol):
    """What everybody embeds with: our own."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class System(Protocol):
    """One product, filled and asked through the calls its users make.

    `load` and `ask` are timed from outside, so they do nothing that a user would not do. What
    is needed to tell whether an answer was right is left for `holds`. Each is made with a folder
    for its files and the embedder to use.
    """

    def load(self, facts: Sequence[Fact]) -> None:
        """Write these facts, findable when this returns."""

    def ask(self, question: str) -> object:
        """What the system would put in front of a model."""

    def holds(self, answer: object, fact: Fact) -> bool:
        """Whether an answer of `ask` has this fact in it."""

    def tokens(self, answer: object) -> int | None:
        """The size of an answer, where it is one text."""

    def close(self) -> None: ...
