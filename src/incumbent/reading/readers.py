"""The readers that ship, by name."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from incumbent.reading.form import TurnReader
from incumbent.reading.learned.model import Model, load
from incumbent.reading.offline import OfflineReader

PACKAGE: Final = "incumbent_reader"
"""What brings a larger model, in a folder `weights`. Nothing of it is run."""
_MEND = (
    "install that package anew, or do without it: uninstall incumbent-reader, or use "
    'Settings(reader="small")'
)


def named_reader(name: str) -> TurnReader:
    """The rules with every model there is, with the one that ships, or alone. No other file is
    opened."""
    if name == "rules":
        return OfflineReader(None)
    return OfflineReader(load(), _larger() if name == "default" else None)


def _larger() -> Model | None:
    """The larger model, where its package is installed."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    return load(Path(found.submodule_search_locations[0]) / "weights", _MEND)
