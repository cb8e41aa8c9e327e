"""Observations: what was made of a turn, for whoever asked and while it is filed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from incumbent.model.fact import Fact, Part
from incumbent.model.records import Erasure, ErasureRequest, Turn
from incumbent.model.verdict import Verdict
from incumbent.reading.form import Reading, Statement
from incumbent.turns.opinions import Opinion


@dataclass(frozen=True, slots=True)
class Observation:
    """What was made of a turn: its statements, and the facts and verdicts that came of them."""

    turn_index: int
    speaker: str
    at: datetime
    ref: str | None = None
    statements: tuple[Statement, ...] = ()
    facts: tuple[Fact, ...] = ()
    """The facts that the turn brought, as they stood right after it."""
    verdicts: tuple[Verdict, ...] = ()
    """Every decision that it led to, in order."""
    retired: tuple[Part, ...] = ()
    """The values that it put out of office."""
    erasures: tuple[Erasure, ...] = ()
    """Proofs of what it asked to be forgotten."""
    erasure_requested: ErasureRequest | None = None
    """That it asked for all that is the speaker's own to be erased, which was not done."""
    repeated: bool = False
    """Whether a turn of this ref had been observed before, so that nothing was done."""
    opinion: Opinion | None = field(default=None, compare=False)
    """What a model made of it, now or later, where `Settings.llm` names one."""

    def __str__(self) -> str:
        if self.repeated:
            return f"turn {self.turn_index}: observed before"
        decided = ", ".join(map(str, self.verdicts)) or "nothing to remember"
        gone = sum(len(erasure.fact_ids) for erasure in self.erasures)
        if gone:
            decided = f"{gone} forgotten"
        if self.erasure_requested is not None:
            decided = f"nothing forgotten; everything takes {self.erasure_requested.how}"
        return f"turn {self.turn_index}: {decided}"


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
