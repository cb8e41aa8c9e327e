"""What a system has to be able to do for a client to work with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from benchmarks import corpus
from benchmarks.corpus import Fact

TOP = 50
"""How many results a search is asked for."""
BUDGET = 1_000
"""How many tokens a context may have."""
EMBEDDER = "static"
"""What everybody embeds with."""
CONNECTIONS = 2
"""How many connections a client may hold: the most clients must fit into what the server takes."""

PROBE = corpus.fact(0)
"""What shows whether a fact that was copied in is stored as one that was written."""


class Caller(Protocol):
    """One client, through the calls that a user would make.

    `write` and `ask` are timed from outside. What is needed to tell whether an answer was right is
    left for `holds`. Each is made with the address of its database and a folder for its files.
    """

    def prepare(self) -> None:
        """Make the tables, and see that `load` fills them as `write` would.

        One client does this before there are others.
        """

    def load(self, organization: str, facts: Sequence[Fact]) -> None:
        """Put these facts there: by our own calls, or copied into the tables of a peer, which
        would take hours to write as many."""

    def write(self, organization: str, fact: Fact) -> None:
        """Write one fact; one that has the key of an earlier one takes its place."""

    def ask(self, organization: str, question: str) -> Any:
        """What the system would put in front of a model."""

    def holds(self, organization: str, answer: Any, fact: Fact) -> bool:
        """Whether an answer of `ask` has this fact in it."""

    def count(self, answer: Any) -> int:
        """How many facts are in an answer."""

    def begin_anew(self) -> None:
        """Told before each call of a run that keeps nothing; ours only."""

    def begin(self) -> None:
        """Told before the first timed call of a run."""

    def called(self) -> None:
        """Told after each of them."""

    def keep(self, log: Path) -> None:
        """Put on file what there is to replay of the calls of a run."""

    def close(self) -> None: ...


class Plain:
    """For systems of which nothing is replayed."""

    def begin(self) -> None:
        pass

    def called(self) -> None:
        pass

    def keep(self, log: Path) -> None:
        pass


def check_alike(rows: Sequence[Any]) -> None:
    """See that two rows, one copied in and one written, are the same but for name and time."""
    if len(rows) != 2 or rows[0] != rows[1]:
        raise ValueError(f"what is copied in is not what it writes: {rows}")
