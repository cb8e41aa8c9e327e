"""The systems that stand beside us, each behind the protocol of `incumbent_eval.systems`.

`makers()` has them by name. Packages that are no part of Python or of Incumbent come with an extra,
`pip install 'incumbent[peers]'`; a system whose package is missing says so when it is made. To add
yours, write a class with the methods of `System` and give its maker to the evaluations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING

from incumbent.model.errors import InvalidInput
from incumbent_eval import peers
from incumbent_eval.systems import Maker, System

if TYPE_CHECKING:
    from incumbent.search.embedders import Embedder

OURS = "incumbent"
EMBEDDER = "minilm"
"""The embedder of every system that finds by meaning: the one that ships."""
INSTALL = "pip install 'incumbent[peers]'"


class PeerMissing(InvalidInput, ImportError):
    """A system cannot be made, because its package is not installed."""


@dataclass(frozen=True)
class Peer:
    """A system that can be made: its description, and the packages it needs."""

    about: str
    packages: tuple[str, ...] = ()


_SUITE = (peers.PACKAGE,)
PEERS = {
    OURS: Peer("a context from what is in office; everything the protocol knows"),
    "transcript": Peer("all that was said and written, the newest as far as the budget goes"),
    "last-turns": Peer("the last ten turns or values"),
    "bm25": Peer("turns and values that share words with the question, the best first"),
    "langgraph": Peer(
        "InMemoryStore: an item under a key replaces the one there; vectors alone, our embedder; "
        "the budget is cut for it",
        ("langgraph",),
    ),
    "mem0": Peer(
        "infer=False on local qdrant: every text a memory, update and delete by id; vectors "
        "alone, our embedder; the budget is cut for it",
        ("mem0ai", "qdrant-client"),
    ),
    "memgine": Peer("supersession, authority, dependencies, drafts; one person's state", _SUITE),
    "memgine_safe_supersession": Peer("the same, with replaced values hidden", _SUITE),
    "state_based": Peer("the suite's reference: four layers with supersession", _SUITE),
    "state_based_no_supersession": Peer("the same without supersession", _SUITE),
    "dialectic": Peer("premises and conclusions, with supersession", _SUITE),
    "flat_file": Peer("notes in a file, appended", _SUITE),
    "transcript_replay": Peer("the user's turns", _SUITE),
    "transcript_latest_wins": Peer("the latest turn of the user", _SUITE),
    "no_memory": Peer("nothing", _SUITE),
}
"""All systems by name, ours first."""


def makers() -> dict[str, Maker]:
    """The maker of each system, by name. One that is not installed raises PeerMissing when made."""
    return {name: partial(_made, name) for name in PEERS}


def missing(name: str) -> str | None:
    """The reason why a system cannot be made here, with the command that installs it; None if it
    can."""
    absent = [package for package in PEERS[name].packages if _version(package) is None]
    if not absent:
        return None
    return f"{name} is not installed ({', '.join(absent)}); install it with: {INSTALL}"


def available(names: Sequence[str] | None = None) -> list[str]:
    """Those of some systems that can be made here, or of all."""
    return [name for name in (PEERS if names is None else names) if missing(name) is None]


def versions() -> dict[str, str]:
    """The versions of the packages that are installed."""
    packages = sorted({package for peer in PEERS.values() for package in peer.packages})
    return {package: found for package in packages if (found := _version(package)) is not None}


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _made(name: str) -> System:
    """A fresh system. Modules are imported when needed: a peer's may take seconds."""
    why = missing(name)
    if why is not None:
        raise PeerMissing(why)
    if name == OURS:
        from incumbent_eval.ours import IncumbentSystem

        return IncumbentSystem()
    if name == "langgraph":
        from incumbent_eval.adapters.langgraph_store import LangGraphStore

        return LangGraphStore(_embedder())
    if name == "mem0":
        from incumbent_eval.adapters.mem0_memory import Mem0

        return Mem0(_embedder())
    if PEERS[name].packages == _SUITE:
        from incumbent_eval.adapters.strategies import Strategy

        return Strategy(name)
    from incumbent_eval.adapters import plain

    kinds: tuple[type[plain.Transcript], ...] = (
        plain.Transcript,
        plain.LastTurns,
        plain.Bm25OverTurns,
    )
    return {kind.name: kind for kind in kinds}[name]()


def _embedder() -> Embedder:
    from incumbent.search.embedders import load

    return load(EMBEDDER)
