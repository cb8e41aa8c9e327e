"""Records: what the statements of a turn have led to."""

from __future__ import annotations

from dataclasses import dataclass, field

from incumbent.model.fact import Fact, Part
from incumbent.model.records import Turn
from incumbent.model.verdict import Verdict
from incumbent.reading.form import Reading


@dataclass
class Record:
    """What the statements of a turn have led to so far."""

    facts: list[Fact] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    retired: list[Part] = field(default_factory=list)
    doomed: list[str] = field(default_factory=list)
    """Ids of facts that are to be erased."""
    wants_all_gone: bool = False
    reading: Reading = field(default_factory=Reading)
    """What the reader made of the turn."""
    turn: Turn | None = None
    """The turn as it was stored; None where it was known already."""
