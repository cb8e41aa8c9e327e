"""The readers that ship, by name."""

from __future__ import annotations

from incumbent.reading.form import TurnReader
from incumbent.reading.learned.model import load
from incumbent.reading.offline import OfflineReader


def named_reader(name: str) -> TurnReader:
    """The rules with the model that ships, or the rules alone. Then its file is never opened."""
    return OfflineReader(None if name == "rules" else load())
